import pytest
from tests.releases.a_data_set import ADataSet, with_every_decision

from sickbay.contract.errors import BadInput, NotFound, StorageFailed
from sickbay.contract.manifest import FILES, IN_ID
from sickbay.database import Database
from sickbay.quarantine.data_sets import find as find_data_set
from sickbay.quarantine.tables import Action
from sickbay.releases import find
from sickbay.releases.counts import count


def two_releases(data_set: ADataSet) -> tuple[str, str]:
    with_every_decision(data_set)
    first = data_set.make().digest
    data_set.decide("train/dog/5.jpg", Action.EXCLUDE)
    return first, data_set.make().digest


def test_latest_is_the_release_made_last_even_if_it_was_there_before(
    data_set: ADataSet, database: Database
) -> None:
    first, second = two_releases(data_set)
    with database.reading() as session:
        assert find.latest(session, "animals").digest == second
    data_set.decide("train/dog/5.jpg", Action.REOPEN)
    assert data_set.make().already_there
    with database.reading() as session:
        assert find.latest(session, "animals").digest == first
        assert [one.digest for one in find.releases(session, "animals")] == [first, second]


def test_a_release_is_found_by_the_beginning_of_its_id(
    data_set: ADataSet, database: Database
) -> None:
    first, second = two_releases(data_set)
    with database.reading() as session:
        for wanted in (first, first[:12], f"sha256:{first}"):
            assert find.find(session, "animals", wanted).digest == first
        view = find.find(session, "animals", second)
    assert (view.parent, view.short, view.created_by) == (first, second[:12], "anna")
    assert sorted(file.name for file in view.files) == sorted(FILES)
    assert {file.name for file in view.files if file.in_id} == set(IN_ID)
    assert view.file("manifest.jsonl").rows == view.counts["kept"] == 3


@pytest.mark.parametrize("wanted", ["", "abc", "LATEST", "g" * 12, "%%%%", "____", "a" * 65])
def test_words_that_name_no_release_are_refused(
    data_set: ADataSet, database: Database, wanted: str
) -> None:
    two_releases(data_set)
    with database.reading() as session, pytest.raises(BadInput):
        find.find(session, "animals", wanted)


def test_an_id_that_nobody_made_is_not_found(data_set: ADataSet, database: Database) -> None:
    with_every_decision(data_set)
    with database.reading() as session:
        for wanted in ("latest", "0" * 64):
            with pytest.raises(NotFound):
                find.find(session, "animals", wanted)


def test_the_same_release_of_two_data_sets_is_two_releases(
    data_set: ADataSet, database: Database
) -> None:
    with_every_decision(data_set)
    other = ADataSet(database, data_set.state, data_set.root, name="others")
    with_every_decision(other)
    assert data_set.make().digest != other.make().digest
    with database.reading() as session, pytest.raises(NotFound):
        find.find(session, "others", find.latest(session, "animals").digest)


def test_what_would_be_released_is_counted_before(data_set: ADataSet, database: Database) -> None:
    with_every_decision(data_set)
    with database.reading() as session:
        counts = count(session, find_data_set(session, "animals").id)
    assert counts.as_dict() | {"bytes": 58} == data_set.make().counts.as_dict()


def test_the_statistics_of_a_release_are_read_or_missed_in_plain_words(
    data_set: ADataSet,
) -> None:
    with_every_decision(data_set)
    made = data_set.make()
    assert find.statistics(data_set.releases, made.digest)["samples"]["before"] == 5
    with pytest.raises(StorageFailed, match="cannot be read"):
        find.statistics(data_set.releases, "0" * 64)
