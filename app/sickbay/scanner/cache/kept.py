"""What a cache keeps of each sample: what it was checked by, what was found, and its record."""

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from sickbay.scanner.cache.blocks import blocks

_HEAD = struct.Struct(">BIIII16s?QQq")
BEGINS, SAMPLE, FILE, ENDS = range(4)
"""What a frame is: a whole scan's header, a sample, a file of its own, the end of a whole scan."""
NOTHING = bytes(16)
Stat = tuple[int, int, int]


class Kept(NamedTuple):
    """One frame.

    Attributes:
        what: see above.
        raw: the raw path.
        signature: digest of all that decides what is found; ``NOTHING`` where it may not be
            used again.
        facts: what was found, as JSON.
        line: the record, where the scan came that far.
        thumbnail: WebP of a held sample.
        stat: device, inode and ctime.
    """

    what: int
    raw: bytes = b""
    signature: bytes = NOTHING
    facts: bytes = b""
    line: bytes = b""
    thumbnail: bytes = b""
    stat: Stat | None = None

    def pack(self) -> bytes:
        """Return it as bytes."""
        sizes = map(len, (self.raw, self.facts, self.line, self.thumbnail))
        stat = self.stat or (0, 0, 0)
        head = _HEAD.pack(self.what, *sizes, self.signature, self.stat is not None, *stat)
        return b"".join((head, self.raw, self.facts, self.line, self.thumbnail))


def kept(path: Path, *, believed: bool = False) -> Iterator[Kept]:
    """Yield the frames of a file that are whole; see :func:`blocks`."""
    for body in blocks(path, believed=believed):
        yield from _frames(body)


def _frames(body: bytes) -> Iterator[Kept]:
    at = 0
    while at < len(body):
        what, raw, facts, line, thumbnail, signature, has_stat, *stat = _HEAD.unpack_from(body, at)
        one = at + _HEAD.size
        two = one + raw
        three = two + facts
        four = three + line
        at = four + thumbnail
        yield Kept(
            what,
            body[one:two],
            signature,
            body[two:three],
            body[three:four],
            body[four:at],
            (stat[0], stat[1], stat[2]) if has_stat else None,
        )
