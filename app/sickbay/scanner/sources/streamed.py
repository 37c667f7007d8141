"""One large JSON object, read entry by entry: what its top-level arrays hold comes one by one.

The standard library's parser is let loose on one entry at a time, in a window of text that moves
along the file. So memory is bounded by the largest entry, NaN comes through as Python writes it,
and a fault has its line and byte.
"""

import codecs
import json
import re
from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple

WINDOW = 1 << 20
MAX_ENTRY = 8 << 20
"""Characters of one entry; the longest outline known takes a tenth of it."""
MAX_DEPTH = 64
"""Levels of one entry."""
MAX_NAMES = 1000
"""Names at the top."""
_END_MATTERS = 16  # characters: the longest token that a window's end may cut so that it is wrong
_SPACE = re.compile(r"[ \t\n\r]*")
_COMMA = re.compile(r"[ \t\n\r]*,[ \t\n\r]*(?=[{\"])")
_NO_UTF8 = re.compile("[\udc80-\udcff]")
_OTHER_CODES = {
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
    b"\x00{": "UTF-16",
    b"{\x00": "UTF-16",
    b"\x00\x00": "UTF-32",
}
_LONG = f"one entry is longer than {MAX_ENTRY >> 20} MB"
_SAID = {
    "Expecting value": "a value is missing or is none of JSON's",
    "Expecting ',' delimiter": "a comma or a closing bracket is missing",
    "Expecting ':' delimiter": "a colon is missing after a name",
    "Expecting property name enclosed in double quotes": "a name in double quotes is missing",
    "Unterminated string starting at": "a text does not end",
    "Invalid control character at": "a text holds a control character",
}


