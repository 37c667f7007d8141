"""Frames between a guard and its child, and in a scan's own temporary file.

A frame is two lengths, JSON and raw bytes. Never pickle: the child reads hostile files and may
say anything.
"""

import json
import os
import re
import select
import struct
from collections.abc import Sequence
from typing import Any

from sickbay.contract.defects import Severity, defect
from sickbay.contract.errors import BadInput
from sickbay.contract.finding import MAX_DETAIL_BYTES, MAX_FINDINGS, MAX_MESSAGE, Finding
from sickbay.scanner.evidence import ArrayFacts, Examined, Traits

_ENCODE = json.JSONEncoder(separators=(",", ":")).encode
_DECODE = json.JSONDecoder().decode
_LENGTHS = struct.Struct(">II")
_READ = 1 << 16
_INT64 = 1 << 63
_SHA256 = re.compile(r"[0-9a-f]{64}")
_HEAD = re.compile(r"[0-9a-f]{0,64}")
_PATH, _ITEM = 16_384, 255  # characters, as records allow
_NAME = re.compile(r"[\x20-\x7e]{1,32}")
MAX_JSON, MAX_BYTES = 1 << 24, 1 << 28
READY = "ready"
"""What a child says once, before its first answer."""


class Closed(Exception):
    """The other side is gone, or speaks nonsense."""


class Late(Exception):
    """Nothing came within the time allowed."""


def pack(value: Any, raw: bytes = b"") -> bytes:
    """Make one frame."""
    text = _ENCODE(value).encode("ascii")
    return _LENGTHS.pack(len(text), len(raw)) + text + raw


class Reader:
    """Reads frames from a descriptor."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._buffer = bytearray()
        self._poll = select.poll()
        self._poll.register(fd, select.POLLIN)

    def frame(self, timeout: float | None = None) -> tuple[Any, bytes]:
        """Return the next frame's value and raw bytes.

        Args:
            timeout: seconds to wait at most between two pieces of it; nothing waits for ever.

        Raises:
            Closed: the end of the file, or a frame that is none.
            Late: the time is over.
        """
        self._need(_LENGTHS.size, timeout)
        json_bytes, raw_bytes = _LENGTHS.unpack_from(self._buffer)
        if json_bytes > MAX_JSON or raw_bytes > MAX_BYTES:
            raise Closed
        end = _LENGTHS.size + json_bytes + raw_bytes
        self._need(end, timeout)
        text = bytes(self._buffer[_LENGTHS.size : _LENGTHS.size + json_bytes])
        raw = bytes(self._buffer[_LENGTHS.size + json_bytes : end])
        del self._buffer[:end]
        try:
            return _DECODE(text.decode("ascii")), raw
        except ValueError:
            raise Closed from None

    def _need(self, count: int, timeout: float | None) -> None:
        while len(self._buffer) < count:
            if timeout is not None and not self._poll.poll(timeout * 1000):
                raise Late
            piece = os.read(self._fd, max(_READ, count - len(self._buffer)))
            if not piece:
                raise Closed
            self._buffer += piece


def from_examined(facts: Examined) -> list[Any]:
    """Write what was found as JSON can carry it; the thumbnail travels as raw bytes."""
    return [
        facts.size,
        facts.mtime_ns,
        facts.stat,
        facts.sha256,
        facts.width,
        facts.height,
        facts.format,
        facts.mode,
        from_findings(facts.findings),
        facts.head,
        None if facts.traits is None else [facts.traits.hash, facts.traits.brightness],
        [[one.item, one.shape, one.dtype] for one in facts.arrays],
        facts.labels,
        facts.decoded,
    ]


def to_examined(value: Any, raw: bytes) -> Examined:
    """Read what a child answered, trusting nothing in it.

    Raises:
        Closed: it is not of the agreed form.
    """
    try:
        size, mtime_ns, stat, sha256, width, height, name, mode, findings, head, *rest = value
        traits, arrays, labels, decoded = rest
        return Examined(
            size=_count(size),
            mtime_ns=_number(mtime_ns),
            stat=_stat(stat),
            sha256=_text(sha256, _SHA256),
            width=_count(width),
            height=_count(height),
            format=_text(name, _NAME),
            mode=_text(mode, _NAME),
            findings=to_findings(findings),
            thumbnail=raw or None,
            head=_text(head, _HEAD),
            traits=_traits(traits),
            arrays=tuple(_array(one) for one in arrays),
            labels=None if labels is None else tuple(_label(one) for one in labels),
            decoded=decoded is True,
        )
    except (TypeError, ValueError, AttributeError, BadInput):
        raise Closed from None


def spooled_examined(value: Any, raw: bytes) -> Examined:
    """Read what :func:`from_examined` wrote into a scan's own spool, where nobody else writes."""
    size, mtime_ns, stat, sha256, width, height, name, mode, findings, head, *rest = value
    traits, arrays, labels, decoded = rest
    return Examined(
        size,
        mtime_ns,
        stat,
        sha256,
        width,
        height,
        name,
        mode,
        to_findings(findings) if findings else (),
        raw or None,
        head,
        None if traits is None else Traits(*traits),
        tuple(ArrayFacts(*one) for one in arrays),
        labels,
        decoded,
    )


