"""Words for rules and deliveries."""

from sickbay.alerts.rules import RuleView
from sickbay.alerts.tables import DeliveryState, MessageKind, RuleKind
from sickbay.web.language import _

RULES = {
    RuleKind.FAILURE: _("A run has a failure"),
    RuleKind.SPIKE: _("A run's loss spikes"),
    RuleKind.SILENT: _("A run falls silent"),
    RuleKind.ENDED: _("A run ends"),
    RuleKind.TOLD: _("A training script calls run.alert()"),
    RuleKind.SCAN: _("A scan is finished"),
    RuleKind.HELD: _("Many samples are held"),
}
"""In the order that the page offers them."""
NARROWED = {
    RuleKind.FAILURE: _("Only these kinds"),
    RuleKind.ENDED: _("Only where it"),
    RuleKind.TOLD: _("Only of these levels"),
}
NUMBERS = {
    RuleKind.SILENT: _("Minutes of silence"),
    RuleKind.HELD: _("More held samples than"),
}
STATES = {
    DeliveryState.WAITING: _("waiting"),
    DeliveryState.SENDING: _("being sent"),
    DeliveryState.SENT: _("sent"),
    DeliveryState.FAILED: _("given up"),
    DeliveryState.CANCELLED: _("cancelled: the channel was removed"),
}
KINDS = {
    MessageKind.NOTICE: _("notice"),
    MessageKind.DIGEST: _("digest"),
    MessageKind.RECOVERY: _("recovery"),
    MessageKind.TEST: _("test"),
}


def rule_words(rule: RuleView) -> str:
    """Say what a rule looks for."""
    words = RULES[rule.kind]
    if rule.kind is RuleKind.SILENT:
        words = _("A run is silent for %s min") % f"{rule.threshold:,}"
    if rule.kind is RuleKind.HELD:
        words = _("More than %s samples are held") % f"{rule.threshold:,}"
    return f"{words}: {', '.join(rule.only)}" if rule.only else words
