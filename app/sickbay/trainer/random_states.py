"""The states of all generators that a training draws from, to be the same again later.

Plain values and tensors, so that ``torch.load(weights_only=True)`` reads them.
"""

import random
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any


def take() -> dict[str, Any]:
    """Return the states of ``random``, numpy and torch (all its devices), where imported."""
    found: dict[str, Any] = {"python": random.getstate()}
    numpy: Any = sys.modules.get("numpy")
    with suppress(AttributeError):
        if numpy is not None:
            found["numpy"] = _of_numpy(numpy.random.get_state())
    torch: Any = sys.modules.get("torch")
    if torch is not None:
        found["torch"] = torch.get_rng_state()
        if torch.cuda.is_available() and torch.cuda.is_initialized():
            found["cuda"] = torch.cuda.get_rng_state_all()
    return found


def restore(states: Mapping[str, Any]) -> None:
    """Set the states that ``take`` returned, as far as this process has those generators."""
    if python := states.get("python"):
        version, internal, gauss = python
        random.setstate((version, tuple(internal), gauss))
    numpy: Any = sys.modules.get("numpy")
    if numpy is not None and (state := states.get("numpy")):
        name, keys, *rest = state
        numpy.random.set_state((name, numpy.array(keys, dtype="uint32"), *rest))
    torch: Any = sys.modules.get("torch")
    if torch is not None and "torch" in states:
        torch.set_rng_state(states["torch"].cpu())
        cuda = states.get("cuda", ())
        if cuda and torch.cuda.is_available() and len(cuda) <= torch.cuda.device_count():
            torch.cuda.set_rng_state_all([one.cpu() for one in cuda])


@contextmanager
def restored(states: Mapping[str, Any]) -> Iterator[None]:
    """Have these states for a while; the training draws on as if nothing had been."""
    own = take()
    restore(states)
    try:
        yield
    finally:
        restore(own)


def _of_numpy(state: Any) -> list[Any]:
    name, keys, at, has_gauss, gauss = state
    return [name, keys.tolist(), at, has_gauss, gauss]
