import sqlite3
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import func, select, text
from sqlalchemy.exc import IntegrityError, OperationalError, StatementError
from sqlalchemy.orm import Session

from sickbay.accounts.tables import Person, Role
from sickbay.contract.errors import Busy, NotFound, StorageFailed
from sickbay.database import Database
from sickbay.database.connections import sqlite_driver
from sickbay.quarantine import data_sets
from sickbay.quarantine.tables import DataSet


@pytest.fixture(params=["bundled", "standard library"])
def either(request: pytest.FixtureRequest, state: Path) -> Iterator[Database]:
    """The database through each driver; the standard library's may have the WAL-reset bug."""
    driver = sqlite_driver() if request.param == "bundled" else sqlite3
    opened = Database(state / "sickbay.db", driver=driver)
    yield opened
    opened.close()


def named(name: str) -> Callable[[Session], str]:
    def act(session: Session) -> str:
        return data_sets.register(session, name=name, layout="imagefolder").name

    return act


def names(database: Database) -> list[str]:
    with database.reading() as session:
        return list(session.scalars(select(DataSet.name).order_by(DataSet.name)))


def together(database: Database, acts: list[Callable[[Session], object]]) -> list[object]:
    """Hand in the acts from a thread each, while the writer is busy; return what came out."""
    outcomes: list[object] = [None] * len(acts)
    started, go_on = threading.Event(), threading.Event()

    def busy(_: Session) -> None:
        started.set()
        go_on.wait()

    def hand_in(number: int, act: Callable[[Session], object]) -> None:
        try:
            outcomes[number] = database.writing(act)
        except Exception as error:  # noqa: BLE001 (the outcome is looked at)
            outcomes[number] = error

    first = threading.Thread(target=database.writing, args=(busy,))
    first.start()
    started.wait()
    threads = [threading.Thread(target=hand_in, args=one) for one in enumerate(acts)]
    for thread in threads:
        thread.start()
    go_on.set()
    for thread in (first, *threads):
        thread.join()
    return outcomes


def test_a_write_is_there_for_every_reader_once_it_is_answered(either: Database) -> None:
    assert either.writing(named("a")) == "a"

    assert names(either) == ["a"]


def test_a_hundred_threads_write_and_each_gets_its_own_answer(either: Database) -> None:
    wanted = [f"set-{number:03}" for number in range(100)]

    outcomes = together(either, [named(name) for name in wanted])

    assert outcomes == wanted
    assert names(either) == wanted


def test_what_one_write_raises_undoes_only_its_own(either: Database) -> None:
    def fails(session: Session) -> None:
        named("half")(session)
        raise NotFound("Nothing.")

    before, error, after = together(either, [named("a"), fails, named("b")])

    assert (before, after) == ("a", "b")
    assert isinstance(error, NotFound)
    assert names(either) == ["a", "b"]


def test_a_write_that_the_database_refuses_fails_alone(either: Database) -> None:
    def breaks_a_rule(session: Session) -> None:
        session.execute(text("INSERT INTO data_set (id) VALUES (1)"))

    before, error, after = together(either, [named("a"), breaks_a_rule, named("b")])

    assert (before, after) == ("a", "b")
    assert isinstance(error, IntegrityError)
    assert names(either) == ["a", "b"]
    assert either.writing(named("c")) == "c"


def test_a_write_of_what_no_column_can_hold_fails_alone(either: Database) -> None:
    def writes_nonsense(session: Session) -> None:
        session.add(Person(name="eve", role=Role.VIEWER, created_at="yesterday"))

    before, error, after = together(either, [named("a"), writes_nonsense, named("b")])

    assert (before, after) == ("a", "b")
    assert isinstance(error, StatementError)
    assert names(either) == ["a", "b"]
    with pytest.raises(StatementError):
        either.writing(writes_nonsense)
    assert either.writing(named("c")) == "c"


def test_an_exit_inside_a_write_does_not_end_the_writer(database: Database) -> None:
    def leaves(_: Session) -> None:
        raise SystemExit

    with pytest.raises(SystemExit):
        database.writing(leaves)

    assert database.writing(named("a")) == "a"


def test_a_reader_sees_one_moment_and_does_not_wait_for_writers(database: Database) -> None:
    with database.reading() as session:
        count = select(func.count()).select_from(DataSet)
        assert session.scalar(count) == 0
        database.writing(named("a"))
        assert session.scalar(count) == 0

    assert names(database) == ["a"]


def test_a_reader_cannot_write(either: Database) -> None:
    with either.reading() as session, pytest.raises((OperationalError, StorageFailed)):
        session.execute(text("DELETE FROM data_set"))


def test_every_commit_is_synced(either: Database) -> None:
    synchronous = either.writing(lambda session: session.scalar(text("PRAGMA synchronous")))

    assert synchronous == 2


def test_closing_finishes_what_was_handed_in_and_takes_no_more(state: Path) -> None:
    database = Database(state / "sickbay.db")
    started, go_on = threading.Event(), threading.Event()
    outcomes: list[object] = []

    def slow(session: Session) -> str:
        started.set()
        go_on.wait()
        return named("slow")(session)

    writing = threading.Thread(target=lambda: outcomes.append(database.writing(slow)))
    writing.start()
    started.wait()
    closing = threading.Thread(target=database.close)
    closing.start()
    go_on.set()
    closing.join()
    writing.join()

    assert outcomes == ["slow"]
    with pytest.raises(Busy, match="stopping"):
        database.writing(named("late"))
    database.close()


def test_no_write_hangs_when_closing_comes_between(state: Path) -> None:
    database = Database(state / "sickbay.db")
    outcomes: list[object] = []
    ready = threading.Barrier(21)

    def hand_in(name: str) -> None:
        ready.wait()
        try:
            outcomes.append(database.writing(named(name)))
        except Busy as busy:
            outcomes.append(busy)

    threads = [threading.Thread(target=hand_in, args=(f"set-{n}",)) for n in range(20)]
    for thread in threads:
        thread.start()
    ready.wait()
    database.close()
    for thread in threads:
        thread.join()

    answered = sorted(str(one) for one in outcomes if not isinstance(one, Busy))
    reopened = Database(state / "sickbay.db")
    assert sorted(names(reopened)) == answered
    assert len(outcomes) == 20
    reopened.close()
