"""Scan a folder in a process of its own, and say what that took.

Started by tests as ``python -m tests.scanner.hostile_scan ROOT LAYOUT``; prints one JSON object.
"""

import json
import resource
import sys
from pathlib import Path

from tests.scanner.recorded import Recorded, codes

from sickbay.contract.errors import SickbayError
from sickbay.scanner import scan


def main() -> None:
    """Scan, and print the totals, the codes by path, and the most memory it had, in MiB."""
    root, layout = sys.argv[1:]
    sink, refused = Recorded(), None
    try:
        scan(Path(root), dataset="test", sink=sink, layout=layout, workers=1)
    except SickbayError as error:
        refused = str(error)
    print(json.dumps({"refused": refused, "mib": _peak(), **_found(sink)}))  # noqa: T201 (its answer)


def _found(sink: Recorded) -> dict[str, object]:
    total = sink.summary
    samples = {name: codes(one.findings) for name, one in sink.samples.items()}
    files = {name: codes(one.findings) for name, one in sink.files.items()}
    return {
        "sum": total and [total.found, total.clean + total.held + total.skipped],
        "codes": {name: found for name, found in (samples | files).items() if found},
    }


def _peak() -> int:
    """Return the most memory of this process, or of a child that it waited for, in MiB.

    Not ``ru_maxrss`` of this process: the system counts what its parent had when it started it.
    """
    status = Path("/proc/self/status").read_text("ascii")
    own = next(line for line in status.splitlines() if line.startswith("VmHWM:"))
    children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return max(int(own.split()[1]), children) // 1024


if __name__ == "__main__":
    main()
