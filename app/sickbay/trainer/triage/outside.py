"""Triage from the outside: the job runs in a process of its own, under a deadline.

A job that hangs, crashes the interpreter or is killed for its memory ends that process only; what
it was at is in the report.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from sickbay.contract.errors import BadInput
from sickbay.contract.fields import Fields
from sickbay.contract.read_report import read_report
from sickbay.contract.report import Passed, Report, Stage
from sickbay.contract.sign import Category
from sickbay.contract.taxonomy import Layer
from sickbay.trainer.loading.checking import records
from sickbay.trainer.triage.running import STAGES, Options, failed
from sickbay.trainer.triage.trouble import Trouble

_STARTING = 120.0
"""Seconds that imports and the factory may take beside the time-out."""
_LOADER = 30.0
"""Seconds beside it in which a loader says itself that its workers are late."""
_OF_DATA = ("one batch", "workers", "train and validation")


def apart(spec: str, options: Options, told: Callable[[Stage], None] | None = None) -> Report:
    """Take a job apart in a process of its own.

    Args:
        spec: ``module:factory``, as from the folder one is in.
        options: how; ``timeout`` is for each sample, batch, pass and step too.
        told: called with each stage that ended.

    Raises:
        BadInput: there is no such factory, or it makes no job.
    """
    return _Apart(spec, options, told or (lambda _: None)).run()


class _Apart:
    def __init__(self, spec: str, options: Options, told: Callable[[Stage], None]) -> None:
        self._asked = {"spec": spec, **asdict(options)}
        self._timeout = options.timeout
        self._told = told
        self._done: list[Stage] = []
        self._stage = STAGES[0]
        self._at = ""
        self._began = time.monotonic()
        self._report: Report | None = None

    def run(self) -> Report:
        reason = self._watched()
        if self._report is not None:
            return self._report
        trouble = self._ended(reason)
        took = time.monotonic() - self._began
        stage = Stage(self._stage, Passed.FAILED, trouble.message, took)
        self._told(stage)
        return failed([*self._done, stage], trouble)

    def _watched(self) -> str:
        """Run the process and take in what it prints; return how it ended."""
        command = [sys.executable, "-m", "sickbay.trainer.triage.child", json.dumps(self._asked)]
        with subprocess.Popen(  # noqa: S603 (this program itself)
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            env={**os.environ, "SICKBAY_MODE": "disabled"},
            start_new_session=True,
        ) as process:
            try:
                for record in records(process, self._limit):
                    self._take(record)
                process.wait(self._timeout)
            except (TimeoutError, subprocess.TimeoutExpired):
                return f"took more than {self._timeout:g} seconds"
            finally:
                with suppress(ProcessLookupError):  # its workers too, which may hang
                    os.killpg(process.pid, signal.SIGKILL)
        return _how(process.returncode)

    def _limit(self) -> float:
        beside = {STAGES[0]: _STARTING, "workers": _LOADER}
        return self._timeout + beside.get(self._stage, 0.0)

    def _take(self, record: Mapping[str, Any]) -> None:
        if "refused" in record:
            raise BadInput(record["refused"])
        if "begins" in record:
            self._stage, self._at, self._began = record["begins"], "", time.monotonic()
        elif "at" in record:
            self._at = record["at"]
        elif "ended" in record:
            stage = Stage(**{**record["ended"], "outcome": Passed(record["ended"]["outcome"])})
            self._done.append(stage)
            self._told(stage)
        elif "report" in record:
            self._report = read_report(Fields(record["report"], "The report"))

    def _ended(self, reason: str) -> Trouble:
        """Say at what the process was when it ended without a report."""
        at = f", at {self._at}" if self._at else ""
        message = f"The process {reason}{at}."
        if self._stage in _OF_DATA:
            advice = (
                "Open the sample that is named by itself: it hangs, or crashes its decoder. "
                "`sickbay scan --loader` goes on behind such samples and names all of them."
            )
            return Trouble(message, Category.LOADING, advice, Layer.DATA)
        if "SIGKILL" in reason:
            return Trouble(message, Category.MEMORY)
        advice = "Run with `py-spy dump` or `python -X faulthandler` to see where it is then."
        return Trouble(message, None, advice, Layer.MODEL)


def _how(code: int) -> str:
    if code >= 0:
        return f"ended with code {code}"
    with suppress(ValueError):
        return f"was ended by {signal.Signals(-code).name}"
    return f"was ended by signal {-code}"
