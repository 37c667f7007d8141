"""What happened in a run, newest first: the chart's marks in words, and what the script told."""

import math
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from sqlalchemy.orm import Session

from sickbay.contract.blame import Outcome
from sickbay.contract.event import FailureKind, Level
from sickbay.contract.report import Passed
from sickbay.runs.charts import Chart, Curve
from sickbay.runs.failures.marks import Mark, marks
from sickbay.runs.samples.course import ChangeView, ReportView, changes, reports
from sickbay.runs.samples.seen import verdicts
from sickbay.runs.state import RunState
from sickbay.runs.view import AttemptView, RunView, told
from sickbay.web.language import _, ngettext
from sickbay.web.pages.runs.drawing import MINUS, number
from sickbay.web.pages.runs.spikes import both
from sickbay.web.pages.runs.verdicts import SHORT

_NEVER = datetime.min.replace(tzinfo=UTC)
_ODD = (("nan", "nan", "NaN"), ("pos_inf", "pinf", "+Inf"), ("neg_inf", "ninf", MINUS + "Inf"))
_WORDS = {
    FailureKind.LOADER_ERROR: _("A sample could not be loaded"),
    FailureKind.WORKER_KILLED: _("A loader process was killed"),
    FailureKind.NON_FINITE_INPUT: _("Input is not finite"),
    FailureKind.NON_FINITE_LABEL: _("Label is not finite"),
    FailureKind.NON_FINITE_LOSS: _("Loss is not finite"),
    FailureKind.NON_FINITE_GRADIENT: _("Gradient is not finite"),
    FailureKind.LOSS_SPIKE: _("Loss spike"),
    FailureKind.SHAPE_MISMATCH: _("Shapes do not match"),
    FailureKind.LABEL_ASSERT: _("A label is out of range"),
    FailureKind.OUT_OF_MEMORY: _("Out of memory"),
    FailureKind.OTHER: _("Failure"),
}


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened. ``icon`` is its mark on the chart, ``value`` its height there.

    ``opens`` is the part of the page that tells more of it; ``rank`` is the one whose samples
    its step leads to.
    """

    icon: str
    attempt: int
    step: int | None
    title: str
    text: str
    at: datetime | None
    opens: str = ""
    value: float | None = None
    rank: int | None = None

    @property
    def href(self) -> str:
        """Where it leads: to the samples of its step, else to what tells more of it."""
        if self.step is None:
            return self.opens or "#attempts"
        rank = "" if self.rank is None else f"&rank={self.rank}"
        return f"?step={self.step}&attempt={self.attempt}{rank}#samples"


def words_of(what: str) -> str:
    """Say what kind of failure it is."""
    return _WORDS.get(FailureKind(what), what)


def happened(
    session: Session, run: RunView, chart: Chart, apart: Sequence[Curve]
) -> tuple[Event, ...]:
    """Put everything that is known of a run into one list, newest first.

    Args:
        session: for reading.
        run: what is told of.
        chart: the chosen series, ranks together.
        apart: the same, a curve a rank, to name the ranks; none where they need no name.
    """
    events = [
        *_attempts(run.attempts),
        *_failures(marks(session, run.key), verdicts(session, run.key), chart),
        *_spikes(chart, apart),
        *(event for curve in chart.curves for event in _odd(curve, apart)),
        *_told(session, run.key),
        *_changes(changes(session, run.key)),
        *_reports(reports(session, run.key)),
    ]
    return tuple(sorted(events, key=_place, reverse=True))


def _place(event: Event) -> tuple[datetime, int]:
    return event.at or _NEVER, -1 if event.step is None else event.step


def _attempts(attempts: Sequence[AttemptView]) -> Iterator[Event]:
    for one in attempts:
        went_on = _("goes on from a checkpoint") if one.resume else one.launch
        yield Event(
            "live", one.number, None, _("Attempt %d began") % one.number, went_on, one.started_at
        )
        if one.state is not RunState.LIVE:
            yield _ended(one)


def _ended(one: AttemptView) -> Event:
    title = {
        RunState.FINISHED: _("Attempt %d ended"),
        RunState.FAILED: _("Attempt %d failed"),
        RunState.STALLED: _("Attempt %d is silent"),
        RunState.DEAD: _("Attempt %d went silent"),
    }[one.state] % one.number
    text = _("last point at step %s") % f"{one.last_step:,}" if one.last_step is not None else ""
    icon = "fail" if one.state is RunState.FAILED else "clock"
    return Event(icon, one.number, one.last_step, title, text, one.ended_at or one.heartbeat_at)


def _changes(found: Sequence[ChangeView]) -> Iterator[Event]:
    for one in found:
        title = one.what.replace("-", " ").capitalize()
        values = " → ".join(value for value in (one.before, one.after) if value)
        text = ". ".join(part for part in (values, one.why) if part)
        yield Event("note", one.attempt, one.step, title, text, one.at)


def _reports(found: Sequence[ReportView]) -> Iterator[Event]:
    for one in found:
        failed = one.report.outcome is Passed.FAILED
        text = next(
            (stage.name for stage in one.report.stages if stage.outcome is Passed.FAILED), ""
        )
        yield Event(
            "fail" if failed else "note",
            one.attempt,
            None,
            one.report.title,
            text,
            one.at,
            f"#report-{one.id}",
        )


def _failures(
    found: Sequence[Mark], outcomes: Mapping[tuple[int, int, int], Outcome], chart: Chart
) -> Iterator[Event]:
    for mark in found:
        spike = mark.what == FailureKind.LOSS_SPIKE
        outcome = outcomes.get((mark.attempt, mark.step, mark.group_id))
        at, value = _at(chart, mark.attempt, mark.step)
        yield Event(
            icon="spike" if spike else "fail",
            attempt=mark.attempt,
            step=mark.step,
            title=words_of(mark.what),
            text="; ".join(filter(None, (_who(mark), SHORT[outcome] if outcome else ""))),
            at=at,
            opens=f"#group-{mark.group_id}",
            value=value if spike else None,
            rank=mark.rank,
        )


def _who(mark: Mark) -> str:
    """Say which rank failed, and how many more."""
    more = mark.failures - 1
    where = _("rank %d") % mark.rank
    return where + (ngettext(" and %s more", " and %s more", more) % f"{more:,}" if more else "")


def _spikes(chart: Chart, apart: Sequence[Curve]) -> Iterator[Event]:
    for curve, spike in both(chart.curves):
        yield Event(
            icon="spike",
            attempt=curve.attempt,
            step=spike.step,
            title=_("Spike to %s") % number(spike.value),
            text=_("%s times the usual spread") % f"{spike.times:,.0f}",
            at=_moment(spike.time),
            value=spike.value,
            rank=_highest(apart, curve.attempt, spike.step),
        )


def _highest(apart: Sequence[Curve], attempt: int, step: int) -> int | None:
    """Return the rank whose curve is the highest at a step of an attempt."""
    found: list[tuple[float, int]] = []
    for one in apart:
        if one.attempt == attempt and one.rank is not None:
            index = max(0, bisect_right(one.columns["step"], step) - 1)
            value = one.columns["high"][index]
            found += [] if value is None else [(value, -one.rank)]
    return -max(found)[1] if found else None


def _odd(curve: Curve, apart: Sequence[Curve]) -> Iterator[Event]:
    """Yield one event for each run of neighbouring buckets with points that are not finite."""
    own = [one for one in apart if one.attempt == curve.attempt]
    columns = curve.columns
    for name, icon, word in _ODD:
        points, start = 0, 0
        for index, count in enumerate([*columns[name], 0]):
            start = index if count and not points else start
            if not count and points:
                steps = columns["odd_step"][start], next(iter(columns["step"][index:]), math.inf)
                found = [one.rank for one in own if _within(one, name, steps)]
                ranks = [rank for rank in found if rank is not None]
                title = word + _ranks(ranks, len(own))
                made = _one_odd(curve, icon, title, points, start)
                yield replace(made, rank=next(iter(ranks), None))
            points = points + count if count else 0


def _ranks(found: Sequence[int], among: int) -> str:
    """Say on which ranks a series was not finite between two steps, where there are several."""
    if not found or among == 1:
        return ""
    if len(found) == among:
        return _(" on all ranks")
    words = ", ".join(map(str, found))
    return ngettext(" on rank %s", " on ranks %s", len(found)) % words


def _within(one: Curve, name: str, steps: tuple[float, float]) -> bool:
    rows = zip(one.columns[name], one.columns["odd_step"], strict=True)
    return any(count and steps[0] <= step < steps[1] for count, step in rows)


def _one_odd(curve: Curve, icon: str, title: str, points: int, start: int) -> Event:
    text = ngettext("%s point", "%s points", points) % f"{points:,}"
    step, began = curve.columns["odd_step"][start], curve.columns["began"][start]
    return Event(icon, curve.attempt, step, title, text, _moment(began))


def _told(session: Session, key: str) -> Iterator[Event]:
    for one in told(session, key):
        icon = {Level.INFO: "note", Level.WARN: "warn", Level.ERROR: "block"}[one.level]
        yield Event(icon, one.attempt, one.step, one.title, one.text, one.time)


def _at(chart: Chart, attempt: int, step: int) -> tuple[datetime | None, float | None]:
    """Return when an attempt was at a step, and the curve's height there, as far as it tells."""
    for curve in chart.curves:
        if curve.attempt == attempt:
            index = max(0, bisect_right(curve.columns["step"], step) - 1)
            return _moment(curve.columns["began"][index]), curve.columns["high"][index]
    return None, None


def _moment(seconds: float) -> datetime | None:
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):  # a trainer's clock may say anything
        return None
