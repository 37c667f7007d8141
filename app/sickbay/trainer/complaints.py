"""What the kit says when something is wrong: once for each kind, through ``logging``, never more.

The kit raises nothing into a training script; the logger ``sickbay`` is where it speaks.
"""

import functools
import logging
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

Given = ParamSpec("Given")
Back = TypeVar("Back")

log = logging.getLogger("sickbay")
_MOST_KINDS = 100
_said: set[str] = set()


def once(kind: str, sentence: str, *details: Any) -> None:
    """Warn, unless this process has already been warned of this kind of thing."""
    if kind in _said or len(_said) >= _MOST_KINDS:
        return
    _said.add(kind)
    log.warning(sentence, *details)


def harmless(default: Back) -> Callable[[Callable[Given, Back]], Callable[Given, Back]]:
    """Make a function that returns ``default`` instead of raising into a training script."""

    def wrap(act: Callable[Given, Back]) -> Callable[Given, Back]:
        @functools.wraps(act)
        def guarded(*args: Given.args, **kwargs: Given.kwargs) -> Back:
            try:
                return act(*args, **kwargs)
            except Exception as error:  # noqa: BLE001 (training goes on whatever happened here)
                once(act.__qualname__, "%s did nothing: %r", act.__name__, error)
                return default

        return guarded

    return wrap
