"""Files of ``torch.save``: a zip archive since torch 1.6, pickles and values in a row before."""

import io
import struct
from collections.abc import Iterator
from functools import partial
from typing import Any, BinaryIO
from zipfile import ZipInfo

from sickbay.scanner.arrays import TRAILING, TRUNCATED, UNLOADABLE, Array, Fault, Stream
from sickbay.scanner.arrays.archive import Archive
from sickbay.scanner.arrays.pieces import pieces
from sickbay.scanner.arrays.torch_pickle import Storage, arrays, load, refuse_late
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
        content = opened.read()
    refuse_late(content[:2])
    return load(io.BytesIO(content), order)


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


def read_old(file: BinaryIO, size: int) -> Iterator[Stream | Fault]:
    """Read the tensors of a file as torch wrote them before archives."""
    refuse_late(file.read(2))
    file.seek(0)
    if load(file) != _MAGIC:
        raise Fault(UNLOADABLE, "It is a pickle, but torch.save did not make it.")
    load(file)  # the version of the format: there is one
    system = load(file)
    order = ">" if isinstance(system, dict) and system.get("little_endian") is False else "<"
    storages: dict[str, Storage] = {}
    inside = {one.key: arrays for one, arrays in _by_storage(load(file, order, storages))}
    keys = load(file)
    if not isinstance(keys, list) or not all(
        isinstance(key, str) and key in storages for key in keys
    ):
        raise Fault(UNLOADABLE, "Its list of values does not fit its tensors.")
    for key in keys:
        yield _old_values(file, storages[key], inside.get(key, []))
    if (rest := size - file.tell()) > 0:
        yield Fault(TRAILING, f"{rest:,} bytes follow the values.", bytes=rest)


def _old_values(file: BinaryIO, storage: Storage, inside: list[Array]) -> Stream:
    stated, item = file.read(_COUNT.size), inside[0].item if inside else None
    if len(stated) < _COUNT.size:
        raise Fault(TRUNCATED, "The file ends before the values do.", item)
    count = _COUNT.unpack(stated)[0] * storage.elements.size
    if count < 0 or any(
        one.begin < 0 or one.begin + span(one) * one.elements.size > count for one in inside
    ):
        raise Fault(UNLOADABLE, "Its values lie beyond the end of their storage.", item)
    return Stream(tuple(inside), lambda step: pieces(file, count, step, item), _STEP)
