"""What a script says, made what it must be: nonsense never costs it anything."""

import threading
from contextlib import suppress
from typing import Any

from sickbay.contract.event import Level
from sickbay.trainer.plain import text
from sickbay.trainer.reporter import MOST_TO_FINISH


def seconds(said: Any) -> float:
    """Return how long leaving may take; what makes no sense must not cost the run's end."""
    with suppress(Exception):
        if (number := float(said)) >= 0:  # which a NaN is not
            return min(number, threading.TIMEOUT_MAX / 2)
    return MOST_TO_FINISH


def title(value: Any, most: int) -> str:
    """Return a text of at most ``most`` characters that is not empty."""
    return text(str(value), most) or "(no title)"


def level(said: Any) -> Level:
    """Return how urgent a message is; an unknown word is a warning."""
    word = str(getattr(said, "name", said)).lower()
    return {"warning": Level.WARN, "critical": Level.ERROR}.get(word) or (
        Level(word) if word in set(Level) else Level.WARN
    )
