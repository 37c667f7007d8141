"""Why a stage failed: in words, with its place in the taxonomy and what to do about it."""

import sys
import sysconfig
import traceback
from pathlib import Path
from typing import Any

from sickbay.contract.sign import Category
from sickbay.contract.taxonomy import CATEGORIES, Layer, classify
from sickbay.trainer.traced import notes

_MOST_WORDS = 400
_MOST_NAMED = 5


class Trouble(Exception):
    """A stage failed.

    Args:
        message: what was seen, in plain words, naming sample, parameter or module.
        category: of the taxonomy; nothing where no sign is known.
        advice: what to do next; the category's own where it is empty.
        layer: of the taxonomy; the category's own where it is not said.
    """

    def __init__(
        self,
        message: str,
        category: Category | None,
        advice: str = "",
        layer: Layer | None = None,
    ) -> None:
        super().__init__(message)
        found = CATEGORIES.get(category) if category is not None else None
        self.message = message
        self.category = category.value if category is not None else ""
        self.layer = (layer or (found.layer if found else Layer.MODEL)).value
        self.advice = advice or (found.do if found else "")


def of_error(error: BaseException, what: str, layer: Layer, kind: str = "other") -> Trouble:
    """Return the trouble that an exception is.

    Args:
        error: what was raised.
        what: what raised it, as the beginning of a sentence.
        layer: where it is, if its text bears no sign.
        kind: the kind of failure, which says its category where its text bears no sign.
    """
    name, words = type(error).__name__, said_by(error)
    placed = classify(kind, name, words, "")
    message = f"{what} raised {name}: {words}{_where(error)}"
    if placed is None:
        return Trouble(message, None, "Read the line that is named, and run it alone.", layer)
    return Trouble(message, placed.category, placed.do, placed.layer)


def said_by(error: BaseException) -> str:
    """Return an exception's own text in a line."""
    try:
        words = " ".join(notes.without(str(error)).split())
    except Exception:  # noqa: BLE001 (a broken exception is one still)
        return "(this exception cannot be shown as text)"
    return words if len(words) <= _MOST_WORDS else words[:_MOST_WORDS] + " …"


def some(names: Any, most: int = _MOST_NAMED) -> str:
    """Return the first of some names, and how many more there are."""
    listed = [str(name) for name in names]
    more = f" and {len(listed) - most} more" if len(listed) > most else ""
    return ", ".join(listed[:most]) + more


def _where(error: BaseException) -> str:
    """Return the last line of the job's own code in a traceback."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        file = Path(frame.filename)
        if file.is_absolute() and not any(map(file.is_relative_to, _not_theirs())):
            return f" (line {frame.lineno} of {file.name}, in {frame.name})"
    return ""


def _not_theirs() -> list[Path]:
    """Return the folders of Python, of what is installed, and of this kit."""
    named = [sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")]
    torch = getattr(sys.modules.get("torch"), "__file__", None)
    own = Path(__file__).parents[1]
    return [own, *map(Path, named), *([Path(torch).parent] if torch else [])]
