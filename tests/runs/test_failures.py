import itertools
import random

import pytest
from sqlalchemy.orm import Session
from tests.runs.sending import NOON, Trainer, failure, points

from sickbay.contract.blame import Sample
from sickbay.contract.errors import NotFound
from sickbay.contract.event import MAX_EVENTS, Event, Failure, FailureKind
from sickbay.database import Database
from sickbay.quarantine import data_sets
from sickbay.quarantine.tables import Sample as Row
from sickbay.quarantine.tables import Status
from sickbay.runs.failures import find
from sickbay.runs.failures.find import GroupRow, GroupView
from sickbay.runs.failures.marks import Mark, marks

TRACE = 'Traceback (most recent call last):\n  File "/job/train.py", line 41, in step\n    x\n'
NCCL = failure(
    "NCCL communicator was aborted on rank 3",
    exception_type="DistBackendError",
    what=FailureKind.OTHER,
)


def _groups(database: Database) -> list[GroupRow]:
    with database.reading() as session:
        return find.groups(session)


def _only(database: Database) -> GroupView:
    (row,) = _groups(database)
    with database.reading() as session:
        return find.group(session, row.id)


def _event(rank: int, body: Failure, time: float, seq: int = 1) -> Event:
    return Event(seq, rank, NOON + time, body)


def test_ten_thousand_failures_of_one_kind_are_one_group(database: Database) -> None:
    trainer = Trainer(database)
    bodies = [
        failure(f"image file cam{n}/{n:06d}.jpg is truncated ({n} bytes)", traceback=TRACE, step=n)
        for n in range(10_000)
    ]
    for at in range(0, len(bodies), MAX_EVENTS):
        assert trainer.log(*bodies[at : at + MAX_EVENTS]).accepted == MAX_EVENTS
    group = _only(database)
    assert (group.row.failures, group.row.first_step, group.row.last_step) == (10_000, 0, 9999)


@pytest.mark.parametrize("order", ["root first", "root last", "mixed"])
def test_ranks_that_fail_for_want_of_another_join_its_group_and_come_after_it(
    database: Database, order: str
) -> None:
    trainer = Trainer(database)
    root = _event(317, failure("bad sample", traceback=TRACE, step=9), 5.0)
    others = [_event(rank, NCCL, 0.5 * (rank % 4)) for rank in range(512) if rank != 317]
    events = {
        "root first": [root, *others],
        "root last": [*others, root],
        "mixed": [*others[:200], root, *others[200:]],
    }[order]
    for at in range(0, 512, 64):
        trainer.send(*events[at : at + 64])
    group = _only(database)
    assert group.row.message == "bad sample"
    assert group.row.failures == 512
    assert group.rank_count == 512
    assert group.ranks[0].rank == 317
    assert group.ranks[0].root
    assert not any(rank.root for rank in group.ranks[1:])
    assert group.root.rank == 317


def test_consequences_without_a_cause_are_a_group_of_their_own_until_it_shows(
    database: Database,
) -> None:
    trainer = Trainer(database)
    trainer.send(_event(3, NCCL, 60.0))
    (alone,) = _groups(database)
    trainer.send(_event(1, failure("the cause"), 1.0))
    group = _only(database)
    assert (group.row.message, group.row.failures) == ("the cause", 2)
    with database.reading() as session:
        assert find.group(session, alone.id).row.id == group.row.id
    later = Trainer(database, launch="another")
    later.send(_event(3, NCCL, 90_000.0))
    assert sorted((row.id, row.failures) for row in _groups(database)) == [
        (alone.id, 1),
        (group.row.id, 2),
    ]


