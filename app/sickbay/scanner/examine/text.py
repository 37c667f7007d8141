"""A text file: its bytes once, and what is wrong with the text in them."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from sickbay.contract.finding import Finding
from sickbay.contract.paths import SamplePath
from sickbay.scanner import tokens
from sickbay.scanner.checks import texts
from sickbay.scanner.checks.texts import Field
from sickbay.scanner.evidence import Examined
from sickbay.scanner.examine import Files
from sickbay.scanner.task import HASH_ONLY, STRUCTURE, Setup, Task

_MARK = b"\xef\xbb\xbf"  # a byte order mark, which says UTF-8


def examine(files: Files, task: Task, setup: Setup, care: int) -> Examined:
    """Check a text file."""
    facts, data = files.read(task.raw)
    if data is None:
        return facts
    facts = replace(facts, sha256=hashlib.sha256(data).hexdigest())
    if care >= HASH_ONLY:
        return facts
    return replace(
        facts,
        format="MD" if SamplePath(task.raw).suffix == ".md" else "TXT",
        findings=setup.policy.applied(_found(data, setup)),
        decoded=setup.depth != STRUCTURE,
    )


def _found(data: bytes, setup: Setup) -> Iterator[Finding]:
    if not data:
        yield Finding.of("file.empty", "", "The file has no bytes.")
    elif (finding := texts.bad_encoding(data) or texts.wide_encoding(data)) is not None:
        yield finding
    elif setup.depth != STRUCTURE:
        yield from of_fields([Field("", data.removeprefix(_MARK).decode("utf-8"))], setup)


def of_fields(fields: Sequence[Field], setup: Setup) -> Iterator[Finding]:
    """Run all checks of the texts of one sample."""
    yield from texts.of_fields(fields)
    if not fields:
        return
    count = partial(tokens.length, tokenizer=setup.tokenizer)
    if (finding := texts.overlong(fields, setup.policy, count)) is not None:
        yield finding
