"""One mechanism for everything that decodes: a limited child, replaced whenever it dies.

A crash, a hang or a greedy file costs itself only. The child answers file by file, so the guard
knows which one it was at; that one is tried again alone in a fresh child, because an earlier
file may have corrupted its memory, and what happens then is recorded.

    with Guard() as guard:
        found = guard.check_bytes(data, "a.jpg")  # facts, findings, thumbnail where it is held
        small = guard.preview(data, ".jpg", 1600)

A web server shares a :class:`Guards` among its threads.
"""

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from types import TracebackType
from typing import Any, Self, TypeVar

from sickbay.contract.defects import Severity
from sickbay.contract.errors import Busy
from sickbay.contract.finding import Finding
from sickbay.scanner import wire
from sickbay.scanner.evidence import Examined
from sickbay.scanner.limits import MIB
from sickbay.scanner.process import COMMAND, CRASHED, GREEDY, LATE, Child, Death
from sickbay.scanner.task import CAREFUL, HASH_ONLY, QUICK, Setup, Task
from sickbay.scanner.where import Given, Where

T = TypeVar("T")
_SAID = {
    CRASHED: "The decoder crashed on this file",
    LATE: "Checking this file took longer than allowed",
    GREEDY: "Checking this file took more memory than allowed",
}


class Guard:
    """One child and its limits. Not for several threads at once; see :class:`Guards`.

    Args:
        setup: how to check.
        command: how to start the child.
    """

    def __init__(self, setup: Setup | None = None, command: Sequence[str] = COMMAND) -> None:
        self.setup = setup or Setup()
        self._command = command
        self._child: Child | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def check(self, where: Where, tasks: Sequence[Task]) -> list[Examined]:
        """Check samples and return what was found, in their order."""
        found: list[Examined] = []
        at_once = False
        while len(found) < len(tasks):
            try:
                for examined in self._checked(where, tasks[len(found) :], at_once=at_once):
                    found.append(examined)  # noqa: PERF402 (the rest may never come)
            except Death:
                if at_once:  # so the next one is the culprit
                    found.append(self._alone(where, tasks[len(found)]))
                at_once = True
        return found

    def check_bytes(self, data: bytes, name: str, kind: str = "picture") -> Examined:
        """Check one file given as bytes, by the name it would have."""
        task = Task(os.fsencode(name), kind)
        return self.check(Given({task.raw: data}), [task])[0]

    def preview(self, data: bytes, suffix: str, side: int) -> bytes | None:
        """Re-encode a picture as WebP of at most ``side`` pixels, as loaders see it (not turned).

        What a truncated file lost is transparent, as in thumbnails.

        Returns:
            Nothing where no decoder gives a picture within the limits.
        """
        return self._preview({"act": "preview", "suffix": suffix, "side": side}, data)

    def preview_file(self, root: str, raw_path: bytes, side: int) -> bytes | None:
        """As :meth:`preview`, of a file below ``root`` that the child opens itself."""
        name, folder = raw_path.decode("latin-1"), os.fsencode(root).decode("latin-1")
        request = {"act": "preview-file", "root": folder, "file": name, "side": side}
        return self._preview(request)

    def _preview(self, request: dict[str, Any], data: bytes = b"") -> bytes | None:
        """Ask for a preview; where the check before it kills the child, for one without."""
        for checked in (True, False):
            with suppress(Death):
                self._ask({**request, "checked": checked}, data)
                return self._answer()[1] or None
        return None

    def close(self) -> None:
        """End the child; the next request would start another."""
        child, self._child = self._child, None
        if child is not None:
            child.close()

    def _alone(self, where: Where, task: Task) -> Examined:
        """Try one sample again in a fresh child, and say what it does there."""
        self.close()

        def ask(care: int) -> Examined:
            return next(self._checked(where, [task], care))

        try:
            return ask(QUICK)
        except Death as death:
            return self._after(death, ask)

    def _after(self, death: Death, ask: Callable[[int], Examined]) -> Examined:
        """Where only one decoder crashes, the other judges; else at least the hash is kept."""
        if death.code == CRASHED:
            with suppress(Death):
                found = ask(CAREFUL)
                if found.format and not _held(found):
                    return _noted(found, death, Severity.NOTE)
        try:
            return _noted(ask(HASH_ONLY), death)
        except Death:
            return _noted(Examined(), death)

    def _checked(
        self, where: Where, tasks: Sequence[Task], care: int = QUICK, *, at_once: bool = True
    ) -> Iterator[Examined]:
        request, data = where.request(tasks)
        values = [task.to_json() for task in tasks]
        self._ask({**request, "act": "check", "tasks": values, "care": care}, data, at_once=at_once)
        for _ in tasks:
            yield self._examined()

    def _examined(self) -> Examined:
        value, raw = self._answer()
        if value is None:
            self.close()
            raise Death(GREEDY, f"over {self.setup.limits.memory // MIB} MB")
        try:
            return wire.to_examined(value, raw)
        except wire.Closed:
            self.close()
            raise Death(CRASHED, "its answer made no sense") from None

    def _ask(self, request: dict[str, Any], data: bytes = b"", *, at_once: bool = True) -> None:
        """Send a request, to a fresh child where this one is gone or spent."""
        if self._child is not None and self._child.spent:
            self.close()
        if self._child is None:
            self._child = Child(self.setup, self._command)
        self._with_child(lambda child: child.ask({**request, "at_once": at_once}, data))

    def _answer(self) -> tuple[Any, bytes]:
        return self._with_child(Child.answer)

    def _with_child(self, act: Callable[[Child], T]) -> T:
        if self._child is None:
            raise Death(CRASHED, "it was closed")
        try:
            return act(self._child)
        except Death:
            self._child = None
            raise


