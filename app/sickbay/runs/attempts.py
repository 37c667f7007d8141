"""Which attempts of a run a question is about."""

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from sickbay.contract.errors import NotFound
from sickbay.runs.tables import Attempt, Run


def attempt_ids(
    session: Session, run: str, attempts: Sequence[int] | None, *, every: bool = False
) -> dict[int, int]:
    """Return attempts' numbers by id: those asked for, the newest where none are, or every one.

    Raises:
        NotFound: there is no such run.
    """
    row = session.execute(select(Run.id, Run.attempt_id).where(Run.key == run)).one_or_none()
    if row is None:
        raise NotFound("There is no such run.")
    wanted = Attempt.run_id == row.id
    if attempts is not None:
        wanted &= Attempt.number.in_(attempts)
    elif not every:
        wanted = Attempt.id == row.attempt_id
    rows = session.execute(select(Attempt.id, Attempt.number).where(wanted))
    return dict(rows.all())
