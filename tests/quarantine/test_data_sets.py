import pytest
from sqlalchemy.orm import Session
from tests.quarantine.factories import NAME, a_record, decided, scanned, sent

from sickbay.contract.errors import BadInput, NotFound, Refused
from sickbay.database import Database
from sickbay.quarantine import data_sets
from sickbay.quarantine.data_sets import DataSetCard
from sickbay.quarantine.tables import Action, Status


def the_card(database: Database, name: str = NAME) -> DataSetCard:
    with database.reading() as session:
        return data_sets.card(session, data_sets.find(session, name).id)


def test_a_card_counts_samples_by_status_and_names_the_scan_in_force(database: Database) -> None:
    scanned(
        database,
        [
            a_record("a.jpg"),
            a_record("b.jpg", "image.truncated"),
            a_record("c.jpg", "image.damaged"),
        ],
        root="/pictures",
    )
    decided(database, ["c.jpg"], Action.EXCLUDE)

    card = the_card(database)

    assert card.counts == {
        Status.CLEAN: 1,
        Status.HELD: 1,
        Status.APPROVED: 0,
        Status.REPAIRED: 0,
        Status.EXCLUDED: 1,
    }
    assert (card.samples, card.held, card.root) == (3, 1, "/pictures")
    assert card.classes == ("stop", "yield")
    assert card.scan is not None
    assert (card.scan.number, card.scan.started_by, card.scan.summary["found"]) == (1, "me", 3)


def test_data_sets_are_listed_by_name_each_with_its_own_counts(database: Database) -> None:
    scanned(database, [a_record("a.jpg", "file.empty")], name="second")
    scanned(database, [a_record("a.jpg"), a_record("b.jpg")], name="first")

    with database.reading() as session:
        cards = data_sets.cards(session)

    assert [(card.name, card.samples, card.held) for card in cards] == [
        ("first", 2, 0),
        ("second", 1, 1),
    ]


def test_a_scan_under_way_shows_as_receiving_and_changes_no_count(database: Database) -> None:
    database.writing(lambda session: sent(session, [a_record("a.jpg", "file.empty")]))

    card = the_card(database)

    assert (card.receiving, card.samples, card.scan) == (1, 0, None)


def test_what_does_not_exist_is_not_found(database: Database) -> None:
    with database.reading() as session:
        with pytest.raises(NotFound):
            data_sets.find(session, "nothing")
        with pytest.raises(NotFound):
            data_sets.card(session, 1)


@pytest.mark.parametrize(
    "name", ["", ".hidden", "-dash", "a b", "a/b", "ä", "x" * 81, "a\n", "..", "a\0"]
)
def test_a_name_that_would_need_quoting_is_refused(database: Database, name: str) -> None:
    with pytest.raises(BadInput):
        database.writing(
            lambda session: data_sets.register(session, name=name, layout="imagefolder")
        )


def test_a_name_is_taken_once(database: Database) -> None:
    def register(session: Session) -> None:
        data_sets.register(session, name="signs", layout="imagefolder", classes=["a"])

    database.writing(register)
    with pytest.raises(Refused):
        database.writing(register)
