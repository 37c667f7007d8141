import json
import math
import threading
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select
from tests.runs.sending import NOON, Trainer, failure, points

from sickbay.contract.errors import NotFound
from sickbay.contract.event import (
    About,
    Alert,
    Ending,
    Event,
    Facts,
    Finish,
    Heartbeat,
    Level,
)
from sickbay.contract.event_batch import Batch, Receipt, Rejection
from sickbay.database import Database
from sickbay.runs import facts, find, keys, series, view
from sickbay.runs.ingest import receive
from sickbay.runs.state import RunState
from sickbay.runs.tables import Attempt

AT = datetime.fromtimestamp(NOON, UTC)


def _count(trainer: Trainer) -> int:
    with trainer.database.reading() as session:
        return series.count_points(session, trainer.run)


def test_a_replayed_batch_is_free(database: Database) -> None:
    trainer = Trainer(database)
    batch = [trainer.event(points("loss", [1], [1.0])), trainer.event(failure())]
    assert trainer.send(*batch) == Receipt(2, 0)
    assert trainer.send(*batch) == Receipt(0, 2)
    assert trainer.send(*batch[::-1]) == Receipt(0, 2)
    assert _count(trainer) == 1


def test_an_event_twice_in_one_batch_counts_once(database: Database) -> None:
    trainer = Trainer(database)
    event = trainer.event(points("loss", [1], [1.0]))
    assert trainer.send(event, event) == Receipt(1, 1)
    assert _count(trainer) == 1


def test_another_event_under_the_same_key_is_rejected_alone(database: Database) -> None:
    trainer = Trainer(database)
    trainer.log(points("loss", [1], [1.0]))
    other = Event(1, 0, NOON, points("loss", [1], [2.0]))
    receipt = trainer.send(other, trainer.event(points("loss", [2], [2.0])))
    assert (receipt.accepted, receipt.duplicate) == (1, 0)
    assert [rejection.seq for rejection in receipt.rejected] == [1]
    assert _count(trainer) == 2


def test_what_could_not_be_read_is_in_the_answer_beside_the_rest(database: Database) -> None:
    trainer = Trainer(database)
    bad = Rejection(7, "kind is none of these.")
    batch = Batch(trainer.attempt, (trainer.event(points("loss", [1], [1.0])),), (bad,))
    assert receive(database, trainer.run, batch) == Receipt(1, 0, (bad,))


def test_ranks_have_seqs_of_their_own(database: Database) -> None:
    trainers = [Trainer(database, rank=rank) for rank in range(3)]
    events = [one.event(points("loss", [1], [float(one.rank)])) for one in trainers]
    assert trainers[0].send(*events) == Receipt(3, 0)
    assert trainers[0].send(*events) == Receipt(0, 3)


