"""The loader check, from the outside: watches the process that goes through the data.

Samples that kill it, or on which it hangs, are found by what it printed last; it is started again
behind them. What is kept grows with what is found, not with the data set, and is bounded.
"""

import json
import os
import selectors
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sickbay.contract.errors import BadInput
from sickbay.contract.event import FailureKind
from sickbay.contract.finding import Finding
from sickbay.contract.paths import SamplePath
from sickbay.trainer.places import below

MOST_FOUND = 100_000
"""Samples with findings that are kept."""
_MOST_OF_KIND = 1000
_MOST_KINDS = 2000
_MOST_STARTS = 100
_STARTING = 120.0
"""Seconds that imports and the factory may take, beside the time-out."""
_CODES = {f"training.{kind.value}" for kind in FailureKind}


@dataclass(frozen=True, slots=True)
class Options:
    """How to go through the data.

    Attributes:
        root: the data set's root; paths of findings are below it.
        timeout: seconds that one sample, or with workers one batch, may take.
        workers: of the second pass; nothing for the job's own number, or two; 0 leaves it out.
        num_classes: whole labels are from 0 to one less, where it is known.
        folder: where ``module`` is looked for.
    """

    root: str
    timeout: float = 60.0
    workers: int | None = None
    num_classes: int | None = None
    folder: str | None = None


@dataclass(slots=True)
class Checked:
    """What came out: findings by raw path, how many samples were fetched, and words for people."""

    findings: dict[bytes, list[Finding]] = field(default_factory=dict)
    fetched: int = 0
    said: list[str] = field(default_factory=list)
    stopped: bool = False

    def add(self, path: SamplePath, finding: Finding) -> None:
        """Keep a finding, each once."""
        known = self.findings.setdefault(path.raw, [])
        if len(self.findings) > MOST_FOUND:
            del self.findings[path.raw]
        elif all(one.code != finding.code for one in known):
            known.append(finding)


@dataclass(slots=True)
class _Kind:
    """Samples of one shape: how many, some of them, and whether they go with the first."""

    count: int = 0
    samples: list[tuple[int, str]] = field(default_factory=list)
    fits: bool | None = None


def check(
    spec: str, options: Options, told: Callable[[int, int | None], None] | None = None
) -> Checked:
    """Go through all of a job's data, first in one process, then with workers.

    Args:
        spec: ``module:factory``; the factory returns a data set, a loader, or a data set with its
            collate.
        options: how.
        told: called now and then with how many samples were fetched, and of how many.

    Raises:
        BadInput: there is no such factory, or it raises.
    """
    return _Check(spec, options, told or (lambda *_: None)).run()


