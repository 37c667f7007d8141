"""Files of ``torch.save``: a zip archive since torch 1.6, pickles and values in a row before."""

import struct
from collections.abc import Iterator
from functools import partial
from typing import Any, BinaryIO
from zipfile import ZipInfo

from sickbay.scanner.arrays import TRUNCATED, UNLOADABLE, Array, Fault, Stream, shown
from sickbay.scanner.arrays.archive import Archive
from sickbay.scanner.arrays.pieces import pieces
from sickbay.scanner.arrays.torch_pickle import Storage, arrays, load
from sickbay.scanner.arrays.watch import span

_MAX_PICKLE = 64 << 20
"""Bytes: a model of a hundred thousand tensors needs twenty million."""
_MAGIC = 0x1950A86A20F9469CFC6C
_STEP = 16  # bytes of the widest type: no value straddles two pieces
_COUNT = struct.Struct("<q")
_SCRIPT = "constants.pkl"


def read(file: BinaryIO, size: int) -> Iterator[Stream | Fault]:
    """Read the tensors of an archive, storage by storage."""
    archive = Archive(file, size)
    folder = archive.members[0].filename.partition("/")[0] if archive.members else ""
    members = {
        one.filename.removeprefix(f"{folder}/"): one
        for one in archive.members
        if one.filename.startswith(f"{folder}/")
    }
    if _SCRIPT in members:
        raise Fault(UNLOADABLE, "It is a TorchScript program, which is code.")
    big = _content(archive, members.get("byteorder"), 16) == b"big"
    saved = _saved(archive, members.get("data.pkl"), ">" if big else "<")
    for storage, inside in _by_storage(saved):
        member = members.get(f"data/{storage.key}")
        try:
            yield from _values(archive, member, storage, inside)
        except Fault as fault:
            yield fault


def _saved(archive: Archive, member: ZipInfo | None, order: str) -> Any:
    if member is None:
        raise Fault(UNLOADABLE, "It is a zip archive, but torch did not make it.")
    if member.file_size > _MAX_PICKLE:
        raise Fault(UNLOADABLE, "The description of its tensors is longer than can be checked.")
    with archive.open(member, None) as opened:
        saved = load(opened, order)
        opened.read(_MAX_PICKLE)  # to the end, where the checksum is
    return saved


def _content(archive: Archive, member: ZipInfo | None, most: int) -> bytes:
    if member is None:
        return b""
    with archive.open(member, None) as opened:
        return opened.read(most)


def _by_storage(saved: Any) -> list[tuple[Storage, list[Array]]]:
    found: dict[str, tuple[Storage, list[Array]]] = {}
    for storage, array in arrays(saved):
        found.setdefault(storage.key, (storage, []))[1].append(array)
    return list(found.values())


def _values(
    archive: Archive, member: ZipInfo | None, storage: Storage, inside: list[Array]
) -> Iterator[Stream]:
    item, wanted = inside[0].item, storage.count * storage.elements.size
    there = 0 if member is None else member.file_size
    if member is None or there < wanted:
        message = f"Its {wanted:,} bytes of values are not whole: {there:,} are there."
        raise Fault(TRUNCATED, message, item, stated=wanted, there=there)
    with archive.open(member, item) as opened:
        yield Stream(tuple(inside), partial(_pieces, opened, there, item), _STEP)


def _pieces(file: BinaryIO, count: int, item: str | None, step: int) -> Iterator[memoryview]:
    yield from pieces(file, count, step, item)
    file.read(1)  # past the end, where the checksum is compared


def read_old(file: BinaryIO, _size: int) -> Iterator[Stream | Fault]:
    """Read the tensors of a file as torch wrote them before archives."""
    if load(file) != _MAGIC:
        raise Fault(UNLOADABLE, "It is a pickle, but torch.save did not make it.")
    load(file)  # the version of the format: there is one
    system = load(file)
    big = isinstance(system, dict) and system.get("little_endian") is False
    known = {
        storage.key: (storage, inside) for storage, inside in _by_storage(_main(file, big=big))
    }
    keys = load(file)
    if not isinstance(keys, list):
        raise Fault(UNLOADABLE, "The description of its tensors cannot be read.")
    for key in keys:
        yield from _old_values(file, key, *known.get(key, (None, [])))


def _main(file: BinaryIO, *, big: bool) -> Any:
    return load(file, ">" if big else "<")


def _old_values(
    file: BinaryIO, key: Any, storage: Storage | None, inside: list[Array]
) -> Iterator[Stream]:
    stated = file.read(_COUNT.size)
    item = inside[0].item if inside else shown(str(key))
    if len(stated) < _COUNT.size:
        raise Fault(TRUNCATED, "The file ends before the values do.", item)
    if storage is None:
        raise Fault(UNLOADABLE, "It holds values that no tensor is made of.", item)
    size = _COUNT.unpack(stated)[0] * storage.elements.size
    if any(one.begin < 0 or one.begin + span(one) * one.elements.size > size for one in inside):
        raise Fault(UNLOADABLE, "Its values lie beyond the end of their storage.", item)
    yield Stream(tuple(inside), lambda step: pieces(file, size, step, item), _STEP)
