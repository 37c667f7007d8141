import pytest
from tests.runs.sending import Trainer, points

from sickbay.contract.opening import Opened, Opening
from sickbay.database import Database
from sickbay.quarantine import data_sets
from sickbay.runs import view
from sickbay.runs.opening import open_run


def _open(database: Database, **fields: object) -> Opened:
    opening = Opening(**({"name": "a run", "launch": "l", "process": "p"} | fields))  # type: ignore[arg-type]  # a test's own fields
    return database.writing(lambda session: open_run(session, opening))


def test_the_same_opening_again_gives_the_same_answer(database: Database) -> None:
    assert _open(database) == _open(database)


def test_every_rank_of_a_launch_gets_the_same_attempt(database: Database) -> None:
    opened = {_open(database, rank=rank, process=f"p{rank}").attempt for rank in range(8)}
    assert opened == {1}


def test_two_launches_under_one_name_are_two_attempts_of_one_run(database: Database) -> None:
    one, other = _open(database, launch="one"), _open(database, launch="two")
    assert one.run == other.run
    assert (one.attempt, other.attempt) == (1, 2)


def test_two_processes_with_one_launch_and_rank_never_share_an_attempt(database: Database) -> None:
    ranks = [(rank, who) for who in ("first", "second") for rank in range(2)]
    attempts = [_open(database, rank=rank, process=f"{who} {rank}").attempt for rank, who in ranks]
    assert attempts == [1, 1, 2, 2]
    assert _open(database, rank=1, process="first 1").attempt == 1


def test_a_rank_that_spoke_before_it_opened_is_taken_over(database: Database) -> None:
    zero = Trainer(database, "a run", "l")
    zero.rank, zero.seq = 1, 0
    zero.log(points("loss", [1], [1.0]))
    assert _open(database, rank=1, process="late").attempt == 1


def test_ranks_complete_what_is_known_of_an_attempt(database: Database) -> None:
    _open(database, environment={"host": "a"}, config={"lr": 1}, world_size=2)
    opened = _open(
        database, rank=1, process="q", environment={"host": "b", "gpu": "x"}, world_size=4
    )
    with database.reading() as session:
        (attempt,) = view.view(session, opened.run).attempts
    assert attempt.environment == {"host": "a", "gpu": "x"}
    assert attempt.config == {"lr": 1}
    assert attempt.world_size == 4


@pytest.mark.parametrize("known", [True, False])
def test_a_run_is_tied_to_its_data_set_where_there_is_one(database: Database, known: bool) -> None:  # noqa: FBT001 (a parameter of the test)
    if known:
        database.writing(
            lambda session: data_sets.register(session, name="pets", layout="imagefolder")
        )
    opened = _open(database, dataset="pets", release="ab" * 32)
    with database.reading() as session:
        (attempt,) = view.view(session, opened.run).attempts
    assert (attempt.data_set_id is not None) is known
    assert (attempt.dataset, attempt.release) == ("pets", "ab" * 32)
