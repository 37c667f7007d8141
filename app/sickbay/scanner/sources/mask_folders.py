"""Folders that belong together by what one name says of both, as challenges name them.

``ISIC2018_Task1-2_Training_Input`` holds the pictures of ``ISIC2018_Task1_Training_GroundTruth``:
their ends tell which is which, and the word of the split that they belong together.
"""

import re
from collections.abc import Callable, Iterable, Iterator

from sickbay.scanner.sources.folders import split_named

TRUTHS = (b"_groundtruth", b"-groundtruth", b"_ground_truth")
_INPUTS = (b"_input", b"_data", b"-input", b"_inputs")
_WORDS = re.compile(rb"[A-Za-z]+")

Children = Callable[[bytes], Iterable[bytes]]
"""Gives the names of the folders in a folder."""


def is_truth(part: bytes) -> bool:
    """Whether the name of a folder says that it holds what is to be learnt."""
    return part.lower().endswith(TRUTHS)


def truths_of(folder: bytes, children: Children) -> Iterator[bytes]:
    """Yield the folders that may hold the masks of pictures in a folder."""
    return _other(folder, _INPUTS, TRUTHS, children)


def inputs_of(folder: bytes, children: Children) -> Iterator[bytes]:
    """Yield the folders that may hold the pictures of masks in a folder."""
    return _other(folder, TRUTHS, _INPUTS, children)


def _other(
    folder: bytes, own: tuple[bytes, ...], other: tuple[bytes, ...], children: Children
) -> Iterator[bytes]:
    parts = folder.split(b"/")
    for at, part in enumerate(parts):
        if not part.lower().endswith(own):
            continue
        for name in sorted(children(b"/".join(parts[:at]))):
            if name.lower().endswith(other) and _phase(name) == _phase(part):
                yield b"/".join([*parts[:at], name, *parts[at + 1 :]])


def _phase(name: bytes) -> str:
    """Return the split that a word of a name stands for."""
    splits = (split_named(word) for word in _WORDS.findall(name))
    return next((split for split in splits if split), "")
