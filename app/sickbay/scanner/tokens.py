"""How long a text is for a model: in tokens of a tokenizer's file, in words where there is none."""

import os
import re
from functools import cache
from typing import Any

from sickbay.contract.errors import BadInput

_PIECE = 1 << 20  # characters split at once, so that a long text needs no list of all its words
_WITHOUT_SPACES = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
"""Scripts that put no spaces between words: each letter counts."""


def length(text: str, tokenizer: str | None) -> int:
    """Count the tokens of a text.

    Args:
        text: the text.
        tokenizer: path of a ``tokenizer.json``; without one, words are counted.

    Raises:
        BadInput: as :func:`load`.
    """
    if tokenizer is None:
        return words(text)
    return len(load(tokenizer).encode(text, add_special_tokens=False).ids)


def words(text: str) -> int:
    """Count words: what stands between spaces, and each letter of a script that has none."""
    count, joined = 0, False
    for start in range(0, len(text), _PIECE):
        piece = text[start : start + _PIECE]
        count += len(piece.split()) - (joined and not piece[0].isspace())
        joined = not piece[-1].isspace()
    return count if text.isascii() else count + len(_WITHOUT_SPACES.findall(text))


@cache
def load(path: str) -> Any:
    """Load a tokenizer's file, once.

    Raises:
        BadInput: it is none, or the library that reads it is not installed.
    """
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")  # threads would spoil the CPU limit
    try:
        from tokenizers import Tokenizer  # noqa: PLC0415 (an extra of its own)
    except ImportError:
        raise BadInput(
            "Counting tokens needs the library tokenizers; install sickbay[tokens], or leave out "
            "--tokenizer to count words."
        ) from None
    try:
        return Tokenizer.from_file(path)
    except Exception as error:  # noqa: BLE001 (the library raises nothing narrower)
        message = " ".join(str(error).split())[:200]
        raise BadInput(f"{path!r} is no tokenizer.json that can be read: {message}.") from None