def test_ten_clients_that_replay_one_batch_at_once_store_it_once(database: Database) -> None:
    trainer = Trainer(database)
    events = [trainer.event(points("loss", [at], [1.0])) for at in range(20)]
    events.append(trainer.event(failure()))
    receipts: list[Receipt] = []
    gate = threading.Barrier(10)

    def send() -> None:
        gate.wait()
        receipts.append(trainer.send(*events))

    threads = [threading.Thread(target=send) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(receipt.accepted for receipt in receipts) == 21
    assert sum(receipt.duplicate for receipt in receipts) == 9 * 21
    assert _count(trainer) == 20


def test_many_ranks_that_send_at_once_lose_nothing(database: Database) -> None:
    trainers = [Trainer(database, rank=rank) for rank in range(16)]
    gate = threading.Barrier(16)

    def send(trainer: Trainer) -> None:
        gate.wait()
        for at in range(0, 500, 50):
            steps = range(at, at + 50)
            assert trainer.log(points("loss", steps, [1.0] * 50)).accepted == 1

    threads = [threading.Thread(target=send, args=(one,)) for one in trainers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert _count(trainers[0]) == 16 * 500


def test_events_that_never_came_are_counted_and_named(database: Database) -> None:
    trainer = Trainer(database)
    events = [trainer.event(points("loss", [at], [1.0])) for at in range(10)]
    trainer.send(*events[:3])
    trainer.send(*events[5:7])
    trainer.send(events[9])
    with database.reading() as session:
        (rank,) = view.view(session, trainer.run).attempts[0].ranks
        attempt_id = session.scalars(select(Attempt.id)).one()
        found = keys.gaps(session, attempt_id, 0)
    assert rank.missing == 4
    assert found == [keys.Gap(0, 4, 5), keys.Gap(0, 8, 9)]
    trainer.send(*events)
    with database.reading() as session:
        assert view.view(session, trainer.run).attempts[0].missing == 0
        assert keys.gaps(session, attempt_id, 0) == []


def test_unknown_runs_and_attempts_are_not_found_and_harm_no_other_batch(
    database: Database,
) -> None:
    trainer = Trainer(database)
    event = trainer.event(points("loss", [1], [1.0]))
    with pytest.raises(NotFound):
        receive(database, "0" * 16, Batch(1, (event,)))
    with pytest.raises(NotFound):
        receive(database, trainer.run, Batch(2, (event,)))
    assert trainer.send(event).accepted == 1


def test_a_list_shows_the_last_value_of_the_loss_even_where_it_is_none(database: Database) -> None:
    trainer = Trainer(database)
    trainer.log(points("accuracy", [1], [0.5]))
    trainer.log(points("lr", [1, 2], [0.1, 0.2]), points("train/loss", [1, 2], [3.0, 2.5]))
    trainer.log(points("train/loss", [3], [math.nan]))
    trainer.log(points("train/loss", [2], [7.0]))
    with database.reading() as session:
        row = find.row(session, trainer.run)
    assert (row.main, row.last_step, row.last_value) == ("train/loss", 3, "nan")
    assert row.spark["high"] == [3.0, 2.5, None]
    assert row.spark["nan"] == [0, 0, 1]


def test_drops_reported_by_clients_add_up_over_ranks_and_are_never_counted_twice(
    database: Database,
) -> None:
    one, other = Trainer(database, rank=0), Trainer(database, rank=1)
    one.log(Heartbeat(100, {"queue": 5}))
    one.log(Heartbeat(200, {"queue": 7, "spool": 1}))
    other.log(Finish(Ending.FINISHED, 50, {"queue": 2}))
    one.log(Heartbeat(150, {"queue": 6}))
    with database.reading() as session:
        attempt = view.view(session, one.run).attempts[0]
        assert find.row(session, one.run).dropped == 10
    assert attempt.dropped == 10
    assert [rank.points for rank in attempt.ranks] == [200, 50]
    assert attempt.ranks[0].dropped == {"queue": 7, "spool": 1}


def test_both_clocks_are_kept_and_the_difference_is_shown(database: Database) -> None:
    trainer = Trainer(database)
    ahead = NOON + 3600
    trainer.send(trainer.event(points("loss", [1], [1.0]), time=ahead), at=AT)
    with database.reading() as session:
        (rank,) = view.view(session, trainer.run).attempts[0].ranks
        assert find.row(session, trainer.run).lag_s == rank.lag_s
    assert rank.lag_s == -3600
    assert rank.client_time == AT + timedelta(hours=1)


@pytest.mark.parametrize("time", [0.0, -1e12, 1e18])
def test_a_clock_may_say_anything(database: Database, time: float) -> None:
    trainer = Trainer(database)
    receipt = trainer.log(points("loss", [1], [1.0], [time]), failure(), time=time)
    assert receipt.accepted == 2


def test_a_run_ends_with_its_last_rank_and_fails_with_the_first(database: Database) -> None:
    one, other = Trainer(database, rank=0), Trainer(database, rank=1)

    def state() -> RunState:
        with database.reading() as session:
            return view.view(session, one.run).state

    one.log(Finish(Ending.FINISHED))
    assert state() is RunState.LIVE
    other.log(Finish(Ending.FINISHED))
    assert state() is RunState.FINISHED
    failing = Trainer(database, "another", rank=1)
    Trainer(database, "another", rank=0)
    failing.log(Finish(Ending.FAILED))
    with database.reading() as session:
        assert view.view(session, failing.run).state is RunState.FAILED


def test_facts_that_come_later_complete_the_attempt(database: Database) -> None:
    trainer = Trainer(database)
    trainer.log(
        Facts(About.ENVIRONMENT, {"torch": "2.9"}), Facts(About.ENVIRONMENT, {"cuda": "13"})
    )
    with database.reading() as session:
        attempt = view.view(session, trainer.run).attempts[0]
    assert attempt.environment == {"torch": "2.9", "cuda": "13"}


def test_what_a_script_tells_people_is_kept(database: Database) -> None:
    trainer = Trainer(database)
    trainer.log(Alert("Loss is high", "above 10", Level.ERROR, step=4))
    with database.reading() as session:
        (told,) = view.told(session, trainer.run)
    assert (told.title, told.text, told.level, told.step) == (
        "Loss is high",
        "above 10",
        Level.ERROR,
        4,
    )


def test_facts_of_an_attempt_have_a_bound(database: Database) -> None:
    trainer = Trainer(database)
    for number in range(8):
        trainer.log(Facts(About.CONFIG, {f"part{number}": "x" * 200_000}))
    with database.reading() as session:
        config = session.scalars(select(Attempt.config)).one()
    assert len(json.dumps(config)) <= facts.MOST + 200
    assert "part0" in config
    assert facts.LEFT_OUT in config
