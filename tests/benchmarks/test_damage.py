"""What each detector sees of generated damage, and what only the pixels tell.

    python -m tests.benchmarks.test_damage [PICTURES [FLIPS]]

Half of the pictures are rendered. The other half are crops of the JPEGs below the folder that
SICKBAY_PHOTOS names; without it they are made up as well, and the table says so.
"""

import io
import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
import pytest
import simplejpeg
from PIL import Image
from tests.damage import WAYS, Sound, flipped, spoiled, undamaged, unusual

from sickbay.contract.defects import Severity
from sickbay.scanner import shift
from sickbay.scanner.decode import examine
from sickbay.scanner.markers import walk
from sickbay.scanner.task import Setup

_PICTURES, _FLIPS = 500, 20
_SPOILED = 0.05
Detector = Callable[[bytes], object]
"""Takes a file's bytes and raises where it sees damage."""


class Seen(Exception):
    """A detector of ours saw something."""


def _verify(data: bytes) -> None:
    Image.open(io.BytesIO(data)).verify()


def _walk(data: bytes) -> None:
    found = walk(data)
    if found.end is None or found.broken_segment or found.stray:
        raise Seen


def _load(data: bytes) -> None:
    Image.open(io.BytesIO(data)).load()


def _draft(data: bytes) -> None:
    with Image.open(io.BytesIO(data)) as image:
        image.draft(None, (1, 1))
        image.load()


def _lenient(data: bytes) -> None:
    simplejpeg.decode_jpeg(data, strict=False)


def _strict(data: bytes) -> None:
    simplejpeg.decode_jpeg(data, strict=True)


def _eighth(data: bytes) -> None:
    simplejpeg.decode_jpeg(data, strict=True, min_height=1, min_width=1, min_factor=8)


def _ours(data: bytes, worst: int) -> None:
    findings = examine(data, ".jpg", Setup()).findings
    if any(finding.severity.rank <= worst for finding in findings):
        raise Seen


def _held(data: bytes) -> None:
    _ours(data, Severity.BLOCK.rank)


def _warned(data: bytes) -> None:
    _ours(data, Severity.WARN.rank)


DETECTORS: Mapping[str, Detector] = {
    "Pillow verify()": _verify,
    "walk of the markers": _walk,
    "Pillow load()": _load,
    "Pillow draft() to 1/8": _draft,
    "simplejpeg strict=False": _lenient,
    "simplejpeg strict=True": _strict,
    "simplejpeg strict, 1/8": _eighth,
    "Sickbay: held": _held,
    "Sickbay: held or warned": _warned,
}


@dataclass
class Line:
    """One detector: what it saw of each kind, and its CPU seconds on the undamaged."""

    seen: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0


def sees(detector: Detector, data: bytes) -> bool:
    """Whether the detector objects."""
    try:
        detector(data)
    except Exception:  # noqa: BLE001 (whatever a decoder raises)
        return True
    return False


def compare(sounds: Iterable[Sound]) -> dict[str, Line]:
    """Let every detector judge the undamaged and each of the ways to damage them."""
    kinds = {"undamaged": [sound.data for sound in sounds], "unusual": list(unusual().values())}
    for way, damage in WAYS.items():
        rng = np.random.default_rng(5)
        kinds[way] = [damage(sound, rng) for sound in sounds]
    lines = {name: Line() for name in DETECTORS}
    for name, detector in DETECTORS.items():
        for kind, files in kinds.items():
            began = time.process_time()
            lines[name].seen[kind] = sum(sees(detector, data) for data in files)
            lines[name].seconds += time.process_time() - began if kind == "undamaged" else 0
    return lines


@dataclass
class Silent:
    """Flipped bytes that full strict decoding lets pass, though they spoil the picture."""

    count: int
    warned: int
    held: int


