"""What a run ran in: packages, CUDA, driver, git, host, command line, without secrets.

Gathered once for an attempt in a thread of its own, step by step with a pause behind each; no
step may take long, and a step that fails is left out. CUDA is never initialised here.
"""

import os
import platform
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from sickbay.trainer.plain import HIDDEN, names_secret, without_secrets

Git: TypeAlias = subprocess.Popen[bytes]
GIT_TIMEOUT = 5.0
"""Seconds that git may take; a huge work tree on a slow disk takes more, and is left out."""
_QUESTION = ("status", "--porcelain=v2", "--branch", "--untracked-files=no")
_DIST = re.compile(r"([A-Za-z0-9][A-Za-z0-9._]*)-([^-]+)\.(?:dist|egg)-info")
_SETTING = re.compile(r"--?([\w.\-]+)(=.*)?|([\w.]+)(=.*)")
_MOST_PACKAGES = 2000
_PAUSE = 0.002


def at_once() -> dict[str, Any]:
    """Return what is known without looking anything up; goes with the opening."""
    return {
        "python": platform.python_version(),
        "pid": os.getpid(),
        "command": command(sys.argv),
    }


def describe(found: Callable[[Mapping[str, Any]], None], *, whole: bool) -> threading.Thread:
    """Gather the environment in the background and give it to ``found``.

    Args:
        found: called once, from another thread.
        whole: also packages and git, which are the same for all ranks; else this host's part.
    """
    parts = dict(_PARTS if whole else _OF_THIS_HOST)
    if whole:
        parts["git"] = partial(git, ask_git())

    def gather() -> None:
        facts = at_once()
        for name, ask in parts.items():
            with suppress(Exception):
                if (answer := ask()) not in (None, "", {}, []):
                    facts[name] = answer
            time.sleep(_PAUSE)
        found(facts)

    thread = threading.Thread(target=gather, name="sickbay-environment", daemon=True)
    thread.start()
    return thread


def command(words: list[str]) -> list[str]:
    """Return a command line in which the values of secret settings are hidden."""
    shown, hide_next = [], False
    for word in words[:200]:
        found = _SETTING.fullmatch(word)
        name = (found[1] or found[3]) if found else ""
        value = (found[2] or found[4]) if found else None
        if hide_next and not word.startswith("-"):
            shown.append(HIDDEN)
        elif names_secret(name) and value:
            shown.append(f"{word[: -len(value)]}={HIDDEN}")
        else:
            shown.append(without_secrets(word)[:500])
        hide_next = names_secret(name) and not value and word.startswith("-")
    return shown


def packages() -> dict[str, str]:
    """Return installed packages and versions by the names of their metadata folders.

    Reading the metadata themselves takes half a second in a large environment; a listing, none.
    """
    found: dict[str, str] = {}
    for folder in sys.path:
        with suppress(OSError):
            for entry in os.scandir(folder or "."):
                if match := _DIST.fullmatch(entry.name):
                    found.setdefault(match[1].replace("_", "-").lower(), match[2])
    return dict(sorted(found.items())[:_MOST_PACKAGES])


def ask_git() -> Git | None:
    """Ask git for the state of the work tree that the script stands in, without waiting.

    Starting a process keeps the interpreter from everything else for some milliseconds, so that
    this is done while the training has not begun.
    """
    script = Path(sys.argv[0] if sys.argv else "").absolute().parent
    folder = script if script.is_dir() else Path.cwd()
    with suppress(OSError):
        return subprocess.Popen(  # noqa: S603 (fixed words, no shell)
            ["git", "-C", str(folder), *_QUESTION],  # noqa: S607 (git is where the user has it)
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"},
        )
    return None


def git(asked: Git | None) -> dict[str, Any]:
    """Return revision, branch and dirtiness of the script's work tree, if it stands in one."""
    if asked is None:
        return {}
    try:
        lines = asked.communicate(timeout=GIT_TIMEOUT)[0].decode("utf-8", "replace").splitlines()
    except subprocess.TimeoutExpired:
        asked.kill()
        asked.communicate()
        return {}
    facts = dict(line[2:].split(" ", 1) for line in lines if line.startswith("# branch."))
    if asked.returncode != 0 or not facts:
        return {}
    return {
        "revision": facts.get("branch.oid", ""),
        "branch": facts.get("branch.head", ""),
        "dirty": any(not line.startswith("#") for line in lines),
    }


def torch() -> dict[str, Any]:
    """Return the versions of torch and of what it was built for, if the script imported it."""
    module: Any = sys.modules.get("torch")
    if module is None:
        return {}
    facts = {"version": str(module.__version__), "cuda": module.version.cuda}
    if module.cuda.is_initialized():
        facts["device"] = module.cuda.get_device_name()
        facts["cudnn"] = module.backends.cudnn.version()
    return {name: value for name, value in facts.items() if value is not None}


def driver() -> str:
    """Return NVIDIA's driver version as the kernel tells it."""
    line = Path("/proc/driver/nvidia/version").read_text("utf-8").splitlines()[0]
    found = re.search(r"\d+\.\d+(?:\.\d+)?", line)
    return found[0] if found else ""


def gpus() -> list[str]:
    """Return the models of this host's NVIDIA GPUs."""
    folder = Path("/proc/driver/nvidia/gpus")
    texts = (path.read_text("utf-8") for path in sorted(folder.glob("*/information")))
    return [found[1].strip() for text in texts if (found := re.search(r"Model:(.*)", text))]


def scheduler() -> dict[str, str]:
    """Return which job this is to SLURM or torchrun."""
    names = ("SLURM_JOB_ID", "SLURM_JOB_NAME", "SLURM_ARRAY_TASK_ID", "TORCHELASTIC_RUN_ID")
    return {name: os.environ[name][:200] for name in names if name in os.environ}


_OF_THIS_HOST: Mapping[str, Callable[[], Any]] = {
    "host": platform.node,
    "platform": platform.platform,
    "cpus": os.cpu_count,
    "driver": driver,
    "gpus": gpus,
    "torch": torch,
}
_PARTS: Mapping[str, Callable[[], Any]] = {
    **_OF_THIS_HOST,
    "scheduler": scheduler,
    "packages": packages,
}
