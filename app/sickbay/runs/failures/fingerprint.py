"""What failures of one cause have in common, as a fingerprint.

It is made of the kind, the exception's type, the innermost frames of the trainer's own code and
the message without what differs from rank to rank and from sample to sample.
"""

import hashlib
import re

from sickbay.contract.event import Failure

VERSION = 1
"""Goes up when these rules change; groups made by older rules stay as they are."""
FRAMES = 3
_TEXT_READ = 2000

_FRAME = re.compile(r'^\s*File "([^"\n]+)", line \d+, in (.+?)\s*$', re.MULTILINE)
_FOREIGN = re.compile(
    r"site-packages|dist-packages|/lib(?:64)?/python\d|\\lib\\|^<|/torch/|/lightning/"
)
_ORIGINAL = re.compile(r"^Caught (\w+) in (?:DataLoader|pin memory) .*?\n", re.IGNORECASE)
# What may be long begins only where a word does: from each of its letters it would be n² steps.
_VARYING = (
    (re.compile(r"(?<![\w.@%+~-])(?:[A-Za-z]:)?(?:[\w.@%+~-]*[/\\])+[\w.@%+~-]*"), "<path>"),
    (re.compile(r"'[^'\n]*\.[A-Za-z0-9]{2,5}'|\"[^\"\n]*\.[A-Za-z0-9]{2,5}\""), "<path>"),
    (
        re.compile(
            r"(?<![\w@%+-])[\w@%+-]+\.(?:jpe?g|png|webp|bmp|tiff?|gif|npy|npz|json|txt|csv|parquet|pt)\b",
            re.IGNORECASE,
        ),
        "<path>",
    ),
    (re.compile(r"(?:torch\.Size)?[\[(]\s*\d+(?:\s*[,xX]\s*\d+)*\s*,?\s*[\])]"), "<shape>"),
    (re.compile(r"\b\d+(?:\s*[xX]\s*\d+)+\b"), "<shape>"),
    (re.compile(r"\b(?:global |local )?ranks?[ :=]*\d+", re.IGNORECASE), "<rank>"),
    (re.compile(r"\b0x[0-9a-fA-F]+\b|\b(?=[0-9a-f]*\d)[0-9a-f]{8,}\b"), "<hex>"),
    (re.compile(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?"), "<n>"),
    (re.compile(r"\s+"), " "),
)


def fingerprint(failure: Failure) -> str:
    """Return 32 hex digits that failures of one cause share."""
    parts = (
        str(VERSION),
        failure.what.value,
        failure.exception_type.rpartition(".")[2],
        *own_frames(failure.traceback),
        normal(failure.message),
    )
    return hashlib.blake2b("\x00".join(parts).encode(), digest_size=16).hexdigest()


def normal(message: str) -> str:
    """Return a message without paths, shapes, ranks, hexadecimal and other numbers."""
    text = _ORIGINAL.sub("", message[:_TEXT_READ])
    if "Traceback (most recent call last)" in text:
        text = text.rstrip().rpartition("\n")[2]
    for pattern, word in _VARYING:
        text = pattern.sub(word, text)
    return text.strip()


def own_frames(traceback: str) -> list[str]:
    """Return the innermost frames of a traceback that are the trainer's own, innermost last.

    Line numbers are left out, and of paths only the file's name stays: the same code fails at
    another line after an edit, and lies elsewhere on another machine. Where no frame is the
    trainer's own, the innermost frames at all are taken.
    """
    frames = _FRAME.findall(traceback)
    own = [frame for frame in frames if not _FOREIGN.search(frame[0])]
    return [f"{_file(path)}:{name}" for path, name in (own or frames)[-FRAMES:]]


def _file(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]
