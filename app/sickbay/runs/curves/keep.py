"""Writing a fold down: series, chunks and pages, in a few statements."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy import delete, insert, select, tuple_, update
from sqlalchemy.orm import Session

from sickbay.runs.curves import spark
from sickbay.runs.curves.folded import FoldedSeries
from sickbay.runs.tables import Attempt, Chunk, Page, Series
from sickbay.runs.tables import Spark as SparkRow


def keep(session: Session, key: tuple[int, int], made: Sequence[FoldedSeries]) -> None:
    """Replace what a fold has made anew."""
    ids = _series(session, key, made)
    opened = [one.open_chunk for one in made if one.open_chunk is not None]
    if opened:
        session.execute(delete(Chunk).where(Chunk.id.in_(opened)))
    _insert(
        session,
        Chunk,
        [
            {
                "series_id": ids[one.name],
                "first_step": chunk.first_step,
                "last_step": chunk.last_step,
                "points": chunk.points,
                "data": chunk.data,
            }
            for one in made
            for chunk in one.chunks
        ],
    )
    _pages(session, ids, made)


def _series(session: Session, key: tuple[int, int], made: Sequence[FoldedSeries]) -> dict[str, int]:
    """Write the series themselves; return their ids by name."""
    attempt_id, rank = key
    new = [one for one in made if one.series_id is None]
    old = [one for one in made if one.series_id is not None]
    ids = {one.name: one.series_id or 0 for one in old}
    if new:
        rows = [
            {"attempt_id": attempt_id, "name": one.name, "rank": rank, **_state(one)} for one in new
        ]
        created = session.execute(insert(Series).returning(Series.name, Series.id), rows)
        ids |= dict(created.all())
    if old:
        session.execute(update(Series), [{"id": one.series_id, **_state(one)} for one in old])
    return ids


def _state(one: FoldedSeries) -> dict[str, Any]:
    return {**asdict(one.totals), "base": one.base, "counts": one.counts}


def _pages(session: Session, ids: dict[str, int], made: Sequence[FoldedSeries]) -> None:
    for one in made:
        if one.dropped_levels:
            session.execute(
                delete(Page).where(
                    Page.series_id == ids[one.name], Page.level.in_(one.dropped_levels)
                )
            )
    rows = [
        {"series_id": ids[one.name], "level": level, "page": page, "data": data}
        for one in made
        for (level, page), data in one.pages.items()
    ]
    keys = [(row["series_id"], row["level"], row["page"]) for row in rows]
    for at in range(0, len(keys), _MOST_KEYS):
        session.execute(
            delete(Page).where(
                tuple_(Page.series_id, Page.level, Page.page).in_(keys[at : at + _MOST_KEYS])
            )
        )
    _insert(session, Page, rows)


def keep_spark(session: Session, attempt_id: int, made: Sequence[FoldedSeries]) -> None:
    """Add new points of the series that lists show to the attempt's spark, whatever their rank."""
    main = session.scalar(select(Attempt.main).where(Attempt.id == attempt_id))
    new = next((one.spark for one in made if one.name == main), None)
    if main is None or new is None:
        return
    there = session.get(SparkRow, attempt_id)
    if there is None:
        there = SparkRow(attempt_id=attempt_id, series=main, width=1, data=b"")
        session.add(there)
    elif there.series == main:
        new = spark.added(spark.read(there.width, there.data), new)
    there.series, there.width, there.data = main, new.width, new.packed()


_MOST_KEYS = 500


def _insert(session: Session, table: type[Any], rows: list[dict[str, Any]]) -> None:
    """Insert rows, many a statement: each statement is a chance to lose the interpreter's lock."""
    if rows:
        session.execute(insert(table).returning(table.id), rows)
