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
from dataclasses import dataclass
from typing import Any, TypeVar

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

T = TypeVar("T", bound="ManifestRow | QuarantineRow")


@dataclass(frozen=True, slots=True)
class ManifestRow:
    """One sample to train on. Of a repaired one, the facts are the replacement's."""

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
        return canonical.row(
            {
                "encodingFormat": self.encoding_format,
                "file_name": self.file_name,
                "id": self.id,
                "label": self.label,
                "label_name": self.label_name,
                "sha256": self.sha256,
                "size": self.size,
                "source_sha256": self.source_sha256,
                "split": self.split,
                "status": self.status,
            }
        )

    @classmethod
    def from_line(cls, line: bytes) -> "ManifestRow":
        """Read a line of ``manifest.jsonl``, trusting nothing in it.

        Raises:
            BadInput: it is no canonical row, or its name is not safe to write to.
        """
        row = _row(cls, line, MANIFEST)
        if row.status not in KEPT or not _SHA256.fullmatch(row.sha256) or row.size < 0:
            raise BadInput(f"A row of {MANIFEST} has a malformed status, sha256 or size.")
        if bool(row.source_sha256) is not (row.status == "repaired"):
            raise BadInput(f"A row of {MANIFEST} is repaired without a source, or the reverse.")
        check_name(row.file_name)
        if row.id != row_id(row.file_name.encode("utf-8")):
            raise BadInput(f"A row of {MANIFEST} has an id that is not its name's.")
        return row


@dataclass(frozen=True, slots=True)
class QuarantineRow:
    """One sample that was held once: left out, repaired, approved or still undecided."""

    codes: tuple[str, ...]
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
        fields: dict[str, Any] = {name: getattr(self, name) for name in self.__slots__}
        return canonical.row(fields)

    @classmethod
    def from_line(cls, line: bytes) -> "QuarantineRow":
        """Read a line of ``quarantine.jsonl``, trusting nothing in it.

        Raises:
            BadInput: it is no canonical row.
        """
        row = _row(cls, line, QUARANTINE)
        if row.decision not in DECISIONS or row.first_seen not in FIRST_SEEN:
            raise BadInput(f"A row of {QUARANTINE} has an unknown decision or first_seen.")
        if not _ID.fullmatch(row.id) or list(row.codes) != sorted(set(row.codes)):
            raise BadInput(f"A row of {QUARANTINE} has a malformed id or unsorted codes.")
        return row


def row_id(raw_path: bytes) -> str:
    """Return a sample's id: the first 32 hex digits of the SHA-256 of its original path."""
    return hashlib.sha256(raw_path).hexdigest()[:32]


def is_reserved(file_name: str) -> bool:
    """Say whether a name is one of the release's own files, or would lie below one.

    The files of a release lie beside the samples; case and normal form do not tell them apart
    everywhere.
    """
    return folded(file_name.partition("/")[0]) in _RESERVED


def check_name(file_name: str) -> None:
    """Refuse a name that a manifest must not hold.

    Raises:
        BadInput: it leads out of its folder, holds odd characters, or is a release's own.
    """
    raw = file_name.encode("utf-8")
    if not raw or len(raw) > MAX_PATH_BYTES or (why := unsafe_reason(SamplePath(raw))) is not None:
        reason = why if 0 < len(raw) <= MAX_PATH_BYTES else "The name is empty or too long."
        raise BadInput(f"{MANIFEST} lists an unsafe name ({file_name[:200]!r}). {reason}")
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


def _row(kind: type[T], line: bytes, file: str) -> T:
    if len(line) > MAX_LINE_BYTES:
        raise BadInput(f"{file} has a line of more than {MAX_LINE_BYTES} bytes.")
    try:
        row = _typed(kind, json.loads(line))
        if row.line() == line:
            return row
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        pass
    raise BadInput(f"{file} has a line that is no canonical row.")


def _typed(kind: type[T], value: dict[str, Any]) -> T:
    """Make a row of a parsed line; the fields' types are the class's annotations."""
    if kind is ManifestRow:
        value["encoding_format"] = value.pop("encodingFormat")
    for name, wanted in kind.__annotations__.items():
        item = value[name]
        if wanted == tuple[str, ...]:
            value[name] = tuple(item)
            if type(item) is not list or any(type(part) is not str for part in item):
                raise TypeError
        elif type(item) is not wanted:
            raise TypeError
    return kind(**value)