class _Check:
    def __init__(
        self, spec: str, options: Options, told: Callable[[int, int | None], None]
    ) -> None:
        self._spec = spec
        self._options = options
        self._told = told
        self._total: int | None = None
        self._indexed = True
        self._kinds: dict[str, _Kind] = {}
        self._bad: set[int] = set()
        self._at: tuple[int, str] | None = None
        self._done = False
        self.checked = Checked()

    def run(self) -> Checked:
        self._alone()
        self._odd_ones()
        if self._options.workers != 0:
            self._with_workers()
        return self.checked

    def _alone(self) -> None:
        """Pass one; behind a sample that ended the process, go on with the next."""
        start = 0
        for _ in range(_MOST_STARTS):
            reason = self._pass({"pass": 1, "start": start})
            if self._done:
                return
            if self._at is None:
                raise BadInput(
                    f"--loader {self._spec}: the process {reason} before its first sample."
                )
            index, path = self._at
            self._found(FailureKind.WORKER_KILLED, path, f"The loading process {reason} on it.")
            self._bad.add(index)
            if not self._indexed:
                self._stop("The data set is an iterable; what follows was not fetched.")
                return
            start, self._at = index + 1, None
        self._stop(
            f"It was ended {_MOST_STARTS} times; from sample {start} on nothing was fetched."
        )

    def _with_workers(self) -> None:
        """Pass two."""
        self._at = None
        reason = self._pass({"pass": 2, "bad": sorted(self._bad)})
        if not self._done:
            self._stop(f"With workers, the loading process {reason}.")

    def _stop(self, words: str) -> None:
        self.checked.stopped = True
        self.checked.said.append(words)

    def _pass(self, asked: Mapping[str, Any]) -> str:
        """Run the process and take in what it prints; return how it ended."""
        whole = {
            "spec": self._spec,
            "timeout": self._options.timeout,
            "workers": self._options.workers,
            "classes": self._options.num_classes,
            **asked,
        }
        self._done = False
        command = [sys.executable, "-m", "sickbay.trainer.loading.child", json.dumps(whole)]
        environment = {**os.environ, "SICKBAY_MODE": "disabled"}
        with subprocess.Popen(  # noqa: S603 (this program itself)
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            cwd=self._options.folder,
            env=environment,
        ) as process:
            try:
                for record in records(process, self._limit(asked["pass"])):
                    self._take(record)
            except TimeoutError:
                return f"took more than {self._options.timeout:g} seconds"
            finally:
                process.kill()
            process.wait()
        return f"ended with code {process.returncode}"

    def _limit(self, number: int) -> Callable[[], float]:
        """Return how long a line may take; with workers the loader's own time-out is first."""
        slack = _STARTING if number != 1 else 0.0
        return lambda: self._options.timeout + (slack or (_STARTING if self._at is None else 0.0))

    def _take(self, record: Mapping[str, Any]) -> None:
        if "refused" in record:
            raise BadInput(record["refused"])
        if "total" in record:
            self._total, self._indexed = record["total"], record["indexed"]
        elif "at" in record:
            self._at = (record["at"], record["path"])
        elif "found" in record:
            self._found(record["found"], record["path"], record["message"])
            if self._at is not None:
                self._bad.add(self._at[0])
        elif "fits" in record:
            self._kind(record["kind"]).fits = record["fits"]
        elif "n" in record:
            self._fetched(record)
        elif "said" in record:
            self.checked.said.append(record["said"])
        self._done = self._done or "done" in record

    def _fetched(self, record: Mapping[str, Any]) -> None:
        self.checked.fetched += 1
        self._told(self.checked.fetched, self._total)
        kind = self._kind(record["kind"])
        kind.count += 1
        if len(kind.samples) < _MOST_OF_KIND:
            kind.samples.append((record["n"], record["path"]))

    def _kind(self, name: str) -> _Kind:
        if name not in self._kinds and len(self._kinds) >= _MOST_KINDS:
            return _Kind()
        return self._kinds.setdefault(name, _Kind())

    def _odd_ones(self) -> None:
        """Name the samples that cannot be in one batch with most."""
        known = {name: kind for name, kind in self._kinds.items() if kind.fits is not None}
        with_first = sum(kind.count for kind in known.values() if kind.fits)
        without = sum(kind.count for kind in known.values() if not kind.fits)
        usual = max(known, key=lambda name: known[name].count, default="")
        for name, kind in known.items():
            if kind.fits is (with_first < without):
                words = f"It cannot be in one batch with most: {name}, where most are {usual}."
                for index, path in kind.samples:
                    self._bad.add(index)
                    self._found(FailureKind.SHAPE_MISMATCH, path, words)

    def _found(self, kind: str, path: str, message: str) -> None:
        code = f"training.{kind}"
        if code not in _CODES:
            code = "training.other"
        place = below(path, self._options.root)
        self.checked.add(place, Finding.of(code, place.text, message, loader=self._spec))


def records(
    process: "subprocess.Popen[bytes]", limit: Callable[[], float]
) -> Iterator[Mapping[str, Any]]:
    """Yield what the process prints.

    Raises:
        TimeoutError: a line did not come in time.
    """
    assert process.stdout is not None  # noqa: S101 (it was asked for)
    with selectors.DefaultSelector() as ready:
        ready.register(process.stdout, selectors.EVENT_READ)
        rest, until = b"", time.monotonic() + limit()
        while True:
            if not ready.select(max(0.0, until - time.monotonic())):
                raise TimeoutError
            read = os.read(process.stdout.fileno(), 1 << 16)
            if not read:
                return
            *lines, rest = (rest + read).split(b"\n")
            for line in lines:
                yield json.loads(line)
            if lines:
                until = time.monotonic() + limit()
