"""Train against validation data: what is in both, and what is unlike."""

import hashlib
import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sickbay.contract.sign import Category
from sickbay.trainer.blame.batches import leaves
from sickbay.trainer.loading.job import Job
from sickbay.trainer.traced.noted import noted
from sickbay.trainer.triage.bench import torch
from sickbay.trainer.triage.fetching import Source
from sickbay.trainer.triage.trouble import Trouble, some

_MOST_NAMES = 200_000
_MOST_HASHED = 2000
"""Files that are read, of those that have the same size as one of the other split."""
_MOST_FETCHED = 256
_CHANCE = 1e-6
"""A class that is unseen in training is told where chance alone makes it so less often."""
_FAR = 5.0
"""Standard deviations of the training's values between the means: 5 is what forgetting to
divide by 255 or to normalise gives many times over, and two samples of one source never."""
_WIDE = 10.0
"""Ratio of the standard deviations, likewise."""


@dataclass(slots=True)
class _Seen:
    """What some samples of a split hold."""

    digests: dict[bytes, str] = field(default_factory=dict)
    labels: list[int] = field(default_factory=list)
    values: list[tuple[float, float]] = field(default_factory=list)

    def mean(self) -> tuple[float, float]:
        """Return the mean over samples of mean and standard deviation."""
        count = len(self.values)
        means, widths = zip(*self.values, strict=True)
        return sum(means) / count, sum(widths) / count


def between(train: Source, validation: Source) -> str:
    """Compare the two: names, the bytes of files, and some samples as they are loaded."""
    names, others = _names(train.job), _names(validation.job)
    _refuse(sorted(set(names) & set(others)))
    _refuse(_same_files(names, others))
    seen, other = _look(train), _look(validation)
    _refuse([other.digests[one] for one in seen.digests.keys() & other.digests.keys()])
    _unseen(seen, other)
    _far(seen, other)
    count = len(other.digests)
    return f"{len(names)} and {len(others)} files by name, {count} samples by content."


def _refuse(both: Sequence[str]) -> None:
    if both:
        raise Trouble(
            f"{len(both)} sample{'s are' if len(both) > 1 else ' is'} in both training and "
            f"validation data: {some(both)}.",
            Category.LEAKAGE,
        )


def _names(job: Job) -> list[str]:
    """Return the paths of a split's samples, where they have any."""
    if not job.indexed:
        return []
    noted().take([])  # else the last sample of the other split counts as this one's
    found = (job.data.path_of(index) for index in range(min(len(job.data), _MOST_NAMES)))
    return [path for path in found if not path.startswith("index:")]


def _same_files(names: Sequence[str], others: Sequence[str]) -> list[str]:
    """Return the files that have the same bytes as one of the other split."""
    sizes, found = _by_size(names), _by_size(others)
    known: dict[bytes, str] = {}
    both: list[str] = []
    read = 0
    for size in sorted(sizes.keys() & found.keys()):
        if read > _MOST_HASHED:
            break
        known = {_digest(path): path for path in sizes[size]}
        both += [f"{path} = {known[at]}" for path in found[size] if (at := _digest(path)) in known]
        read += len(sizes[size]) + len(found[size])
    return both


def _by_size(names: Sequence[str]) -> dict[int, list[str]]:
    found: dict[int, list[str]] = defaultdict(list)
    for name in names:
        try:
            size = os.stat(name).st_size  # noqa: PTH116 (a hundred thousand of them)
        except (OSError, ValueError):
            continue
        if size:
            found[size].append(name)
    return found


def _digest(path: str) -> bytes:
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()


def _look(source: Source) -> _Seen:
    seen = _Seen()
    for path, item in _some(source):
        parts = [one.detach().cpu() for one in leaves(_as_tensors(item))]
        floats = [one for one in parts if one.is_floating_point() and one.numel() > 1]
        inputs = [one for one in parts if one.numel() > 1]
        if inputs and _tells(inputs):
            seen.digests[_content(inputs)] = path
        if floats:
            seen.values.append((float(floats[0].mean()), float(floats[0].std())))
        label = item[-1] if isinstance(item, tuple | list) and len(item) > 1 else None
        if (number := _whole(label)) is not None:
            seen.labels.append(number)
    return seen


def _some(source: Source) -> Iterator[tuple[str, Any]]:
    job = source.job
    if not job.indexed:
        return
    generator = torch().Generator().manual_seed(0)
    for index in torch().randperm(len(job.data), generator=generator)[:_MOST_FETCHED].tolist():
        noted().take([])
        source.told(job.data.path_of(index))
        item = job.data[index]
        yield job.data.path_of(index), item
    noted().take([])


def _as_tensors(item: Any) -> Any:
    if isinstance(item, tuple | list):
        return [_as_tensors(one) for one in item]
    if isinstance(item, dict):
        return {key: _as_tensors(one) for key, one in item.items()}
    return torch().as_tensor(item) if type(item).__module__ == "numpy" else item


def _tells(inputs: list[Any]) -> bool:
    """Whether an input is told apart from others at all: a constant one is no copy."""
    return any(one.numel() > 3 and one.unique().numel() > 3 for one in inputs)  # noqa: PLR2004 (a few values repeat by chance)


def _content(inputs: list[Any]) -> bytes:
    digest = hashlib.sha256()
    for one in inputs:
        digest.update(f"{one.dtype}{tuple(one.shape)}".encode())
        digest.update(one.contiguous().view(torch().uint8).numpy().tobytes())
    return digest.digest()


def _whole(label: Any) -> int | None:
    if hasattr(label, "item") and getattr(label, "ndim", 1) == 0:
        label = label.item()
    return label if isinstance(label, int) and not isinstance(label, bool) else None


def _unseen(seen: _Seen, other: _Seen) -> None:
    """Refuse classes that validation has and training has not."""
    count = len(seen.labels)
    if not count or not other.labels:
        return
    for label in sorted(set(other.labels) - set(seen.labels)):
        share = other.labels.count(label) / len(other.labels)
        if (1 - share) ** count < _CHANCE:
            raise Trouble(
                f"Label {label} is in {share:.0%} of the validation samples and in none of {count} "
                "training samples.",
                Category.DRIFT,
                "Look at how the split was made, and split by class; if classes are numbered by "
                "folder, both splits need the same folders.",
            )


def _far(seen: _Seen, other: _Seen) -> None:
    if not seen.values or not other.values:
        return
    (mean, wide), (other_mean, other_wide) = seen.mean(), other.mean()
    least = max(min(wide, other_wide), 1e-12)
    if abs(mean - other_mean) <= _FAR * max(wide, 1e-12) and max(wide, other_wide) <= _WIDE * least:
        return
    raise Trouble(
        f"Training values have mean {mean:.4g} and deviation {wide:.4g}, validation values "
        f"{other_mean:.4g} and {other_wide:.4g}.",
        Category.DRIFT,
        "Give both the same scaling and normalisation, and compare how they were taken.",
    )
