"""One decoding child as a process: started, asked, and its death explained."""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from sickbay.contract.errors import SickbayError
from sickbay.scanner import wire
from sickbay.scanner.limits import MIB, Limits
from sickbay.scanner.task import Setup

COMMAND = (sys.executable, "-I", "-m", "sickbay.scanner.child")
_FILES_A_CHILD = 4096  # a fresh one costs as much CPU as a hundred files
_GROWTH = 256 * MIB
_EVIDENCE = 400  # characters of what it printed
_GREEDY = ("bad_alloc", "out of memory", "Cannot allocate", "MemoryError")
_GOODBYE_SECONDS = 2.0
_KEPT_BYTES, _APART_BYTES = 32 * MIB, 8 * MIB
_START_SECONDS = 120.0
_NOT_STARTED = "The process that decodes pictures cannot be started"
CRASHED, LATE, GREEDY = "decoder.crashed", "decoder.timed-out", "decoder.out-of-memory"


class Death(Exception):
    """How a child ended: a ``decoder.*`` code, in what way, and what it had printed."""

    def __init__(self, code: str, how: str, printed: str = "") -> None:
        super().__init__(code, how, printed)
        self.code, self.how, self.printed = code, how, printed


class Child:
    """A running child. Any of its methods may raise :class:`Death`, once.

    Raises:
        SickbayError: it cannot be started, which is no fault of any file.
    """

    def __init__(self, setup: Setup, command: Sequence[str]) -> None:
        self._limits = setup.limits
        self._stderr = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 (lives as long as the child)
        self._process = self._started(command)
        self._requests, self._answers = _pipes(self._process)
        self._reader = wire.Reader(self._answers)
        self._wait_until_ready(setup)
        self._served = 0
        self._baseline = 0

    def _started(self, command: Sequence[str]) -> "subprocess.Popen[bytes]":
        try:
            return subprocess.Popen(  # noqa: S603 (our own command)
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._stderr,
                env=_environment(),
                start_new_session=True,  # an interrupt from the terminal is the scan's to handle
                bufsize=0,
            )
        except OSError as error:
            self._stderr.close()
            raise SickbayError(f"{_NOT_STARTED}: {error.strerror}.") from None

    def _wait_until_ready(self, setup: Setup) -> None:
        """Keep its start out of the first file's time, and a broken installation off its files."""
        try:
            self._send(setup.to_json())
            ready, _ = self._reader.frame(_START_SECONDS)
        except (wire.Closed, wire.Late, OSError):
            ready = None
        if ready != wire.READY:
            self._process.kill()
            death = self.death()
            raise SickbayError(f"{_NOT_STARTED}: {death.printed[-200:] or death.how}.")

    @property
    def spent(self) -> bool:
        """Whether it served or grew enough to be replaced."""
        resident = _resident(self._process.pid)
        if self._served and not self._baseline:
            self._baseline = resident
        return self._served >= _FILES_A_CHILD or resident > self._baseline + _GROWTH > _GROWTH

    def ask(self, request: dict[str, Any], data: bytes = b"") -> None:
        """Send one request."""
        try:
            self._send(request, data)
        except OSError:
            raise self.death() from None

    def _send(self, value: dict[str, Any], data: bytes = b"") -> None:
        frame = memoryview(wire.pack(value, data))
        while frame:
            frame = frame[os.write(self._requests, frame) :]

    def answer(self) -> tuple[Any, bytes]:
        """Wait for the next answer, as long as one file may take."""
        self._served += 1
        try:
            return self._reader.frame(self._limits.wall_seconds)
        except wire.Late:
            self._process.kill()
            self.death()
            raise Death(LATE, f"over {self._limits.wall_seconds:g} s") from None
        except wire.Closed:
            raise self.death() from None

    def death(self) -> Death:
        """End what is left of it and explain how it died."""
        printed = self._printed()
        self.close()
        return _explained(self._process.returncode, printed, self._limits)

    def close(self) -> None:
        """End it: its requests end, so it leaves; if it does not, it is killed."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
        for _ in range(2):  # a process stuck in the kernel outlives its killing; it is left behind
            try:
                self._process.wait(_GOODBYE_SECONDS)
                break
            except subprocess.TimeoutExpired:
                self._process.kill()
        self._stderr.close()

    def _printed(self) -> str:
        self._stderr.seek(0)
        text = self._stderr.read(_EVIDENCE * 4).decode("utf-8", errors="replace")
        return " ".join(text.split())[:_EVIDENCE]


def _pipes(process: "subprocess.Popen[bytes]") -> tuple[int, int]:
    if process.stdin is None or process.stdout is None:
        raise RuntimeError("A child was started without pipes.")
    return process.stdin.fileno(), process.stdout.fileno()


def _environment() -> dict[str, str]:
    """As little as Python needs; threads in the child would only spoil its CPU limit.

    Memory that one file frees is kept for the next (as glibc is told): to give it back and to be
    given it anew, page by page, takes some 60 microseconds a file.
    """
    kept = {
        name: os.environ[name]
        for name in ("PATH", "LANG", "LC_ALL", "TMPDIR")
        if name in os.environ
    }
    memory = {
        "MALLOC_TRIM_THRESHOLD_": str(_KEPT_BYTES),
        "MALLOC_MMAP_THRESHOLD_": str(_APART_BYTES),
    }
    return {**kept, **memory, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


def _resident(pid: int) -> int:
    """Bytes in memory, 0 where the system does not say."""
    try:
        pages = Path(f"/proc/{pid}/statm").read_text("ascii").split()[1]
    except (OSError, IndexError):
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def _explained(status: int | None, printed: str, limits: Limits) -> Death:
    if status is None or status == -signal.SIGPROF:
        return Death(LATE, f"over {limits.cpu_seconds:g} s of CPU", printed)
    if status == -signal.SIGKILL or any(word in printed for word in _GREEDY):
        return Death(GREEDY, f"over {limits.memory // MIB} MB", printed)
    if status < 0:
        return Death(CRASHED, signal.Signals(-status).name, printed)
    return Death(CRASHED, f"exit status {status}", printed)
