"""The command line as a process, also on a machine with less rights or room than this one."""

import ctypes
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_DROP_BOUND_CAPABILITY = 24  # PR_CAPBSET_DROP of prctl(2)
_IGNORE_PERMISSIONS = (1, 2)  # CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH of capabilities(7)


@dataclass(frozen=True, slots=True)
class Ran:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def sentence(self) -> str:
        """The one line an error said, beside the layout chosen; not an empty one beside it."""
        lines = [line for line in self.err.splitlines() if not line.startswith("Layout ")]
        assert len(lines) == 1, self.err
        assert lines[0].startswith("sickbay: ")
        return lines[0].removeprefix("sickbay: ")


def run(
    *arguments: str | Path, prepare: Callable[[], None] | None = None, **environment: str
) -> Ran:
    """Run ``sickbay`` to its end."""
    done = subprocess.run(
        [sys.executable, "-m", "sickbay", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "COLUMNS": "200", **environment},
        preexec_fn=prepare,
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def begin(*arguments: str | Path) -> "subprocess.Popen[str]":
    """Start ``sickbay`` and go on meanwhile."""
    return subprocess.Popen(
        [sys.executable, "-m", "sickbay", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def as_anybody() -> None:
    """Let permissions count for the superuser too, as they do for everybody else."""
    libc = ctypes.CDLL(None)
    for capability in _IGNORE_PERMISSIONS:
        libc.prctl(_DROP_BOUND_CAPABILITY, capability, 0, 0, 0)


def with_small_files() -> None:
    """Let no file grow beyond 64 kB: the same failing write as on a full disk."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, 1 << 16))


def unmount(folder: Path) -> None:
    """Take a file system away again."""
    with suppress(FileNotFoundError):
        subprocess.run(["umount", folder], check=False, capture_output=True)


def mount_small(folder: Path, size: str) -> bool:
    """Put a small file system of its own on a folder; say whether that was allowed."""
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder],
        check=False,
        capture_output=True,
    )
    return done.returncode == 0
