"""Folding: waiting points of a rank become sorted chunks and pages of buckets.

All reading, sorting and packing is done on a snapshot, outside the writer's turn; the turn only
checks that no other fold was there first and replaces rows.
"""

from collections import defaultdict
from collections.abc import Sequence

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from sickbay.database import Database
from sickbay.runs.curves import journal
from sickbay.runs.curves.folded import FoldedSeries, folded
from sickbay.runs.curves.keep import keep, keep_spark
from sickbay.runs.curves.points import Points, joined
from sickbay.runs.tables import Rank, Series, Waiting

ROWS_WAIT = 64
"""Waiting batches that are folded together: charts read each of them."""
POINTS_WAIT = 16_384
"""Waiting points that are folded at once, in however few batches."""


def fold(database: Database, attempt_id: int, rank: int) -> bool:
    """Fold what waits of one rank; return whether it did, or another fold was first."""
    with database.reading() as session:
        found = session.get(Rank, (attempt_id, rank))
        if found is None or not found.waiting_rows:
            return False
        folds = found.folds
        rows = session.execute(
            select(Waiting.id, Waiting.body)
            .where(Waiting.attempt_id == attempt_id, Waiting.rank == rank)
            .order_by(Waiting.id)
        ).all()
        made = _made(session, attempt_id, rank, [body for _, body in rows])
    ids = [row_id for row_id, _ in rows]
    return database.writing(lambda session: _replace(session, (attempt_id, rank), folds, ids, made))


def fold_all(database: Database, attempt_id: int) -> None:
    """Fold what waits of every rank of an attempt."""
    with database.reading() as session:
        ranks = session.scalars(
            select(Rank.rank).where(Rank.attempt_id == attempt_id, Rank.waiting_rows > 0)
        ).all()
    for rank in ranks:
        fold(database, attempt_id, rank)


def _made(
    session: Session, attempt_id: int, rank: int, bodies: Sequence[bytes]
) -> list[FoldedSeries]:
    parts: defaultdict[str, list[Points]] = defaultdict(list)
    for body in bodies:
        for name, points in journal.segments(body):
            parts[name].append(points)
    known = {
        series.name: series
        for series in session.scalars(
            select(Series).where(
                Series.attempt_id == attempt_id, Series.rank == rank, Series.name.in_(parts)
            )
        )
    }
    return [folded(session, name, known.get(name), joined(found)) for name, found in parts.items()]


def _replace(
    session: Session,
    key: tuple[int, int],
    folds: int,
    waiting: Sequence[int],
    made: Sequence[FoldedSeries],
) -> bool:
    """Put the fold in the place of what waited, unless another one did so since."""
    rank = session.get(Rank, key)
    if rank is None or rank.folds != folds:
        return False
    rank.folds += 1
    rank.waiting_rows -= len(waiting)
    gone = session.execute(
        delete(Waiting).where(Waiting.id.in_(waiting)).returning(Waiting.points)
    ).scalars()
    rank.waiting_points -= sum(gone)
    keep(session, key, made)
    keep_spark(session, attempt_id=key[0], made=made)
    return True
