"""Which modules a forward pass went through, and where it stopped or first went wrong."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from sickbay.trainer.blame.batches import leaves


class Trail:
    """What was seen of the modules of a model.

    Attributes:
        called: modules that were called, by name.
        outputs: the output of each module without children, in order, where they are kept.
        odd: the first module whose output is not finite though its inputs are, and its class.
    """

    def __init__(self, *, keep: bool = False) -> None:
        self.called: set[str] = set()
        self.outputs: dict[str, Any] = {}
        self.odd: str | None = None
        self._keep = keep
        self._inside: list[tuple[str, str]] = []

    @property
    def stopped(self) -> str:
        """Where an exception was raised: the innermost module, with what it was given."""
        if not self._inside:
            return ""
        name, given = self._inside[-1]
        return f"{name}, given {given}," if given else name

    def enter(self, name: str, module: Any, given: Any) -> None:
        """Note that a module is called."""
        shapes = [f"{list(one.shape)}" for one in leaves(given)]
        self.called.add(name)
        self._inside.append((_named(name, module), " and ".join(shapes[:3])))

    def leave(self, name: str, module: Any, output: Any) -> None:
        """Note that it returned."""
        if self._inside:
            self._inside.pop()
        floats = [one for one in leaves(output) if one.is_floating_point()]
        if self.odd is None and not all(bool(one.isfinite().all()) for one in floats):
            self.odd = _named(name, module)
        if self._keep and floats and not any(True for _ in module.children()):
            self.outputs.setdefault(_named(name, module), floats[0].detach())


@contextmanager
def followed(model: Any, *, keep: bool = False) -> Iterator[Trail]:
    """Follow the calls of a model's modules; one that takes no hooks is not seen."""
    trail = Trail(keep=keep)
    handles: list[Any] = []
    for name, module in model.named_modules():
        with suppress(Exception):
            handles.append(module.register_forward_pre_hook(_entering(trail, name)))
            handles.append(module.register_forward_hook(_leaving(trail, name)))
    try:
        yield trail
    finally:
        for handle in handles:
            handle.remove()


def _entering(trail: Trail, name: str) -> Any:
    return lambda module, given: trail.enter(name, module, given)


def _leaving(trail: Trail, name: str) -> Any:
    return lambda module, _, output: trail.leave(name, module, output)


def _named(name: str, module: Any) -> str:
    kind = type(module).__name__
    return f"{name} ({kind})" if name else f"the model ({kind})"