def _held(found: Examined) -> bool:
    return any(finding.severity is Severity.BLOCK for finding in found.findings)


def _noted(found: Examined, death: Death, severity: Severity | None = None) -> Examined:
    given = {"how": death.how, "stderr": death.printed, "head": found.head}
    detail = {name: text for name, text in given.items() if text}
    finding = Finding.of(death.code, "", f"{_SAID[death.code]}: {death.how}.", **detail)
    if severity is not None:
        finding = replace(finding, severity=severity)
    return replace(found, findings=(*found.findings, finding))


class Guards:
    """A pool of guards for any number of threads; a guard is started when first needed.

    Args:
        size: guards at most, and so processes at most.
        setup: how to check.
        command: how to start a child.
    """

    def __init__(
        self, size: int, setup: Setup | None = None, command: Sequence[str] = COMMAND
    ) -> None:
        self._idle = [Guard(setup, command) for _ in range(size)]
        self._free = threading.Condition()
        self._closed = False

    @contextmanager
    def one(self, timeout: float | None = None) -> Iterator[Guard]:
        """Lend a guard to this thread.

        Args:
            timeout: seconds to wait for one at most.

        Raises:
            Busy: none came free in time, or the pool is closed.
        """
        with self._free:
            if not self._free.wait_for(lambda: self._idle or self._closed, timeout) or self._closed:
                raise Busy("All decoders are at work; try again in a moment.")
            guard = self._idle.pop()
        try:
            yield guard
        finally:
            self._take_back(guard)

    def _take_back(self, guard: Guard) -> None:
        with self._free:
            self._idle.append(guard)
            self._free.notify()
            if self._closed:
                guard.close()

    def check(self, where: Where, tasks: Sequence[Task]) -> list[Examined]:
        """As :meth:`Guard.check`, with whichever guard is free."""
        with self.one() as guard:
            return guard.check(where, tasks)

    def check_bytes(self, data: bytes, name: str, kind: str = "picture") -> Examined:
        """As :meth:`Guard.check_bytes`, with whichever guard is free."""
        with self.one() as guard:
            return guard.check_bytes(data, name, kind)

    def preview(self, data: bytes, suffix: str, side: int) -> bytes | None:
        """As :meth:`Guard.preview`, with whichever guard is free."""
        with self.one() as guard:
            return guard.preview(data, suffix, side)

    def preview_file(self, root: str, raw_path: bytes, side: int) -> bytes | None:
        """As :meth:`Guard.preview_file`, with whichever guard is free."""
        with self.one() as guard:
            return guard.preview_file(root, raw_path, side)

    def close(self) -> None:
        """End the idle children now and the busy ones when they are given back."""
        with self._free:
            self._closed = True
            for guard in self._idle:
                guard.close()
            self._free.notify_all()
