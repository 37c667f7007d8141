"""How a process that runs a job's own code tells its parent what it sees: JSON, line by line."""

import json
import os
from collections.abc import Callable
from typing import Any, TypeAlias

Say: TypeAlias = Callable[[dict[str, Any]], None]


def standard_output() -> Say:
    """Take standard output for the parent alone; what the job prints goes to standard error."""
    out = os.dup(1)
    os.dup2(2, 1)

    def say(record: dict[str, Any]) -> None:
        os.write(out, json.dumps(record).encode() + b"\n")

    return say
