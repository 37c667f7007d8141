"""What ``torch.load(weights_only=True)`` reads again: tensors and plain values, nothing else."""

import sys
from collections.abc import Callable, Mapping
from typing import Any

_PLAIN = (str, bytes, int, float, bool)
_MOST_DEPTH = 50


def storable(value: Any, left_out: Callable[[str], object], name: str = "") -> Any:
    """Return a value in plain types; what has none is left out.

    Args:
        value: nested mappings, sequences, tensors, numbers and text.
        left_out: told the place of what is left out; it becomes nothing there.
        name: the value's own place.
    """
    torch: Any = sys.modules["torch"]
    if value is None or type(value) in _PLAIN:
        return value
    if isinstance(value, torch.Tensor):
        return value.detach()
    if isinstance(value, torch.dtype | torch.device):
        return value
    if len(name) < _MOST_DEPTH * 20:
        if isinstance(value, Mapping):
            return {key: storable(item, left_out, f"{name}.{key}") for key, item in value.items()}
        if isinstance(value, list | tuple | set | frozenset):
            kind = list if isinstance(value, list) else tuple
            return kind(storable(item, left_out, f"{name}[{n}]") for n, item in enumerate(value))
    return _foreign(torch, value, left_out, name)


def _foreign(torch: Any, value: Any, left_out: Callable[[str], object], name: str) -> Any:
    """Return numpy's numbers and arrays as ours, and subclasses of plain types as those."""
    kind: Any = next((one for one in _PLAIN if isinstance(value, one)), None)
    if kind is not None:
        return kind(value)
    if type(value).__module__.partition(".")[0] == "numpy" and hasattr(value, "tolist"):
        if getattr(value, "ndim", 0) == 0:
            return storable(value.tolist(), left_out, name)
        try:
            return torch.from_numpy(value.copy())
        except TypeError:
            return storable(value.tolist(), left_out, name)
    left_out(f"{name or 'value'} ({type(value).__name__})")
    return None
