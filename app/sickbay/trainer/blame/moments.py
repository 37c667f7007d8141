"""The last few steps, each as it was before its forward pass: enough to repeat it.

Hooks on model and criterion see what they are called with. Nothing is copied but the buffers and
the random states; a batch is only held a little longer than the training does.
"""

import sys
import weakref
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sickbay.trainer import random_states
from sickbay.trainer.blame.batches import Call
from sickbay.trainer.checkpoints.before import Buffers
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
        model: without wrappers.
        criterion: a module of torch, whose further arguments are the targets; or anything else.
        step: says which step is going on.
    """

    def __init__(self, model: Any, criterion: Any, step: Callable[[], int | None]) -> None:
        self._held: deque[Moment] = deque(maxlen=MOST_STEPS)
        self._step = step
        self._waiting = hasattr(criterion, "register_forward_pre_hook")
        self.paused = False
        self._by_hand = False
        self._copying = Buffers(model)
        _hook(model, self, Moments.called)
        if self._waiting:
            _hook(criterion, self, Moments.judged)

    @harmless(None)
    def keep(self, call: Call, samples: Sequence[Any]) -> None:
        """Hold a step that is described by hand; the model's own calls are not looked at then."""
        self._by_hand = True
        self._add(call, tuple(samples))

    @harmless(None)
    def called(self, model: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        """Note what the model is called with."""
        if model.training and not self._by_hand:
            named = samples_of(args) or samples_of(dict(kwargs))
            self._add(Call(args, dict(kwargs)), tuple(named))
            self._held[-1].whole = not self._waiting

    @harmless(None)
    def judged(self, _: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        """Note the targets that follow the model's output."""
        newest = self._held[-1] if self._held else None
        if newest is not None and not newest.whole:
            targets = (*args[1:], *kwargs.values())
            newest.call, newest.whole = replace(newest.call, targets=targets), True

    def of(self, step: int) -> tuple[Moment | None, Moment | None]:
        """Return a step and the one before it, as far as they are held."""
        held = [one for one in self._held if one.whole]
        places = [n for n, one in enumerate(held) if one.step in (None, step)]
        if not places:
            return None, None
        at = places[-1]
        return held[at], held[at - 1] if at else None

    def _add(self, call: Call, samples: tuple[Any, ...]) -> None:
        made = Moment(call, self._step(), random_states.take(), self._copying.copied(), _autocast())
        made.samples = samples
        self._held.append(made)
        while len(self._held) > _LEAST and self._size() > MOST_BYTES:
            self._held.popleft()

    def _size(self) -> int:
        return sum(one.call.size() for one in self._held)


def _autocast() -> tuple[str, str] | None:
    torch: Any = sys.modules["torch"]
    for kind in ("cuda", "cpu"):
        if torch.is_autocast_enabled(kind):
            return kind, str(torch.get_autocast_dtype(kind)).removeprefix("torch.")
    return None


def _hook(module: Any, moments: Moments, act: Callable[..., None]) -> None:
    """Follow a module's calls; those of a copy of it, and our own, are none of a step's."""
    to, whose = weakref.ref(moments), weakref.ref(module)

    def hook(called: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        found = to()
        if found is not None and not found.paused and called is whose():
            act(found, called, args, kwargs)

    module.register_forward_pre_hook(hook, with_kwargs=True)
