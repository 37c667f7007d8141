import pytest
from sqlalchemy.orm import Session
from tests.quarantine.factories import a_record, decided, scanned, the_sample

from sickbay.contract.errors import IllegalMove, NotFound
from sickbay.database import Database
from sickbay.quarantine.decisions.decide import Pick, decide
from sickbay.quarantine.queue.sample import SampleView, view
from sickbay.quarantine.tables import Action, Sample, Status


def seen(database: Database, path: str | bytes) -> SampleView:
    sample = the_sample(database, path)
    with database.reading() as session:
        return view(session, sample.data_set_id, sample.id)


def test_findings_come_worst_first_with_the_catalogue_s_words(database: Database) -> None:
    scanned(
        database,
        [a_record("a.jpg", "image.odd-mode", "image.undecodable", detail={"head": "00ff"})],
    )

    shown = seen(database, "a.jpg")

    assert [finding.code for finding in shown.findings] == ["image.undecodable", "image.odd-mode"]
    worst = shown.findings[0]
    assert worst.meaning == "No decoder gives a picture."
    assert worst.advice == "Replace the file, or leave it out."
    assert (worst.head, shown.head) == ("00ff", "00ff")


@pytest.mark.parametrize("status", [Status.CLEAN, Status.HELD, Status.APPROVED, Status.EXCLUDED])
def test_what_is_offered_is_what_is_allowed(database: Database, status: Status) -> None:
    scanned(database, [a_record("a.jpg", *(() if status is Status.CLEAN else ("file.empty",)))])
    way = {Status.APPROVED: Action.APPROVE, Status.EXCLUDED: Action.EXCLUDE}.get(status)
    if way is not None:
        decided(database, ["a.jpg"], way)
    sample = the_sample(database, "a.jpg")
    offered = seen(database, "a.jpg").allowed

    for action in (Action.HOLD, Action.APPROVE, Action.EXCLUDE, Action.REOPEN):
        assert (action in offered) is may(database, sample, action)


def may(database: Database, sample: Sample, action: Action) -> bool:
    """Try it, and take it back."""

    def tried(session: Session) -> None:
        decide(
            session,
            sample.data_set_id,
            [Pick(sample.id, sample.version)],
            action,
            reviewer="anna",
        )
        raise TakenBack

    try:
        database.writing(tried)
    except TakenBack:
        return True
    except IllegalMove:
        return False
    return False


class TakenBack(Exception):
    pass


def test_an_unsafe_name_and_missing_bytes_are_not_offered_to_be_kept(database: Database) -> None:
    scanned(
        database,
        [
            a_record(b"\xff.jpg", "file.unsafe-path"),
            a_record("gone.jpg", "file.missing", content=None),
        ],
    )

    odd = seen(database, b"\xff.jpg")
    assert odd.allowed == {Action.EXCLUDE}
    assert odd.unsafe == "The name is not UTF-8."
    assert (odd.path, odd.path_bytes, odd.raw_path) == ("\\xff.jpg", "/y5qcGc=", b"\xff.jpg")
    assert seen(database, "gone.jpg").allowed == {Action.EXCLUDE, Action.REPAIR}


def test_a_sample_is_found_in_its_own_data_set_only(database: Database) -> None:
    scanned(database, [a_record("a.jpg")])
    sample = the_sample(database, "a.jpg")

    with database.reading() as session:
        for data_set_id, key in [(sample.data_set_id + 1, sample.id), (sample.data_set_id, 99)]:
            with pytest.raises(NotFound):
                view(session, data_set_id, key)
