"""Batches on the wire."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sickbay.contract.batch import MAX_BATCH, MAX_THUMBNAIL, pack, unpack
from sickbay.contract.errors import BadInput
from sickbay.contract.finding import FileRecord, Finding, SampleRecord, to_line
from sickbay.contract.paths import SamplePath

PARTS = st.binary(min_size=1, max_size=12).filter(
    lambda part: not set(part) & set(b"/\0") and part not in {b".", b".."}
)


def a_sample(raw: bytes) -> SampleRecord:
    facts = dict.fromkeys(("size", "mtime_ns", "sha256", "width", "height", "format", "mode"), None)
    return SampleRecord(path=SamplePath(raw), split="", label="", **facts)  # type: ignore[arg-type]  # all may be null


@given(st.dictionaries(PARTS, st.none() | st.binary(min_size=1, max_size=99)))
def test_what_is_packed_is_unpacked(sent: dict[bytes, bytes | None]) -> None:
    body = b"".join(pack(a_sample(raw), thumbnail) for raw, thumbnail in sent.items())
    got = unpack(body)
    assert list(got.lines) == [to_line(a_sample(raw)).rstrip(b"\n") for raw in sent]
    assert got.thumbnails == {raw.hex(): data for raw, data in sent.items() if data is not None}


def test_a_files_own_record_travels_too() -> None:
    record = FileRecord(
        SamplePath(b"list.txt"), (Finding.of("file.unreadable", "list.txt", "No."),)
    )
    assert unpack(pack(record)).lines == (to_line(record).rstrip(b"\n"),)


def test_a_thumbnail_too_large_to_travel_stays_behind() -> None:
    assert unpack(pack(a_sample(b"a"), b"x" * (MAX_THUMBNAIL + 1))).thumbnails == {}
    assert unpack(pack(a_sample(b"a"), b"x" * MAX_THUMBNAIL)).thumbnails != {}


def test_a_body_beyond_the_limit_is_refused() -> None:
    with pytest.raises(BadInput):
        unpack(b"x" * (MAX_BATCH + 1))


@given(st.binary(max_size=200))
def test_no_bytes_break_it(data: bytes) -> None:
    for body in (data, b'{"kind":"thumbnail",' + data):
        try:
            unpack(body)
        except BadInput as error:
            assert len(error.sentence) < 200  # noqa: PT017 (only the sentence matters, if any)
