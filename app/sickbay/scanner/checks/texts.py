"""What may be wrong with a text: a text file's, or a field's of a row."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from sickbay.contract.finding import Finding
from sickbay.contract.policy import Policy
from sickbay.scanner.checks.wide import encoding_of
from sickbay.scanner.excerpt import excerpt

if TYPE_CHECKING:
    from types import ModuleType

_GUESSED = 1 << 16  # bytes from which an encoding is guessed
_TELLING = 8  # bytes beyond ASCII, below which a guess is a mere guess
_RARE = ("mac_cyrillic", "mac_greek", "mac_iceland", "mac_latin2", "mac_turkish")
"""Encodings that nobody has written for decades; short texts of others look like them."""
_WIDE = ("utf_16", "utf_16_be", "utf_16_le", "utf_32", "utf_32_be", "utf_32_le", "utf_7")
_MARKS = {b"\xff\xfe", b"\xfe\xff"}
_MARKS_OF_1252 = "\u2018\u2019\u201c\u201d\u2013\u2014\u2026\u20ac"  # quotes, dashes, dots, euro
_LOOKED_THROUGH = 1 << 20  # characters of a text in which broken encodings are looked for
_INVISIBLE = (
    "\xad\u034f\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufeff"
)
_SEEN = re.compile(rf"[^\s\x00-\x1f\x7f-\x9f{_INVISIBLE}]")
_ASCII_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202d\u202e\ufdd0-\ufdef\ufffe\uffff]")
_LOST = "\ufffd"
_NAMES = {
    0x00: "NUL",
    0x1B: "an escape character",
    0x202D: "a bidirectional override",
    0x202E: "a bidirectional override",
    0xFFFE: "U+FFFE, which is no character",
}


@dataclass(frozen=True, slots=True)
class Field:
    """One text of a sample.

    Attributes:
        name: of the column or key; empty where the text is the whole sample.
        text: the text.
        main: whether a sample is nothing without it.
    """

    name: str
    text: str
    main: bool = True

    @property
    def subject(self) -> str:
        """The subject of a sentence about it."""
        return f"The field {self.name!r}" if self.name else "The text"

    @property
    def place(self) -> dict[str, str]:
        """What a finding's detail says of where it is."""
        return {"field": self.name} if self.name else {}


def empty(field: Field) -> Finding | None:
    """A main text without anything to be seen: white space, zero-width and control characters."""
    if not field.main or _SEEN.search(field.text):
        return None
    how = "holds nothing that can be seen" if field.text else "is empty"
    return Finding.of("text.empty", "", f"{field.subject} {how}.", **_about(field, 0))


def control_characters(field: Field) -> Finding | None:
    """Control characters but tab and line breaks, direction overrides, what is no character."""
    pattern = _ASCII_CONTROL if field.text.isascii() else _CONTROL
    found = pattern.search(field.text)
    if found is None:
        return None
    code = ord(found.group())
    name = _NAMES.get(code, f"the control character U+{code:04X}")
    message = f"{field.subject} holds {name} at character {found.start() + 1:,}."
    return Finding.of("text.control-characters", "", message, **_about(field, found.start()))


def mojibake(field: Field) -> Finding | None:
    """Text that was decoded in a wrong encoding once, where undoing that gives sense.

    That it looks wrong is not enough: rare languages do. Lines are judged one by one, because
    one that cannot be undone would hide the others.
    """
    if field.text.isascii():
        return None
    text, start = field.text[:_LOOKED_THROUGH], 0
    if (at := text.find(_LOST)) >= 0:
        message = f"{field.subject} holds U+FFFD, which stands where bytes could not be decoded."
        return Finding.of("text.mojibake", "", message, **_about(field, at))
    for line in text.split("\n"):
        if not line.isascii() and (mended := _mended(line)) is not None:
            at = start + _first_difference(line, mended)
            message = f"{field.subject} was decoded in a wrong encoding once."
            detail = {"mended": excerpt(mended, at - start), **_about(field, at)}
            return Finding.of("text.mojibake", "", message, **detail)
        start += len(line) + 1
    return None


def _mended(line: str) -> str | None:
    """Undo a wrong decoding, where there was one."""
    ftfy = _ftfy()
    if not ftfy.badness.is_bad(line):
        return None
    mended: str = ftfy.fix_encoding(line)
    return mended if mended != line and not ftfy.badness.is_bad(mended) else None


