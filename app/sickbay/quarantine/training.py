"""The door through which samples that training stumbled over enter the quarantine.

A suspect is held for a person to look at, with the evidence beside it; nothing here leaves a
sample out, whatever happened. A person's decision stands as long as it covers the code on this
content, as with a scan's findings.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from sickbay.contract.defects import Severity, defect
from sickbay.contract.finding import MAX_MESSAGE
from sickbay.quarantine import policies, tally
from sickbay.quarantine.bulk import insert_rows, update_samples
from sickbay.quarantine.decisions.moves import Deed, Step, move
from sickbay.quarantine.decisions.standing import still_holds
from sickbay.quarantine.decisions.subjects import Subject, subjects
from sickbay.quarantine.tables import Action, Finding, Sample, Source, Status
from sickbay.quarantine.verdicts import after


@dataclass(frozen=True, slots=True)
class Suspect:
    """A sample and what a run has against it.

    Attributes:
        sample_id: which sample of the data set.
        code: ``training.*``.
        item: the run's name and the failure's, so that one failure is told once.
        message: a sentence for the reviewer.
        detail: run, attempt, rank, step, loss, verdict … as the page shows them.
    """

    sample_id: int
    code: str
    item: str
    message: str
    detail: Mapping[str, Any] = field(default_factory=dict)


def suspect(
    session: Session, data_set_id: int, found: Sequence[Suspect], *, by: str, at: datetime
) -> int:
    """Note what runs have against samples, and hold those that may not stand as they did.

    Told again, a finding is replaced: a later verdict says more than the first.

    Args:
        session: a writing one.
        data_set_id: whose samples; those that are no more in it are left alone.
        found: what was found.
        by: what the history says held them, such as ``run resnet``.
        at: when.

    Returns:
        How many samples are held now that were not.
    """
    before = subjects(session, data_set_id, sorted({one.sample_id for one in found}))
    policy = policies.read(session, data_set_id).policy
    graded = [
        (one, severity)
        for one in found
        if one.sample_id in before and (severity := policy.severity_of(one.code)) is not None
    ]
    _store(session, data_set_id, graded, at)
    _count(session, data_set_id, before)
    present = subjects(session, data_set_id, sorted(before))
    held = [
        Step(subject, after(Action.HOLD, at))
        for subject in present.values()
        if not still_holds(subject.standing, subject.sha256, subject.blocking)
    ]
    move(session, Deed(data_set_id, Action.HOLD, by, at=at), held)
    return len(held)


def _store(
    session: Session,
    data_set_id: int,
    graded: Sequence[tuple[Suspect, Severity]],
    at: datetime,
) -> None:
    """Add the findings, or renew those of the same failure."""
    fresh = []
    for one, severity in graded:
        told = {"message": one.message[:MAX_MESSAGE], "detail": dict(one.detail)}
        renewed = session.scalar(
            update(Finding)
            .where(
                Finding.sample_id == one.sample_id,
                Finding.code == one.code,
                Finding.source == Source.TRAINING,
                Finding.item == one.item,
            )
            .values(told)
            .returning(Finding.id)
            .execution_options(synchronize_session=False)
        )
        if renewed is None:
            fresh.append(
                {
                    "data_set_id": data_set_id,
                    "sample_id": one.sample_id,
                    "code": defect(one.code).code,
                    "severity": severity,
                    "file": _path(session, one.sample_id),
                    "item": one.item,
                    "source": Source.TRAINING,
                    "found_at": at,
                    **told,
                }
            )
    insert_rows(session, Finding, fresh)


def _path(session: Session, sample_id: int) -> str:
    return session.scalars(select(Sample.path).where(Sample.id == sample_id)).one()


def _count(session: Session, data_set_id: int, before: Mapping[int, Subject]) -> None:
    """Bring the samples' own counts, and the tally by code, up to their findings."""
    rows = session.execute(
        select(Finding.sample_id, Finding.code, Finding.severity).where(
            Finding.sample_id.in_(before)
        )
    ).all()
    by_sample: dict[int, list[tuple[str, Severity]]] = {}
    for sample_id, code, severity in rows:
        by_sample.setdefault(sample_id, []).append((code, severity))
    shift = tally.Shift()
    for sample_id, pairs in by_sample.items():
        subject = before[sample_id]
        for code in {code for code, _ in pairs} - subject.codes:
            shift[subject.standing.status, tally.CODE, code] += 1
    tally.shift(session, data_set_id, shift)
    update_samples(session, [_facts(key, pairs) for key, pairs in by_sample.items()])


def _facts(sample_id: int, pairs: Sequence[tuple[str, Severity]]) -> dict[str, Any]:
    code, severity = min(pairs, key=lambda pair: pair[1].rank)
    return {
        "id": sample_id,
        "worst_code": code,
        "worst_severity": severity,
        "findings": len(pairs),
    }


def held_first(session: Session, data_set_id: int) -> int:
    """Return how many of the held samples were in failures of training; the queue begins so."""
    return (
        session.scalar(
            select(func.count()).where(
                Sample.data_set_id == data_set_id,
                Sample.gone.is_(False),
                Sample.status == Status.HELD,
                Sample.failures > 0,
            )
        )
        or 0
    )
