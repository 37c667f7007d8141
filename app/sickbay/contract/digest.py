"""SHA-256 of files, read through a descriptor that is already known to be the right one."""

import hashlib
import os

BLOCK = 1 << 20
"""Bytes read at once."""


def of_handle(handle: int, size: int) -> str | None:
    """Return the SHA-256 of what is left to read, or nothing where that is not ``size`` bytes.

    Reading stops right behind ``size``: a file that grows without end costs nothing.
    """
    digest, seen = hashlib.sha256(), 0
    while seen <= size and (block := os.read(handle, min(BLOCK, size - seen + 1))):
        digest.update(block)
        seen += len(block)
    return digest.hexdigest() if seen == size else None
