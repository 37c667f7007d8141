"""The last few steps, each as it was before its forward pass: enough to repeat it.

Hooks on model and criterion see what they are called with. Nothing is copied but the buffers and
the random states; a batch is only held a little longer than the training does.
"""

import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from sickbay.trainer.blame.batches import Call, leaves
from sickbay.trainer.checkpoints.before import Snapshot, before_calls, calls_of
from sickbay.trainer.complaints import harmless
from sickbay.trainer.traced.arrivals import samples_of

MOST_STEPS, MOST_BYTES = 32, 512 << 20
"""Steps that are held, and bytes of their batches; two are, however large."""
_LEAST = 2


@dataclass(slots=True)
class Moment:
    """How things were before a step's forward pass."""

    call: Call
    step: int | None = None
    random: Mapping[str, Any] = field(default_factory=dict)
    buffers: Mapping[str, Any] = field(default_factory=dict)
    autocast: tuple[str, str] | None = None
    samples: tuple[Any, ...] = ()
    whole: bool = True


class Moments:
    """Holds the newest steps of a model that is being trained.

    Args:
        model: as the training calls it.
        criterion: a module of torch, whose further arguments are the targets; or anything else.
        step: says which step is going on.
    """

    def __init__(self, model: Any, criterion: Any, step: Callable[[], int | None]) -> None:
        self._held: deque[Moment] = deque(maxlen=MOST_STEPS)
        self._sizes: deque[int] = deque(maxlen=MOST_STEPS)
        self._step = step
        self._waiting = hasattr(criterion, "register_forward_pre_hook")
        self._by_hand = False
        self._calls = calls_of(model)
        self._calls.follow(self)
        if self._waiting:
            before_calls(criterion, self, Moments.judged)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Look at no calls for a while: they are our own."""
        self._calls.paused = True
        try:
            yield
        finally:
            self._calls.paused = False

    @harmless(None)
    def keep(self, call: Call, samples: Sequence[Any]) -> None:
        """Hold a step that is described by hand; the model's own calls are not looked at then."""
        self._by_hand = True
        self._add(call, tuple(samples), self._calls.look())

    @harmless(None)
    def called(
        self,
        model: Any,  # noqa: ARG002 (as all who follow)
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        was: Snapshot,
    ) -> None:
        """Note what the model is called with."""
        if not self._by_hand:
            named = samples_of(args) or samples_of(dict(kwargs))
            self._add(Call(args, dict(kwargs)), tuple(named), was)
            self._held[-1].whole = not self._waiting

    @harmless(None)
    def judged(self, _: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        """Note the targets that follow the model's output."""
        newest = self._held[-1] if self._held and not self._calls.paused else None
        if newest is not None and not newest.whole:
            targets = (*args[1:], *kwargs.values())
            newest.call, newest.whole = replace(newest.call, targets=targets), True
            self._sizes[-1] = newest.call.size()

    def of(self, step: int, samples: Sequence[Any] = ()) -> tuple[Moment | None, Moment | None]:
        """Return a step and the one before it, as far as they are held.

        Of several forward passes in a step, as where gradients are accumulated, the one with
        these samples, else the last; what came before is another batch, not the same once more.
        """
        held = [one for one in self._held if one.whole]
        places = [n for n, one in enumerate(held) if one.step in (None, step)]
        if not places:
            return None, None
        named = [n for n in places if samples and held[n].samples == tuple(samples)]
        now = held[(named or places)[-1]]
        before = [one for one in held[: (named or places)[-1]] if not _the_same(one, now)]
        return now, before[-1] if before else None

    def _add(self, call: Call, samples: tuple[Any, ...], was: Snapshot) -> None:
        made = Moment(call, self._step(), was.random, was.buffers, _autocast())
        made.samples = samples
        self._held.append(made)
        self._sizes.append(call.size())
        while len(self._held) > _LEAST and sum(self._sizes) > MOST_BYTES:
            self._held.popleft()
            self._sizes.popleft()


def _autocast() -> tuple[str, str] | None:
    torch: Any = sys.modules["torch"]
    for kind in ("cuda", "cpu"):
        if torch.is_autocast_enabled(kind):
            return kind, str(torch.get_autocast_dtype(kind)).removeprefix("torch.")
    return None


def _the_same(one: Moment, other: Moment) -> bool:
    """Whether two passes were made with the same batch, as by an optimizer with a closure."""
    pairs = zip(leaves(one.call.parts), leaves(other.call.parts), strict=False)
    first = next(pairs, None)
    return first is not None and first[0] is first[1]
