"""The ``.npz`` format: a zip archive of ``.npy`` files."""

from collections.abc import Iterator
from typing import BinaryIO
from zipfile import ZipInfo

from sickbay.scanner.arrays import UNLOADABLE, Fault, Stream, shown
from sickbay.scanner.arrays.archive import Archive
from sickbay.scanner.arrays.npy import read_array
from sickbay.scanner.arrays.pieces import PIECE

_SUFFIX = ".npy"


def read(file: BinaryIO, size: int) -> Iterator[Stream | Fault]:
    """Read the arrays of an archive; a fault of one leaves the others."""
    archive = Archive(file, size)
    if not any(member.filename.endswith(_SUFFIX) for member in archive.members):
        raise Fault(UNLOADABLE, "The archive holds no array.")
    for member in archive.members:
        try:
            yield from _member(archive, member)
        except Fault as fault:
            yield fault


def _member(archive: Archive, member: ZipInfo) -> Iterator[Stream | Fault]:
    item = shown(member.filename.removesuffix(_SUFFIX))
    with archive.open(member, item) as opened:
        if member.filename.endswith(_SUFFIX):
            yield from read_array(opened, member.file_size, item)
        while opened.read(PIECE):  # to the end, where the checksum is
            pass