class Malformed(Exception):
    """The file cannot be read any further.

    Attributes:
        reason: a clause, without the place.
        line: from 1.
        byte: offset from 0.
    """

    def __init__(self, reason: str, line: int, byte: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line
        self.byte = byte


class Part(NamedTuple):
    """One entry of a top-level array, or the whole value of another top-level name.

    Attributes:
        key: the top-level name.
        value: the entry.
        text: the entry as the file has it.
        listed: whether it is an entry of an array.
        number: of the entry in its array, from 1.
        repeated: whether an object in it has the same name twice.
    """

    key: str
    value: Any
    text: str
    listed: bool
    number: int
    repeated: bool


class Streamed:
    """A file of JSON.

    Args:
        file: open for reading; UTF-8, with or without a byte order mark.

    Attributes:
        bad_byte: line and byte of the first byte that is not UTF-8, where there was one so far;
            reading goes on beyond it.
        names: the top-level names met so far.
    """

    def __init__(self, file: BinaryIO) -> None:
        self.bad_byte: tuple[int, int] | None = None
        self.names: set[str] = set()
        self._file = file
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="surrogateescape")
        self._text, self._at, self._ended = "", 0, False
        self._bytes_before, self._lines_before = 0, 0
        self._repeated = False
        self._read = json.JSONDecoder(object_pairs_hook=self._object).raw_decode

    def parts(self) -> Iterator[Part]:
        """Yield what the top-level object holds, in the order of the file.

        Raises:
            Malformed: it is no JSON object from some place on; what was yielded before is sound.
        """
        self._start()
        if self._next() != "{":
            raise self.malformed("it is no JSON object")
        self._at += 1
        if self._next() == "}":
            self._at += 1
        else:
            yield from self._members()
        if self._next():
            raise self.malformed("something stands after its end")

    def _members(self) -> Iterator[Part]:
        while True:
            key, _ = self._value()
            if not isinstance(key, str):
                raise self.malformed("a name in double quotes is missing")
            self._note_name(key)
            self._pass(":", "a colon is missing after a name")
            if self._next() == "[":
                self._at += 1
                yield from self._entries(key)
            else:
                value, text = self._value()
                yield Part(key, value, text, listed=False, number=0, repeated=self._repeated)
            if self._ends("}"):
                return

    def _note_name(self, key: str) -> None:
        if key in self.names or len(self.names) >= MAX_NAMES:
            twice = "a name stands twice at its top"
            raise self.malformed(twice if key in self.names else "it has too many names at its top")
        self.names.add(key)

    def _entries(self, key: str) -> Iterator[Part]:
        if self._next() == "]":
            self._at += 1
            return
        number = 0
        while True:
            number += 1
            value, text = self._value()
            yield Part(key, value, text, listed=True, number=number, repeated=self._repeated)
            if self._ends("]"):
                return

    def _ends(self, bracket: str) -> bool:
        """Pass the bracket, which ends, or a comma, after which one more must follow."""
        near = _COMMA.match(self._text, self._at)
        if near is not None:  # by far the most: an entry follows, and its beginning is here
            self._at = near.end()
            return False
        if self._next() == bracket:
            self._at += 1
            return True
        self._pass(",", "a comma or a closing bracket is missing")
        if self._next() == bracket:
            raise self.malformed("a comma stands before a closing bracket")
        return False

    def _pass(self, char: str, otherwise: str) -> None:
        if self._next() != char:
            raise self.malformed(otherwise if self._next() else "it ends too early")
        self._at += 1

    def _next(self) -> str:
        """Return the next character that is no space, nothing at the end; it is not passed."""
        while True:
            self._at = _end_of_space(self._text, self._at)
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                return ""

    def _value(self) -> tuple[Any, str]:
        """Read one value, of which ``_next`` saw the beginning, and return it with its text."""
        if self._at >= len(self._text):
            raise self.malformed("it ends too early")
        self._repeated = False
        while True:
            try:
                value, end = self._read(self._text, self._at)
            except json.JSONDecodeError as error:
                into = error.pos - self._at
                if self._is_cut(error) and self._grow():
                    continue
                raise self._wrong(error.msg, self._at + into) from None
            except RecursionError:
                raise self.malformed("it is nested too deep") from None
            except ValueError:  # Python reads no integer of more than some thousand digits
                raise self.malformed("it holds a number of too many digits") from None
            length = end - self._at
            if end < len(self._text) or not self._grow():
                return value, self._taken(value, length)

    def _taken(self, value: Any, length: int) -> str:
        """Pass a value and return its text."""
        text = self._text[self._at : self._at + length]
        if length > MAX_ENTRY:
            raise self.malformed(_LONG)
        if text.count("[") + text.count("{") > MAX_DEPTH and _depth(value) > MAX_DEPTH:
            raise self.malformed("it is nested too deep")
        self._at += length
        return text

    def _is_cut(self, error: json.JSONDecodeError) -> bool:
        """Whether more text might cure it."""
        near = error.pos >= len(self._text) - _END_MATTERS
        return near or error.msg.startswith("Unterminated string")

    def _grow(self) -> bool:
        """Take more text for a value that is longer than what is there."""
        if len(self._text) - self._at > MAX_ENTRY:
            raise self.malformed(_LONG)
        return self._more()

    def _more(self) -> bool:
        """Move the window on: forget what was passed, and read as much as is kept or more."""
        if self._ended:
            return False
        passed, kept = self._text[: self._at], self._text[self._at :]
        self._bytes_before += _size(passed)
        self._lines_before += passed.count("\n")
        data = self._file.read(max(WINDOW, min(len(kept), MAX_ENTRY - len(kept))))
        self._ended = not data
        new = self._decoder.decode(data, final=self._ended)
        self._text, self._at = kept + new, 0
        if self.bad_byte is None and not new.isascii() and (bad := _NO_UTF8.search(new)):
            self.bad_byte = self._place(len(kept) + bad.start())
        return bool(new) or not self._ended

    def _start(self) -> None:
        """Read the first window; only UTF-8 is read, but other encodings are named."""
        head = self._file.read(4)
        for mark, name in _OTHER_CODES.items():
            if head.startswith(mark):
                raise Malformed(f"it is written in {name}, not in UTF-8", 1, 0)
        if head.startswith(codecs.BOM_UTF8):
            head, self._bytes_before = head[3:], 3
        self._text = self._decoder.decode(head)
        self._more()

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) != len(pairs):
            self._repeated = True
        return made

    def _wrong(self, message: str, at: int) -> Malformed:
        if self._ended and (message.startswith("Unterm") or at >= len(self._text.rstrip())):
            return self.malformed("it ends too early", at)
        return self.malformed(_SAID.get(message, "it is no JSON"), at)

    def malformed(self, reason: str, at: int | None = None) -> Malformed:
        """Return the error that reading stops at a place: where it is, if no other is given."""
        return Malformed(reason, *self._place(self._at if at is None else at))

    def _place(self, at: int) -> tuple[int, int]:
        before = self._text[:at]
        return self._lines_before + before.count("\n") + 1, self._bytes_before + _size(before)


def _end_of_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _size(text: str) -> int:
    """Bytes of a text in its file."""
    return len(text) if text.isascii() else len(text.encode("utf-8", errors="surrogateescape"))


def _depth(value: Any) -> int:
    level, depth = [value], 0
    while level and depth <= MAX_DEPTH:
        depth += 1
        level = [inner for one in level for inner in _inside(one)]
    return depth


def _inside(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []
