"""Which series an attempt has, and their points as they came."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from sickbay.contract.fields import number_to_json
from sickbay.runs.attempts import attempt_ids
from sickbay.runs.curves import journal, points
from sickbay.runs.curves.folded import Totals, totals
from sickbay.runs.curves.points import MICROSECOND, Points, joined
from sickbay.runs.curves.source import Source, sources
from sickbay.runs.tables import Chunk, Series, Waiting


@dataclass(frozen=True, slots=True)
class SeriesView:
    """A series of some attempts, all ranks together."""

    name: str
    ranks: int
    points: int
    nan: int
    pos_inf: int
    neg_inf: int
    first_step: int
    last_step: int


def names(session: Session, run: str, attempts: Sequence[int] | None = None) -> list[SeriesView]:
    """Return the series of some attempts, or of the newest, by name.

    Raises:
        NotFound: there is no such run.
    """
    ids = list(attempt_ids(session, run, attempts))
    found: dict[str, Totals] = {}
    ranks: defaultdict[str, set[int]] = defaultdict(set)
    for name, rank, *rest in session.execute(
        select(
            Series.name, Series.rank, *(getattr(Series, part) for part in Totals.__slots__)
        ).where(Series.attempt_id.in_(ids))
    ):
        _add(found, name, Totals(*rest))
        ranks[name].add(rank)
    for rank, body in session.execute(
        select(Waiting.rank, Waiting.body).where(Waiting.attempt_id.in_(ids))
    ):
        for name, part in journal.segments(body):
            _add(found, name, totals(part.ordered()))
            ranks[name].add(rank)
    return [
        SeriesView(
            name,
            len(ranks[name]),
            one.points,
            one.nan,
            one.pos_inf,
            one.neg_inf,
            one.first_step,
            one.last_step,
        )
        for name, one in sorted(found.items())
    ]


def _add(found: dict[str, Totals], name: str, more: Totals) -> None:
    found[name] = found[name] + more if name in found else more


def csv_lines(
    session: Session,
    run: str,
    series: str,
    *,
    attempts: Sequence[int] | None = None,
    ranks: Sequence[int] | None = None,
) -> Iterator[bytes]:
    """Yield every point of a series as CSV, by attempt, rank, step and time.

    Raises:
        NotFound: there is no such run.
    """
    found = sources(session, attempt_ids(session, run, attempts), series, ranks)
    yield b"attempt,rank,step,time,value\r\n"
    for source in found:
        for part in _in_order(session, source):
            yield _lines(f"{source.attempt},{source.rank}", part)


def _lines(start: str, part: Points) -> bytes:
    rows = zip(
        part.steps.tolist(), (part.times / MICROSECOND).tolist(), part.values.tolist(), strict=True
    )
    return "".join(
        f"{start},{step},{time:.6f},{number_to_json(value)}\r\n" for step, time, value in rows
    ).encode()


def _in_order(session: Session, source: Source) -> Iterator[Points]:
    """Yield a series' points in order, holding no more than those that overlap."""
    spans = _spans(session, source)
    held = [source.waiting] if len(source.waiting) else []
    for first, chunk_id in spans:
        ready = joined(held)
        done = ready.steps < first
        if done.any():
            yield ready.chosen(done)
        data = session.scalar(select(Chunk.data).where(Chunk.id == chunk_id)) or b""
        held = [ready.chosen(~done), points.unpack(data)]
    if held:
        yield joined(held)


def _spans(session: Session, source: Source) -> list[tuple[int, int]]:
    """Return the first step and id of each chunk, ascending."""
    if source.series is None:
        return []
    rows = session.execute(
        select(Chunk.first_step, Chunk.id)
        .where(Chunk.series_id == source.series.id)
        .order_by(Chunk.first_step, Chunk.id)
    )
    return list(rows)


def count_points(session: Session, run: str) -> int:
    """Return how many points all attempts of a run have on the server."""
    ids = list(attempt_ids(session, run, None, every=True))
    folded = session.scalar(select(func.sum(Series.points)).where(Series.attempt_id.in_(ids)))
    waiting = session.scalar(select(func.sum(Waiting.points)).where(Waiting.attempt_id.in_(ids)))
    return (folded or 0) + (waiting or 0)
