r"""Names of samples: as bytes on disk, as text everywhere else.

The identity of a sample is its raw path: the bytes of its name below the root, parts joined by
``/``. Its *path* is that as text. Bytes that are not UTF-8 are written as ``\xNN``, in such a
name a backslash is doubled, and the raw bytes travel beside it in base64.
"""

import base64
import re
import unicodedata
from dataclasses import dataclass

from sickbay.contract.errors import BadInput

MAX_PATH_BYTES = 4096
_CONTROL = re.compile(r"[\x00-\x1f\x7f\x80-\x9f\u2028\u2029]")
_DRIVE = re.compile(r"^[A-Za-z]:")
_LEAVING = re.compile(rb"(?:\A|/)\.{0,2}(?:/|\Z)|\0")
"""A part that is empty, one dot or two, or a NUL."""


@dataclass(frozen=True, slots=True, order=True)
class SamplePath:
    """A path below the root. Sorts by raw bytes, as ``LC_ALL=C sort`` does."""

    raw: bytes

    @property
    def text(self) -> str:
        """The path as shown and as written into records."""
        try:
            return self.raw.decode("utf-8")
        except UnicodeDecodeError:
            doubled = self.raw.replace(b"\\", b"\\\\")
            return doubled.decode("utf-8", errors="backslashreplace")

    @property
    def base64(self) -> str | None:
        """The raw bytes in base64 where the name is not UTF-8, else nothing."""
        try:
            self.raw.decode("utf-8")
        except UnicodeDecodeError:
            return base64.b64encode(self.raw).decode("ascii")
        return None

    @property
    def suffix(self) -> str:
        """The extension in lower case, with its dot, or an empty string."""
        name = self.raw.rpartition(b"/")[2]
        stem, dot, suffix = name.rpartition(b".")
        return f".{suffix.decode('latin-1').lower()}" if dot and stem else ""


def from_record(text: str, encoded: str | None) -> SamplePath:
    """Return the path that a record names.

    Raises:
        BadInput: the two fields contradict one another, or the path leaves the root.
    """
    try:
        path = SamplePath(
            text.encode("utf-8") if encoded is None else base64.b64decode(encoded, validate=True)
        )
    except ValueError:  # no UTF-8, or no base64
        raise BadInput("A record's path cannot be read.") from None
    if path.text != text or path.base64 != encoded:
        raise BadInput("A record's path and path_bytes contradict one another.")
    if not path.raw or len(path.raw) > MAX_PATH_BYTES or leaves_root(path.raw):
        raise BadInput(
            "A record's path is empty, too long, absolute, or has an empty, `.` or `..` part."
        )
    return path


def leaves_root(raw: bytes) -> bool:
    """Whether a raw path is absolute or has a part that is empty, ``.`` or ``..``, or a NUL."""
    return _LEAVING.search(raw) is not None


def unsafe_reason(path: SamplePath) -> str | None:
    """Say why a name cannot stand in a manifest, or nothing where it can.

    The rules are those of a release's ``path_rules`` 1: UTF-8, no control character, no
    backslash, no drive, no empty, ``.`` or ``..`` part.
    """
    try:
        text = path.raw.decode("utf-8")
    except UnicodeDecodeError:
        return "The name is not UTF-8."
    if _CONTROL.search(text):
        return "The name holds a control character or a line break."
    if "\\" in text:
        return "The name holds a backslash."
    if _DRIVE.match(text):
        return "The name begins like a drive."
    if leaves_root(path.raw):
        return "The name leaves the data set."
    return None


def folded(text: str) -> str:
    """Return the name as a file system sees it that ignores case and normal form."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())
