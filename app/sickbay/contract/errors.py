"""Every error a user can meet, as one tree.

    SickbayError
    ├── BadInput          what was given cannot be used           exit 2
    ├── NotFound          nothing by that name                    exit 2
    ├── Refused           understood, but it would lose something exit 2
    │   ├── Conflict      somebody else was first
    │   └── IllegalMove   this status does not allow that act
    ├── Denied            no identity, or not allowed             exit 4
    ├── Unreachable       no answer from the server               exit 3
    ├── Busy              try again in a moment                   exit 3
    └── StorageFailed     disk full, read-only or broken          exit 5

An error carries one plain sentence: what, where, what to do. None of them knows HTTP; the
table in ``web/errors.py`` does.
"""


class SickbayError(Exception):
    """Base of every error whose sentence may be shown to a user as it is."""

    exit_code = 1

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


class BadInput(SickbayError):
    """What was given cannot be used."""

    exit_code = 2


class NotFound(SickbayError):
    """Nothing by that name."""

    exit_code = 2


class Refused(SickbayError):
    """The request was understood, and acting on it would lose or break something."""

    exit_code = 2


class Conflict(Refused):
    """Somebody else was first; the present state is in the sentence."""


class IllegalMove(Refused):
    """The sample's status does not allow that act."""


class Denied(SickbayError):
    """No identity, or one that may not do this."""

    exit_code = 4


class Unreachable(SickbayError):
    """No usable answer from the server."""

    exit_code = 3


class Busy(SickbayError):
    """Too much is waiting; the same request may pass in a moment."""

    exit_code = 3


class StorageFailed(SickbayError):
    """The disk is full, read-only or broken; nothing acknowledged is lost."""

    exit_code = 5
