"""A picture, with whatever an annotation file says of it."""

from collections.abc import Iterable
from dataclasses import replace
from functools import partial

from sickbay.contract.finding import Finding
from sickbay.contract.paths import SamplePath
from sickbay.scanner import decode
from sickbay.scanner.evidence import Evidence, Examined
from sickbay.scanner.examine import Annotations, Files
from sickbay.scanner.task import CAREFUL, HASH_ONLY, Setup, Task


def none(_files: Files, _task: Task, _setup: Setup, _evidence: Evidence) -> Iterable[Finding]:
    """What is found where nothing is said of a picture."""
    return ()


def examine(
    files: Files, task: Task, setup: Setup, care: int, annotations: Annotations = none
) -> Examined:
    """Check a picture file and what is said of it."""
    facts, data = files.read(task.raw)
    if data is None:
        return facts
    if care >= HASH_ONLY:
        found = decode.unchecked(data)
    else:
        found = decode.examine(
            data,
            SamplePath(task.raw).suffix,
            setup,
            careful=care >= CAREFUL,
            held=task.held,
            annotations=partial(annotations, files, task, setup),
        )
    return replace(found, mtime_ns=facts.mtime_ns, stat=facts.stat)
