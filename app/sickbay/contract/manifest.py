r"""The rows of a release: what may be trained on, and what was in quarantine.

One canonical JSON object a line, every key in every row and of one type: ``""`` and -1 stand for
what is unknown or does not apply. A line is read only if writing it again gives the same bytes,
so that spaces, other key orders, doubled keys, unknown fields and floats are all refused at once.

``manifest.jsonl`` is sorted by the UTF-8 bytes of ``file_name``, each name once. In
``quarantine.jsonl`` the order is that of the raw names; a name that cannot stand in a manifest is
shown as everywhere in Sickbay (``\xNN`` for a byte that is not UTF-8).
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from sickbay.contract import canonical
from sickbay.contract.errors import BadInput
from sickbay.contract.paths import MAX_PATH_BYTES, SamplePath, folded, unsafe_reason

MANIFEST = "manifest.jsonl"
SUMS = "SHA256SUMS"
QUARANTINE = "quarantine.jsonl"
STATS = "stats.json"
VERSION = "version.json"
RELEASE = "release.json"
METADATA_SUMS = "METADATA-SHA256SUMS"

IN_ID = (SUMS, MANIFEST, QUARANTINE, STATS)
"""The files whose digests version.json lists, in order of their names."""
FILES = (*IN_ID, VERSION, RELEASE, METADATA_SUMS)
"""Every file of a release."""

UNKNOWN = -1
"""A label or size that is not known."""
MAX_LINE_BYTES = 65_536

_RESERVED = frozenset(folded(name) for name in FILES)
_SHA256 = re.compile(r"[0-9a-f]{64}")
_ID = re.compile(r"[0-9a-f]{32}")
KEPT = frozenset({"clean", "approved", "repaired"})
DECISIONS = frozenset({"exclude", "repair", "approve", "pending"})
FIRST_SEEN = frozenset({"scan", "training", ""})

_MANIFEST_KEYS = (
    "encodingFormat",
    "file_name",
    "id",
    "label",
    "label_name",
    "sha256",
    "size",
    "source_sha256",
    "split",
    "status",
)
_MANIFEST_TYPES = (str, str, str, int, str, str, int, str, str, str)
_QUARANTINE_TYPES = (list, str, str, str, str, int, str, str, str, str, str, int, str)


class ManifestRow(NamedTuple):
    """One sample to train on. Of a repaired one, the facts are the replacement's.

    Fields are in the order of their keys, as lines are.
    """

    encoding_format: str
    """MIME type, ``application/octet-stream`` where the format is not known."""
    file_name: str
    id: str
    label: int
    """Index into the data set's sorted class names, -1 where there is no label."""
    label_name: str
    sha256: str
    size: int
    source_sha256: str
    """The original's SHA-256 where the sample was repaired, else empty."""
    split: str
    status: str

    def line(self) -> bytes:
        """Return the row as its line in ``manifest.jsonl``."""
        return canonical.row(_MANIFEST_KEYS, self)

    @classmethod
    def from_line(cls, line: bytes) -> "ManifestRow":
        """Read a line of ``manifest.jsonl``, trusting nothing in it.

        Raises:
            BadInput: it is no canonical row, or its name is not safe to write to.
        """
        row = cls(*_values(line, MANIFEST, _MANIFEST_KEYS, _MANIFEST_TYPES))
        if row.status not in KEPT or not _SHA256.fullmatch(row.sha256) or row.size < 0:
            raise BadInput(f"A row of {MANIFEST} has a malformed status, sha256 or size.")
        if bool(row.source_sha256) is not (row.status == "repaired"):
            raise BadInput(f"A row of {MANIFEST} is repaired without a source, or the reverse.")
        check_name(row.file_name)
        if row.id != row_id(row.file_name.encode("utf-8")):
            raise BadInput(f"A row of {MANIFEST} has an id that is not its name's.")
        return row


