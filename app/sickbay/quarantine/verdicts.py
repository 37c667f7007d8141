"""What a new scan means for a sample that people may have decided on before."""

from datetime import datetime

from sickbay.quarantine.decisions.standing import Standing, still_holds
from sickbay.quarantine.tables import Action, Status


def verdict(
    standing: Standing, *, content: str | None, blocking: frozenset[str], blocked_before: bool
) -> Action | None:
    """Return HOLD, CLEAR or nothing for a sample that a scan found again.

    A held sample leaves quarantine when what blocked it is gone; one that a person holds, and
    that nothing blocked, stays. An approval of content that is gone lapses: the new content is
    held if something blocks it, else clean. Repaired and excluded samples come back for review
    when the original changed.
    """
    match standing.status:
        case Status.HELD if blocked_before and not blocking:
            return Action.CLEAR
        case _ if still_holds(standing, content, blocking):
            return None
        case Status.APPROVED if not blocking:
            return Action.CLEAR
        case _:
            return Action.HOLD


def after(action: Action, at: datetime) -> Standing:
    """Return where a scan's action leads."""
    if action is Action.CLEAR:
        return Standing(Status.CLEAN)
    return Standing(Status.HELD, held_at=at)
