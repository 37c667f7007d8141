"""Words for acts and statuses, as buttons and the status line say them."""

from dataclasses import dataclass, replace

from sickbay.quarantine.decisions.reasons import REASONS
from sickbay.quarantine.tables import Action, Status
from sickbay.web.language import _, ngettext

_REASONS = {reason.code: reason.label for reason in REASONS}


@dataclass(frozen=True, slots=True)
class ActView:
    """A button: what it does, its key, the status it leads to, and why it is not possible."""

    action: Action
    words: str
    key: str
    becomes: Status
    refused: str = ""


KEEP = ActView(Action.APPROVE, _("Keep as is"), "A", Status.APPROVED)
REPLACE = ActView(Action.REPAIR, _("Replace file"), "R", Status.REPAIRED)
LEAVE_OUT = ActView(Action.EXCLUDE, _("Leave out"), "X", Status.EXCLUDED)
REOPEN = ActView(Action.REOPEN, _("Reopen"), "O", Status.HELD)
HOLD = ActView(Action.HOLD, _("Hold for review"), "H", Status.HELD)


def reason_label(code: str) -> str:
    """Return a reason's words, or an empty text where none was given."""
    return _REASONS.get(code, code).lower()


def did_one(action: Action) -> str:
    """Say what was done to one sample; its path follows."""
    return {
        Action.APPROVE: _("Approved"),
        Action.REPAIR: _("Replaced"),
        Action.EXCLUDE: _("Left out"),
        Action.REOPEN: _("Reopened"),
        Action.HOLD: _("Held"),
        Action.CLEAR: _("Found in order:"),
        Action.UNDO: _("Undone:"),
    }[action]


def did_many(action: Action, count: int) -> str:
    """Say what was done to several samples."""
    number = f"{count:,}"
    words = {
        Action.APPROVE: ngettext("Approved %s sample", "Approved %s samples", count),
        Action.REPAIR: ngettext("Replaced %s sample", "Replaced %s samples", count),
        Action.EXCLUDE: ngettext("Left out %s sample", "Left out %s samples", count),
        Action.REOPEN: ngettext("Reopened %s sample", "Reopened %s samples", count),
        Action.HOLD: ngettext("Held %s sample", "Held %s samples", count),
        Action.CLEAR: ngettext("Found %s sample in order", "Found %s samples in order", count),
        Action.UNDO: ngettext(
            "Undone: %s sample is as before", "Undone: %s samples are as before", count
        ),
    }
    return words[action] % number


def in_history(action: Action) -> str:
    """Say in a sample's history what somebody did; the name stands before it."""
    return {
        Action.APPROVE: _("kept it as it is"),
        Action.REPAIR: _("replaced it"),
        Action.EXCLUDE: _("left it out"),
        Action.REOPEN: _("reopened it"),
        Action.HOLD: _("held it"),
        Action.CLEAR: _("found it in order"),
        Action.UNDO: _("took the last decision back"),
    }[action]


def refusals(
    allowed: frozenset[Action], unsafe: str | None, file: str | None = None
) -> dict[Action, str]:
    """Say for each act a held sample does not allow why that is; ``file`` is a row's own."""
    why = unsafe or _("Its bytes cannot be read.")
    mend = why if file is None else _("Correct it in %s, then scan again.") % file
    advice = {
        Action.APPROVE: _("It cannot be kept as it is. %s") % why,
        Action.REPAIR: _("It cannot be replaced. %s") % mend,
    }
    return {action: sentence for action, sentence in advice.items() if action not in allowed}


def with_refusal(act: ActView, refused: str) -> ActView:
    """Return the act as not possible where there is a reason."""
    return replace(act, refused=refused) if refused else act


def seen(code: str, meaning: str) -> str:
    """Say what can be seen of a fault on the picture."""
    if code == "image.truncated":
        return _("The picture as far as it decodes; the hatched part is lost.")
    return _("The picture. %s") % meaning if meaning else _("The picture.")
