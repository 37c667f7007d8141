"""Marks of a picture, whatever file they come from, against the picture as its decoder found it."""

from collections.abc import Iterator, Sequence

from sickbay.contract.finding import Finding
from sickbay.contract.policy import Policy
from sickbay.scanner.checks.boxes import BOX_CHECKS, Check
from sickbay.scanner.checks.crowds import CROWD_CHECKS
from sickbay.scanner.checks.keypoints import KEYPOINT_CHECKS
from sickbay.scanner.checks.polygons import POLYGON_CHECKS
from sickbay.scanner.checks.sizes import frame_of, size_mismatch
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
    for check in MARK_CHECKS:
        yield from check(marks, frame, policy)
