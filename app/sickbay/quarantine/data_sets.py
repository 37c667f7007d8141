"""Data sets: finding, registering, and their counts by status."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from sickbay.contract.errors import BadInput, NotFound, Refused
from sickbay.database.tables import now
from sickbay.quarantine.tables import DataSet, Scan, ScanState, Status, Tally

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")


@dataclass(frozen=True, slots=True)
class ScanCard:
    """The scan in force of a data set."""

    number: int
    started_by: str
    finished_at: datetime
    summary: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class DataSetCard:
    """A data set with its samples counted by status."""

    id: int
    name: str
    layout: str
    classes: tuple[str, ...]
    root: str | None
    counts: Mapping[Status, int]
    scan: ScanCard | None
    receiving: int
    """Scans under way."""

    @property
    def held(self) -> int:
        """How many samples wait for a decision."""
        return self.counts[Status.HELD]

    @property
    def samples(self) -> int:
        """How many samples it has."""
        return sum(self.counts.values())


def check_name(name: str) -> str:
    """Return the name.

    Raises:
        BadInput: it cannot name a data set.
    """
    if not _NAME.fullmatch(name):
        raise BadInput(
            "A data set's name has 1 to 80 letters, digits, dots, dashes or underscores, and "
            "begins with a letter or digit."
        )
    return name


def find(session: Session, name: str) -> DataSet:
    """Return the data set of that name.

    Raises:
        NotFound: there is none.
    """
    found = session.scalar(select(DataSet).where(DataSet.name == name))
    if found is None:
        raise NotFound("There is no data set of that name; scan a folder to make one.")
    return found


def by_id(session: Session, data_set_id: int) -> DataSet:
    """Return the data set with that key.

    Raises:
        NotFound: there is none.
    """
    found = session.get(DataSet, data_set_id)
    if found is None:
        raise NotFound("There is no such data set.")
    return found


def register(
    session: Session,
    *,
    name: str,
    layout: str,
    classes: Sequence[str] = (),
    root: str | None = None,
) -> DataSet:
    """Make a data set that no scan has filled yet.

    Raises:
        BadInput: the name cannot name a data set.
        Refused: the name is taken.
    """
    if session.scalar(select(DataSet.id).where(DataSet.name == check_name(name))) is not None:
        raise Refused("There is a data set of that name already; choose another name.")
    made = DataSet(
        name=name, root=root, layout=layout, classes=list(classes), scan_id=None, created_at=now()
    )
    session.add(made)
    session.flush()
    return made


def cards(session: Session) -> list[DataSetCard]:
    """Return every data set by name, in four queries whatever their number."""
    return _cards(session, session.scalars(select(DataSet).order_by(DataSet.name)).all())


def card(session: Session, data_set_id: int) -> DataSetCard:
    """Return one data set.

    Raises:
        NotFound: there is none.
    """
    return _cards(session, [by_id(session, data_set_id)])[0]


def _cards(session: Session, found: Sequence[DataSet]) -> list[DataSetCard]:
    counts = _counts(session)
    receiving = _receiving(session)
    in_force = [one.scan_id for one in found if one.scan_id is not None]
    scans = {
        scan.id: ScanCard(
            scan.number, scan.started_by, scan.finished_at or scan.started_at, scan.summary or {}
        )
        for scan in session.scalars(select(Scan).where(Scan.id.in_(in_force)))
    }
    return [
        DataSetCard(
            id=one.id,
            name=one.name,
            layout=one.layout,
            classes=tuple(one.classes),
            root=one.root,
            counts={status: counts[one.id, status] for status in Status},
            scan=None if one.scan_id is None else scans[one.scan_id],
            receiving=receiving[one.id],
        )
        for one in found
    ]


def _counts(session: Session) -> Counter[tuple[int, Status]]:
    rows = session.execute(
        select(Tally.data_set_id, Tally.status, Tally.samples).where(Tally.facet == "")
    )
    return Counter({(data_set_id, status): samples for data_set_id, status, samples in rows})


def _receiving(session: Session) -> Counter[int]:
    rows = session.execute(
        select(Scan.data_set_id, func.count())
        .where(Scan.state == ScanState.RECEIVING)
        .group_by(Scan.data_set_id)
    )
    return Counter({row[0]: row[1] for row in rows})
