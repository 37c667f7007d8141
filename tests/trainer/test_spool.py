"""What is on disk can be torn, damaged, too much or refused; it never turns into anything else."""

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.trainer.ward import Ward

from sickbay.trainer import spool as spooling
from sickbay.trainer.claim import claim
from sickbay.trainer.segments import SEGMENT
from sickbay.trainer.spool import Spool, framed, payloads

_PAYLOADS = st.lists(st.binary(max_size=60).map(lambda raw: raw.replace(b"\n", b" ")), max_size=12)


@given(_PAYLOADS, st.integers(min_value=0, max_value=1200))
def test_any_torn_prefix_replays_a_prefix_of_what_was_written(
    written: list[bytes], cut: int
) -> None:
    data = b"".join(map(framed, written))
    read = list(payloads(data[:cut]))
    assert read == written[: len(read)]
    if cut >= len(data):
        assert read == written


@given(_PAYLOADS, st.data())
def test_a_changed_byte_costs_the_lines_it_touches_and_makes_up_none(
    written: list[bytes], data: st.DataObject
) -> None:
    whole = bytearray(b"".join(map(framed, written)))
    if whole:
        at = data.draw(st.integers(min_value=0, max_value=len(whole) - 1))
        whole[at] ^= data.draw(st.integers(min_value=1, max_value=255))
    read = list(payloads(bytes(whole)))
    assert len(read) >= len(written) - 2
    left = iter(written)
    assert all(payload in left for payload in read)


@given(st.binary(max_size=400))
def test_bytes_from_anywhere_are_no_lines(data: bytes) -> None:
    assert all(framed(payload).rstrip(b"\n") in data for payload in payloads(data))


def _event(number: int, size: int = 100) -> bytes:
    return json.dumps({"seq": number, "fill": "x" * size}).encode()


def _drained(spool: Spool, events: int = 1000) -> list[int]:
    found: list[int] = []
    while (piece := spool.piece(events, 900_000)) is not None:
        found += [json.loads(event)["seq"] for event in piece.events]
        spool.arrived(piece)
    return found


def test_events_come_out_in_order_and_leave_nothing_behind(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "one", {"name": "run"})
    for number in range(30_000):
        spool.append(_event(number), 1)
    assert len(list((tmp_path / "one").glob("*.spool"))) > 3
    assert _drained(spool) == list(range(30_000))
    assert spool.empty
    assert spool.close()
    assert not (tmp_path / "one").exists()


def test_a_piece_that_did_not_arrive_comes_again(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "one", {})
    for number in range(5):
        spool.append(_event(number), 1)
    first, again = spool.piece(2, 900_000), spool.piece(2, 900_000)
    assert first is not None
    assert again is not None
    assert first.events == again.events
    assert len(first.events) == 2
    assert not spool.close()


def test_an_event_larger_than_a_file_has_one_of_its_own(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "one", {})
    for number, size in enumerate((10, SEGMENT + 10, 10)):
        spool.append(_event(number, size), 1)
    assert _drained(spool) == [0, 1, 2]


def test_the_oldest_go_when_there_is_too_much_and_their_points_are_counted(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "one", {}, most=3 * SEGMENT)
    for number in range(60_000):
        spool.append(_event(number), 2)
    sizes = [path.stat().st_size for path in (tmp_path / "one").glob("*.spool")]
    assert sum(sizes) <= 3 * SEGMENT
    found = _drained(spool)
    assert found == list(range(60_000 - len(found), 60_000))
    assert spool.lost == 2 * (60_000 - len(found))


def test_a_disk_that_refuses_costs_nothing_while_the_memory_lasts(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("where a folder should be")
    spool = Spool(tmp_path / "file" / "one", {})
    for number in range(1000):
        spool.append(_event(number), 1)
    assert _drained(spool) == list(range(1000))
    assert spool.lost == 0


def test_memory_is_bounded_too_and_what_goes_is_counted(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("where a folder should be")
    spool = Spool(tmp_path / "file" / "one", {})
    for number in range(60_000):
        spool.append(_event(number), 1)
    found = _drained(spool)
    assert sum(len(_event(number)) for number in found) <= spooling.MOST_IN_MEMORY
    assert spool.lost == 60_000 - len(found)


def test_a_file_that_vanished_is_counted_and_the_rest_goes_on(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "one", {})
    for number in range(20_000):
        spool.append(_event(number), 1)
    first = min((tmp_path / "one").glob("*.spool"))
    os.truncate(first, 0)
    found = _drained(spool)
    assert found == list(range(20_000 - len(found), 20_000))
    assert len(found) + spool.lost == 20_000


def test_a_folder_belongs_to_one_process_at_a_time(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "one", {})
    spool.append(_event(1), 1)
    assert claim(tmp_path / "one") is None
    spool.close()
    lock = claim(tmp_path / "one")
    assert lock is not None
    os.close(lock)


_LIMITED = """
import resource, sys, time
import sickbay.trainer as sickbay
resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))
run = sickbay.init("full")
for step in range(2000):
    run.log({"loss": float(step)}, step=step)
    time.sleep(0.0002)
run.finish()
"""


@pytest.mark.skipif(not hasattr(resource, "RLIMIT_FSIZE"), reason="this system has no such limit")
def test_a_full_disk_costs_no_point_while_the_server_takes_them(online: Ward, kit: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _LIMITED], capture_output=True, text=True, check=True, timeout=60
    )
    assert "Traceback" not in done.stderr
    assert online.points("loss") == [(step, float(step)) for step in range(2000)]
    assert not online.rejected
    assert not list(kit.glob("*/*.spool"))
