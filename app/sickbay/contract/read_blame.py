"""Reading samples, batches and verdicts out of events, trusting nothing in them."""

import re
from typing import Any

from sickbay.contract.blame import MAX_STEPS, MAX_USED, Batches, Outcome, Sample, Verdict
from sickbay.contract.errors import BadInput
from sickbay.contract.fields import Fields, column, with_words
from sickbay.contract.paths import from_record

MAX_PATH = 16_384
"""Characters of a path as text."""
LEAST_STEP = -(1 << 63)
_MAX_BLAMED = 1000
_MAX_DETAIL = 8192
_MAX_FORWARDS = 1_000_000
_SHA256 = re.compile(r"[0-9a-f]{64}")
_REF = re.compile(r"[0-9a-f]{16}")


def read_samples(found: Fields, name: str, most: int) -> tuple[Sample, ...]:
    """Take a list of at most ``most`` samples.

    Raises:
        BadInput: one is none.
    """
    return tuple(map(_sample, found.list(name, most)))


def _sample(value: Any) -> Sample:
    found = Fields(value, "A sample")
    path, encoded = found.text("path", MAX_PATH), found.text_or_nothing("path_bytes", MAX_PATH)
    from_record(path, encoded)
    digest = found.text_or_nothing("sha256", 64)
    if digest is not None and not _SHA256.fullmatch(digest):
        raise BadInput("sha256 is not 64 hex digits in lower case.")
    sample = Sample(
        path, encoded, found.whole_or_nothing("index"), digest, found.number_or_nothing("loss")
    )
    found.end()
    return sample


def read_ref(found: Fields, name: str) -> str:
    """Take the name of a failure, or nothing.

    Raises:
        BadInput: it is not 16 hex digits.
    """
    ref = found.text_or_nothing(name, 16)
    if ref is not None and not _REF.fullmatch(ref):
        raise BadInput(f"{name} is not 16 hex digits in lower case.")
    return ref or ""


def read_batches(found: Fields) -> Batches:
    """Read which samples some steps used.

    Raises:
        BadInput: the columns do not fit together.
    """
    steps = column("q", found.list("steps", MAX_STEPS), "steps")
    counts = column("q", found.list("counts", MAX_STEPS), "counts")
    samples = column("q", found.list("samples", MAX_USED), "samples")
    paths = read_samples(found, "paths", MAX_USED)
    losses = column("d", with_words(found.list("losses", MAX_USED)), "losses")
    if not len(steps) == len(counts) > 0 or min(counts) < 0 or sum(counts) != len(samples):
        raise BadInput("steps, counts and samples do not fit together.")
    if losses and len(losses) != len(samples):
        raise BadInput("losses is neither empty nor as long as samples.")
    if samples and not 0 <= min(samples) <= max(samples) < len(paths):
        raise BadInput("samples holds a place that paths does not have.")
    return Batches(steps, counts, samples, paths, losses)


def read_verdict(found: Fields) -> Verdict:
    """Read a verdict.

    Raises:
        BadInput: it names no failure.
    """
    ref = read_ref(found, "failure")
    if not ref:
        raise BadInput("failure is not 16 hex digits in lower case.")
    return Verdict(
        failure=ref,
        outcome=found.choice("outcome", Outcome),
        samples=read_samples(found, "samples", _MAX_BLAMED),
        forwards=found.whole("forwards", most=_MAX_FORWARDS),
        detail=found.mapping("detail", _MAX_DETAIL),
    )
