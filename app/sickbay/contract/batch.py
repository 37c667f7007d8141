"""A batch of a scan on its way over HTTP.

The body is NDJSON: lines exactly as in the scan's file, and after the line of a held sample one
transport line with its thumbnail, ``{"kind":"thumbnail","of":HEX,"data":BASE64}``, where HEX is
the sample's raw path. Transport lines begin with exactly that, so that they are told apart
without parsing the records.
"""

import base64
import binascii
import hashlib
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from sickbay.contract.errors import BadInput
from sickbay.contract.finding import FileRecord, SampleRecord, to_line

MEDIA_TYPE = "application/x-ndjson"
MAX_BATCH = 4 << 20
"""Bytes of a body at most."""
FULL_BATCH = 1 << 20
"""Bytes at which a sender closes a batch: seconds of work lost at most, few requests."""
MAX_THUMBNAIL = 64 << 10
"""Bytes of one thumbnail at most; a 256 px WebP is far below."""

_MEAN_SAMPLES = 2048
"""Records of a batch on average, where its bytes do not close it before."""

_BEGINS = b'{"kind":"thumbnail",'
_LINE = re.compile(
    rb'\{"kind":"thumbnail","of":"((?:[0-9a-f]{2})+)","data":"([A-Za-z0-9+/]+={0,2})"\}'
)


@dataclass(frozen=True, slots=True)
class Unpacked:
    """A batch taken apart: record lines, and thumbnails by raw path in hex."""

    lines: tuple[bytes, ...]
    thumbnails: Mapping[str, bytes]


def ends_batch(raw_path: bytes) -> bool:
    """Say whether a batch ends with the record of this path.

    That depends on the path alone, so that two scans of a data set are cut at the same places,
    and what changed in one batch leaves the others as they were.
    """
    return zlib.crc32(raw_path) % _MEAN_SAMPLES == 0


def content_digest(lines: Iterable[bytes], stats: Mapping[str, str]) -> str:
    """Return what a batch says as one SHA-256: by it, a later scan says the same again.

    Args:
        lines: the record lines, with or without their line feeds.
        stats: by raw path in hex, ``device:inode:ctime_ns`` of files on this machine.
    """
    digest = hashlib.sha256(b"\n".join(line.rstrip(b"\n") for line in lines))
    for of, stat in sorted(stats.items()):
        digest.update(f"\n{of} {stat}".encode())
    return digest.hexdigest()


def pack(record: SampleRecord | FileRecord, thumbnail: bytes | None = None) -> bytes:
    """Return the lines of one record; a thumbnail too large to travel stays behind."""
    line = to_line(record)
    if thumbnail is None or len(thumbnail) > MAX_THUMBNAIL:
        return line
    of = record.path.raw.hex().encode("ascii")
    data = base64.b64encode(thumbnail)
    return line + _BEGINS + b'"of":"' + of + b'","data":"' + data + b'"}\n'


def unpack(body: bytes) -> Unpacked:
    """Take a batch's body apart; record lines are not looked into.

    Raises:
        BadInput: the body is too large, or a transport line is malformed.
    """
    if len(body) > MAX_BATCH:
        raise BadInput(f"A batch has at most {MAX_BATCH:,} bytes.")
    lines = [line for line in body.split(b"\n") if line]
    return Unpacked(lines=record_lines(body), thumbnails=dict(_thumbnails(lines)))


def record_lines(body: bytes) -> tuple[bytes, ...]:
    """Return the lines of a batch's body that are records."""
    return tuple(line for line in body.split(b"\n") if line and not line.startswith(_BEGINS))


def _thumbnails(lines: list[bytes]) -> Iterator[tuple[str, bytes]]:
    for line in lines:
        if line.startswith(_BEGINS):
            yield _thumbnail(line)


def _thumbnail(line: bytes) -> tuple[str, bytes]:
    parts = _LINE.fullmatch(line)
    try:
        data = b"" if parts is None else base64.b64decode(parts[2], validate=True)
    except binascii.Error:
        data = b""
    if parts is None or not 0 < len(data) <= MAX_THUMBNAIL:
        raise BadInput("A batch's thumbnail line is malformed or too large.")
    return parts[1].decode("ascii"), data
