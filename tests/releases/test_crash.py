"""What is left of a making that was killed, or that the disk refused."""

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest
from sqlalchemy import delete, select
from sqlalchemy.orm import Session
from tests.releases.a_data_set import ADataSet

from sickbay.client.metadata import check_metadata
from sickbay.database import Database
from sickbay.quarantine.tables import Action
from sickbay.releases import find
from sickbay.releases.tables import Release, ReleaseFile

SAMPLES = 2000


def filled(data_set: ADataSet) -> None:
    for number in range(SAMPLES):
        data_set.add(f"train/cat/{number:05}.jpg")
    data_set.scan()


def command(data_set: ADataSet) -> list[str]:
    return [
        sys.executable,
        "-m",
        "sickbay",
        "release",
        data_set.name,
        "--state",
        str(data_set.state),
    ]


def recorded(database: Database) -> set[str]:
    with database.reading() as session:
        return {release.digest for release in find.releases(session, "animals")}


def forget(session: Session, digest: str) -> None:
    release = select(Release.id).where(Release.digest == digest)
    session.execute(delete(ReleaseFile).where(ReleaseFile.release_id.in_(release)))
    session.execute(delete(Release).where(Release.digest == digest))


def kill_at_random_moments(data_set: ADataSet, times: int) -> int:
    """Kill a making again and again; return how many left a release behind."""
    filled(data_set)
    begun = time.monotonic()
    subprocess.run(command(data_set), check=True, capture_output=True)
    whole = time.monotonic() - begun
    chance = random.Random(7)  # noqa: S311 (moments, no secret)
    survived = 0
    for number in range(times):
        data_set.decide(f"train/cat/{number:05}.jpg", Action.EXCLUDE, "damaged")
        before = recorded(data_set.database)
        making = subprocess.Popen(command(data_set), stdout=subprocess.DEVNULL)
        time.sleep(chance.uniform(0.4, 1.0) * whole)
        making.kill()
        making.wait()
        after = recorded(data_set.database)
        for digest in after:
            check_metadata(data_set.releases / digest, digest)
        made = data_set.make()
        assert made.already_there is (made.digest in after)
        assert data_set.left_over() == sorted(before | {made.digest})
        survived += made.already_there
    return survived


def test_a_making_killed_at_random_moments_leaves_the_old_state_or_a_whole_release(
    data_set: ADataSet,
) -> None:
    assert 0 <= kill_at_random_moments(data_set, 10) <= 10


@pytest.mark.soak
def test_two_hundred_killed_makings_leave_nothing_half_made(data_set: ADataSet) -> None:
    assert 0 < kill_at_random_moments(data_set, 200) < 200


def test_a_full_disk_ends_in_one_sentence_and_nothing_half_made(
    data_set: ADataSet, tmp_path: Path
) -> None:
    filled(data_set)
    data_set.database.close()
    limited = ["sh", "-c", 'ulimit -f 400; exec "$@"', "sh", *command(data_set)]
    ended = subprocess.run(limited, check=False, capture_output=True, text=True, cwd=tmp_path)
    assert ended.returncode == 5
    assert ended.stderr == (
        "sickbay: The release could not be stored: File too large. No release was made. "
        "Make room or check the state folder, then try again.\n"
    )
    assert data_set.left_over() == []


def test_a_folder_that_a_crash_left_unrecorded_is_replaced(
    data_set: ADataSet, database: Database
) -> None:
    data_set.add("a.jpg")
    data_set.scan()
    made = data_set.make()
    release = data_set.folder(made)
    data_set.decide("a.jpg", Action.EXCLUDE)
    other = data_set.make()
    forgotten = data_set.folder(other)
    database.writing(lambda session: forget(session, other.digest))
    (forgotten / "manifest.jsonl").write_bytes(b"half")
    assert not data_set.make().already_there
    check_metadata(forgotten, other.digest)
    check_metadata(release, made.digest)
