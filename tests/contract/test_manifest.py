import json
from collections.abc import Callable
from typing import Any

import pytest
import rfc8785
from hypothesis import assume, given
from hypothesis import strategies as some

from sickbay.contract.errors import BadInput
from sickbay.contract.manifest import (
    MAX_LINE_BYTES,
    ManifestRow,
    QuarantineRow,
    check_name,
    is_reserved,
    read_manifest,
    read_sums,
    row_id,
    sums_line,
)
from sickbay.contract.paths import SamplePath, unsafe_reason

TEXT = some.text(some.characters(exclude_categories=["Cs"]), max_size=30)
DIGEST = some.binary(min_size=32, max_size=32).map(bytes.hex)
NAME = TEXT.filter(
    lambda text: text and unsafe_reason(SamplePath(text.encode())) is None and not is_reserved(text)
)


def a_row(file_name: str = "train/cat/1.jpg", **facts: Any) -> ManifestRow:
    defaults: dict[str, Any] = {
        "encoding_format": "image/jpeg",
        "id": row_id(file_name.encode()),
        "label": 0,
        "label_name": "cat",
        "sha256": "ab" * 32,
        "size": 3,
        "source_sha256": "",
        "split": "train",
        "status": "clean",
    }
    return ManifestRow(file_name=file_name, **defaults | facts)


@some.composite
def rows(draw: some.DrawFn) -> ManifestRow:
    status = draw(some.sampled_from(["clean", "approved", "repaired"]))
    return a_row(
        draw(NAME),
        encoding_format=draw(TEXT),
        label=draw(some.integers(-1, 1 << 31)),
        label_name=draw(TEXT),
        sha256=draw(DIGEST),
        size=draw(some.integers(0, (1 << 53) - 1)),
        source_sha256=draw(DIGEST) if status == "repaired" else "",
        split=draw(TEXT),
        status=status,
    )


@some.composite
def quarantined(draw: some.DrawFn) -> QuarantineRow:
    return QuarantineRow(
        codes=sorted(draw(some.sets(TEXT, max_size=4))),
        decision=draw(some.sampled_from(["exclude", "repair", "approve", "pending"])),
        file_name=draw(TEXT),
        first_seen=draw(some.sampled_from(["scan", "training", ""])),
        id=row_id(draw(some.binary())),
        label=draw(some.integers(-1, 1 << 31)),
        label_name=draw(TEXT),
        reason=draw(TEXT),
        replacement_file_name=draw(TEXT),
        replacement_sha256=draw(DIGEST | some.just("")),
        sha256=draw(DIGEST | some.just("")),
        size=draw(some.integers(-1, (1 << 53) - 1)),
        split=draw(TEXT),
    )


@given(rows())
def test_a_manifest_row_survives_its_line_and_the_line_is_rfc_8785(row: ManifestRow) -> None:
    line = row.line()
    assert ManifestRow.from_line(line) == row
    assert line == rfc8785.dumps(json.loads(line)) + b"\n"


@given(quarantined())
def test_a_quarantine_row_survives_its_line_and_the_line_is_rfc_8785(row: QuarantineRow) -> None:
    line = row.line()
    assert QuarantineRow.from_line(line) == row
    assert line == rfc8785.dumps(json.loads(line)) + b"\n"


@given(some.binary(max_size=300))
def test_no_bytes_do_more_than_be_refused(line: bytes) -> None:
    for read in (ManifestRow.from_line, QuarantineRow.from_line):
        with pytest.raises(BadInput):
            read(line)


ODD: dict[str, Callable[[dict[str, Any]], object]] = {
    "an unknown field": lambda row: row.update(extra=""),
    "a field that is missing": lambda row: row.pop("split"),
    "null": lambda row: row.update(split=None),
    "a float": lambda row: row.update(size=3.0),
    "a truth value for a number": lambda row: row.update(label=True),
    "a number for a text": lambda row: row.update(sha256=1),
    "another status": lambda row: row.update(status="held"),
    "a negative size": lambda row: row.update(size=-1),
    "a short digest": lambda row: row.update(sha256="ab"),
    "upper case in a digest": lambda row: row.update(sha256="AB" * 32),
    "a source without a repair": lambda row: row.update(source_sha256="ab" * 32),
    "a repair without a source": lambda row: row.update(status="repaired"),
    "an id of another name": lambda row: row.update(id="0" * 32),
    "a list": lambda row: row.update(split=[]),
}


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
def test_a_row_with_something_odd_is_refused(odd: Callable[[dict[str, Any]], object]) -> None:
    fields = json.loads(a_row().line())
    odd(fields)
    line = json.dumps(fields, sort_keys=True, separators=(",", ":")).encode() + b"\n"
    with pytest.raises(BadInput):
        ManifestRow.from_line(line)


