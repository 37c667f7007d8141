"""``version.json``: what a release consists of. Its SHA-256 is the release's id.

Nothing in it comes from a clock, a host, a person or a tool's version: the same samples and
decisions give the same id anywhere.
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sickbay.contract import canonical, strict_json
from sickbay.contract.errors import BadInput
from sickbay.contract.manifest import IN_ID, SUMS, VERSION

SCHEMA = "urn:sickbay:release:1"
COUNTS = ("bytes", "excluded", "kept", "pending", "repaired")
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class FileEntry:
    """A file of a release: its name, SHA-256 and size in bytes."""

    name: str
    sha256: str
    size: int


@dataclass(frozen=True, slots=True)
class Version:
    """The content of ``version.json``."""

    name: str
    """The data set's."""
    counts: Mapping[str, int]
    """``kept``, ``repaired``, ``excluded`` and ``pending`` samples; ``bytes`` to train on."""
    files: tuple[FileEntry, ...]
    """Those of ``IN_ID``, in that order."""
    annotation_version: str = ""
    path_rules: int = field(default=1, init=False)

    @property
    def dir_hash(self) -> str:
        """SHA-256 of ``SHA256SUMS``: in-toto's ``dirHash`` of the kept files."""
        return self.entry(SUMS).sha256

    @property
    def digest(self) -> str:
        """The release id."""
        return hashlib.sha256(self.to_bytes()).hexdigest()

    def entry(self, name: str) -> FileEntry:
        """Return what is stated of one file."""
        return next(entry for entry in self.files if entry.name == name)

    def to_bytes(self) -> bytes:
        """Return the bytes of ``version.json``."""
        return canonical.document(
            {
                "schema": SCHEMA,
                "name": self.name,
                "annotation_version": self.annotation_version,
                "hash": "sha256",
                "counts": dict(self.counts),
                "files": [
                    {"name": entry.name, "sha256": entry.sha256, "size": entry.size}
                    for entry in self.files
                ],
                "dirHash": self.dir_hash,
                "path_rules": self.path_rules,
            }
        )

    @classmethod
    def from_bytes(cls, data: bytes) -> "Version":
        """Read ``version.json``, trusting nothing in it.

        Raises:
            BadInput: it is not canonical, of another schema, or does not list the files it must.
        """
        value = strict_json.loads(data)
        try:
            version = _version(value)
            if version.to_bytes() == data:
                return version
        except (KeyError, TypeError, AttributeError, StopIteration):
            pass
        raise BadInput(f"{VERSION} is not one that this Sickbay can read.")


def _version(value: dict[str, Any]) -> Version:
    files = tuple(FileEntry(**entry) for entry in value["files"])
    counts = value["counts"]
    sizes = [entry.size for entry in files]
    if (
        tuple(entry.name for entry in files) != IN_ID
        or tuple(sorted(counts)) != COUNTS
        or any(type(number) is not int or number < 0 for number in (*counts.values(), *sizes))
        or not all(_SHA256.fullmatch(entry.sha256) for entry in files)
        or type(value["name"]) is not str
    ):
        raise TypeError
    return Version(
        name=value["name"],
        counts=counts,
        files=files,
        annotation_version=value["annotation_version"],
    )
