from collections.abc import Callable
from pathlib import Path

import pytest
from tests.client.release.forging import forge
from tests.releases.a_data_set import ADataSet

from sickbay.client.metadata import check_metadata
from sickbay.contract.errors import NotFound, Refused, SickbayError
from sickbay.contract.manifest import FILES
from sickbay.quarantine.tables import Action
from sickbay.releases.make import Made


def test_a_release_as_it_was_made_is_in_order(release: Path, made: Made) -> None:
    for wanted in (None, made.digest, made.digest[:8]):
        assert check_metadata(release, wanted).digest == made.digest


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_missing_is_named(release: Path, name: str) -> None:
    (release / name).unlink()
    with pytest.raises(NotFound, match=name):
        check_metadata(release)


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_was_changed_in_one_byte_is_refused(
    release: Path, made: Made, name: str
) -> None:
    content = bytearray((release / name).read_bytes())
    content[len(content) // 2] ^= 1
    (release / name).write_bytes(content)
    with pytest.raises(SickbayError):
        check_metadata(release, made.digest)


def test_a_release_with_another_id_is_refused(release: Path, made: Made) -> None:
    with pytest.raises(Refused, match=f"is that of release {made.digest}"):
        check_metadata(release, "0" * 64)


def reordered(lines: list[bytes]) -> list[bytes]:
    return lines[::-1]


def twice(lines: list[bytes]) -> list[bytes]:
    return [lines[0], *lines]


def with_a_field(lines: list[bytes]) -> list[bytes]:
    return [lines[0].replace(b'{"', b'{"a":"","'), *lines[1:]]


def without_the_last(lines: list[bytes]) -> list[bytes]:
    return lines[:-1]


@pytest.mark.parametrize("change", [reordered, twice, with_a_field, without_the_last])
def test_a_manifest_that_no_sickbay_writes_is_refused_even_under_its_own_id(
    release: Path, change: Callable[[list[bytes]], list[bytes]]
) -> None:
    digest = forge(release, change)
    with pytest.raises(SickbayError):
        check_metadata(release, digest)


@pytest.mark.parametrize("change", [b"", b"0" * 64 + b"  more.jpg\n"])
def test_sums_that_say_something_else_than_the_manifest_are_refused(
    release: Path, change: bytes
) -> None:
    digest = forge(release, sums=lambda listed: listed[67:] if not change else listed + change)
    with pytest.raises(Refused, match=r"contradict one another|lists more"):
        check_metadata(release, digest)


def test_a_release_that_keeps_nothing_is_in_order(data_set: ADataSet) -> None:
    data_set.decide("train/cat/1.jpg", Action.EXCLUDE)
    for path in ("train/dog/3.jpg", "train/dog/4.jpg"):
        data_set.decide(path, Action.REOPEN)
    made = data_set.make()
    assert check_metadata(data_set.folder(made)).counts["kept"] == 0
