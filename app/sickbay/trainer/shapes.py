"""What a sample or a batch consists of: the shapes and types of its parts."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

Signature: TypeAlias = tuple[str, ...]
_MOST_PARTS = 64
_MOST_DEPTH = 6


def signature(item: Any) -> Signature:
    """Return shape and type of each part, such as ``("0 float32 (3, 224, 224)", "1 int")``."""
    return tuple(f"{name} {words}".strip() for name, words in _parts(item, "", _MOST_DEPTH))


def odd(items: Sequence[Any], usual: Signature | None = None) -> list[int]:
    """Return the places of the items that are unlike most, or unlike what is usual.

    Where no kind is in the majority and none is known to be usual, nothing can be said.
    """
    found = [signature(item) for item in items]
    counted = Counter(found).most_common(1)
    if usual is None or usual not in found:
        most, count = counted[0] if counted else ((), 0)
        if count * 2 <= len(found):
            return []
        usual = most
    return [place for place, one in enumerate(found) if one != usual]


def leaves(item: Any) -> Iterator[tuple[str, Any]]:
    """Yield the tensors and arrays of an item, each with its name within it."""
    return ((name, part) for name, part in _walk(item, "", _MOST_DEPTH) if is_array(part))


def is_array(part: Any) -> bool:
    """Whether this is a tensor or an array."""
    return hasattr(part, "shape") and hasattr(part, "dtype")


def _parts(item: Any, name: str, depth: int) -> Iterator[tuple[str, str]]:
    for where, part in _walk(item, name, depth):
        if is_array(part):
            dtype = str(part.dtype).removeprefix("torch.")
            yield where, f"{dtype} {tuple(part.shape)}"
        else:
            yield where, type(part).__name__


def _walk(item: Any, name: str, depth: int) -> Iterator[tuple[str, Any]]:
    nested: Any = None
    if isinstance(item, Mapping):
        nested = item.items()
    elif isinstance(item, tuple) and hasattr(item, "_fields"):
        nested = zip(item._fields, item, strict=False)
    elif isinstance(item, tuple | list):
        nested = enumerate(item)
    if nested is None or not depth:
        yield name, item
        return
    for place, (key, part) in enumerate(nested):
        if place >= _MOST_PARTS:
            return
        yield from _walk(part, f"{name}.{key}" if name else str(key), depth - 1)
