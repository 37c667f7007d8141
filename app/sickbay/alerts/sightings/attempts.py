"""Attempts of runs: those that ended, and those that nothing is heard of."""

from datetime import datetime, timedelta

from sqlalchemy import Row, Select, String, cast, exists, literal, select
from sqlalchemy.orm import Session

from sickbay.alerts.sightings.sighting import (
    Moment,
    News,
    Sighting,
    one_line,
    run_path,
    standing,
)
from sickbay.alerts.tables import Rule, Standing
from sickbay.contract.event import Ending
from sickbay.runs.tables import Attempt, Run

_SUBJECT = literal("attempt:").concat(cast(Attempt.id, String))
_ENDED = {
    Ending.FINISHED: "finished",
    Ending.FAILED: "failed",
    Ending.STOPPED: "was stopped",
}


def ended(session: Session, rule: Rule, moment: Moment) -> News:
    """Return the attempts that ended since the rule began to look."""
    del moment
    known = exists().where(Standing.rule_id == rule.id, Standing.subject == _SUBJECT)
    query = (
        _attempts(rule)
        .where(Attempt.ending.is_not(None), Attempt.ended_at >= rule.since, ~known)
        .order_by(Attempt.ended_at, Attempt.id)
    )
    if rule.only:
        query = query.where(Attempt.ending.in_(rule.only))
    return News(tuple(map(_end, session.execute(query))), stands=True)


def silent(session: Session, rule: Rule, moment: Moment) -> News:
    """Return the newest attempts that fell silent, and those that are silent no longer."""
    patience = timedelta(minutes=rule.threshold)
    known = standing(session, rule.id)
    waiting: list[Sighting] = []
    if moment.at - moment.listening_since >= patience:
        query = (
            _attempts(rule)
            .where(
                Run.attempt_id == Attempt.id,
                Attempt.ending.is_(None),
                Attempt.heartbeat_at <= moment.at - patience,
                Attempt.heartbeat_at > rule.since - patience,
            )
            .order_by(Attempt.heartbeat_at, Attempt.id)
        )
        waiting = [_silence(row, rule.threshold) for row in session.execute(query)]
    seen = tuple(one for one in waiting if one.subject not in known)
    return News(seen, over=_heard_again(session, rule, known), stands=True)


def _heard_again(session: Session, rule: Rule, known: dict[str, datetime]) -> tuple[Sighting, ...]:
    """Return those that gave a sign of life, ended, or were launched anew."""
    if not known:
        return ()
    found = session.execute(_attempts(rule).where(_SUBJECT.in_(known)))
    return tuple(
        _life(row, words)
        for row in found
        if (words := _what_became(row, known[f"attempt:{row[0].id}"]))
    )


def _what_became(row: Row[Attempt, str, str, int], since: datetime) -> str:
    attempt, _key, _name, newest = row
    if attempt.ending is not None:
        return _ENDED[attempt.ending]
    if newest != attempt.id:
        return "was launched anew"
    return "is alive again" if attempt.heartbeat_at >= since else ""


def _attempts(rule: Rule) -> Select[Attempt, str, str, int]:
    query = select(Attempt, Run.key, Run.name, Run.attempt_id).join(Run, Run.id == Attempt.run_id)
    if rule.data_set:
        query = query.where(Attempt.dataset == rule.data_set)
    return query  # type: ignore[return-value]  # a run with an attempt has a newest one


def _end(row: Row[Attempt, str, str, int]) -> Sighting:
    attempt, key, name, _newest = row
    words = _ENDED[attempt.ending or Ending.STOPPED]
    took = (attempt.ended_at or attempt.heartbeat_at) - attempt.started_at
    lasted = str(timedelta(seconds=round(took.total_seconds())))
    text = f"Attempt {attempt.number} {words} after {lasted}{_reached(attempt)}."
    return _sighting(attempt, key, f"{name} {words}", text)


def _silence(row: Row[Attempt, str, str, int], minutes: int) -> Sighting:
    attempt, key, name, _newest = row
    heard = f"{attempt.heartbeat_at:%Y-%m-%d %H:%M:%S} UTC"
    text = f"Attempt {attempt.number} was last heard of at {heard}{_reached(attempt)}."
    return _sighting(attempt, key, f"{name}: silent for {minutes:,} min", text)


def _life(row: Row[Attempt, str, str, int], words: str) -> Sighting:
    attempt, key, name, _newest = row
    text = f"Attempt {attempt.number}, which was silent, {words}{_reached(attempt)}."
    return _sighting(attempt, key, f"{name} {words}", text)


def _reached(attempt: Attempt) -> str:
    return "" if attempt.last_step is None else f", at step {attempt.last_step:,}"


def _sighting(attempt: Attempt, key: str, title: str, text: str) -> Sighting:
    return Sighting(f"attempt:{attempt.id}", one_line(title), text, run_path(key))
