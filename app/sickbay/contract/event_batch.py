"""Batches of events as they arrive: read strictly, a bad event rejected alone."""

import math
import re
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from sickbay.contract import strict_json
from sickbay.contract.errors import BadInput
from sickbay.contract.event import (
    MAX_BYTES,
    MAX_DETAIL,
    MAX_EVENTS,
    MAX_FACTS,
    MAX_MESSAGE,
    MAX_NAME,
    MAX_POINTS,
    MAX_SAMPLES,
    MAX_SERIES,
    MAX_TITLE,
    MAX_TRACEBACK,
    MAX_WINDOW,
    About,
    Alert,
    Body,
    Ending,
    Event,
    EventKind,
    Facts,
    Failure,
    FailureKind,
    Finish,
    Heartbeat,
    Level,
    Points,
)
from sickbay.contract.fields import MAX_COUNT, Fields, column, number, with_words
from sickbay.contract.read_blame import (
    LEAST_STEP,
    MAX_PATH,
    read_batches,
    read_ref,
    read_samples,
    read_verdict,
)
from sickbay.contract.read_report import read_change, read_report

_SERIES = re.compile(r"[^\x00-\x1f\x7f]+")


@dataclass(frozen=True, slots=True)
class Rejection:
    """An event that was not taken, by its seq where that could be read, and why."""

    seq: int | None
    error: str

    def to_json(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return {"seq": self.seq, "error": self.error}


@dataclass(frozen=True, slots=True)
class Batch:
    """What a body held: the attempt, its events in order, and what is wrong with the others."""

    attempt: int
    events: tuple[Event, ...]
    rejected: tuple[Rejection, ...] = ()


@dataclass(frozen=True, slots=True)
class Receipt:
    """The answer to a batch, given only after the commit."""

    accepted: int
    duplicate: int
    rejected: tuple[Rejection, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return {
            "accepted": self.accepted,
            "duplicate": self.duplicate,
            "rejected": [rejection.to_json() for rejection in self.rejected],
        }


def receipt_from_json(value: Any) -> Receipt:
    """Read a receipt.

    Raises:
        BadInput: it is none; something else than Sickbay answers there.
    """
    found = Fields(value, "A receipt")
    rejected = (Fields(item, "A rejection") for item in found.list("rejected", MAX_EVENTS))
    return Receipt(
        found.whole("accepted"),
        found.whole("duplicate"),
        tuple(
            Rejection(item.whole_or_nothing("seq"), item.text("error", MAX_MESSAGE))
            for item in rejected
        ),
    )


def read_batch(body: bytes) -> Batch:
    """Read ``{"attempt": n, "events": […]}``.

    Raises:
        BadInput: the body as a whole is not that, or over a limit.
    """
    _check_size(body)
    found = Fields(strict_json.loads(body), "The batch")
    attempt = found.whole("attempt", 1)
    items = found.list("events", MAX_EVENTS)
    found.end()
    return _batch(attempt, iter(items))


def read_lines(body: bytes, attempt: int) -> Batch:
    """Read NDJSON, one event a line.

    Raises:
        BadInput: the body is over a limit.
    """
    _check_size(body)
    lines = [line for line in body.split(b"\n") if line.strip()]
    if len(lines) > MAX_EVENTS:
        raise BadInput(f"A batch holds at most {MAX_EVENTS:,} events.")
    return _batch(attempt, (_Unread(at, line) for at, line in enumerate(lines, start=1)))


@dataclass(frozen=True, slots=True)
class _Unread:
    """A line that is still to be parsed; its failure is its own."""

    at: int
    line: bytes

    def parsed(self) -> Any:
        try:
            return strict_json.loads(self.line)
        except BadInput as error:
            raise BadInput(f"Line {self.at}: {error.sentence}") from None


def _check_size(body: bytes) -> None:
    if len(body) > MAX_BYTES:
        raise BadInput(f"A batch has at most {MAX_BYTES:,} bytes.")


def _batch(attempt: int, items: Iterator[Any]) -> Batch:
    events, rejected = [], []
    for item in items:
        value: Any = None
        try:
            value = item.parsed() if isinstance(item, _Unread) else item
            events.append(from_json(value))
        except BadInput as error:
            rejected.append(Rejection(_seq(value), error.sentence))
    return Batch(attempt, tuple(events), tuple(rejected))


def _seq(value: Any) -> int | None:
    seq = value.get("seq") if isinstance(value, dict) else None
    return seq if type(seq) is int else None


def from_json(value: Any) -> Event:
    """Read one event.

    Raises:
        BadInput: it is not one; the sentence says what is wrong, not what it held.
    """
    found = Fields(value, "The event")
    seq, rank = found.whole("seq", 1), found.whole("rank")
    time = found.finite("time")
    body = _READERS[found.choice("kind", EventKind)](found)
    found.end()
    return Event(seq, rank, time, body)


def _points(found: Fields) -> Points:
    series = found.text("series", MAX_SERIES)
    if not _SERIES.fullmatch(series):
        raise BadInput("series is empty or holds a control character.")
    steps = column("q", found.list("steps", MAX_POINTS), "steps")
    values = column("d", with_words(found.list("values", MAX_POINTS)), "values")
    times = column("d", found.list("times", MAX_POINTS), "times")
    if not len(steps) == len(values) == len(times) > 0:
        raise BadInput("steps, values and times are not of one length above 0.")
    if not all(map(math.isfinite, times)):
        raise BadInput("times holds a number that is not finite.")
    return Points(series, steps, values, times)


def _failure(found: Fields) -> Failure:
    return Failure(
        what=found.choice("what", FailureKind),
        ref=read_ref(found, "ref"),
        exception_type=found.text("exception_type", MAX_NAME, ""),
        message=found.text("message", MAX_MESSAGE, ""),
        traceback=found.text("traceback", MAX_TRACEBACK, ""),
        step=found.whole_or_nothing("step", LEAST_STEP),
        epoch=found.whole_or_nothing("epoch", LEAST_STEP),
        host=found.text("host", MAX_NAME, ""),
        local_rank=found.whole_or_nothing("local_rank"),
        worker=found.whole_or_nothing("worker"),
        samples=read_samples(found, "samples", MAX_SAMPLES),
        value=found.number_or_nothing("value"),
        baseline=found.number_or_nothing("baseline"),
        score=found.number_or_nothing("score"),
        learning_rate=found.number_or_nothing("learning_rate"),
        gradient_norm=found.number_or_nothing("gradient_norm"),
        rule=found.mapping("rule", MAX_DETAIL),
        window=array("d", (number(item, "window") for item in found.list("window", MAX_WINDOW))),
        checkpoint=found.text("checkpoint", MAX_PATH, ""),
        seeds=found.mapping("seeds", MAX_DETAIL),
        detail=found.mapping("detail", MAX_DETAIL),
    )


def _alert(found: Fields) -> Alert:
    title = found.text("title", MAX_TITLE)
    if not title.strip():
        raise BadInput("title is empty.")
    text, level = found.text("text", MAX_MESSAGE, ""), found.choice("level", Level)
    return Alert(title, text, level, found.whole_or_nothing("step", LEAST_STEP))


def _heartbeat(found: Fields) -> Heartbeat:
    return Heartbeat(found.whole("points", most=MAX_COUNT), found.counts("dropped"))


def _facts(found: Fields) -> Facts:
    return Facts(found.choice("about", About), found.mapping("values", MAX_FACTS))


def _finish(found: Fields) -> Finish:
    ending = found.choice("ending", Ending)
    return Finish(ending, found.whole("points", most=MAX_COUNT), found.counts("dropped"))


_READERS: dict[EventKind, Callable[[Fields], Body]] = {
    EventKind.POINTS: _points,
    EventKind.FAILURE: _failure,
    EventKind.ALERT: _alert,
    EventKind.HEARTBEAT: _heartbeat,
    EventKind.FACTS: _facts,
    EventKind.FINISH: _finish,
    EventKind.BATCHES: read_batches,
    EventKind.VERDICT: read_verdict,
    EventKind.CHANGE: read_change,
    EventKind.REPORT: read_report,
}
