"""Marks of a picture, whatever file they come from, against the picture as its decoder found it."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sickbay.contract.finding import Finding
from sickbay.contract.policy import Policy
from sickbay.scanner.checks.boxes import BOX_CHECKS, Check
from sickbay.scanner.checks.crowds import CROWD_CHECKS
from sickbay.scanner.checks.keypoints import KEYPOINT_CHECKS
from sickbay.scanner.checks.polygons import POLYGON_CHECKS
from sickbay.scanner.checks.sizes import frame_of, is_turned, size_mismatch
from sickbay.scanner.evidence import Evidence
from sickbay.scanner.marks import Frame, Mark

MARK_CHECKS: tuple[Check, ...] = (*BOX_CHECKS, *POLYGON_CHECKS, *CROWD_CHECKS, *KEYPOINT_CHECKS)


def judged(
    marks: Sequence[Mark],
    evidence: Evidence,
    policy: Policy,
    *,
    stated: Frame | None = None,
    stated_in: tuple[str, str | None] = ("", None),
) -> Iterator[Finding]:
    """Check all marks that one annotation file has of one picture.

    Args:
        marks: in the order of their file.
        evidence: what the picture's decoder found.
        policy: the tolerance.
        stated: the size that the file states.
        stated_in: the file and the item in it that state the size.
    """
    if stated is not None:
        mismatch = size_mismatch(stated, evidence, *stated_in)
        if mismatch is not None:
            yield mismatch
    frame = frame_of(stated, evidence)
    turned = stated is not None and is_turned(stated, evidence)
    for check in MARK_CHECKS:
        for finding in check(marks, frame, policy):
            yield _as_turned(finding) if turned else finding


def _as_turned(finding: Finding) -> Finding:
    """Say that the place is meant in the picture as viewers turn it, which pages do not show."""
    return replace(finding, detail={**finding.detail, "turned": True})
