"""What was set otherwise in a run's course, and what taking it apart showed."""

import json
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from sickbay.contract.event_batch import from_json
from sickbay.contract.report import Report
from sickbay.runs.samples.tables import CourseChange, RunReport
from sickbay.runs.tables import Run

MOST_CHANGES = 500
MOST_REPORTS = 20


@dataclass(frozen=True, slots=True)
class ChangeView:
    """One thing that was set otherwise."""

    attempt: int
    rank: int
    step: int | None
    what: str
    before: str
    after: str
    why: str
    at: datetime


@dataclass(frozen=True, slots=True)
class ReportView:
    """One report, with its stages."""

    id: int
    attempt: int
    rank: int
    at: datetime
    report: Report


def changes(session: Session, run: str) -> list[ChangeView]:
    """Return what was set otherwise in a run, newest first."""
    rows = session.execute(
        select(
            CourseChange.attempt,
            CourseChange.rank,
            CourseChange.step,
            CourseChange.what,
            CourseChange.before,
            CourseChange.after,
            CourseChange.why,
            CourseChange.time,
        )
        .join(Run, Run.id == CourseChange.run_id)
        .where(Run.key == run)
        .order_by(CourseChange.time.desc(), CourseChange.id.desc())
        .limit(MOST_CHANGES)
    )
    return [ChangeView(*row) for row in rows]


def reports(session: Session, run: str) -> list[ReportView]:
    """Return the reports on a run, newest first."""
    rows = session.execute(
        select(RunReport.id, RunReport.attempt, RunReport.rank, RunReport.time, RunReport.event)
        .join(Run, Run.id == RunReport.run_id)
        .where(Run.key == run)
        .order_by(RunReport.time.desc(), RunReport.id.desc())
        .limit(MOST_REPORTS)
    )
    return [
        ReportView(report_id, attempt, rank, at, body)
        for report_id, attempt, rank, at, line in rows
        if isinstance(body := from_json(json.loads(line)).body, Report)
    ]
