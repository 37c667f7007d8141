"""Tokens: shown once, stored as a hash, ended at once."""

from datetime import timedelta
from pathlib import Path

import pytest

from sickbay.accounts import tokens
from sickbay.accounts.tables import Scope, Token
from sickbay.contract.errors import BadInput, Conflict, NotFound
from sickbay.database import Database
from sickbay.database.tables import now


def a_token(database: Database, name: str = "ci", *scopes: Scope) -> str:
    return database.writing(lambda session: tokens.create(session, name, scopes or (Scope.SCAN,)))


def found(database: Database, shown: str) -> tokens.Bearer | None:
    with database.reading() as session:
        return tokens.find(session, shown)


def test_a_token_is_found_with_its_scopes(database: Database) -> None:
    bearer = found(database, a_token(database, "ci", Scope.SCAN, Scope.RELEASES))
    assert bearer is not None
    assert (bearer.name, bearer.scopes) == (
        "ci",
        frozenset((Scope.SCAN, Scope.RELEASES)),
    )


def test_its_secret_is_nowhere_in_the_state(database: Database, state: Path) -> None:
    shown = a_token(database)
    secret = shown.split("_", 2)[2]
    database.close()
    for file in state.rglob("*"):
        if file.is_file():
            assert secret.encode() not in file.read_bytes()


def test_no_part_of_it_opens_anything(database: Database) -> None:
    shown = a_token(database)
    other = a_token(database, "other")
    prefix, number, secret = shown.split("_", 2)
    swapped = f"{prefix}_{other.split('_', 2)[1]}_{secret}"
    for wrong in ("", prefix, f"{prefix}_{number}", secret, swapped, shown[:-1], f"{shown}A"):
        assert found(database, wrong) is None
    assert found(database, f"sickbay_{'9' * 18}_{secret}") is None


def test_a_revoked_token_opens_nothing_and_may_be_revoked_again(database: Database) -> None:
    shown = a_token(database)
    for _ in range(2):
        database.writing(lambda session: tokens.revoke(session, "ci"))
        assert found(database, shown) is None


def test_an_unknown_token_cannot_be_revoked(database: Database) -> None:
    with pytest.raises(NotFound):
        database.writing(lambda session: tokens.revoke(session, "ci"))


@pytest.mark.parametrize("name", ["", "-a", "a" * 81, "a\nb", "ä", "a/b"])
def test_a_malformed_name_is_refused(database: Database, name: str) -> None:
    with pytest.raises(BadInput):
        a_token(database, name)


def test_a_name_stands_for_one_token_and_a_token_has_a_scope(database: Database) -> None:
    a_token(database)
    with pytest.raises(Conflict):
        a_token(database)
    with pytest.raises(BadInput):
        database.writing(lambda session: tokens.create(session, "b", ()))


def test_use_is_noted_at_most_once_a_minute(database: Database) -> None:
    shown = a_token(database)
    first = found(database, shown)
    assert first is not None
    assert first.note_used
    database.writing(lambda session: tokens.note_used(session, first.token_id))
    second = found(database, shown)
    assert second is not None
    assert not second.note_used
    long_ago = now() - timedelta(minutes=2)
    database.writing(lambda session: tokens.note_used(session, first.token_id, at=long_ago))
    third = found(database, shown)
    assert third is not None
    assert third.note_used
    with database.reading() as session:
        assert session.get_one(Token, first.token_id).used_at == long_ago
