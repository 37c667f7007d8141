"""A folder of checkpoints: what is in it, what may go, and that nothing torn is ever chosen.

``manifest.json`` lists the files with their SHA-256. It is replaced after a checkpoint is whole on
disk, and before anything that it no longer lists is deleted; so whenever the process dies, the
checkpoints listed are there.
"""

import json
import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from sickbay.trainer import whole_files

MANIFEST = "manifest.json"
VERSION = 1
"""Of the manifest and of what a checkpoint holds."""
SUFFIX = ".pt"
STEP, ANOMALY = "step", "anomaly"


@dataclass(frozen=True, slots=True)
class Entry:
    """One checkpoint.

    Attributes:
        name: of its file.
        step: the step that has not been made yet.
        good: every number in it is finite, and nothing was wrong when it was saved.
        kind: ``step``: saved between two steps; ``anomaly``: saved at one.
        metric: what the best are chosen by.
        number: it rises with each one saved.
    """

    name: str
    sha256: str
    size: int
    step: int
    good: bool
    kind: str
    number: int
    epoch: int | None = None
    metric: float | None = None


@dataclass(frozen=True, slots=True)
class Keep:
    """How many checkpoints stay: the newest, the best, those at anomalies; and the last good."""

    last: int = 3
    best: int = 1
    anomalies: int = 2
    highest: bool = False

    def kept(self, entries: Sequence[Entry]) -> list[Entry]:
        """Return those that stay, in their order."""
        usual = [entry for entry in entries if entry.kind != ANOMALY]
        others = [entry for entry in entries if entry.kind == ANOMALY]
        measured = [entry for entry in usual if entry.metric is not None and entry.good]
        measured.sort(key=lambda entry: entry.metric or 0.0, reverse=self.highest)
        stay = [
            *usual[max(0, len(usual) - self.last) :],
            *measured[: self.best],
            *others[max(0, len(others) - self.anomalies) :],
            *[entry for entry in usual if entry.good][-1:],
            *[entry for entry in entries if entry.good][-1:],
        ]
        names = {entry.name for entry in stay}
        return [entry for entry in entries if entry.name in names]


class Folder:
    """The files and their manifest.

    Args:
        path: where they are.
        keep: how many stay.
        described: returns the entry of a file without a manifest, or nothing where it is torn.
    """

    def __init__(self, path: Path, keep: Keep, described: Callable[[Path], Entry | None]) -> None:
        self.path = path
        self._keep = keep
        self._described = described

    def entries(self) -> list[Entry]:
        """Return the checkpoints, oldest first; by themselves where the manifest is damaged."""
        try:
            read = json.loads((self.path / MANIFEST).read_bytes())
            if read["version"] != VERSION:
                return []
            found = [_entry(item) for item in read["checkpoints"]]
        except FileNotFoundError:
            return []
        except (OSError, ValueError, TypeError, KeyError):
            found = self._found()
        return sorted(found, key=lambda entry: entry.number)

    def whole(self, entry: Entry) -> bool:
        """Whether a checkpoint's file is there, byte for byte."""
        path = self.path / entry.name
        try:
            same_size = path.stat().st_size == entry.size
            return same_size and whole_files.sha256(path) == entry.sha256
        except OSError:
            return False

    def add(self, entry: Entry) -> None:
        """List a checkpoint that is whole on disk, and delete what need not stay.

        Raises:
            OSError: the manifest cannot be written; the one before still holds.
        """
        before = [one for one in self.entries() if one.name != entry.name]
        kept = self._keep.kept([*before, entry])
        self._write(kept)
        self._delete_all_but(kept)

    def next_number(self) -> int:
        """Return the number of the next checkpoint."""
        return max((entry.number for entry in self.entries()), default=0) + 1

    def clear_up(self) -> None:
        """Delete what a process that died left unfinished or unlisted."""
        whole_files.sweep(self.path)
        if (self.path / MANIFEST).exists() and (entries := self.entries()):
            self._delete_all_but(entries)

    def _found(self) -> list[Entry]:
        paths = self.path.glob(f"*-*{SUFFIX}")
        return [entry for path in paths if (entry := self._described(path)) is not None]

    def _write(self, entries: Iterable[Entry]) -> None:
        told = {"version": VERSION, "checkpoints": [asdict(entry) for entry in entries]}
        data = json.dumps(told, indent=1, allow_nan=False).encode()
        whole_files.write(self.path / MANIFEST, lambda file: file.write(data))

    def _delete_all_but(self, entries: Iterable[Entry]) -> None:
        names = {entry.name for entry in entries}
        for kind in (STEP, ANOMALY):
            for path in self.path.glob(f"{kind}-*{SUFFIX}"):
                if path.name not in names:
                    with suppress(OSError):
                        path.unlink()


def finite(metric: Any) -> float | None:
    """Return a metric as a number; one that is not finite is none."""
    with suppress(TypeError, ValueError):
        number = float(metric)
        return number if math.isfinite(number) else None
    return None


def _entry(item: Any) -> Entry:
    made = Entry(**{name: item[name] for name in _NAMES})
    if Path(made.name).name != made.name:
        raise ValueError("a checkpoint outside of its folder")
    return made


_NAMES = tuple(part.name for part in fields(Entry))