def from_findings(findings: Sequence[Finding]) -> list[Any]:
    """Write findings as JSON can carry them."""
    return [
        [one.code, one.severity.value, one.message, dict(one.detail), one.file, one.item]
        for one in findings
    ]


def to_findings(value: list[list[Any]]) -> tuple[Finding, ...]:
    """Read findings; see :func:`to_examined` for what a wrong one raises."""
    return tuple(_finding(item) for item in value[:MAX_FINDINGS])


def _number(value: Any) -> int | None:
    if value is None or (type(value) is int and -_INT64 <= value < _INT64):
        return value
    raise Closed


def _count(value: Any) -> int | None:
    number = _number(value)
    if number is not None and number < 0:
        raise Closed
    return number


def _text(value: Any, pattern: re.Pattern[str]) -> str | None:
    if value is None or (isinstance(value, str) and pattern.fullmatch(value)):
        return value
    raise Closed


def _stat(value: Any) -> tuple[int, int, int] | None:
    if value is None:
        return None
    device, inode, ctime_ns = value
    if not all(type(number) is int for number in value):
        raise Closed
    return device, inode, ctime_ns


def _traits(value: Any) -> Traits | None:
    if value is None:
        return None
    hashed, brightness = value
    if hashed is not None and not (type(hashed) is int and 0 <= hashed < 2 * _INT64):
        raise Closed
    if type(brightness) not in {int, float} or not 0 <= brightness <= 255:  # noqa: PLR2004 (a byte)
        raise Closed
    return Traits(hashed, float(brightness))


def _array(value: Any) -> ArrayFacts:
    item, shape, dtype = value
    if not isinstance(dtype, str) or not _NAME.fullmatch(dtype):
        raise Closed
    if item is not None:
        item.encode("utf-8")
    return ArrayFacts(item and item[:_ITEM], tuple(_sure(_count(side)) for side in shape), dtype)


def _label(value: Any) -> str:
    if not isinstance(value, str) or len(value) > _ITEM:
        raise Closed
    value.encode("utf-8")
    return value


def _sure(value: int | None) -> int:
    if value is None:
        raise Closed
    return value


def _finding(value: list[Any]) -> Finding:
    """Make a finding of its parts; a text that is none has no ``encode``."""
    code, severity, message, detail, file, item = value
    for text in (message, file, item or ""):
        text.encode("utf-8")
    if len(_ENCODE(detail)) > MAX_DETAIL_BYTES:
        raise Closed
    grade = Severity(severity)
    return Finding(
        defect(code).code,
        grade,
        file[:_PATH],
        item and item[:_ITEM],
        message[:MAX_MESSAGE],
        dict(detail),
    )
