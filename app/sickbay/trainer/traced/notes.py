"""The line that an exception carries to wherever it is shown: which sample it was raised for.

DataLoader turns a worker's exception into text; this line is in it, so that path, index, worker,
epoch and seed survive whatever the process start method and whether or not anybody listens.
"""

import ast
import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

_MOST_NAMED = 16
_MOST_READ = 40_000
# The text of an ExceptionGroup has bars before its lines.
_LINE = re.compile(
    r"^[ |]*sickbay: (?P<paths>.+) \((?P<facts>[^()\n]*ref [0-9a-f]{16})\)$", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Note:
    """What the line says."""

    ref: str
    kind: str
    paths: tuple[str, ...]
    index: int | None = None
    worker: int | None = None
    epoch: int | None = None
    seed: int | None = None

    def line(self) -> str:
        """Return it as the exception carries it."""
        numbers = {name: getattr(self, name) for name in ("index", "worker", "epoch", "seed")}
        facts = [f"{name} {value}" for name, value in numbers.items() if value is not None]
        named = ", ".join(map(repr, self.paths[:_MOST_NAMED])) or "'unknown'"
        return f"sickbay: {named} ({', '.join([self.kind, *facts, f'ref {self.ref}'])})"

    def fields(self) -> dict[str, Any]:
        """Return it as fields of a failure."""
        index = self.index if len(self.paths) == 1 else None
        seeds = (
            {} if self.seed is None else {"torch" if self.worker is None else "worker": self.seed}
        )
        return {
            "ref": self.ref,
            "worker": self.worker,
            "epoch": self.epoch,
            "seeds": seeds,
            "samples": [{"path": path, "index": index} for path in self.paths],
        }


def new_ref() -> str:
    """Draw a reference for a failure."""
    return secrets.token_hex(8)


def put_on(error: BaseException, note: Note) -> None:
    """Let an exception carry the line; its class, arguments and text stay what they are."""
    with suppress(Exception):
        error.add_note(note.line())


def read(text: str) -> Note | None:
    """Find the last line of ours in the text of an exception."""
    notes = list(_all(text[-_MOST_READ:]))
    return notes[-1] if notes else None


def on(error: BaseException) -> Note | None:
    """Return the line that an exception carries."""
    carried: Sequence[Any] = getattr(error, "__notes__", ())
    with suppress(Exception):
        return read("\n".join(str(line) for line in carried)) or read(text_of(error))
    return None


def text_of(error: BaseException) -> str:
    """Return what an exception was given as text, which is where DataLoader puts a worker's.

    What the exception makes of it comes second: a kind of ``KeyError`` puts it in quotes, others
    show only a part, or raise. Of a class that cannot be made from one text, such as an
    ``ExceptionGroup``, it is what torch tried to make it from.
    """
    if tried := _tried(error):
        return tried
    given = [one for one in error.args if isinstance(one, str)]
    if given:
        return "\n".join(given)
    with suppress(Exception):
        return str(error)
    return ""


def _tried(error: BaseException) -> str | None:
    """Return what torch's ``reraise`` holds, wherever making the exception anew has ended."""
    trace, found = error.__traceback__, None
    while trace is not None:
        if trace.tb_frame.f_code.co_name == "reraise":
            found = trace.tb_frame.f_locals.get("msg")
        trace = trace.tb_next
    return found if isinstance(found, str) else None


def without(text: str) -> str:
    """Return the text without our lines."""
    return _LINE.sub("", text).rstrip()


def _all(text: str) -> Iterator[Note]:
    for found in _LINE.finditer(text):
        kind, *facts = found["facts"].split(", ")
        said = dict(fact.split(" ", 1) for fact in facts if " " in fact)
        with suppress(ValueError, SyntaxError):
            paths = tuple(ast.literal_eval(f"[{found['paths']}]"))
            if all(isinstance(path, str) for path in paths):
                yield Note(said["ref"], kind, paths, **_numbers(said))


def _numbers(said: Mapping[str, str]) -> dict[str, int]:
    names = ("index", "worker", "epoch", "seed")
    return {name: int(said[name]) for name in names if name in said}
