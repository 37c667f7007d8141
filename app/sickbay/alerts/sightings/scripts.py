"""What a training script told people with ``run.alert``: a subject for each run and title."""

import hashlib

from sqlalchemy import Row, and_, func, select
from sqlalchemy.orm import Session

from sickbay.alerts.sightings.sighting import (
    MAX_WORDS,
    Moment,
    News,
    Sighting,
    one_line,
    run_path,
)
from sickbay.alerts.tables import Rule
from sickbay.runs.tables import Attempt, Run, Told


def told(session: Session, rule: Rule, moment: Moment) -> News:
    """Return the messages that came since the rule last looked."""
    del moment
    newest = session.scalar(select(func.max(Told.id)).where(Told.id > rule.cursor))
    if newest is None:
        return News()
    query = (
        select(Told, Run.key, Run.name, func.count())
        .join(Run, Run.id == Told.run_id)
        .where(Told.id > rule.cursor, Told.id <= newest)
        .group_by(Told.run_id, Told.title)
        .order_by(func.min(Told.id))
    )
    if rule.only:
        query = query.where(Told.level.in_(rule.only))
    if rule.data_set:
        its = and_(Attempt.run_id == Told.run_id, Attempt.number == Told.attempt)
        query = query.join(Attempt, its).where(Attempt.dataset == rule.data_set)
    return News(tuple(map(_sighting, session.execute(query))), cursor=newest)


def _sighting(row: Row[Told, str, str, int]) -> Sighting:
    message, run, name, count = row
    title = hashlib.blake2b(message.title.encode(), digest_size=8).hexdigest()
    step = "" if message.step is None else f" at step {message.step:,}"
    return Sighting(
        subject=f"told:{message.run_id}:{title}",
        title=one_line(f"{name}: {message.title}"),
        text=f"{one_line(message.text, MAX_WORDS)}\n{message.level.value}{step}".strip(),
        path=run_path(run),
        count=count,
    )
