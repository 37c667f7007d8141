"""The events of a run: what a trainer tells the server, and how it travels.

Every event has ``seq``, ``rank``, ``kind`` and ``time`` (the trainer's clock, seconds since 1970
in UTC), and the fields of its kind beside them. Points travel as columns. A number that JSON
cannot hold is one of the words ``nan``, ``inf``, ``-inf``.
"""

import hashlib
import json
import math
from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any, TypeAlias

from sickbay.contract.blame import Batches, Sample, Verdict
from sickbay.contract.fields import number_to_json
from sickbay.contract.report import Change, Report, Stage

MAX_EVENTS = 1000
"""Events in a batch."""
MAX_BYTES = 1_000_000
"""Bytes of a batch's body."""
MAX_POINTS = 10_000
"""Points in one event."""
MAX_SERIES = 255
"""Characters of a series' name."""
MAX_MESSAGE, MAX_TRACEBACK, MAX_TITLE, MAX_NAME = 10_000, 65_536, 200, 255
"""Characters of longer texts."""
MAX_SAMPLES, MAX_WINDOW = 1000, 1024
"""Items of a failure's lists."""
MAX_DETAIL, MAX_FACTS = 8192, 262_144
"""Bytes of an object as JSON."""


class EventKind(StrEnum):
    """What an event is about."""

    POINTS = "points"
    FAILURE = "failure"
    ALERT = "alert"
    HEARTBEAT = "heartbeat"
    FACTS = "facts"
    FINISH = "finish"
    BATCHES = "batches"
    VERDICT = "verdict"
    CHANGE = "change"
    REPORT = "report"


class Level(StrEnum):
    """How urgent an alert is."""

    INFO = "info"
    WARN = "warn"
    ERROR = "error"


class FailureKind(StrEnum):
    """What went wrong; each is the finding code ``training.<kind>`` as well."""

    LOADER_ERROR = "loader-error"
    WORKER_KILLED = "worker-killed"
    NON_FINITE_INPUT = "non-finite-input"
    NON_FINITE_LABEL = "non-finite-label"
    NON_FINITE_LOSS = "non-finite-loss"
    NON_FINITE_GRADIENT = "non-finite-gradient"
    LOSS_SPIKE = "loss-spike"
    SHAPE_MISMATCH = "shape-mismatch"
    LABEL_ASSERT = "label-assert"
    OUT_OF_MEMORY = "out-of-memory"
    OTHER = "other"


class Ending(StrEnum):
    """How a process left its run."""

    FINISHED = "finished"
    FAILED = "failed"
    STOPPED = "stopped"


class About(StrEnum):
    """Which facts of an attempt an event completes."""

    CONFIG = "config"
    ENVIRONMENT = "environment"
    SEEDS = "seeds"


@dataclass(frozen=True, slots=True)
class Points:
    """Points of one series, in columns of equal length.

    Attributes:
        series: the curve's name, such as ``train/loss``.
        steps: int64, in any order.
        values: float64; NaN and the infinities are values like others.
        times: float64, seconds since 1970, when each was logged.
    """

    series: str
    steps: "array[int]"
    values: "array[float]"
    times: "array[float]"

    def __len__(self) -> int:
        return len(self.steps)


@dataclass(frozen=True, slots=True)
class Failure:
    """Something that went wrong in a run.

    ``value`` is what was measured, ``baseline`` what was expected, ``score`` how far apart they
    are by the ``rule`` (name, version, thresholds); ``window`` holds the values before it.
    ``ref`` names it for a later verdict: 16 hex digits, or nothing.
    """

    what: FailureKind
    ref: str = ""
    exception_type: str = ""
    message: str = ""
    traceback: str = ""
    step: int | None = None
    epoch: int | None = None
    host: str = ""
    local_rank: int | None = None
    worker: int | None = None
    samples: tuple[Sample, ...] = ()
    value: float | None = None
    baseline: float | None = None
    score: float | None = None
    learning_rate: float | None = None
    gradient_norm: float | None = None
    rule: Mapping[str, Any] = field(default_factory=dict)
    window: "array[float]" = field(default_factory=lambda: array("d"))
    checkpoint: str = ""
    seeds: Mapping[str, Any] = field(default_factory=dict)
    detail: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Alert:
    """A message of the training script to people."""

    title: str
    text: str = ""
    level: Level = Level.WARN
    step: int | None = None


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """The process lives. Totals so far: points logged, and points lost by cause."""

    points: int = 0
    dropped: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts of the attempt that were not known when it was opened."""

    about: About
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Finish:
    """The process leaves the run. Totals as in a heartbeat."""

    ending: Ending
    points: int = 0
    dropped: Mapping[str, int] = field(default_factory=dict)


Body: TypeAlias = (
    Points | Failure | Alert | Heartbeat | Facts | Finish | Batches | Verdict | Change | Report
)

KINDS: Mapping[type[Body], EventKind] = {
    Points: EventKind.POINTS,
    Failure: EventKind.FAILURE,
    Alert: EventKind.ALERT,
    Heartbeat: EventKind.HEARTBEAT,
    Facts: EventKind.FACTS,
    Finish: EventKind.FINISH,
    Batches: EventKind.BATCHES,
    Verdict: EventKind.VERDICT,
    Change: EventKind.CHANGE,
    Report: EventKind.REPORT,
}


@dataclass(frozen=True, slots=True)
class Event:
    """One event. Within an attempt, (rank, seq) is its key."""

    seq: int
    rank: int
    time: float
    body: Body

    @property
    def kind(self) -> EventKind:
        """What it is about."""
        return KINDS[type(self.body)]

    def to_json(self) -> dict[str, Any]:
        """Return it as a JSON object; fields that say nothing are left out."""
        return {**self._key(), **_plain(self.body)}

    def to_line(self) -> bytes:
        """Return it as one line of NDJSON, with its line feed."""
        return _encode(self.to_json()).encode("utf-8") + b"\n"

    def digest(self) -> bytes:
        """Return 16 bytes that tell this content from any other under the same key.

        Of an event that was read: a NaN made elsewhere may have other bits than the one read.
        """
        body = self.body
        if not isinstance(body, Points):
            return digest_of(self.to_line())
        found = hashlib.blake2b(_encode([self.time, body.series]).encode(), digest_size=16)
        for column in (body.steps, body.values, body.times):
            found.update(column.tobytes())
        return found.digest()

    def _key(self) -> dict[str, Any]:
        return {"seq": self.seq, "rank": self.rank, "kind": self.kind.value, "time": self.time}


def digest_of(line: bytes) -> bytes:
    """Return the digest of an event other than points, by its line."""
    return hashlib.blake2b(line, digest_size=16).digest()


_encode = json.JSONEncoder(
    ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False
).encode


_NAMES = {kind: tuple(part.name for part in fields(kind)) for kind in (*KINDS, Sample, Stage)}


def _plain(body: Any) -> dict[str, Any]:
    pairs = ((name, getattr(body, name)) for name in _NAMES[type(body)])
    return {name: _json(value) for name, value in pairs if not _says_nothing(value)}


def _says_nothing(value: Any) -> bool:
    return value is None or (isinstance(value, str | tuple | array | Mapping) and not value)


def _json(value: Any) -> Any:
    if type(value) in (str, int):
        return value
    if isinstance(value, float):
        return number_to_json(value)
    if isinstance(value, array):
        return _column(value)
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return dict(value) if isinstance(value, Mapping) else value


def _column(column: "array[Any]") -> list[Any]:
    items = column.tolist()
    if column.typecode == "q" or all(map(math.isfinite, items)):
        return items
    return [number_to_json(item) for item in items]