def silent_flips(sounds: Iterable[Sound], flips: int) -> dict[str, Silent]:
    """Flip single bytes, and see which of those that spoil are found by their pixels."""
    rng, found = np.random.default_rng(6), {"photo": Silent(0, 0, 0), "rendered": Silent(0, 0, 0)}
    for sound in sounds:
        for _ in range(flips):
            broken = flipped(sound, rng)
            if sees(_strict, broken) or spoiled(sound.data, broken) <= _SPOILED:
                continue
            line = found[sound.kind]
            line.count += 1
            line.warned += sees(_warned, broken)
            line.held += sees(_held, broken)
    return found


def extra_cost(sounds: Iterable[Sound]) -> float:
    """What looking at the pixels costs, as a share of hashing and decoding alone."""
    seconds = {True: 0.0, False: 0.0}
    for look in (True, False) * 3:
        with pytest.MonkeyPatch.context() as patch:
            if not look:
                patch.setattr(shift, "suspicious", _never)
            began = time.process_time()
            for sound in sounds:
                examine(sound.data, ".jpg", Setup())
            seconds[look] += time.process_time() - began
    return seconds[True] / seconds[False] - 1


def _never(*_: object) -> bool:
    return False


def table(lines: Mapping[str, Line], pictures: int) -> str:
    """Lay it out: shares in per cent, false alarms as numbers, cost as a share of load()."""
    kinds = list(next(iter(lines.values())).seen)
    rows = [f"{'':26}" + "".join(f"{kind:>20}" for kind in kinds) + f"{'cost':>8}"]
    for name, line in lines.items():
        cells = [
            f"{seen:>20}" if kind in ("undamaged", "unusual") else f"{seen / pictures:>20.1%}"
            for kind, seen in line.seen.items()
        ]
        cost = line.seconds / lines["Pillow load()"].seconds
        rows.append(f"{name:26}" + "".join(cells) + f"{cost:8.2f}")
    return "\n".join(rows) + "\n"


def silent_table(found: Mapping[str, Silent], extra: float) -> str:
    """Lay out what became of the silent flips."""
    rows = [
        f"{kind}: {line.count} silent flips spoil over 5 %; found "
        f"{line.warned / max(1, line.count):.0%}, held {line.held / max(1, line.count):.0%}"
        for kind, line in found.items()
    ]
    return "\n".join([*rows, f"Looking at pixels costs {extra:.0%} more."]) + "\n"


@pytest.mark.soak
def test_all_that_strict_decoding_sees_is_held_and_half_of_what_it_does_not(
    record_property: Callable[[str, object], None],
) -> None:
    sounds = list(undamaged(_PICTURES))
    lines = compare(sounds)
    found, extra = silent_flips(sounds, _FLIPS // 4), extra_cost(sounds)
    record_property("table", table(lines, len(sounds)) + silent_table(found, extra))
    ours, strict = lines["Sickbay: held"].seen, lines["simplejpeg strict=True"].seen
    assert all(ours[way] >= strict[way] for way in WAYS)
    assert lines["Sickbay: held or warned"].seen["undamaged"] == 0
    assert lines["Sickbay: held or warned"].seen["unusual"] == 0
    bad = sum(line.count for line in found.values())
    assert sum(line.warned for line in found.values()) >= bad / 2
    assert extra < 0.3


def main(pictures: int, flips: int) -> None:
    """Print the tables."""
    photos = "crops of photos" if "SICKBAY_PHOTOS" in os.environ else "made up like photos"
    sounds = list(undamaged(pictures))
    sys.stdout.write(f"{pictures} JPEGs, half rendered, half {photos}\n")
    sys.stdout.write(table(compare(sounds), len(sounds)))
    sys.stdout.write(silent_table(silent_flips(sounds, flips), extra_cost(sounds)))


if __name__ == "__main__":
    main(
        *(
            int(text)
            for text in (sys.argv[1:] + [str(_PICTURES), str(_FLIPS)][len(sys.argv) - 1 :])[:2]
        )
    )
