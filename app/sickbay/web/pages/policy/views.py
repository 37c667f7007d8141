"""What the policy's page shows."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby

from sqlalchemy.orm import Session

from sickbay.contract.defects import DEFECTS
from sickbay.contract.policy import SILENT, Policy
from sickbay.quarantine import policies, scan_facts
from sickbay.quarantine.policies import StoredPolicy
from sickbay.web.identity import Who
from sickbay.web.language import _
from sickbay.web.pages.policy import reading, words
from sickbay.web.pages.policy.reading import USUAL
from sickbay.web.pages.shell import Shell, enter, shell

SEVERITIES = ("block", "warn", "note", SILENT)


@dataclass(frozen=True, slots=True)
class FieldView:
    """One field of the form; ``usual`` is what holds where it is left empty."""

    name: str
    words: words.Words
    value: str
    usual: str
    many: bool


@dataclass(frozen=True, slots=True)
class CodeView:
    """One code, what the catalogue says of it, and what the policy says."""

    code: str
    severity: str
    meaning: str
    chosen: str


@dataclass(frozen=True, slots=True)
class ChangeView:
    """One policy that was set, and what of it is not as by default."""

    change: StoredPolicy
    said: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PolicyPage:
    """``policy/policy.html``."""

    shell: Shell
    version: int
    groups: tuple[tuple[str, tuple[FieldView, ...]], ...]
    families: tuple[tuple[str, tuple[CodeView, ...]], ...]
    severities: tuple[str, ...]
    tokenizer: str
    changed: bool
    history: tuple[ChangeView, ...]
    scan: int
    outdated: bool
    problem: str


def policy_page(
    session: Session,
    me: Who,
    name: str,
    *,
    fields: Mapping[str, str] | None = None,
    chosen: Mapping[str, str] | None = None,
    problem: str = "",
) -> PolicyPage:
    """Read the page; ``fields`` and ``chosen`` are what was typed where a form was refused.

    Raises:
        NotFound: there is no such data set.
    """
    entered = enter(session, name)
    stored = policies.read(session, entered.card.id)
    facts = scan_facts.facts(session, entered.card.id)
    values = fields or reading.written(stored.policy)
    return PolicyPage(
        shell=shell(session, me, entered, "overview"),
        version=stored.version,
        groups=_groups(values),
        families=_families(stored.policy.severities if chosen is None else chosen),
        severities=SEVERITIES,
        tokenizer=stored.policy.tokenizer or "",
        changed=bool(stored.differences),
        history=tuple(
            ChangeView(one, said(one.policy)) for one in policies.history(session, entered.card.id)
        ),
        scan=facts.number if facts else 0,
        outdated=bool(facts and facts.outdated),
        problem=problem,
    )


def said(policy: Policy) -> tuple[str, ...]:
    """Say in words what of a policy is not as by default."""
    fields = reading.written(policy)
    numbers = [
        f"{words.label(one.name).label}: {_short(fields.get(one.name) or str(one.value))}"
        for one in scan_facts.differences(policy)
    ]
    codes = [
        _("%(code)s: %(severity)s") % {"code": one.code, "severity": severity_word(one.severity)}
        for one in scan_facts.changed_severities(policy)
    ]
    return (*numbers, *codes)


def severity_word(severity: str) -> str:
    """Say what a severity does to a sample."""
    return {
        "block": _("hold the sample"),
        "warn": _("warn"),
        "note": _("note"),
        SILENT: _("say nothing"),
    }[severity]


_SHORT = 60


def _short(text: str) -> str:
    line = text.replace("\n", ", ")
    return line if len(line) <= _SHORT else f"{line[:_SHORT]}…"


def _groups(values: Mapping[str, str]) -> tuple[tuple[str, tuple[FieldView, ...]], ...]:
    usual = reading.written(Policy())
    return tuple(
        (
            title,
            tuple(
                FieldView(name, said, values.get(name, ""), usual[name], name == "classes")
                for name, said in group.items()
            ),
        )
        for title, group in words.GROUPS
    )


def _families(chosen: Mapping[str, str]) -> tuple[tuple[str, tuple[CodeView, ...]], ...]:
    defects = sorted(DEFECTS.values(), key=lambda one: one.family)
    return tuple(
        (
            family,
            tuple(
                CodeView(one.code, one.severity.value, one.meaning, chosen.get(one.code) or USUAL)
                for one in members
            ),
        )
        for family, members in groupby(defects, key=lambda one: one.family)
        if family != "training"  # what training reports is judged where it comes in
    )
