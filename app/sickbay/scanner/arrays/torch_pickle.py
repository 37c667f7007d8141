"""What torch's files say in pickle, read without running anything.

Names in a pickle are looked up in a closed list, the one that ``torch.load(weights_only=True)``
allows, and each stands for a plain value that says what would be made; nothing of torch is needed.
"""

import pickle
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO

from sickbay.scanner.arrays import (
    TRUNCATED,
    UNLOADABLE,
    Array,
    Elements,
    Fault,
    checked_shape,
    shown,
)
from sickbay.scanner.arrays.elements import named
from sickbay.scanner.arrays.watch import span

MAX_PROTOCOL = 3
"""Later ones have operations that ``torch.load(weights_only=True)`` does not know."""
_MAX_NAME = 200
_UNREADABLE = "The description of its tensors cannot be read."
_CUT = "The file ends within the description of its tensors."


@dataclass(frozen=True, slots=True, eq=False)
class Storage:
    """A run of values; ``begin`` is in bytes, where it is a part of another one."""

    key: str
    elements: Elements
    count: int
    begin: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Tensor:
    """A view of a storage; offset and strides in elements."""

    storage: Storage
    offset: Any
    shape: Any
    strides: Any
    elements: Elements


class Inert:
    """Something of torch's that holds no values of its own."""

    __slots__ = ()


def load(file: BinaryIO, order: str = "<", storages: dict[str, Storage] | None = None) -> Any:
    """Read one pickle where the file stands; tensors come as :class:`Tensor`.

    Args:
        file: read as far as the pickle goes.
        order: of bytes, ``<`` or ``>``.
        storages: gets those that the pickle speaks of, by key.

    Raises:
        Fault: it ends too early, names what is not allowed, or makes no sense.
    """
    try:
        return _Reader(file, order, {} if storages is None else storages).load()
    except Fault:
        raise
    except EOFError:
        raise Fault(TRUNCATED, _CUT) from None
    except MemoryError:  # a length that lies
        raise Fault(UNLOADABLE, _UNREADABLE) from None
    except Exception as error:  # noqa: BLE001 (whatever a hostile pickle makes of the calls below)
        if "truncated" in str(error):
            raise Fault(TRUNCATED, _CUT) from None
        raise Fault(UNLOADABLE, _UNREADABLE) from None


def refuse_late(head: bytes) -> None:
    """Refuse a pickle by its first two bytes where torch would."""
    protocol = head[1] if head[:1] == pickle.PROTO and len(head) > 1 else 0
    if protocol > MAX_PROTOCOL:
        message = (
            f"It is a pickle of protocol {protocol}; torch loads up to 3 without running code."
        )
        raise Fault(UNLOADABLE, message)


def arrays(saved: Any) -> Iterator[tuple[Storage, Array]]:
    """List the tensors in what was saved, each named by its path: keys and indices with dots."""
    if isinstance(saved, Tensor):
        yield saved.storage, _array(saved, None)
        return
    seen: set[int] = set()
    waiting = [("", saved)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, Tensor):
            yield value.storage, _array(value, shown(path))
        elif (inside := _inside(value)) is not None and id(value) not in seen:
            seen.add(id(value))
            named_by = [(f"{path}.{key}" if path else f"{key}", one) for key, one in inside]
            waiting.extend(reversed(named_by))


def _inside(value: Any) -> list[tuple[Any, Any]] | None:
    if isinstance(value, dict):
        return list(value.items())
    return list(enumerate(value)) if isinstance(value, list | tuple) else None


def _array(tensor: Tensor, item: str | None) -> Array:
    shape = checked_shape(tensor.shape, item)
    strides, offset = checked_shape(tensor.strides, item), tensor.offset
    if len(strides) != len(shape) or type(offset) is not int or offset < 0:
        raise Fault(UNLOADABLE, "The place of its values is not stated as it should be.", item)
    storage, size = tensor.storage, tensor.elements.size
    array = Array(item, shape, tensor.elements, storage.begin + offset * size, strides)
    if (offset + span(array)) * size > storage.count * storage.elements.size:
        raise Fault(UNLOADABLE, "Its values lie beyond the end of their storage.", item)
    return array


