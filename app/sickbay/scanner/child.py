"""The child that decodes: one process, limited in memory and time, which may die of any file.

Started by :class:`sickbay.scanner.guard.Guard` as ``python -I -m sickbay.scanner.child``; the
first frame it is sent is its setup. Requests come in on standard input and answers go out where
standard output was; whatever a C decoder prints goes to standard error, which is the guard's
file, and is evidence.
"""

import gc
import os
import resource
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from sickbay.contract.defects import Severity
from sickbay.contract.errors import SickbayError
from sickbay.contract.inside import Inside
from sickbay.contract.paths import SamplePath
from sickbay.scanner import decode, wire
from sickbay.scanner.checks.files import without_root
from sickbay.scanner.evidence import Evidence, Examined
from sickbay.scanner.examine import Files
from sickbay.scanner.examine.folder import FilesBelow, FilesGiven
from sickbay.scanner.examine.kinds import examiner
from sickbay.scanner.limits import Limits
from sickbay.scanner.task import FULL, Setup, Task

Answer = tuple[Any, bytes]
_STDERR = 2
_EVIDENCE = 400  # characters of what a decoder printed
_OPEN_FILES = 1024  # what Linux gives by default: each folder on the way to a file is held open
_WRITTEN_BYTES = 1 << 20
_TOGETHER_SECONDS = 0.2  # far below any deadline a guard keeps


def main() -> None:
    """Answer requests until the guard closes its side."""
    requests, answers = _streams()
    setup = Setup.from_json(requests.frame()[0])
    if setup.depth == FULL:  # what it needs is no file's memory or time
        import_module("sickbay.scanner.full")
    _restrict(setup.limits)
    gc.freeze()
    _send(answers, wire.pack(wire.READY))
    while True:
        try:
            request, raw = requests.frame()
        except wire.Closed:
            return
        _answer(answers, _ACTS[request["act"]](request, raw, setup), at_once=request["at_once"])


def _answer(fd: int, made: Iterator[Answer], *, at_once: bool) -> None:
    """Send answers as they come, or a few together, which spares the guard waking for each."""
    waiting, sent = b"", time.monotonic()
    for value, raw in made:
        signal.setitimer(signal.ITIMER_PROF, 0)
        waiting += wire.pack(value, raw)
        if at_once or time.monotonic() - sent > _TOGETHER_SECONDS:
            _send(fd, waiting)
            waiting, sent = b"", time.monotonic()
    _send(fd, waiting)


def _streams() -> tuple[wire.Reader, int]:
    """Keep standard output for frames alone: decoders that print must not break them."""
    answers = os.dup(1)
    os.dup2(_STDERR, 1)
    return wire.Reader(0), answers


def _send(fd: int, frame: bytes) -> None:
    view = memoryview(frame)
    while view:
        view = view[os.write(fd, view) :]


def _restrict(limits: Limits) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    _lower(resource.RLIMIT_CORE, 0)
    _lower(resource.RLIMIT_NOFILE, _OPEN_FILES)
    _lower(resource.RLIMIT_FSIZE, _WRITTEN_BYTES)
    if (baseline := address_space()) is not None:
        _lower(resource.RLIMIT_AS, baseline + limits.memory)


def _lower(which: int, value: int) -> None:
    _, most = resource.getrlimit(which)
    allowed = value if most == resource.RLIM_INFINITY else min(value, most)
    resource.setrlimit(which, (allowed, allowed))


def address_space() -> int | None:
    """Bytes of address space of this process, nothing where the system does not say."""
    try:
        return int(Path("/proc/self/statm").read_text("ascii").split()[0]) * resource.getpagesize()
    except (OSError, ValueError):
        return None


def _check(request: dict[str, Any], raw: bytes, setup: Setup) -> Iterator[Answer]:
    """Check samples, one answer a sample, so that a death names its sample."""
    tasks = [Task.from_json(value) for value in request["tasks"]]
    try:
        with _files(request, raw, setup.limits) as files:
            for task in tasks:
                _arm(setup)
                yield _guarded(partial(examiner(task.kind), files, task, setup, request["care"]))
    except SickbayError:
        yield from [_guarded(without_root)] * len(tasks)


@contextmanager
def _files(request: dict[str, Any], raw: bytes, limits: Limits) -> Iterator[Files]:
    """Open the folder of the request, or the files that came with it."""
    if "root" in request:
        with Inside(os.fsdecode(request["root"].encode("latin-1"))) as folder:
            yield FilesBelow(folder, limits)
        return
    contents, at = {}, 0
    for name, size in request["contents"]:
        contents[name.encode("latin-1")] = raw[at : at + size]
        at += size
    faults = {name.encode("latin-1"): wire.to_findings(value) for name, value in request["faults"]}
    yield FilesGiven(contents, faults)


def _arm(setup: Setup) -> None:
    signal.setitimer(signal.ITIMER_PROF, setup.limits.cpu_seconds)


def _preview(request: dict[str, Any], raw: bytes, setup: Setup) -> Iterator[Answer]:
    _arm(setup)
    yield _shown(raw, request["suffix"], request, setup.limits)


def _preview_file(request: dict[str, Any], _raw: bytes, setup: Setup) -> Iterator[Answer]:
    _arm(setup)
    path = SamplePath(request["file"].encode("latin-1"))
    try:
        with _files(request, b"", setup.limits) as files:
            _, data = files.read(path.raw)
    except SickbayError:
        data = None
    yield _shown(data or b"", path.suffix, request, setup.limits)


def _shown(data: bytes, suffix: str, request: dict[str, Any], limits: Limits) -> Answer:
    kind = decode.kind_of(data, suffix)
    if kind is None:
        return [], b""
    cut = request["checked"] and _is_cut(data, kind, limits)
    from sickbay.scanner import full  # noqa: PLC0415 (see there)

    return [], full.thumbnail(data, kind, request["side"], cut=cut) or b""


def _is_cut(data: bytes, kind: str, limits: Limits) -> bool:
    evidence = Evidence()
    with suppress(MemoryError):
        decode.decode(data, kind, evidence, limits)
    return evidence.cut


def _guarded(check: Callable[[], Examined]) -> Answer:
    """Answer with what was found, or with null where memory ran out."""
    try:
        found = check()
    except MemoryError:
        return None, b""
    if os.lseek(_STDERR, 0, os.SEEK_CUR):
        found = _with_evidence(found, _printed())
    return wire.from_examined(found), found.thumbnail or b""


def _printed() -> str:
    """Take what decoders printed about this file off standard error."""
    text = os.pread(_STDERR, _EVIDENCE * 4, 0).decode("utf-8", errors="replace")
    os.ftruncate(_STDERR, 0)
    os.lseek(_STDERR, 0, os.SEEK_SET)
    return "".join(char if char.isprintable() else " " for char in text)[:_EVIDENCE].strip()


def _with_evidence(found: Examined, text: str) -> Examined:
    findings = tuple(
        replace(finding, detail={**finding.detail, "stderr": text})
        if finding.severity is Severity.BLOCK
        else finding
        for finding in found.findings
    )
    return replace(found, findings=findings)


_ACTS: dict[str, Callable[[dict[str, Any], bytes, Setup], Iterator[Answer]]] = {
    "check": _check,
    "preview": _preview,
    "preview-file": _preview_file,
}

if __name__ == "__main__":
    main()
