from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import event
from sqlalchemy.orm import Session
from tests.runs.sending import NOON, Trainer, failure, points

from sickbay.contract.errors import NotFound
from sickbay.contract.event import Ending, Finish
from sickbay.database import Database
from sickbay.runs import find, view
from sickbay.runs.state import DEAD_AFTER, STALLED_AFTER, RunState, condition, state_of

AT = datetime.fromtimestamp(NOON, UTC)


@contextmanager
def counted(session: Session) -> Iterator[list[str]]:
    """The statements that run meanwhile."""
    seen: list[str] = []

    def note(*args: object) -> None:
        seen.append(str(args[2]))

    engine = session.get_bind()
    event.listen(engine, "before_cursor_execute", note)
    yield seen
    event.remove(engine, "before_cursor_execute", note)


def _queries(database: Database, size: int) -> int:
    with database.reading() as session, counted(session) as seen:
        page = find.runs(session, size=size)
        assert len(page.rows) == size
    return len(seen)


def test_a_list_of_a_thousand_runs_takes_as_many_queries_as_one_of_ten(database: Database) -> None:
    for number in range(1000):
        trainer = Trainer(database, f"run {number}")
        if number % 50 == 0:
            trainer.log(points("loss", [1, 2], [1.0, 2.0]), failure())
    assert _queries(database, 1000) == _queries(database, 10) <= 6


def test_pages_follow_one_another_without_gap_or_overlap(database: Database) -> None:
    for number in range(7):
        Trainer(database, f"run {number}")
    seen, after = [], None
    with database.reading() as session:
        while True:
            page = find.runs(session, size=3, after=after)
            assert page.total == 7
            seen += [row.name for row in page.rows]
            if (after := page.next_after) is None:
                break
    assert seen == [f"run {number}" for number in reversed(range(7))]


def test_a_run_launched_again_comes_first_and_once(database: Database) -> None:
    Trainer(database, "old", "one")
    Trainer(database, "new")
    Trainer(database, "old", "two")
    with database.reading() as session:
        page = find.runs(session)
    assert [(row.name, row.attempt, row.attempts) for row in page.rows] == [
        ("old", 2, 2),
        ("new", 1, 1),
    ]


def test_runs_are_found_by_state_name_and_data_set(database: Database) -> None:
    Trainer(database, "50% done").log(Finish(Ending.FINISHED))
    Trainer(database, "500 done").log(Finish(Ending.FAILED))
    Trainer(database, "going")

    def found(**how: object) -> list[str]:
        with database.reading() as session:
            return [row.name for row in find.runs(session, **how).rows]  # type: ignore[arg-type]  # a test's own filters

    assert found(state=RunState.FINISHED) == ["50% done"]
    assert found(state=RunState.FAILED) == ["500 done"]
    assert found(state=RunState.LIVE) == ["going"]
    assert found(text="50%") == ["50% done"]
    assert found(dataset="pets") == []


@pytest.mark.parametrize(
    ("silent", "expected"),
    [
        (timedelta(0), RunState.LIVE),
        (STALLED_AFTER - timedelta(seconds=1), RunState.LIVE),
        (STALLED_AFTER, RunState.STALLED),
        (DEAD_AFTER - timedelta(seconds=1), RunState.STALLED),
        (DEAD_AFTER, RunState.DEAD),
        (timedelta(days=3), RunState.DEAD),
    ],
)
def test_a_silent_run_is_stalled_then_dead_in_lists_and_alone(
    database: Database, silent: timedelta, expected: RunState
) -> None:
    trainer = Trainer(database)
    with database.reading() as session:
        heard = view.view(session, trainer.run).attempts[0].heartbeat_at
        assert state_of(heard, None, heard + silent) is expected
        for wanted in RunState:
            page = find.runs(session, state=wanted, at=heard + silent)
            assert len(page.rows) == (wanted is expected)
        assert find.row(session, trainer.run, at=heard + silent).state is expected


@pytest.mark.parametrize("ending", list(Ending))
def test_what_has_ended_is_never_stalled_or_dead(ending: Ending) -> None:
    state = state_of(AT, ending, AT + timedelta(days=9))
    assert state is (RunState.FAILED if ending is Ending.FAILED else RunState.FINISHED)
    assert condition(state, AT) is not None


def test_no_run_is_not_found(database: Database) -> None:
    with database.reading() as session:
        for look in (find.row, view.view):
            with pytest.raises(NotFound):
                look(session, "0" * 16)
        with pytest.raises(NotFound):
            view.named(session, "nobody")
        assert find.runs(session).rows == ()
