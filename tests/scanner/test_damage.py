"""Damage of four kinds, judged as a full strict decode would, and false alarms."""

from functools import cache

import numpy as np
import pytest
import simplejpeg
from tests.damage import WAYS, Sound, flipped, spoiled, undamaged, unusual

from sickbay.contract.defects import Severity
from sickbay.scanner.decode import examine
from sickbay.scanner.task import Setup


@cache
def sounds() -> tuple[Sound, ...]:
    return tuple(undamaged(24, seed=1))


def worst(data: bytes) -> Severity | None:
    """The worst said of the content itself."""
    findings = examine(data, ".jpg", Setup()).findings
    grave = [finding.severity for finding in findings if finding.severity is not Severity.NOTE]
    return min(grave, key=lambda severity: severity.rank, default=None)


def refused(data: bytes) -> bool:
    """Whether a full strict decode objects."""
    try:
        simplejpeg.decode_jpeg(data, strict=True)
    except ValueError:
        return True
    return False


@pytest.mark.parametrize("way", WAYS)
def test_what_a_full_strict_decode_refuses_is_held(way: str) -> None:
    rng = np.random.default_rng(2)
    broken = [data for sound in sounds() if refused(data := WAYS[way](sound, rng))]
    assert len(broken) >= len(sounds()) // 4
    assert [worst(data) for data in broken] == [Severity.BLOCK] * len(broken)


def test_the_undamaged_raise_no_alarm() -> None:
    assert {worst(sound.data) for sound in sounds()} == {None}


@pytest.mark.parametrize("name", unusual())
def test_the_unusual_raise_no_alarm(name: str) -> None:
    assert worst(unusual()[name]) is None


def test_many_of_the_silent_flips_that_spoil_a_picture_are_found() -> None:
    rng = np.random.default_rng(3)
    silent = [
        (sound.data, data)
        for sound in sounds()
        for _ in range(12)
        if not refused(data := flipped(sound, rng))
    ]
    bad = [broken for sound, broken in silent if spoiled(sound, broken) > 0.05]
    assert len(bad) > 12
    assert sum(worst(data) is not None for data in bad) >= 0.4 * len(bad)
