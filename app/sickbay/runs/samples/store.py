"""Storing which samples steps used, verdicts, changes and reports."""

import zlib
from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session

from sickbay.contract.blame import Batches, Verdict
from sickbay.contract.event import Event
from sickbay.contract.report import Change, Report
from sickbay.runs import outbox
from sickbay.runs.moments import moment
from sickbay.runs.samples.suspects import hold_blamed
from sickbay.runs.samples.tables import CourseChange, FailureVerdict, RunReport, UsedSamples
from sickbay.runs.tables import Attempt, ChangeKind


def note_of_samples(
    session: Session, attempt: Attempt, event: Event, at: datetime
) -> list[dict[str, Any]]:
    """Store such an event; return lines for the outbox."""
    body = event.body
    if isinstance(body, Batches):
        session.add(_used(attempt, event, body))
        return []
    if isinstance(body, Verdict):
        session.add(_verdict(attempt, event, body))
        session.flush()
        hold_blamed(session, attempt, body, at)
        return [outbox.line(attempt.run_id, ChangeKind.VERDICT, attempt.number, event.rank)]
    if isinstance(body, Change):
        session.add(_change(attempt, event, body))
        return [outbox.line(attempt.run_id, ChangeKind.COURSE, attempt.number, event.rank)]
    if isinstance(body, Report):
        session.add(_report(attempt, event, body))
        return [outbox.line(attempt.run_id, ChangeKind.REPORT, attempt.number, event.rank)]
    return []


def _used(attempt: Attempt, event: Event, body: Batches) -> UsedSamples:
    return UsedSamples(
        attempt_id=attempt.id,
        rank=event.rank,
        first_step=min(body.steps),
        last_step=max(body.steps),
        body=zlib.compress(event.to_line()),
    )


def _verdict(attempt: Attempt, event: Event, body: Verdict) -> FailureVerdict:
    return FailureVerdict(
        attempt_id=attempt.id,
        rank=event.rank,
        ref=body.failure,
        outcome=body.outcome.value,
        time=moment(event.time),
        event=event.to_line(),
    )


def _change(attempt: Attempt, event: Event, body: Change) -> CourseChange:
    return CourseChange(
        run_id=attempt.run_id,
        attempt=attempt.number,
        rank=event.rank,
        step=body.step,
        what=body.what,
        before=body.before,
        after=body.after,
        why=body.why,
        time=moment(event.time),
    )


def _report(attempt: Attempt, event: Event, body: Report) -> RunReport:
    return RunReport(
        run_id=attempt.run_id,
        attempt=attempt.number,
        rank=event.rank,
        title=body.title,
        outcome=body.outcome,
        time=moment(event.time),
        event=event.to_line(),
    )
