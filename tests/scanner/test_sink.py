"""A file of records is there in whole or not at all."""

import subprocess
import sys
from pathlib import Path

import pytest

from sickbay.contract.errors import BadInput, StorageFailed
from sickbay.contract.finding import ScanRecord, SummaryRecord, to_line
from sickbay.scanner import NdjsonSink

HEADER = ScanRecord("test", "imagefolder", ())
SUMMARY = SummaryRecord(0, 0, 0, 0)


def test_the_file_appears_when_it_is_finished(tmp_path: Path) -> None:
    sink = NdjsonSink(tmp_path / "out.ndjson")
    sink.header(HEADER)
    assert not (tmp_path / "out.ndjson").exists()
    sink.finish(SUMMARY)
    assert [path.name for path in tmp_path.iterdir()] == ["out.ndjson"]
    assert len((tmp_path / "out.ndjson").read_bytes().splitlines()) == 2


def test_an_aborted_scan_leaves_the_file_before_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "out.ndjson").write_bytes(to_line(HEADER))
    sink = NdjsonSink(tmp_path / "out.ndjson")
    sink.header(ScanRecord("other", "imagefolder", ()))
    sink.abort()
    assert (tmp_path / "out.ndjson").read_bytes() == to_line(HEADER)
    assert [path.name for path in tmp_path.iterdir()] == ["out.ndjson"]


def test_aborting_before_the_header_is_fine(tmp_path: Path) -> None:
    NdjsonSink(tmp_path / "out.ndjson").abort()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("before", [b"", to_line(HEADER), to_line(ScanRecord("a", "b", ("c",)))])
def test_records_take_the_place_of_earlier_records(tmp_path: Path, before: bytes) -> None:
    (tmp_path / "out.ndjson").write_bytes(before)
    sink = NdjsonSink(tmp_path / "out.ndjson")
    sink.header(HEADER)
    sink.finish(SUMMARY)
    assert (tmp_path / "out.ndjson").read_bytes() == to_line(HEADER) + to_line(SUMMARY)


@pytest.mark.parametrize("before", [b"\xff\xd8\xff\xe0", b"PK\3\4", b'{"images":[]}\n', b"\n"])
def test_a_file_of_another_kind_is_never_overwritten(tmp_path: Path, before: bytes) -> None:
    (tmp_path / "0001.jpg").write_bytes(before)
    with pytest.raises(BadInput, match="another kind"):
        NdjsonSink(tmp_path / "0001.jpg")
    assert (tmp_path / "0001.jpg").read_bytes() == before


def test_a_device_or_folder_is_no_place_for_records(tmp_path: Path) -> None:
    for place in (tmp_path, Path("/dev/null")):
        with pytest.raises(BadInput, match="no regular file"):
            NdjsonSink(place)
    with pytest.raises(BadInput, match="no folder"):
        NdjsonSink(tmp_path / "none/out.ndjson")


def test_a_full_disk_is_said_in_one_sentence_and_nothing_is_left(tmp_path: Path) -> None:
    program = (
        "import resource, sys\n"
        "from sickbay.contract.errors import StorageFailed\n"
        "from sickbay.contract.finding import ScanRecord, SummaryRecord\n"
        "from sickbay.scanner import NdjsonSink\n"
        "sink = NdjsonSink(sys.argv[1])\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))\n"
        "try:\n"
        "    sink.header(ScanRecord('test', 'imagefolder', ('x' * 250,) * 1000))\n"
        "    sink.finish(SummaryRecord(0, 0, 0, 0))\n"
        "except StorageFailed as error:\n"
        "    sink.abort()\n"
        "    print(error.sentence)\n"
    )
    out = tmp_path / "out.ndjson"
    done = subprocess.run(
        [sys.executable, "-c", program, str(out)], capture_output=True, text=True, check=True
    )
    assert "File too large; nothing was put in its place." in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_gone_is_a_storage_failure(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    sink = NdjsonSink(tmp_path / "sub/out.ndjson")
    (tmp_path / "sub").rmdir()
    with pytest.raises(StorageFailed, match="No such file"):
        sink.header(HEADER)
