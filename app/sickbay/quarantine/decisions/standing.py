"""Where a sample stands: its status and what the decision in force rests on."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sickbay.quarantine.tables import Status


@dataclass(frozen=True, slots=True)
class Standing:
    """All that a move changes on a sample, and all that undo brings back."""

    status: Status
    held_at: datetime | None = None
    replacement: str | None = None
    approved_codes: frozenset[str] = frozenset()
    """The blocking codes that an approval covers."""
    decided_sha256: str | None = None
    """The content that the approval, repair or exclusion was decided on."""

    def columns(self) -> dict[str, Any]:
        """Return the values of the sample's columns."""
        return {
            "status": self.status,
            "held_at": self.held_at,
            "replacement": self.replacement,
            "approved_codes": sorted(self.approved_codes) or None,
            "decided_sha256": self.decided_sha256,
        }

    def to_json(self) -> dict[str, Any]:
        """Return the standing as kept in a decision, without what is empty."""
        values = self.columns()
        if self.held_at is not None:
            values["held_at"] = self.held_at.isoformat()
        return {name: value for name, value in values.items() if value is not None}


def from_json(values: Mapping[str, Any]) -> Standing:
    """Return the standing that a decision kept."""
    held_at = values.get("held_at")
    return Standing(
        status=Status(values["status"]),
        held_at=None if held_at is None else datetime.fromisoformat(held_at),
        replacement=values.get("replacement"),
        approved_codes=frozenset(values.get("approved_codes", ())),
        decided_sha256=values.get("decided_sha256"),
    )


def still_holds(standing: Standing, content: str | None, blocking: frozenset[str]) -> bool:
    """Say whether a sample may stand like this, given its content and blocking codes.

    An approval holds for the codes and content it was given on, a repair and an exclusion for
    the content. Content that cannot be read now is no reason to bring an excluded sample back.
    """
    same = content == standing.decided_sha256
    match standing.status:
        case Status.CLEAN:
            return not blocking
        case Status.HELD:
            return True
        case Status.APPROVED:
            return same and blocking <= standing.approved_codes
        case Status.REPAIRED:
            return same
        case Status.EXCLUDED:
            return same or content is None
