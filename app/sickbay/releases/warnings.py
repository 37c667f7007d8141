"""What whoever uses a release should know, though none of it kept it from being made."""

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from sickbay.contract.defects import Severity
from sickbay.quarantine.tables import FileFinding, Finding, Sample
from sickbay.releases.counts import KEPT

NAMED = 20
"""Names that a warning lists; it always says how many there are."""


def warnings(session: Session, data_set_id: int) -> tuple[str, ...]:
    """Return one sentence for each thing worth a warning among the kept samples."""
    return (
        *_collisions(session, data_set_id),
        *_warned(session, data_set_id),
        *_of_files(session, data_set_id),
    )


def _collisions(session: Session, data_set_id: int) -> list[str]:
    colliding = select(Finding.sample_id).where(
        Finding.data_set_id == data_set_id, Finding.code == "file.name-collision"
    )
    kept = _kept(data_set_id).where(Sample.id.in_(colliding))
    number = _number(session, kept)
    if not number:
        return []
    names = session.scalars(kept.order_by(Sample.raw_path).limit(NAMED))
    more = f" and {number - NAMED:,} more" if number > NAMED else ""
    listed = ", ".join(map(repr, names))
    where = "where upper and lower case or Unicode's normal forms are not told apart"
    return [f"Names that collide {where}: {number:,} ({listed}{more})."]


def _warned(session: Session, data_set_id: int) -> list[str]:
    query = _kept(data_set_id).where(Sample.worst_severity == Severity.WARN)
    number = _number(session, query)
    return [f"Kept samples with a warning: {number:,}."] if number else []


def _of_files(session: Session, data_set_id: int) -> list[str]:
    """Warn of annotation files that cannot be trusted: what they list may not have been read."""
    number = blocking_files(session, data_set_id)
    if not number:
        return []
    findings = "a blocking finding" if number == 1 else f"{number:,} blocking findings"
    said = "samples that they name, or what they say of them, may be missing"
    return [f"Annotation files or lists have {findings} of their own: {said}."]


def blocking_files(session: Session, data_set_id: int) -> int:
    """Return how many blocking findings there are of files that are no samples."""
    query = select(func.count()).where(
        FileFinding.data_set_id == data_set_id, FileFinding.severity == Severity.BLOCK
    )
    return session.scalar(query) or 0


def _kept(data_set_id: int) -> Select[str]:
    return select(Sample.path).where(
        Sample.data_set_id == data_set_id, Sample.gone.is_(False), Sample.status.in_(KEPT)
    )


def _number(session: Session, query: Select[str]) -> int:
    return session.scalar(select(func.count()).select_from(query.subquery())) or 0