@pytest.mark.parametrize(
    "line",
    [
        a_row().line()[:-1],
        b" " + a_row().line(),
        b"\xef\xbb\xbf" + a_row().line(),
        a_row().line().replace(b":3,", b": 3,"),
        a_row().line().replace(b'"size":3', b'"size":3,"size":3'),
        a_row().line().replace(b"cat", rb"\u0063at"),
        a_row().line().replace(b'"cat"', rb'"\ud800"'),
        b"[" * 100_000 + b"\n",
        b"9" * 10_000 + b"\n",
        b"[]\n",
        b"null\n",
        b"",
        b"x" * (MAX_LINE_BYTES + 1),
    ],
    ids=range(13),
)
def test_a_line_that_is_not_canonical_is_refused(line: bytes) -> None:
    with pytest.raises(BadInput):
        ManifestRow.from_line(line)


@pytest.mark.parametrize(
    "name",
    [
        "../up.jpg",
        "a/../../up.jpg",
        "/etc/passwd",
        "a//b.jpg",
        "./a.jpg",
        "a/.",
        "C:/a.jpg",
        "c:a.jpg",
        "a\\b.jpg",
        "a\nb.jpg",
        "a\x7fb.jpg",
        "a\x00b.jpg",
        "a\u2028b.jpg",
        "a" * 4097,
        "",
        "SHA256SUMS",
        "sha256sums",
        "Manifest.jsonl/a.jpg",
        "version.json",
    ],
)
def test_a_name_that_must_not_be_written_to_is_refused_on_the_client_too(name: str) -> None:
    with pytest.raises(BadInput):
        check_name(name)
    with pytest.raises(BadInput):
        ManifestRow.from_line(a_row(name).line())


@pytest.mark.parametrize("name", ["-rf", "*", "100%", " a ", "~", "$(x)", "ü.jpg", "a/SHA256SUMS"])
def test_a_name_that_is_only_unusual_passes(name: str) -> None:
    assert ManifestRow.from_line(a_row(name).line()).file_name == name


@given(some.lists(NAME, min_size=2, max_size=5, unique=True))
def test_a_manifest_is_read_in_order_of_bytes_and_in_no_other(names: list[str]) -> None:
    ordered = sorted(names, key=str.encode)
    lines = [a_row(name).line() for name in ordered]
    assert [row.file_name for row in read_manifest(lines)] == ordered
    for wrong in (lines[::-1], [*lines, lines[-1]], [lines[0], *lines]):
        with pytest.raises(BadInput, match="twice or out of order"):
            list(read_manifest(wrong))


def test_order_is_that_of_bytes_where_utf_16_would_differ() -> None:
    lines = [a_row("\uffee.jpg").line(), a_row("\U0001f600.jpg").line()]
    assert len(list(read_manifest(lines))) == 2


@given(DIGEST)
def test_sums_are_read_as_they_are_written(digest: str) -> None:
    assert read_sums(sums_line(digest, "stats.json")) == {"stats.json": digest}


@pytest.mark.parametrize(
    "sums",
    [
        b"nonsense\n",
        sums_line("ab" * 32, "other.txt"),
        sums_line("ab" * 32, "../stats.json"),
        sums_line("ab" * 31, "stats.json"),
        sums_line("ab" * 32, "stats.json") * 2,
        b"\xff\n",
    ],
)
def test_sums_of_other_files_are_refused(sums: bytes) -> None:
    with pytest.raises(BadInput):
        read_sums(sums)


@given(TEXT, TEXT)
def test_different_names_have_different_ids(one: str, other: str) -> None:
    assume(one != other)
    assert row_id(one.encode()) != row_id(other.encode())
