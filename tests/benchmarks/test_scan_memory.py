"""Memory and time of the checks of the whole set, at a million samples with everything on.

    python -m tests.benchmarks.test_scan_memory [SAMPLES]

Each set is a process of its own, so that its peak is its own; records are generated, no files.
"""

import json
import random
import resource
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import pairwise

import pytest
from tests.scanner.noted import record_of

from sickbay.contract.policy import Policy
from sickbay.scanner.checks.whole import FirstPass, Sample, WholeSet
from sickbay.scanner.evidence import Examined, Traits

_SAMPLES = 1_000_000
_LIMIT_MB = 300
_WORD = 64

Row = tuple[bytes, str, str, Examined]


@dataclass(frozen=True)
class Measured:
    """One line of the table; seconds are CPU."""

    name: str
    peak_mb: float
    before_mb: float
    noting: float
    comparing: float
    asking: float
    codes: dict[str, int]


def _random(seed: int) -> random.Random:
    return random.Random(seed)  # noqa: S311 (the same set in every run)


def _scattered(number: int) -> int:
    """Return 64 bits that look like chance: the golden ratio's multiples, folded."""
    spread = (number + 1) * 0x9E37_79B9_7F4A_7C15 % (1 << _WORD)
    return (spread ^ spread >> 29) * 0xBF58_476D_1CE4_E5B9 % (1 << _WORD)


def _row(number: int, content: int, hashed: int, rest: random.Random) -> Row:
    split = ("train", "train", "train", "train", "val")[number % 5]
    label = f"class {number // 5 % 1000:04}"
    found = Examined(
        size=100_000,
        sha256=f"{content:064x}",
        width=500 + rest.getrandbits(6),
        height=375,
        format="JPEG",
        mode="RGB",
        traits=Traits(hashed, rest.random() * 255),
        decoded=True,
    )
    return f"{split}/{label}/picture-{number:08}.jpg".encode(), split, label, found


def different(samples: int) -> Iterator[Row]:
    """No two pictures have anything to do with each other."""
    rest = _random(1)
    for number in range(samples):
        yield _row(number, rest.getrandbits(256), rest.getrandbits(_WORD), rest)


def pairs(samples: int) -> Iterator[Row]:
    """Every content stands there twice, and two in five are leaks between splits."""
    rest = _random(2)
    for number in range(samples):
        own = _scattered(number // 2)
        yield _row(number, own << 128 | own, own, rest)


def films(samples: int) -> Iterator[Row]:
    """Frames of films, 100 each, that differ from one another in a few bits."""
    rest = _random(3)
    for number in range(samples):
        moved = 1 << rest.getrandbits(6) | 1 << rest.getrandbits(6)
        yield _row(number, rest.getrandbits(256), _scattered(number // 100) ^ moved, rest)


def one_film(samples: int) -> Iterator[Row]:
    """All pictures are nearly alike: a still camera."""
    rest = _random(4)
    for number in range(samples):
        moved = sum({1 << rest.getrandbits(6) for _ in range(4)})
        yield _row(number, rest.getrandbits(256), moved, rest)


def placeholder(samples: int) -> Iterator[Row]:
    """One content everywhere."""
    rest = _random(5)
    for number in range(samples):
        yield _row(number, 1 << 200, 1, rest)


SETS: dict[str, Callable[[int], Iterator[Row]]] = {
    made.__name__: made for made in (different, pairs, films, one_film, placeholder)
}


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(name: str, samples: int) -> Measured:
    """Run one set through both passes, here."""
    before, marks = _peak_mb(), [time.process_time()]
    first = FirstPass()
    for raw, split, label, found in SETS[name](samples):
        first.note(raw, split, label, "picture", found)
    marks.append(time.process_time())
    codes: Counter[str] = Counter()
    with closing(WholeSet(first, Policy())) as whole:
        marks.append(time.process_time())
        for number, row in enumerate(SETS[name](samples)):
            sample = Sample(number, record_of(*row))
            codes.update(finding.code for finding in whole.findings(sample))
        codes.update(finding.code for finding in whole.set_findings())
    marks.append(time.process_time())
    noting, comparing, asking = (later - one for one, later in pairwise(marks))
    return Measured(name, _peak_mb(), before, noting, comparing, asking, dict(codes))


def measured(name: str, samples: int) -> Measured:
    """Run one set in a process of its own."""
    command = [sys.executable, "-m", "tests.benchmarks.test_scan_memory", name, str(samples)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return Measured(**json.loads(done.stdout))


def table(lines: list[Measured]) -> str:
    """Lay the results out; noting and asking hold the making of the records as well."""
    rows = [f"{'':14}{'peak MB':>9}{'before':>8}{'noting s':>10}{'comparing':>11}{'asking':>8}"]
    for line in lines:
        sizes = f"{line.peak_mb:9.0f}{line.before_mb:8.0f}"
        times = f"{line.noting:10.1f}{line.comparing:11.1f}{line.asking:8.1f}"
        rows.append(f"{line.name:14}{sizes}{times}  {line.codes}")
    return "\n".join(rows) + "\n"


@pytest.mark.soak
def test_a_million_samples_are_compared_in_less_than_300_mb(
    record_property: Callable[[str, object], None],
) -> None:
    lines = [measured(name, _SAMPLES) for name in SETS]
    record_property("table", table(lines))
    assert max(line.peak_mb for line in lines) < _LIMIT_MB


def main(arguments: list[str]) -> None:
    """Print one set's figures for the process that asked, or the table of all."""
    if len(arguments) == 2:
        sys.stdout.write(json.dumps(vars(measure(arguments[0], int(arguments[1])))))
        return
    samples = int(arguments[0]) if arguments else _SAMPLES
    sys.stdout.write(table([measured(name, samples) for name in SETS]))


if __name__ == "__main__":
    main(sys.argv[1:])
