"""The watch itself, as a training loop holds it."""

import atexit
import itertools
import weakref
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Any, Self

import sickbay.trainer as kit
from sickbay.contract.event import FailureKind
from sickbay.trainer.columns import whole_step
from sickbay.trainer.complaints import harmless
from sickbay.trainer.run import Run
from sickbay.trainer.traced import witness
from sickbay.trainer.watch.anomaly import Anomaly, AnomalyFound
from sickbay.trainer.watch.gradients import Gradients, Norms
from sickbay.trainer.watch.judging import GRADIENT, Judge
from sickbay.trainer.watch.ranks import Ranks, Word
from sickbay.trainer.watch.record import Record, rate, read
from sickbay.trainer.watch.rules import Thresholds
from sickbay.trainer.watch.telling import Called, asked, of_all_ranks, tell
from sickbay.trainer.watch.tensors import held

VERSION = 1
"""Of what a checkpoint holds of a watch."""
RANKS_TIMEOUT = 300.0
"""Seconds that a check waits for other ranks: an evaluation on one of them may take a while."""
_LOSS = Thresholds()
_MOST_SAMPLES = 10_000
_NOTHING: list[Anomaly] = []


class Watch:
    """Looks at inputs, loss and gradients of every step, every ``check_interval`` steps.

        watch = sickbay.Watch(check_interval=10)
        for step, (x, y, paths) in enumerate(loader):
            with watch.step(step, samples=paths):
                losses = loss_fn(model(x), y)
                losses.mean().backward()
                watch.observe(losses.mean(), model, losses=losses)
                optimizer.step()

    What lies on a device stays there until the check, which waits for it once. Nothing is raised
    into the training unless ``on_anomaly`` says so.
    """

    def __init__(
        self,
        run: Run | None = None,
        *,
        check_interval: int = 10,
        on_anomaly: str | Called | Iterable[str | Called] = (),
        ceiling: float | None = None,
        bad_gradients: int = 1,
        thresholds: Thresholds = _LOSS,
        gradient_thresholds: Thresholds = GRADIENT,
        together: bool = True,
        timeout: float = RANKS_TIMEOUT,
    ) -> None:
        """Begin to watch.

        Args:
            run: whom to tell; the current run where it is not said.
            check_interval: observed steps between checks. With 1 an anomaly is known before the
                optimizer's step, at the cost of waiting for the device at each.
            on_anomaly: called with each anomaly, before anything else happens in the training;
                the word ``raise`` raises ``AnomalyFound`` as well. What has a method ``evidence``
                is asked by it before the run is told, for more fields of the failure.
            ceiling: a loss above it is an anomaly, whatever it was before.
            bad_gradients: steps in a row whose gradient is not finite before that is told; about
                16 with a ``GradScaler``, which finds its scale by such steps.
            thresholds: of the rules for the loss.
            gradient_thresholds: of the same rules for the logarithm of the gradient's norm.
            together: whether ranks decide together; then every rank has a watch and observes
                the same number of steps.
            timeout: seconds that a check waits for other ranks at most; then each decides alone.
        """
        self.on_anomaly, self.raising = asked(on_anomaly)
        self._run = run
        self._interval = max(1, int(check_interval))
        self._judge = Judge(thresholds, gradient_thresholds, ceiling, bad_gradients)
        self._ranks = Ranks(timeout, together=together)
        self._gradients = Gradients()
        self._pending: list[Record] = []
        self._record: Record | None = None
        self._last: Record | None = None
        _open.add(self)

    @property
    def run(self) -> Run:
        """The run that is told."""
        return self._run or kit.run()

    @property
    def now(self) -> int | None:
        """The step that is going on, or the last one."""
        return self._last.step if self._last else None

    def step(self, step: int | None = None, samples: Iterable[Any] | None = None) -> "Step":
        """Return what surrounds a step: ``with watch.step(step, samples=paths):``."""
        return Step(self, step, samples)

    @harmless(None)
    def begin(self, step: int | None = None, samples: Iterable[Any] | None = None) -> None:
        """Begin a step, where a ``with`` does not fit; ``end`` ends it.

        Args:
            step: as given to ``log``; one more than the last where it is not said.
            samples: paths of the batch, or mappings with ``path``, ``index`` and such.
        """
        last = self._last
        number = whole_step(step) if step is not None else last.step + 1 if last else 0
        kept = tuple(itertools.islice(() if samples is None else samples, _MOST_SAMPLES))
        previous = (last.step, last.samples) if last else (None, ())
        self._record = self._last = Record(number, kept, *previous)
        self._pending.append(self._record)

    @harmless(None)
    def inputs(self, x: Any, y: Any = None) -> None:
        """Look whether a batch's inputs and labels are finite; before ``observe``.

        Args:
            x: a tensor whose first dimension is the batch, or such in lists and mappings.
            y: labels, alike; whole numbers are always finite.
        """
        record = self._current()
        record.take_inputs(FailureKind.NON_FINITE_INPUT, x, "input")
        record.take_inputs(FailureKind.NON_FINITE_LABEL, y, "label")

    def observe(
        self,
        loss: Any = None,
        model: Any = None,
        *,
        losses: Any = None,
        gradient_norm: Any = None,
        learning_rate: Any = None,
    ) -> None:
        """Note what a step came to: after ``backward``, before the optimizer's step.

        Args:
            loss: one number, or a tensor of one.
            model: the module, or its parameters; its gradients are looked at, unscaled ones
                (``scaler.unscale_``) where the loss was scaled.
            losses: one a sample, in the order of the step's samples.
            gradient_norm: what ``clip_grad_norm_`` returned, if it was called: the norm before
                clipping. It is not taken a second time then, and no parameter can be named.
            learning_rate: stored with what is found; a number, or the optimizer.

        Raises:
            AnomalyFound: there is an anomaly, and ``on_anomaly`` says to raise it.
        """
        self._note(loss, model, losses, gradient_norm, learning_rate)
        if len(self._pending) >= self._interval:
            self.check()

    def check(self) -> None:
        """Look at the steps since the last check now; every rank does, or none.

        Raises:
            AnomalyFound: as in ``observe``.
        """
        found = self._judged()
        first = found[0] if found else None
        rank = self._ranks.rank
        said = Word(rank, first.kind, first.step, first.ref, first.value) if first else None
        words = self._ranks.exchange(said)
        everybodys = of_all_ranks(found, words, rank)
        error = AnomalyFound(everybodys[0]) if self.raising and everybodys else None
        tell(self.run, everybodys, self.on_anomaly, error)
        if error is not None:
            # A launcher ends all ranks once one has left: none leaves before all have told.
            self.run.settle()
            self._ranks.exchange(None)
            raise error

    @harmless(None)
    def end(self, error: BaseException | None = None) -> None:
        """End a step; an exception that ended it is told with the step's samples."""
        record, self._record = self._record, None
        if record is None:
            return
        if record.samples:
            self.run.seen(record.step, record.samples, record.losses)
        if isinstance(error, Exception) and not isinstance(error, AnomalyFound):
            self.close()
            self.run.failure(
                exception=error,
                step=record.step,
                samples=record.samples,
                detail={"previous step": record.previous_step},
            )

    @harmless(None)
    def close(self) -> None:
        """Look at the last steps, alone, and tell the other ranks that this one leaves."""
        self._ranks.leave()
        tell(self.run, self._judged(), self.on_anomaly)

    def state_dict(self) -> dict[str, Any]:
        """Return what a checkpoint needs: plain numbers, lists and mappings.

        It knows the steps up to the last check; the window goes on without the few after it.
        """
        return {"version": VERSION, **self._judge.state()}

    @harmless(None)
    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on where ``state`` was taken; another version's is left aside."""
        if state["version"] == VERSION:
            self._judge.restore(state)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _current(self) -> Record:
        if self._record is None:
            self.begin()
        return self._pending[-1] if self._pending else self._again()

    def _again(self) -> Record:
        """Begin another record of the same step: of several backward passes in one."""
        if (record := self._record) is None:
            raise ValueError("no step has begun")
        fresh = Record(record.step, record.samples, record.previous_step, record.previous_samples)
        self._record = self._last = fresh
        self._pending.append(fresh)
        return fresh

    @harmless(None)
    def _note(
        self, loss: Any, model: Any, losses: Any, gradient_norm: Any, learning_rate: Any
    ) -> None:
        record = self._current()
        if record.loss is not None:
            record = self._again()
        record.loss = None if loss is None else held(loss)
        if losses is not None:
            record.take_losses(losses)
        if gradient_norm is not None:
            record.norms = Norms(held(gradient_norm))
        elif model is not None:
            record.norms = self._gradients.norms(model)
        record.learning_rate = rate(learning_rate)

    @harmless(_NOTHING)
    def _judged(self) -> list[Anomaly]:
        records, self._pending = self._pending, []
        pairs = zip(records, read(records), strict=True)
        return [one for record, numbers in pairs for one in self._judge.judge(record, numbers)]


class Step:
    """Surrounds one step of a training."""

    def __init__(self, watch: Watch, step: int | None, samples: Iterable[Any] | None) -> None:
        self._watch = watch
        self._said = step, samples

    def __enter__(self) -> Watch:
        self._watch.begin(*self._said)
        return self._watch

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._watch.end(error)


_open: "weakref.WeakSet[Watch]" = weakref.WeakSet()


def _close_all() -> None:
    for watch in list(_open):
        watch.close()


witness.leaving.append(_close_all)  # what was not looked at yet is told before a run is left
atexit.register(_close_all)
