import hashlib
import json
from collections.abc import Callable
from typing import Any

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as some

from sickbay.contract.errors import BadInput
from sickbay.contract.manifest import IN_ID
from sickbay.contract.version import COUNTS, FileEntry, Version

NUMBER = some.integers(0, (1 << 53) - 1)


@some.composite
def versions(draw: some.DrawFn) -> Version:
    digests = some.binary(min_size=32, max_size=32).map(bytes.hex)
    return Version(
        name=draw(some.text(some.characters(exclude_categories=["Cs"], exclude_characters="\0"))),
        counts={name: draw(NUMBER) for name in COUNTS},
        files=tuple(FileEntry(name, draw(digests), draw(NUMBER)) for name in IN_ID),
    )


def a_version() -> dict[str, Any]:
    value: dict[str, Any] = json.loads(
        Version(
            name="animals",
            counts=dict.fromkeys(COUNTS, 1),
            files=tuple(FileEntry(name, "ab" * 32, 1) for name in IN_ID),
        ).to_bytes()
    )
    return value


@given(versions())
def test_a_version_survives_its_bytes_which_are_rfc_8785_and_name_it(version: Version) -> None:
    data = version.to_bytes()
    assert Version.from_bytes(data) == version
    assert data == rfc8785.dumps(json.loads(data)) + b"\n"
    assert version.digest == hashlib.sha256(data).hexdigest()


ODD: dict[str, Callable[[dict[str, Any]], object]] = {
    "another schema": lambda value: value.update(schema="urn:sickbay:release:2"),
    "other path rules": lambda value: value.update(path_rules=2),
    "another hash": lambda value: value.update(hash="md5"),
    "an unknown field": lambda value: value.update(made="today"),
    "a missing field": lambda value: value.pop("name"),
    "a missing file": lambda value: value["files"].pop(),
    "files in another order": lambda value: value["files"].reverse(),
    "a file elsewhere": lambda value: value["files"][0].update(name="../SHA256SUMS"),
    "another dirHash": lambda value: value.update(dirHash="cd" * 32),
    "a negative count": lambda value: value["counts"].update(kept=-1),
    "a count too many": lambda value: value["counts"].update(lost=1),
    "a truth value": lambda value: value["counts"].update(kept=True),
    "a float": lambda value: value["counts"].update(kept=1.5),
    "a name that is none": lambda value: value.update(name=1),
    "a digest that is none": lambda value: value["files"][1].update(sha256="x"),
    "no list": lambda value: value.update(files=1),
}


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
def test_a_version_with_something_odd_is_refused(odd: Callable[[dict[str, Any]], object]) -> None:
    value = a_version()
    odd(value)
    with pytest.raises(BadInput):
        Version.from_bytes(rfc8785.dumps(value) + b"\n")


@pytest.mark.parametrize("data", [b"", b"[]", b"null", b"{}", b"1e400", b"\xff"])
def test_what_is_no_version_at_all_is_refused(data: bytes) -> None:
    with pytest.raises(BadInput):
        Version.from_bytes(data)


def test_a_version_with_spaces_is_refused() -> None:
    with pytest.raises(BadInput):
        Version.from_bytes(json.dumps(a_version(), sort_keys=True).encode())
