"""A mask that is an array of its own: class numbers in a ``.npy`` file."""

import io
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from sickbay.contract.finding import Finding
from sickbay.contract.paths import SamplePath
from sickbay.scanner.checks.masks import MaskFacts
from sickbay.scanner.examine import array
from sickbay.scanner.examine.folder import FilesGiven
from sickbay.scanner.task import Setup, Task

_FORMAT = "NPY"
_PLANE = 2  # axes of a mask


def read(raw: bytes, data: bytes, setup: Setup) -> tuple[list[Finding], MaskFacts | None]:
    """Return what is wrong with the array, and what is known of it as a mask.

    A mask of one class a plane is known by its size only, and so is one of fractions.
    """
    policy = replace(setup.policy, expect_shape=None)
    bare = replace(setup, policy=policy)
    found = array.examine(FilesGiven({raw: data}), Task(raw, "array"), bare, 0)
    name = SamplePath(raw).text
    findings = [replace(one, file=name) for one in found.findings]
    if findings or len(found.arrays) != 1 or found.format != _FORMAT:
        return findings, None
    sides = [side for side in found.arrays[0].shape if side != 1]
    if len(sides) != _PLANE:
        return [], None
    values = np.load(io.BytesIO(data), allow_pickle=False)
    return [], MaskFacts(_FORMAT, "I", (sides[1], sides[0]), _counts(values))


def _counts(values: npt.NDArray[np.generic]) -> dict[int, int] | None:
    """Count values by number where they are whole."""
    if values.dtype.kind == "f" and np.array_equal(values, np.trunc(values)):
        values = values.astype(np.int64)
    if values.dtype.kind not in "iub":
        return None
    found, counts = np.unique(values, return_counts=True)
    return {int(value): int(count) for value, count in zip(found, counts, strict=True)}
