"""A child whose decoder crashes, hangs or eats memory on files that say so.

Started by tests instead of the real child, which it is but for the planted behaviour.
"""

import ctypes
import os
import sys
import time
from pathlib import Path
from typing import Any

from sickbay.scanner import child, decode
from sickbay.scanner.evidence import Examined
from sickbay.scanner.task import Setup

COMMAND = (sys.executable, "-I", str(Path(__file__)))
_examine = decode.examine


def _planted(data: bytes, suffix: str, setup: Setup, **given: Any) -> Examined:
    if b"PLANT-SEGFAULT" in data and not (given["careful"] and b"ONLY-QUICK" in data):
        os.write(2, b"corrupted double-linked list\n")
        ctypes.string_at(0)
    if b"PLANT-ABORT" in data:
        os.abort()
    if b"PLANT-EXIT" in data:
        os._exit(3)
    if b"PLANT-SLEEP" in data:
        time.sleep(60)
    if b"PLANT-SPIN" in data:
        while True:
            pass
    if b"PLANT-MEMORY" in data:
        return Examined(sha256=str(bytearray(4 << 30)))
    if b"PLANT-NONSENSE" in data:
        return Examined(size="many")  # type: ignore[arg-type]
    if b"PLANT-PRINT" in data:
        os.write(2, b"decoder: something is odd \x1b[31m\n")
    return _examine(data, suffix, setup, **given)


if __name__ == "__main__":
    decode.examine = _planted
    child.main()