class QuarantineRow(NamedTuple):
    """One sample that was held once: left out, repaired, approved or still undecided.

    Fields are in the order of their keys, as lines are.
    """

    codes: list[str]
    decision: str
    """``exclude``, ``repair``, ``approve`` or ``pending``."""
    file_name: str
    first_seen: str
    """``scan``, ``training``, or empty where a person put it here without a finding."""
    id: str
    label: int
    label_name: str
    reason: str
    """The reviewer's reason code, or empty."""
    replacement_file_name: str
    replacement_sha256: str
    sha256: str
    """The original's, or empty where it could not be read."""
    size: int
    """The original's in bytes, or -1."""
    split: str

    def line(self) -> bytes:
        """Return the row as its line in ``quarantine.jsonl``."""
        return canonical.row(self._fields, self)

    @classmethod
    def from_line(cls, line: bytes) -> "QuarantineRow":
        """Read a line of ``quarantine.jsonl``, trusting nothing in it.

        Raises:
            BadInput: it is no canonical row.
        """
        row = cls(*_values(line, QUARANTINE, cls._fields, _QUARANTINE_TYPES))
        if row.decision not in DECISIONS or row.first_seen not in FIRST_SEEN:
            raise BadInput(f"A row of {QUARANTINE} has an unknown decision or first_seen.")
        if not all(type(code) is str for code in row.codes) or row.codes != sorted(set(row.codes)):
            raise BadInput(f"A row of {QUARANTINE} has codes that are no sorted texts.")
        if not _ID.fullmatch(row.id):
            raise BadInput(f"A row of {QUARANTINE} has a malformed id.")
        return row


def row_id(raw_path: bytes) -> str:
    """Return a sample's id: the first 32 hex digits of the SHA-256 of its original path."""
    return hashlib.sha256(raw_path).hexdigest()[:32]


def is_reserved(file_name: str) -> bool:
    """Say whether a name is one of the release's own files, or would lie below one.

    The files of a release lie beside the samples; case and normal form do not tell them apart
    everywhere.
    """
    return _is_reserved(file_name.partition("/")[0])


@lru_cache
def _is_reserved(top: str) -> bool:
    return folded(top) in _RESERVED


def check_name(file_name: str) -> None:
    """Refuse a name that a manifest must not hold.

    Raises:
        BadInput: it leads out of its folder, holds odd characters, or is a release's own.
    """
    raw = file_name.encode("utf-8")
    why = "The name is too long." if len(raw) > MAX_PATH_BYTES else unsafe_reason(SamplePath(raw))
    if why is not None:
        raise BadInput(f"{MANIFEST} lists an unsafe name ({file_name[:200]!r}). {why}")
    if is_reserved(file_name):
        raise BadInput(f"{MANIFEST} lists a sample named like a file of the release itself.")


def read_manifest(lines: Iterable[bytes]) -> Iterator[ManifestRow]:
    """Yield the rows of a manifest, checking their order.

    Raises:
        BadInput: a row is malformed, or a name comes twice or out of order.
    """
    last = b""
    for line in lines:
        row = ManifestRow.from_line(line)
        name = row.file_name.encode("utf-8")
        if name <= last:
            raise BadInput(f"{MANIFEST} lists a name twice or out of order.")
        last = name
        yield row


def sums_line(sha256: str, file_name: str) -> bytes:
    """Return a line as ``sha256sum`` writes and checks it."""
    return f"{sha256}  {file_name}\n".encode()


def read_sums(data: bytes) -> dict[str, str]:
    """Return digest by name from a small list of sums, ``METADATA-SHA256SUMS``.

    Raises:
        BadInput: a line is none that ``sha256sum`` writes.
    """
    found: dict[str, str] = {}
    for line in data.decode("utf-8", errors="replace").splitlines():
        digest, _, name = line.partition("  ")
        if not _SHA256.fullmatch(digest) or name not in FILES or name in found:
            raise BadInput(f"{METADATA_SUMS} has a line that is no SHA-256 and name of its files.")
        found[name] = digest
    return found


def _values(
    line: bytes, file: str, keys: tuple[str, ...], types: tuple[type, ...]
) -> Iterable[Any]:
    """Return a line's values in order, if writing them again would give the same line."""
    if len(line) > MAX_LINE_BYTES:
        raise BadInput(f"{file} has a line of more than {MAX_LINE_BYTES} bytes.")
    try:
        value = json.loads(line.decode())
        if (
            type(value) is dict
            and tuple(value) == keys
            and tuple(map(type, value.values())) == types
            and canonical.row(keys, value.values()) == line
        ):
            return value.values()
    except (ValueError, RecursionError):
        pass
    raise BadInput(f"{file} has a line that is no canonical row.")
