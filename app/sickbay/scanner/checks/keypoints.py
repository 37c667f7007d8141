"""What can be wrong with keypoints: x, y and visibility in turn, for each point of the class.

Visibility is 0 where a point is not labelled (its place means nothing then), 1 where it is hidden
and 2 where it is seen.
"""

import math
from collections.abc import Iterator, Sequence

from sickbay.contract.finding import Finding
from sickbay.contract.policy import Policy
from sickbay.scanner.checks.boxes import SLACK, Check, found, written
from sickbay.scanner.marks import Frame, Mark

_EACH = 3


def wrong_count(marks: Sequence[Mark], _frame: Frame | None, _policy: Policy) -> Iterator[Finding]:
    """Not three numbers a point, or not as many points as the class has."""
    for mark in marks:
        given = len(mark.keypoints or ())
        if not given:
            continue
        if given % _EACH:
            said = f"The keypoints are {given} numbers, not three for each point."
            yield found("annotation.malformed", mark, said)
        elif mark.points is not None and given != _EACH * mark.points:
            said = f"There are {given // _EACH} keypoints; the class has {mark.points}."
            yield found("annotation.schema-mismatch", mark, said)


def bad_visibility(
    marks: Sequence[Mark], _frame: Frame | None, _policy: Policy
) -> Iterator[Finding]:
    """A visibility other than 0, 1 or 2."""
    for mark in marks:
        for number, _, _, seen in _points(mark):
            if seen not in {0, 1, 2}:
                said = f"The visibility of keypoint {number} is {written(seen)}, not 0, 1 or 2."
                yield found("annotation.malformed", mark, said)
                break


def not_finite(marks: Sequence[Mark], _frame: Frame | None, _policy: Policy) -> Iterator[Finding]:
    """A labelled point lies at NaN or infinity."""
    for mark in marks:
        for number, x, y, seen in _points(mark):
            if seen != 0 and not (math.isfinite(x) and math.isfinite(y)):
                said = f"Keypoint {number} lies at ({written(x)}, {written(y)})."
                yield found("annotation.malformed", mark, said)
                break


def outside(marks: Sequence[Mark], frame: Frame | None, policy: Policy) -> Iterator[Finding]:
    """A labelled point stands out of the picture by more than the tolerance for boxes."""
    if frame is None:
        return
    for mark in marks:
        for number, x, y, seen in _points(mark):
            over = max(-x, -y, x - frame[0], y - frame[1])
            if seen != 0 and math.isfinite(over) and over > policy.box_tolerance + SLACK:
                said = (
                    f"Keypoint {number} stands {over:.6g} pixels out of the picture of "
                    f"{frame[0]} x {frame[1]}."
                )
                yield found("box.outside", mark, said, over=written(over))
                break


KEYPOINT_CHECKS: tuple[Check, ...] = (wrong_count, bad_visibility, not_finite, outside)


def _points(mark: Mark) -> Iterator[tuple[int, float, float, float]]:
    given = mark.keypoints or ()
    if len(given) % _EACH == 0:
        for at in range(0, len(given), _EACH):
            yield at // _EACH + 1, given[at], given[at + 1], given[at + 2]
