"""A state full of data from before policies is brought up to date, and goes on."""

import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.quarantine.factories import (
    a_hash,
    a_record,
    decided,
    scanned,
    status_of,
    the_data_set,
    the_sample,
)

from sickbay import resources
from sickbay.contract.errors import Refused
from sickbay.contract.policy import Policy
from sickbay.database import Database
from sickbay.database.schema import open_database
from sickbay.quarantine import intake, policies, scan_facts
from sickbay.quarantine.queue.sample import view
from sickbay.quarantine.tables import Action, Status

SAMPLES = 500
BEFORE = """
INSERT INTO data_set (id, name, root, layout, classes, scan_id, created_at)
    VALUES (1, 'road-signs', NULL, 'imagefolder', '["stop"]', 1, 0);
INSERT INTO scan (id, key, data_set_id, number, state, layout, classes, summary, started_by,
    started_at, finished_at)
    VALUES (1, 'a', 1, 1, 'finished', 'imagefolder', '["stop"]', '{"found": 500}', 'me',
        0, 1), (2, 'b', 1, 2, 'receiving', 'imagefolder', '[]', NULL, 'me', 2, NULL);
INSERT INTO scan_batch (scan_id, number, sha256, records, extras, samples, held, last_path)
    VALUES (2, 0, 'ab', X'00', '{}', 1, 0, X'61');
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 499)
INSERT INTO sample (id, data_set_id, raw_path, path, split, label, size, mtime_ns, sha256, status,
    version, worst_code, worst_severity, findings, scan_id, gone)
    SELECT i + 1, 1, CAST(printf('%04d.jpg', i) AS BLOB), printf('%04d.jpg', i), 'train', 'stop',
        9, 1, 'of the content', 'held', 1, 'image.truncated', 'block', 1, 1, 0 FROM n;
INSERT INTO finding (data_set_id, sample_id, code, severity, file, item, message, detail, source,
    found_at)
    SELECT 1, id, 'image.truncated', 'block', path, NULL, 'It shows image.truncated.', '{}',
        'scan', 1 FROM sample;
"""


@pytest.fixture
def older(tmp_path: Path) -> Path:
    """A database as the migrations before this one left it, with data in it."""
    folder = tmp_path / "migrations"
    shutil.copytree(resources.folder("migrations"), folder)
    for later in (folder / "versions").glob("*.py"):
        if later.name[:4] > "0005":
            later.unlink()
    path = tmp_path / "state" / "sickbay.db"
    open_database(path, migrations=folder).close()
    connection = sqlite3.connect(path)
    connection.executescript(BEFORE)
    connection.execute("UPDATE sample SET sha256 = ?", (a_hash("as it is"),))
    connection.commit()
    connection.close()
    return path


@pytest.fixture
def database(older: Path) -> Iterator[Database]:
    """The same, brought up to date."""
    opened = open_database(older)
    yield opened
    opened.close()


def test_what_was_there_is_there_and_what_is_new_says_nothing(database: Database) -> None:
    sample = the_sample(database, "0007.jpg")
    with database.reading() as session:
        data_set_id = the_data_set(database).id
        shown = view(session, data_set_id, sample.id)
        facts = scan_facts.facts(session, data_set_id)
        stored = policies.read(session, data_set_id)
    assert (sample.status, shown.decoded) == (Status.HELD, None)
    assert [finding.code for finding in shown.findings] == ["image.truncated"]
    assert facts is not None
    assert (facts.policy, facts.depth, facts.labels, facts.findings) == (None, None, {}, ())
    assert (stored.policy, stored.version) == (Policy(), 0)


def test_a_scan_that_was_arriving_is_over(database: Database) -> None:
    with database.reading() as session:
        assert intake.progress(session, "b").state == "abandoned"
    with pytest.raises(Refused, match="Scan again"):
        database.writing(
            lambda session: intake.receive(
                session, "b", 1, intake.check([b'{"kind":"file","path":"b","findings":[]}'], {}, "")
            )
        )


def test_decisions_and_scans_go_on(database: Database) -> None:
    decided(database, ["0001.jpg"], Action.APPROVE)
    paths = [f"{number:04}.jpg" for number in range(SAMPLES)]
    result = scanned(database, [a_record(path, "image.truncated") for path in paths])
    assert (result["new"], result["gone"], result["held_again"]) == (0, 0, 0)
    assert status_of(database, "0001.jpg") is Status.APPROVED
    assert the_sample(database, "0002.jpg").decoded is False
