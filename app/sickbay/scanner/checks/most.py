"""No more findings of one sample than a person would read."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from sickbay.contract.finding import Finding

MOST = 200
"""Findings of one annotation file for one sample, or of one list file."""


def bounded(findings: Iterable[Finding], most: int = MOST) -> Iterator[Finding]:
    """Yield the first findings, and one more that says how many were left out.

    That one has the code and severity of the worst left out, so that nothing is let through
    because much is wrong with it.
    """
    worst: Finding | None = None
    left_out: Counter[str] = Counter()
    for number, finding in enumerate(findings):
        if number < most:
            yield finding
            continue
        left_out[finding.code] += 1
        if worst is None or finding.severity.rank < worst.severity.rank:
            worst = finding
    if worst is not None:
        yield _rest(worst, left_out)


def _rest(worst: Finding, left_out: Counter[str]) -> Finding:
    count = left_out.total()
    said = "1 more finding is" if count == 1 else f"{count:,} more findings are"
    return replace(
        worst,
        item=None,
        message=f"{said} not listed here.",
        detail={"left_out": dict(sorted(left_out.items()))},
    )
