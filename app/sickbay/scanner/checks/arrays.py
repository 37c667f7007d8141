"""What may be wrong with an array by itself; how it differs from its set is `whole.shapes`."""

from collections.abc import Sequence
from typing import Any

from sickbay.contract.finding import Finding
from sickbay.scanner.arrays import Array, Fault
from sickbay.scanner.arrays.watch import Watch


def not_finite(watch: Watch) -> Finding | None:
    """NaN or infinite values, how many and where the first is."""
    found = watch.found
    if not found.any:
        return None
    counts = {"NaN": found.nan, "+Inf": found.positive, "-Inf": found.negative}
    said = " and ".join(f"{count:,} {name}" for name, count in counts.items() if count)
    first = watch.index()
    return Finding.of(
        "array.not-finite",
        "",
        f"It holds {said}, the first at {first}.",
        watch.array.item,
        nan=found.nan,
        positive_infinity=found.positive,
        negative_infinity=found.negative,
        first=first,
        array=described(watch.array),
    )


def wrong_shape(
    array: Array, expected: tuple[int | None, ...] | None, *, alone: bool
) -> Finding | None:
    """Another shape than the policy expects.

    In a file of several arrays (a picture beside its label, say) only those with as many axes
    as the shape expected are meant.
    """
    if expected is None or (not alone and len(array.shape) != len(expected)):
        return None
    if len(array.shape) == len(expected) and all(
        wanted in {None, side} for wanted, side in zip(expected, array.shape, strict=True)
    ):
        return None
    return Finding.of(
        "array.wrong-shape",
        "",
        f"Its shape is {_shown(array.shape)}, not {_shown(expected)}.",
        array.item,
        expected=list(expected),
        array=described(array),
    )


def faulty(fault: Fault, array: Array | None, head: bytes) -> Finding:
    """A file or array that cannot be loaded, or not in whole."""
    detail = dict(fault.detail)
    if array is not None:
        detail["array"] = described(array)
    return Finding.of(fault.code, "", fault.message, fault.item, **detail, head=head.hex())


def described(array: Array) -> dict[str, Any]:
    """Return an array's shape and type, as pages show them."""
    return {"shape": list(array.shape), "dtype": array.elements.name}


def _shown(shape: Sequence[int | None]) -> str:
    sides = ["any" if side is None else f"{side}" for side in shape]
    return f"({', '.join(sides)}{',' if len(sides) == 1 else ''})"
