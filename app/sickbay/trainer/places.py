"""Where a sample lies, as the server knows it: below the data set's root."""

import os
from functools import lru_cache
from typing import Any

from sickbay.contract.paths import MAX_PATH_BYTES, SamplePath


def below(path: Any, root: str | None) -> SamplePath:
    """Return a sample's path below the root; one that is elsewhere keeps all its parts.

    A path that is not absolute is one from here, where that lies below the root, and else one
    that is below the root already.
    """
    raw = os.fsencode(os.path.normpath(os.fspath(path)))
    if root:
        raw = _without(raw, _both(os.path.abspath(root)))  # noqa: PTH100 (as text)
    parts = raw.replace(os.fsencode(os.sep), b"/").split(b"/")
    kept = [part for part in parts if part not in (b"", b".", b"..")]
    return SamplePath(b"/".join(kept)[:MAX_PATH_BYTES] or b"unknown")


def _without(raw: bytes, roots: tuple[bytes, ...]) -> bytes:
    here = (b"",) if os.path.isabs(raw) else _both(os.getcwd())  # noqa: PTH109, PTH117 (bytes)
    wholes = [folder + raw for folder in here]
    found = (whole[len(root) :] for whole in wholes for root in roots if whole.startswith(root))
    return next(found, raw)


@lru_cache(maxsize=16)
def _both(folder: str) -> tuple[bytes, ...]:
    """Return an absolute path as it is said and as it is behind links, each with a slash."""
    both = (folder, os.path.realpath(folder))
    return tuple(os.fsencode(os.path.join(one, "")) for one in dict.fromkeys(both))  # noqa: PTH118
