"""Why a sample was decided as it was: a closed list, each with its key."""

from dataclasses import dataclass

from sickbay.contract.errors import BadInput

MAX_NOTE = 2000


@dataclass(frozen=True, slots=True)
class Reason:
    """One reason, with the key that chooses it."""

    key: str
    code: str
    label: str


REASONS = (
    Reason("1", "damaged", "Damaged"),
    Reason("2", "copy", "Copy"),
    Reason("3", "wrong-label", "Wrong label"),
    Reason("4", "off-topic", "Off topic"),
    Reason("5", "private", "Private"),
    Reason("6", "breaks-training", "Breaks training"),
    Reason("7", "poor-quality", "Poor quality"),
    Reason("8", "licence", "Licence"),
    Reason("9", "other", "Other"),
)
_CODES = frozenset(reason.code for reason in REASONS)


def check(reason: str, note: str) -> None:
    """Check what a person gave; an empty text is no reason given.

    Raises:
        BadInput: the reason is not on the list, or the note is too long or holds a NUL.
    """
    if reason and reason not in _CODES:
        raise BadInput(f"The reason is none of {', '.join(sorted(_CODES))}.")
    if len(note) > MAX_NOTE:
        raise BadInput(f"The note is longer than {MAX_NOTE} characters; shorten it.")
    if "\0" in note:
        raise BadInput("The note holds a NUL character; remove it.")