@cache
def _ftfy() -> "ModuleType":
    """Import it where a text needs it: most are plain, and it takes a tenth of a second."""
    import ftfy  # noqa: PLC0415 (see above)

    return ftfy


def _first_difference(one: str, other: str) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), 0)


FIELD_CHECKS: tuple[Callable[[Field], Finding | None], ...] = (empty, control_characters, mojibake)
"""What is looked for in each text."""


def of_fields(fields: Iterable[Field]) -> Iterator[Finding]:
    """Run the checks of single texts."""
    for field in fields:
        for check in () if _is_plain(field) else FIELD_CHECKS:
            if (finding := check(field)) is not None:
                yield finding


def _is_plain(field: Field) -> bool:
    """Whether nothing can be wrong with it, which is quickly seen of most texts."""
    text = field.text
    plain = text.isascii() and text.isprintable()
    return plain and (not field.main or (bool(text) and not text.isspace()))


def bad_encoding(data: bytes, start: int = 0, *, guess: bool = True) -> Finding | None:
    """Bytes that are not UTF-8, with the offset of the first and an encoding that would fit.

    Args:
        data: the bytes.
        start: their offset in the file.
        guess: whether to look for an encoding that fits, which takes a millisecond.
    """
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        at, byte = error.start, data[error.start]
    else:
        return None
    guessed = _guessed(data) if guess else None
    hint = f"; it may be {guessed}" if guessed else ""
    message = f"Byte {byte:02X} at offset {start + at:,} is not UTF-8{hint}."
    text = data[max(0, at - 300) : at + 900].decode("utf-8", errors="surrogateescape")
    seen = excerpt(text, len(data[max(0, at - 300) : at].decode("utf-8", "surrogateescape")))
    place = {"byte": start + at, "encoding": guessed, "excerpt": seen}
    return Finding.of("text.bad-encoding", "", message, None, **place)


def wide_encoding(data: bytes) -> Finding | None:
    """UTF-16 or UTF-32 without its mark, which passes for UTF-8 with a NUL behind each letter."""
    encoding = encoding_of(data)
    if encoding is None:
        return None
    message = f"The text has NUL bytes in a row of their own; it may be {encoding}."
    place = {"byte": data.index(0), "encoding": encoding}
    return Finding.of("text.bad-encoding", "", message, None, **place)


def _guessed(data: bytes) -> str | None:
    """Guess the encoding from the first bytes; a guess it remains."""
    from charset_normalizer import from_bytes  # noqa: PLC0415 (few texts need it)

    some = data[:_GUESSED]
    wide = () if b"\0" in some or some[:2] in _MARKS else _WIDE
    if wide and sum(byte >= 0x80 for byte in some) < _TELLING:  # noqa: PLR2004 (beyond ASCII)
        return _western(some)
    best = from_bytes(some, cp_exclusion=[*wide, *_RARE]).best()
    if best is None:
        return None
    same = str(best) == some.decode("cp1252", errors="replace")  # the usual one of those that fit
    return "windows-1252" if same else str(best.encoding).replace("_", "-")


def _western(data: bytes) -> str | None:
    """The most usual encoding, where it makes letters of the few bytes there are."""
    try:
        odd = [char for char in data.decode("cp1252") if not char.isascii()]
    except UnicodeDecodeError:
        return None
    return "windows-1252" if all(char.isalpha() or char in _MARKS_OF_1252 for char in odd) else None


def overlong(
    fields: Sequence[Field], policy: Policy, tokens: Callable[[str], int]
) -> Finding | None:
    """More characters or tokens than the policy allows, in all texts of a sample together.

    Args:
        fields: the texts.
        policy: the limits.
        tokens: counts the tokens of a text.
    """
    if policy.max_characters is not None:
        count = sum(len(field.text) for field in fields)
        if count > policy.max_characters:
            return _overlong(fields, count, policy.max_characters, "characters")
    if policy.max_tokens is not None:
        count = sum(tokens(field.text) for field in fields)
        if count > policy.max_tokens:
            unit = "tokens" if policy.tokenizer else "words"
            return _overlong(fields, count, policy.max_tokens, unit)
    return None


def _overlong(fields: Sequence[Field], count: int, most: int, unit: str) -> Finding:
    message = f"The text has {count:,} {unit}, {most:,} are allowed."
    longest = max(fields, key=lambda field: len(field.text))
    return Finding.of("text.overlong", "", message, None, **{unit: count}, **_about(longest, 0))


def _about(field: Field, at: int) -> dict[str, str]:
    return {**field.place, "excerpt": excerpt(field.text, at)}