def test_any_order_and_split_of_failures_gives_the_same_groups(database: Database) -> None:
    names = map("run {}".format, itertools.count())
    chance = random.Random(5)  # noqa: S311 (no secret)
    events = [_event(rank, NCCL, 2.0 + rank) for rank in range(20)]
    events += [_event(30, failure("cause", step=4), 1.0), _event(31, failure("cause", step=3), 3.0)]
    seen = set()
    for _ in range(6):
        trainer = Trainer(database, next(names))
        chance.shuffle(events)
        for at in range(0, len(events), 5):
            trainer.send(*events[at : at + 5])
        with database.reading() as session:
            (row,) = find.groups(session, trainer.run)
            group = find.group(session, row.id)
        seen.add((row.failures, row.first_step, row.last_step, group.ranks, row.first_at))
    assert len(seen) == 1


def test_every_field_of_a_failure_comes_back(database: Database) -> None:
    trainer = Trainer(database)
    body = failure(
        step=7,
        epoch=1,
        host="node4",
        worker=2,
        value=float("nan"),
        baseline=0.5,
        samples=(Sample("a/1.jpg", index=4, loss=9.5), Sample("a/2.jpg")),
        rule={"name": "spike", "version": 1},
        seeds={"torch": 3},
        checkpoint="last.pt",
    )
    trainer.log(body)
    root = _only(database).root
    assert root.event == _json(trainer, body)
    assert [sample.path for sample in root.samples] == ["a/1.jpg", "a/2.jpg"]
    assert root.step == 7


def _json(trainer: Trainer, body: Failure) -> object:
    return Event(trainer.seq, 0, NOON, body).to_json()


def _data_set(database: Database, *paths: str) -> None:
    def register(session: Session) -> None:
        data_set = data_sets.register(session, name="pets", layout="imagefolder")
        for path in paths:
            session.add(_sample(data_set.id, path))

    database.writing(register)


def _sample(data_set_id: int, path: str) -> Row:
    return Row(
        data_set_id=data_set_id,
        raw_path=path.encode(),
        path=path,
        split="",
        label="",
        status=Status.CLEAN,
        version=1,
        findings=0,
        scan_id=1,
        gone=False,
    )


def test_paths_that_are_samples_of_the_data_set_are_linked_and_others_kept(
    database: Database,
) -> None:
    _data_set(database, "a/1.jpg")
    trainer = Trainer(database, dataset="pets")
    for _ in range(2):
        trainer.log(failure(samples=(Sample("a/1.jpg"), Sample("b/unknown.jpg"))))
    trainer.log(failure(samples=(Sample("a/1.jpg"),)))
    group = _only(database)
    assert [(one.path, one.sample_id, one.failures) for one in group.samples] == [
        ("a/1.jpg", 1, 3),
        ("b/unknown.jpg", None, 2),
    ]


def test_other_exceptions_places_and_kinds_are_other_groups(database: Database) -> None:
    trainer = Trainer(database)
    trainer.log(
        failure("x", traceback=TRACE),
        failure("x", traceback=TRACE.replace("step", "load")),
        failure("x", exception_type="ValueError", traceback=TRACE),
        failure("x", what=FailureKind.OTHER, traceback=TRACE),
        failure("y", traceback=TRACE),
    )
    assert len(_groups(database)) == 5


def test_marks_say_where_on_a_chart_failures_lie(database: Database) -> None:
    trainer = Trainer(database)
    trainer.log(points("loss", [1], [1.0]), failure(step=5), failure(step=5), failure())
    with database.reading() as session:
        (mark,) = marks(session, trainer.run)
        assert marks(session, trainer.run, [2]) == []
    assert mark == Mark(1, 5, "loader-error", mark.group_id, 0, 2)


def test_failures_of_a_group_are_read_a_page_at_a_time(database: Database) -> None:
    trainer = Trainer(database)
    trainer.log(*(failure(step=step) for step in range(5)))
    (row,) = _groups(database)
    with database.reading() as session:
        first = find.failures(session, row.id, size=3)
        rest = find.failures(session, row.id, after=first[-1].id)
        assert [one.step for one in first + rest] == list(range(5))
        assert find.failure(session, first[0].id).step == 0
        with pytest.raises(NotFound):
            find.failure(session, 999)
        with pytest.raises(NotFound):
            find.group(session, 999)
