"""What a sound picture looks like: remarks, by the thresholds of the policy.

Where the thresholds come from is told in :mod:`sickbay.scanner.looks`.
"""

from typing import TYPE_CHECKING

from sickbay.contract.finding import Finding
from sickbay.scanner.evidence import Evidence
from sickbay.scanner.task import Setup

if TYPE_CHECKING:  # NumPy comes with it
    from sickbay.scanner.looks import Looks


def _seen(evidence: Evidence, setup: Setup) -> "Looks | None":
    """How it looks; of a very small picture its size says all there is to say."""
    short = min(evidence.width or 0, evidence.height or 0)
    return evidence.looks if short >= setup.policy.min_side else None


def dark(evidence: Evidence, _suffix: str, setup: Setup) -> Finding | None:
    """Even its brightest hundredth is dark."""
    limit = setup.policy.dark_below
    looks = _seen(evidence, setup)
    if looks is None or looks.brightest >= limit:
        return None
    value = round(looks.brightest, 2)
    message = f"99 % of it are darker than {value} of white; the limit is {limit}."
    return Finding.of("image.dark", "", message, value=value, limit=limit)


def light(evidence: Evidence, _suffix: str, setup: Setup) -> Finding | None:
    """Even its darkest twentieth is bright."""
    limit = setup.policy.light_above
    looks = _seen(evidence, setup)
    if looks is None or looks.darkest <= limit:
        return None
    value = round(looks.darkest, 2)
    message = f"95 % of it are brighter than {value} of white; the limit is {limit}."
    return Finding.of("image.light", "", message, value=value, limit=limit)


def blurry(evidence: Evidence, _suffix: str, setup: Setup) -> Finding | None:
    """It has no sharp edges, even at thumbnail size."""
    limit = setup.policy.blurry_below
    looks = _seen(evidence, setup)
    if looks is None or looks.sharpness >= limit:
        return None
    value = round(looks.sharpness, 2)
    message = f"Its sharpness is {value} of 1; the limit is {limit}."
    return Finding.of("image.blurry", "", message, value=value, limit=limit)


def low_information(evidence: Evidence, _suffix: str, setup: Setup) -> Finding | None:
    """Its pixels differ little: a flat colour, a few lines."""
    limit = setup.policy.low_information_below
    looks = _seen(evidence, setup)
    if looks is None or looks.information >= limit:
        return None
    value = round(looks.information, 2)
    message = f"The entropy of its grey values is {value} of 1; the limit is {limit}."
    return Finding.of("image.low-information", "", message, value=value, limit=limit)


def odd_aspect(evidence: Evidence, _suffix: str, setup: Setup) -> Finding | None:
    """One side is many times the other."""
    limit = setup.policy.odd_aspect_beyond
    short, long = sorted((evidence.width or 0, evidence.height or 0))
    if not short or long <= limit * short:
        return None
    message = f"{evidence.width} x {evidence.height} pixels; beyond {limit} to 1 is odd."
    return Finding.of("image.odd-aspect", "", message, ratio=round(long / short, 2), limit=limit)


QUALITY_CHECKS = (dark, light, blurry, low_information, odd_aspect)
