"""People and what their roles cover."""

import pytest

from sickbay.accounts import people
from sickbay.accounts.tables import Role
from sickbay.contract.errors import BadInput
from sickbay.database import Database


def test_each_role_covers_those_after_it() -> None:
    assert [[one.covers(other) for other in Role] for one in Role] == [
        [True, True, True],
        [False, True, True],
        [False, False, True],
    ]


def test_somebody_new_needs_a_role_and_somebody_known_keeps_theirs(database: Database) -> None:
    with pytest.raises(BadInput, match="give a role"):
        database.writing(lambda session: people.welcome(session, "anna"))
    made = database.writing(lambda session: people.welcome(session, "anna", Role.REVIEWER))
    known = database.writing(lambda session: people.welcome(session, "anna"))
    assert (known.id, known.role) == (made.id, Role.REVIEWER)
    with pytest.raises(BadInput, match="known as reviewer"):
        database.writing(lambda session: people.welcome(session, "anna", Role.ADMIN))


@pytest.mark.parametrize(
    "name", ["", " ", "a" * 81, "a\nb", "a\x1b[31m", "a\u202eb", "scan 1", "Token ci"]
)
def test_a_name_is_short_and_printable(database: Database, name: str) -> None:
    with pytest.raises(BadInput):
        database.writing(lambda session: people.welcome(session, name, Role.VIEWER))


def test_the_owner_is_the_first_admin(database: Database) -> None:
    first = database.writing(lambda session: people.owner(session, "anna"))
    again = database.writing(lambda session: people.owner(session, "bert"))
    assert (again.id, again.name) == (first.id, "anna")


def test_the_owner_gets_another_name_where_theirs_is_taken(database: Database) -> None:
    database.writing(lambda session: people.welcome(session, "anna", Role.VIEWER))
    owner = database.writing(lambda session: people.owner(session, "anna"))
    assert (owner.name, owner.role) == ("owner", Role.ADMIN)
