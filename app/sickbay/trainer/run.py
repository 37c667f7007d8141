"""A run, as a training script holds it."""

import atexit
import os
import secrets
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any, Self
from urllib.parse import urljoin

from sickbay.contract.blame import Outcome, Verdict
from sickbay.contract.event import (
    MAX_DETAIL,
    MAX_FACTS,
    MAX_MESSAGE,
    MAX_TITLE,
    About,
    Alert,
    Ending,
    Facts,
)
from sickbay.contract.report import Change, Report
from sickbay.trainer import complaints
from sickbay.trainer.arguments import level as urgency
from sickbay.trainer.arguments import seconds
from sickbay.trainer.arguments import title as named
from sickbay.trainer.columns import finite_time, whole_step
from sickbay.trainer.complaints import harmless
from sickbay.trainer.failing import failure
from sickbay.trainer.failing import samples as listed
from sickbay.trainer.plain import plain, text
from sickbay.trainer.reporter import MOST_TO_FINISH, MOST_TO_SETTLE, Reporter
from sickbay.trainer.traced import witness
from sickbay.trainer.tray import Tray

_MOST_VALUE = 200
"""Characters of a value that was set otherwise."""


class Run:
    """What ``init`` returns. Its methods never raise, and only ``finish`` waits.

    In a forked child (a DataLoader's worker) and where the mode is ``disabled`` they do nothing.
    """

    def __init__(self, reporter: Reporter | None, root: str | None = None) -> None:
        self._reporter = reporter
        self._tray = reporter.tray if reporter else None
        self.root = root
        self._step = -1
        self._mark = secrets.token_hex(8)
        if reporter is not None:
            reporter.tray.used.root = root
            open_runs.append(self)

    @property
    def url(self) -> str | None:
        """The run's page, once the server has answered."""
        opened = self._reporter.opened if self._reporter else None
        return urljoin(self._reporter.place.url, opened.url) if self._reporter and opened else None

    @property
    def begun(self) -> bool:
        """Whether it takes anything: it was begun here, is not disabled and not left."""
        return self._reporter is not None

    @property
    def name(self) -> str | None:
        """The run's name."""
        return self._reporter.name if self._reporter else None

    @property
    def attempt(self) -> int | None:
        """The attempt's number, once the server has answered."""
        opened = self._reporter.opened if self._reporter else None
        return opened.attempt if opened else None

    def log(
        self, values: Mapping[str, Any], step: int | None = None, *, time: float | None = None
    ) -> None:
        """Note one point for each series.

        Args:
            values: numbers by series. Python's and numpy's are read at once, and so is a tensor
                on the CPU; one on a GPU is copied in the background, without waiting for it.
            step: in any order; one more than the last where it is not said.
            time: seconds since 1970; now where it is not said.
        """
        tray = self._tray
        if tray is None:
            return
        try:
            at = finite_time(time, _clock())
            self._step = self._step + 1 if step is None else whole_step(step)
            for series, value in values.items():
                try:
                    tray.put_point(series, value, self._step, at)
                except Exception as error:  # noqa: BLE001 (a point is not worth a training)
                    _refuse(tray, error)
        except Exception as error:  # noqa: BLE001 (as above)
            _refuse(tray, error)

    @harmless(None)
    def alert(self, title: str, text: str = "", level: str = "warn") -> None:
        """Send people a message.

        Args:
            title: at most 200 characters.
            text: the rest of it.
            level: ``info``, ``warn`` or ``error``.
        """
        if self._reporter is not None:
            self._reporter.put(
                Alert(named(title, MAX_TITLE), named(text, MAX_MESSAGE), urgency(level), self._last)
            )

    @harmless(None)
    def failure(
        self,
        what: str | BaseException | None = None,
        *,
        exception: BaseException | None = None,
        **fields: Any,
    ) -> None:
        """Tell of something that went wrong.

        Args:
            what: one of the kinds of ``contract.event.FailureKind``; told from the exception
                where it is not said, or where what was raised is given here.
            exception: what was raised.
            **fields: fields of ``contract.event.Failure``, such as ``step`` or ``samples``
                (paths, or mappings with ``path``, ``loss``, ``index``); others become details.
        """
        if isinstance(what, BaseException):
            what, exception = None, exception or what
        if self._reporter is None or not witness.first_of(exception, self._mark):
            return
        fields = witness.completed(exception, {"what": what, **fields})
        if not witness.first_time(fields):
            return
        place = self._reporter.place
        known = {"step": self._last, "host": place.host, "local_rank": place.rank.local_rank}
        self._reporter.put(failure(fields.pop("what"), exception, {**known, **fields}, self.root))

    @harmless(None)
    def seen(self, step: int, samples: Sequence[Any], losses: Any = None) -> None:
        """Note which samples a step used, so that its point on a curve leads to them.

        Args:
            step: as given to ``log``.
            samples: their paths, at most 10,000.
            losses: one number each, in the same order, where they are known.
        """
        if self._tray is not None and not self._tray.used.put(whole_step(step), samples, losses):
            self._tray.drop("samples", 1)

    @harmless(None)
    def verdict(
        self,
        failure: str,
        outcome: str,
        samples: Iterable[Any] = (),
        *,
        forwards: int = 0,
        detail: Mapping[str, Any] | None = None,
    ) -> None:
        """Say whether samples are the cause of a failure.

        Args:
            failure: the ``ref`` that the failure was told with.
            outcome: one of ``contract.blame.Outcome``.
            samples: as in ``failure``, the most blamed first.
            forwards: forward passes it took.
            detail: how it was found.
        """
        if self._reporter is not None:
            blamed = listed(samples, self.root)
            told = plain(detail or {}, MAX_DETAIL)
            self._reporter.put(Verdict(failure, Outcome(outcome), blamed, forwards, told))

    @harmless(None)
    def change(
        self, what: str, before: Any = "", after: Any = "", why: str = "", step: int | None = None
    ) -> None:
        """Note that something was set otherwise, such as the learning rate."""
        if self._reporter is not None:
            words = [text(str(one), _MOST_VALUE) for one in (what, before, after, why)]
            at = self._last if step is None else whole_step(step)
            self._reporter.put(Change(words[0], words[1], words[2], words[3], at))

    @harmless(None)
    def report(self, report: Report) -> None:
        """Hand over what taking the job apart showed."""
        if self._reporter is not None:
            self._reporter.put(report)

    @harmless(None)
    def config(self, values: Any) -> None:
        """Complete the configuration that ``init`` was given."""
        if self._reporter is not None:
            self._reporter.put(Facts(About.CONFIG, plain(values, MAX_FACTS)))

    @harmless(None)
    def seeds(self, values: Any) -> None:
        """Note the seeds in use."""
        if self._reporter is not None:
            self._reporter.put(Facts(About.SEEDS, plain(values, MAX_FACTS)))

    @harmless(None)
    def flush(self) -> None:
        """Hand over what waits at once, without waiting until it is sent."""
        if self._reporter is not None:
            self._reporter.hurry()

    @harmless(None)
    def settle(self, timeout: float = MOST_TO_SETTLE) -> None:
        """Wait at most so long until all told so far has arrived; not where nobody answers."""
        if self._reporter is not None:
            self._reporter.settle(seconds(timeout))

    @harmless(None)
    def finish(
        self, *, failed: bool = False, stopped: bool = False, timeout: float = MOST_TO_FINISH
    ) -> None:
        """Leave the run: write and send what is left.

        Returns within ``timeout`` seconds, and within about one where no server answers, five
        where one is silent; what could not be sent stays in the spool for ``sickbay sync``. A
        second call does nothing.
        """
        if self._reporter is not None:
            witness.before_leaving()
        reporter, self._reporter, self._tray = self._reporter, None, None
        with suppress(ValueError):
            open_runs.remove(self)
        if reporter is not None:
            timeout = seconds(timeout)
            ending = Ending.FAILED if failed else Ending.STOPPED if stopped else Ending.FINISHED
            reporter.finish(ending, timeout)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        leave(self, error)

    def forget(self) -> None:
        """Do nothing from now on: a forked child's copy."""
        self._reporter, self._tray = None, None

    @property
    def _last(self) -> int | None:
        return self._step if self._step >= 0 else None


def _refuse(tray: Tray, error: Exception) -> None:
    tray.drop("refused", 1)
    complaints.once("refused", "what was logged is no point: %r", error)


_clock = time.time
open_runs: list[Run] = []
"""The runs of this process that were begun and not left."""


@harmless(None)
def leave(run: Run, error: BaseException | None) -> None:
    """Finish a run the way an exception, or none, says."""
    if isinstance(error, Exception):
        run.failure(exception=error)
        run.finish(failed=True)
    elif isinstance(error, SystemExit):
        run.finish(failed=error.code not in (None, 0))
    else:
        run.finish(stopped=error is not None)


@atexit.register
def _leave_all() -> None:
    for run in open_runs.copy():
        run.finish()


def _forget_all() -> None:
    for run in open_runs:
        run.forget()
    open_runs.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)
