"""The disk fills up under a running server, and gets room again."""

import http.client
import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.commands import mount_small, unmount
from tests.journeys.reviewing import Reviewer, session_of
from tests.quarantine.factories import NAME, a_record, scanned, the_sample
from tests.serving import serving

from sickbay.database.schema import open_database


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A state folder on a disk of 3 MB."""
    folder = tmp_path / "small"
    folder.mkdir()
    if not mount_small(folder, "3m"):
        pytest.skip("mounting a small file system is not allowed here")
    yield folder
    unmount(folder)


def test_decisions_are_refused_plainly_reading_goes_on_and_room_heals_it(small_disk: Path) -> None:
    with closing(open_database(small_disk / "sickbay.db")) as database:
        scanned(database, [a_record(f"{n}.jpg", "image.truncated") for n in range(15)])
        samples = [the_sample(database, f"{n}.jpg") for n in range(15)]
    ballast = small_disk / "ballast"
    session = session_of(small_disk, "anna")
    with serving(small_disk) as server:
        anna = Reviewer(server.port, session)
        decided, refusals = 0, []
        for sample in samples:
            if decided == 3 and not ballast.exists():
                _fill(ballast)
            status, answer = anna.decide(NAME, sample.id, sample.version, "exclude")
            assert status in {200, 507}, answer
            decided += status == 200
            refusals += [answer["error"]] if status == 507 else []
        assert refusals, "the disk did fill up"
        assert all("disk is full" in refusal for refusal in refusals)
        assert _page(anna, f"/datasets/{NAME}/review") == 200
        ballast.unlink()
        waiting = [one for one in samples if _decide(anna, one.id, one.version) == 200]
        assert len(waiting) == len(refusals), (
            "what was refused can be decided now, the rest was kept"
        )


def _fill(ballast: Path) -> None:
    room = os.statvfs(ballast.parent)
    ballast.write_bytes(b"x" * (room.f_bavail * room.f_bsize - room.f_bsize))


def _decide(anna: Reviewer, sample_id: int, version: int) -> int:
    return anna.decide(NAME, sample_id, version, "exclude")[0]


def _page(anna: Reviewer, path: str) -> int:
    with closing(http.client.HTTPConnection("127.0.0.1", anna.port, timeout=30)) as server:
        server.request("GET", path, headers={"Cookie": f"sickbay_{anna.port}={anna.session}"})
        return server.getresponse().status
