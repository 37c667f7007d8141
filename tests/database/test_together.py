"""Writes that share an act are carried out at once, and each caller gets its own."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import select, text
from sqlalchemy.orm import Session

from sickbay.accounts.tables import Person, Role
from sickbay.contract.errors import BadInput
from sickbay.database import Database
from sickbay.database.tables import now

Act = Callable[[Session, list[str]], list[Any]]


def _welcome(session: Session, names: list[str]) -> list[Any]:
    session.add_all(Person(name=name, role=Role.VIEWER, created_at=now()) for name in names if name)
    session.flush()
    return [name.upper() if name else BadInput("no name") for name in names]


def _at_once(database: Database, act: Act, items: list[str]) -> list[Any]:
    """Hand items in while the writer is busy, so that they wait together."""
    busy, hold = threading.Event(), threading.Event()

    def block(_session: Session) -> None:
        busy.set()
        hold.wait()

    blocker = threading.Thread(target=database.writing, args=(block,))
    blocker.start()
    busy.wait()
    results: dict[str, Any] = {}

    def hand_in(item: str) -> None:
        try:
            results[item] = database.writing_together(act, item).result()
        except Exception as error:  # noqa: BLE001 (what the caller gets is under test)
            results[item] = error

    threads = [threading.Thread(target=hand_in, args=(item,)) for item in items]
    for thread in threads:
        thread.start()
    while database._waiting.qsize() < len(items):  # noqa: SLF001 (to know that they wait)
        pass
    hold.set()
    for thread in [*threads, blocker]:
        thread.join()
    return [results[item] for item in items]


def _names(database: Database) -> list[str]:
    with database.reading() as session:
        return sorted(session.scalars(select(Person.name)))


def test_items_that_wait_together_run_in_one_act_and_get_their_own_results(
    database: Database,
) -> None:
    sizes: list[int] = []

    def act(session: Session, names: list[str]) -> list[Any]:
        sizes.append(len(names))
        return _welcome(session, names)

    assert _at_once(database, act, ["ann", "bob", "eve"]) == ["ANN", "BOB", "EVE"]
    assert sizes == [3]
    assert _names(database) == ["ann", "bob", "eve"]


def test_an_exception_among_the_results_is_raised_to_its_caller_alone(database: Database) -> None:
    ann, nobody = _at_once(database, _welcome, ["ann", ""])
    assert ann == "ANN"
    assert isinstance(nobody, BadInput)
    with pytest.raises(BadInput):
        database.writing_together(_welcome, "").result()


def test_an_item_that_breaks_the_act_fails_alone(database: Database) -> None:
    def act(session: Session, names: list[str]) -> list[Any]:
        made = _welcome(session, names)
        if "bad" in names:
            raise ValueError
        return made

    ann, bad, bob = _at_once(database, act, ["ann", "bad", "bob"])
    assert (ann, bob) == ("ANN", "BOB")
    assert isinstance(bad, ValueError)
    assert _names(database) == ["ann", "bob"]


def test_an_item_that_breaks_the_database_fails_alone(database: Database) -> None:
    def act(session: Session, names: list[str]) -> list[Any]:
        if "bad" in names:
            session.execute(text("INSERT INTO person (name) VALUES ('half')"))
        return _welcome(session, names)

    ann, bad, bob = _at_once(database, act, ["ann", "bad", "bob"])
    assert (ann, bob) == ("ANN", "BOB")
    assert isinstance(bad, Exception)
    assert _names(database) == ["ann", "bob"]


def test_an_item_that_is_called_off_while_it_waits_is_not_carried_out(database: Database) -> None:
    busy, hold = threading.Event(), threading.Event()

    def block(_session: Session) -> None:
        busy.set()
        hold.wait()

    blocker = threading.Thread(target=database.writing, args=(block,))
    blocker.start()
    busy.wait()
    ann = database.writing_together(_welcome, "ann")
    bob = database.writing_together(_welcome, "bob")
    assert bob.cancel()
    hold.set()
    blocker.join()
    assert ann.result() == "ANN"
    assert not ann.cancel()
    assert _names(database) == ["ann"]
