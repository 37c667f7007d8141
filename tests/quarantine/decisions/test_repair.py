import pytest
from sqlalchemy import select
from tests.quarantine.factories import a_hash, a_record, decided, scanned, the_sample

from sickbay.contract.errors import Conflict, IllegalMove
from sickbay.database import Database
from sickbay.quarantine.decisions.decide import Act, Pick
from sickbay.quarantine.decisions.repair import Facts, repair
from sickbay.quarantine.queue.sample import view
from sickbay.quarantine.tables import Action, Replacement, Status

MENDED = Facts(a_hash("mended"), 6, 20, 10, "JPEG", "RGB", a_hash("small"))


def repaired(database: Database, path: str, facts: Facts = MENDED, version: int = 0) -> Act:
    sample = the_sample(database, path)
    pick = Pick(sample.id, version or sample.version)
    return database.writing(
        lambda session: repair(
            session, sample.data_set_id, pick, facts, reason="damaged", reviewer="anna"
        )
    )


def test_a_replacement_stands_for_the_file_and_the_original_stays_on_record(
    database: Database,
) -> None:
    scanned(database, [a_record("a.jpg", "image.truncated", content="half")])

    act = repaired(database, "a.jpg")

    sample = the_sample(database, "a.jpg")
    assert (sample.status, sample.sha256) == (Status.REPAIRED, a_hash("half"))
    assert act.moved[0].version == sample.version
    with database.reading() as session:
        shown = view(session, sample.data_set_id, sample.id)
    assert shown.replacement is not None
    assert (shown.replacement.sha256, shown.replacement.width) == (MENDED.sha256, 20)
    assert shown.history[0].action is Action.REPAIR


def test_two_samples_may_have_the_same_replacement(database: Database) -> None:
    scanned(database, [a_record(f"{name}.jpg", "image.truncated") for name in "ab"])

    repaired(database, "a.jpg")
    repaired(database, "b.jpg")

    with database.reading() as session:
        assert session.scalars(select(Replacement.sha256)).all() == [MENDED.sha256]


def test_a_sample_without_readable_bytes_can_be_replaced(database: Database) -> None:
    scanned(database, [a_record("a.jpg", "file.missing", content=None)])

    repaired(database, "a.jpg")

    assert the_sample(database, "a.jpg").status is Status.REPAIRED


def test_a_repair_is_refused_where_it_cannot_help(database: Database) -> None:
    scanned(
        database,
        [a_record("a.jpg", "image.truncated", content="half"), a_record("b\\.jpg"), a_record("c")],
    )

    with pytest.raises(IllegalMove, match="same bytes"):
        repaired(database, "a.jpg", Facts(a_hash("half"), 4))
    with pytest.raises(IllegalMove, match="backslash"):
        repaired(database, "b\\.jpg")
    with pytest.raises(IllegalMove, match="is clean does not allow repair"):
        repaired(database, "c")


def test_a_repair_of_what_changed_since_is_a_conflict(database: Database) -> None:
    scanned(database, [a_record("a.jpg", "image.truncated")])
    seen = the_sample(database, "a.jpg").version
    decided(database, ["a.jpg"], Action.EXCLUDE)

    with pytest.raises(Conflict, match="excluded now"):
        repaired(database, "a.jpg", version=seen)
