"""Numbers as training scripts hold them: Python's, numpy's, tensors, on whatever device.

Reading a tensor that lives on a device waits for the device. So the caller only starts a copy,
which the device does in its own time, and the kit's thread reads it once it has arrived.
"""

import sys
from typing import Any


class OnItsWay:
    """A one-element tensor on a device, being copied to the host.

    CUDA: the copy goes into pinned memory and an event behind it tells when it is done; nobody
    waits. Other devices: cloned there, so that later in-place changes do no harm; whoever reads
    it waits, and that is the kit's thread.
    """

    __slots__ = ("_arrived", "_copy")

    def __init__(self, tensor: Any) -> None:
        if tensor.numel() != 1:
            raise ValueError("a point is one number, and this tensor holds more")
        self._arrived: Any = None
        if tensor.device.type != "cuda":
            self._copy = tensor.clone()
            return
        cuda = sys.modules["torch"].cuda
        self._copy = tensor.to("cpu", non_blocking=True)
        self._arrived = cuda.Event()
        self._arrived.record(cuda.current_stream(tensor.device))

    def ready(self) -> bool:
        """Whether reading it would not wait for work that was queued before it."""
        return self._arrived is None or bool(self._arrived.query())

    def __float__(self) -> float:
        return float(self._copy)


def reading(value: Any) -> "float | OnItsWay":
    """Return the number in ``value``, or a handle to it where it is still on a device.

    Raises:
        TypeError, ValueError, RuntimeError: it is no single number.
    """
    detach = getattr(value, "detach", None)
    if detach is None:
        return float(value)
    tensor = detach()
    return float(tensor) if tensor.device.type == "cpu" else OnItsWay(tensor)
