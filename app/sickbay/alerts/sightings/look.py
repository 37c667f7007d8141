"""A rule looks."""

from collections.abc import Callable, Mapping

from sqlalchemy.orm import Session

from sickbay.alerts.sightings.attempts import ended, silent
from sickbay.alerts.sightings.data import held, scanned
from sickbay.alerts.sightings.failures import failures
from sickbay.alerts.sightings.scripts import told
from sickbay.alerts.sightings.sighting import Moment, News
from sickbay.alerts.tables import Rule, RuleKind

WATCHERS: Mapping[RuleKind, Callable[[Session, Rule, Moment], News]] = {
    RuleKind.FAILURE: failures,
    RuleKind.SPIKE: failures,
    RuleKind.SILENT: silent,
    RuleKind.ENDED: ended,
    RuleKind.TOLD: told,
    RuleKind.SCAN: scanned,
    RuleKind.HELD: held,
}


def look(session: Session, rule: Rule, moment: Moment) -> News:
    """Return what is new to a rule; nothing is written."""
    return WATCHERS[rule.kind](session, rule, moment)