class _Reader(pickle.Unpickler):
    """Looks names up in the lists below, and nowhere else."""

    def __init__(self, file: BinaryIO, order: str, storages: dict[str, Storage]) -> None:
        super().__init__(file, encoding="utf-8")
        self._order = order
        self._storages = storages

    def find_class(self, module: str, name: str) -> Any:
        """Return what a name stands for here.

        It is always something new or built in: a pickle may set attributes on what it names.
        """
        full = f"{'builtins' if module == '__builtin__' else module}.{name}"
        if full in _TYPES:
            return _TYPES[full]
        if full in _CALLS:
            return _Call(_CALLS[full])
        if full in _INERT or (module.startswith("torch") and name.endswith("Tensor")):
            return Inert()
        if module in _STORAGES_IN and name.endswith("Storage"):
            return self._storage_type(name.removesuffix("Storage"), full)
        elements = named(name, self._order) if module == "torch" else None
        if elements is None:
            raise _refused(full)
        return elements

    def persistent_load(self, saved: Any) -> Storage:
        """Return the storage that a pickle speaks of."""
        match saved:
            case ("storage", Elements() as elements, str(key), str(), int(count), *view):
                storage = Storage(key, elements, count)
            case _:
                raise Fault(UNLOADABLE, _UNREADABLE)
        self._storages.setdefault(key, storage)
        match view:
            case [] | [None]:
                return storage
            case [(_, int(at), int(count))]:
                return Storage(key, elements, count, at * elements.size)
        raise Fault(UNLOADABLE, _UNREADABLE)

    def _storage_type(self, name: str, full: str) -> Elements:
        elements = named(_STORAGES.get(name, ""), self._order)
        if elements is None:
            raise _refused(full)
        return elements


def _refused(full: str) -> Fault:
    name = shown(full, _MAX_NAME)
    return Fault(UNLOADABLE, f"Loading it would run code: it names {name}.", name=name)


class _Call:
    """A function that a pickle may call, made anew each time it is named."""

    __slots__ = ("_make",)

    def __init__(self, make: Callable[..., Any]) -> None:
        self._make = make

    def __call__(self, *args: Any) -> Any:
        return self._make(*args)


def _tensor(storage: Storage, offset: int, shape: Any, strides: Any, *_: Any) -> Tensor:
    return Tensor(storage, offset, shape, strides, storage.elements)


def _tensor_of_type(
    storage: Storage, offset: int, shape: Any, strides: Any, _grad: Any, _hooks: Any, *of: Any
) -> Tensor:
    elements = of[0]
    if not isinstance(elements, Elements):
        raise TypeError
    return Tensor(storage, offset, shape, strides, elements)


def _sparse(_layout: Any, data: tuple[Any, ...]) -> dict[str, Any]:
    """Indices of a sparse tensor are whole numbers, so its values are what matters."""
    *indices, values = [one for one in data if isinstance(one, Tensor)]
    return {**{f"indices{at}": one for at, one in enumerate(indices)}, "values": values}


def _of_type(make: Any, _type: Any, args: tuple[Any, ...], _state: Any) -> Any:
    if not isinstance(make, _Call):
        raise TypeError
    return make(*args)


def _encoded(text: str, encoding: str = "latin-1") -> bytes:
    if encoding not in {"latin1", "latin-1", "utf-8"}:
        raise ValueError
    return text.encode(encoding)


def _first(value: Any = None, *_: Any) -> Any:
    return value


def _all(*args: Any) -> list[Any]:
    return list(args)


def _inert(*_: Any) -> Inert:
    return Inert()


_STORAGES_IN = {"torch", "torch.cuda", "torch.storage"}
_STORAGES = {
    "Double": "float64",
    "Float": "float32",
    "Half": "float16",
    "BFloat16": "bfloat16",
    "Long": "int64",
    "Int": "int32",
    "Short": "int16",
    "Char": "int8",
    "Byte": "uint8",
    "Bool": "bool",
    "ComplexFloat": "complex64",
    "ComplexDouble": "complex128",
    "QInt8": "qint8",
    "QUInt8": "quint8",
    "QInt32": "qint32",
    "QUInt4x2": "quint4x2",
    "QUInt2x4": "quint2x4",
    "Untyped": "uint8",
    "Typed": "uint8",
}
_TYPES: Mapping[str, Any] = {
    "collections.OrderedDict": OrderedDict,
    "builtins.set": set,
    "builtins.bytearray": bytearray,
    "builtins.complex": complex,
}
_CALLS: Mapping[str, Callable[..., Any]] = {
    "torch._utils._rebuild_tensor": _tensor,
    "torch._utils._rebuild_tensor_v2": _tensor,
    "torch._utils._rebuild_tensor_v3": _tensor_of_type,
    "torch._utils._rebuild_qtensor": _tensor,
    "torch._utils._rebuild_sparse_tensor": _sparse,
    "torch._utils._rebuild_nested_tensor": _all,
    "torch._utils._rebuild_parameter": _first,
    "torch._utils._rebuild_parameter_with_state": _first,
    "torch._utils._rebuild_device_tensor_from_cpu_tensor": _first,
    "torch._utils._rebuild_device_tensor_from_numpy": _inert,
    "torch._utils._rebuild_meta_tensor_no_storage": _inert,
    "torch._utils._rebuild_wrapper_subclass": _inert,
    "torch._tensor._rebuild_from_type_v2": _of_type,
    "torch.nn.parameter.Parameter": _first,
    "torch.serialization._get_layout": _inert,
    "torch.Size": _first,
    "torch.device": _inert,
    "collections.Counter": _first,
    "_codecs.encode": _encoded,
}
_INERT = {
    "torch.per_tensor_affine",
    "torch.per_tensor_symmetric",
    "torch.per_channel_affine",
    "torch.per_channel_symmetric",
    "torch.per_channel_affine_float_qparams",
}
