"""Data sets: scans that finished, and more held samples than somebody wants to see wait."""

from sqlalchemy import String, cast, exists, literal, select
from sqlalchemy.orm import Session

from sickbay.alerts.sightings.sighting import (
    Moment,
    News,
    Sighting,
    data_set_path,
    one_line,
    standing,
)
from sickbay.alerts.tables import Rule, Standing
from sickbay.quarantine import data_sets
from sickbay.quarantine.data_sets import DataSetCard
from sickbay.quarantine.tables import DataSet, Scan, ScanState


def scanned(session: Session, rule: Rule, moment: Moment) -> News:
    """Return the scans that finished since the rule began to look."""
    del moment
    subject = literal("scan:").concat(cast(Scan.id, String))
    known = exists().where(Standing.rule_id == rule.id, Standing.subject == subject)
    query = (
        select(Scan, DataSet.name)
        .join(DataSet, DataSet.id == Scan.data_set_id)
        .where(Scan.state == ScanState.FINISHED, Scan.finished_at >= rule.since, ~known)
        .order_by(Scan.finished_at, Scan.id)
    )
    if rule.data_set:
        query = query.where(DataSet.name == rule.data_set)
    found = session.execute(query)
    return News(tuple(_scan(scan, name) for scan, name in found), stands=True)


def held(session: Session, rule: Rule, moment: Moment) -> News:
    """Return the data sets whose held samples went over the rule's number, or back under it."""
    del moment
    cards = [card for card in data_sets.cards(session) if rule.data_set in {"", card.name}]
    known = standing(session, rule.id)
    over = {_subject(card): card for card in cards if card.held > rule.threshold}
    under = {_subject(card): card for card in cards if card.held <= rule.threshold}
    return News(
        tuple(_many(card, rule) for key, card in over.items() if key not in known),
        tuple(_few(card, rule) for key, card in under.items() if key in known),
        stands=True,
    )


def _subject(card: DataSetCard) -> str:
    return f"data-set:{card.id}"


def _scan(scan: Scan, name: str) -> Sighting:
    summary = scan.summary or {}
    counts = ", ".join(
        f"{summary.get(word, 0):,} {word}" for word in ("found", "clean", "held", "skipped")
    )
    return Sighting(
        subject=f"scan:{scan.id}",
        title=one_line(f"{name}: scan {scan.number} finished, {summary.get('held', 0):,} held"),
        text=f"{counts}. Started by {scan.started_by}.",
        path=data_set_path(name),
    )


def _many(card: DataSetCard, rule: Rule) -> Sighting:
    return _count(card, f"{card.held:,} samples held", f"More than {rule.threshold:,}")


def _few(card: DataSetCard, rule: Rule) -> Sighting:
    words = f"{card.held:,} samples held, no more than {rule.threshold:,}"
    return _count(card, words, f"No more than {rule.threshold:,} again")


def _count(card: DataSetCard, title: str, words: str) -> Sighting:
    return Sighting(
        subject=_subject(card),
        title=one_line(f"{card.name}: {title}"),
        text=f"{words}: {card.held:,} samples wait for a decision.",
        path=f"{data_set_path(card.name)}/review?status=held",
    )
