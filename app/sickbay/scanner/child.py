"""The child that decodes: one process, limited in memory and time, which may die of any file.

Started by :class:`sickbay.scanner.guard.Guard` as ``python -I -m sickbay.scanner.child LIMITS``.
Requests come in on standard input and answers go out where standard output was; whatever a C
decoder prints goes to standard error, which is the guard's file, and is evidence.
"""

import gc
import json
import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from sickbay.contract.defects import Severity
from sickbay.contract.errors import SickbayError
from sickbay.contract.inside import Inside
from sickbay.contract.paths import SamplePath
from sickbay.scanner import decode, thumbnail, wire
from sickbay.scanner.checks import files
from sickbay.scanner.evidence import Evidence, Examined
from sickbay.scanner.limits import Limits
from sickbay.scanner.process import READY

Answer = tuple[Any, bytes]
_STDERR = 2
_EVIDENCE = 400  # characters of what a decoder printed
_OPEN_FILES = 1024  # what Linux gives by default: each folder on the way to a file is held open
_WRITTEN_BYTES = 1 << 20
_TOGETHER_SECONDS = 0.2  # far below any deadline a guard keeps


def main(limits: Limits) -> None:
    """Answer requests until the guard closes its side."""
    requests, answers = _streams()
    _restrict(limits)
    gc.freeze()
    _send(answers, wire.pack(READY))
    while True:
        try:
            request, raw = requests.frame()
        except wire.Closed:
            return
        _answer(answers, _ACTS[request["act"]](request, raw, limits), at_once=request["at_once"])


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


def _check_files(request: dict[str, Any], _raw: bytes, limits: Limits) -> Iterator[Answer]:
    """Check files below a root, one answer a file, so that a death names its file."""
    paths = [SamplePath(name.encode("latin-1")) for name in request["files"]]
    try:
        folder = Inside(os.fsdecode(request["root"].encode("latin-1")))
    except SickbayError:
        yield from [_guarded(files.without_root)] * len(paths)
        return
    with folder:
        for path in paths:
            signal.setitimer(signal.ITIMER_PROF, limits.cpu_seconds)
            yield _guarded(partial(_one, folder, path, request["care"], limits))


def _one(folder: Inside, path: SamplePath, care: int, limits: Limits) -> Examined:
    facts, data = files.read(folder, path.raw, limits)
    if data is None:
        return facts
    found = _examine(data, path.suffix, care, limits)
    return replace(found, mtime_ns=facts.mtime_ns, stat=facts.stat)


def _check_bytes(request: dict[str, Any], raw: bytes, limits: Limits) -> Iterator[Answer]:
    signal.setitimer(signal.ITIMER_PROF, limits.cpu_seconds)
    yield _guarded(lambda: _examine(raw, request["suffix"], request["care"], limits))


def _examine(data: bytes, suffix: str, care: int, limits: Limits) -> Examined:
    """Check by degrees of care: 0 as usual, 1 without simplejpeg, 2 nothing but the hash."""
    if care > 1:
        return decode.unchecked(data)
    return decode.examine(data, suffix, limits, careful=care > 0)


def _preview(request: dict[str, Any], raw: bytes, limits: Limits) -> Iterator[Answer]:
    signal.setitimer(signal.ITIMER_PROF, limits.cpu_seconds)
    yield _shown(raw, request["suffix"], request, limits)


def _preview_file(request: dict[str, Any], _raw: bytes, limits: Limits) -> Iterator[Answer]:
    signal.setitimer(signal.ITIMER_PROF, limits.cpu_seconds)
    path = SamplePath(request["file"].encode("latin-1"))
    try:
        with Inside(os.fsdecode(request["root"].encode("latin-1"))) as folder:
            _, data = files.read(folder, path.raw, limits)
    except SickbayError:
        data = None
    yield _shown(data or b"", path.suffix, request, limits)


def _shown(data: bytes, suffix: str, request: dict[str, Any], limits: Limits) -> Answer:
    kind = decode.kind_of(data, suffix)
    if kind is None:
        return [], b""
    cut = request["checked"] and _is_cut(data, kind, limits)
    return [], thumbnail.thumbnail(data, kind, request["side"], cut=cut) or b""


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


_ACTS: dict[str, Callable[[dict[str, Any], bytes, Limits], Iterator[Answer]]] = {
    "files": _check_files,
    "bytes": _check_bytes,
    "preview": _preview,
    "preview-file": _preview_file,
}

if __name__ == "__main__":
    main(Limits(**json.loads(sys.argv[1])))
