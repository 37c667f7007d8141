"""Where a sample lies, as the server knows it: below the data set's root."""

import os
from typing import Any

from sickbay.contract.paths import MAX_PATH_BYTES, SamplePath


def below(path: Any, root: str | None) -> SamplePath:
    """Return a sample's path below the root; one that is elsewhere keeps all its parts."""
    raw = os.fsencode(os.path.normpath(os.fspath(path)))
    base = os.fsencode(os.path.abspath(root)) + b"/" if root else b"/"  # noqa: PTH100 (bytes)
    parts = raw.removeprefix(base).replace(os.fsencode(os.sep), b"/").split(b"/")
    kept = [part for part in parts if part not in (b"", b".", b"..")]
    return SamplePath(b"/".join(kept)[:MAX_PATH_BYTES] or b"unknown")
