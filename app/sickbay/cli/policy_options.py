"""Options that say what a scan is to find, and the policy that they make.

An option counts more than the file given with ``--policy``, that more than the data set's own
policy, and that more than the defaults.
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from sickbay.contract import strict_json
from sickbay.contract.errors import BadInput
from sickbay.contract.policy import MOST_TEXT, Policy, from_toml

PolicyOption = Annotated[
    Path | None,
    typer.Option("--policy", help="TOML file: what blocks, limits, thresholds.", readable=False),
]
NumClassesOption = Annotated[
    int | None, typer.Option(help="How many classes there are; labels are 0 to N-1.")
]
ClassesOption = Annotated[
    Path | None,
    typer.Option(help="File of class names, one a line or a JSON list.", readable=False),
]
MaxTokensOption = Annotated[
    int | None, typer.Option(help="Longest text in tokens; in words without --tokenizer.")
]
TokenizerOption = Annotated[
    Path | None, typer.Option(help="A tokenizer.json that counts the tokens.", readable=False)
]
ExpectShapeOption = Annotated[
    str | None, typer.Option(help="Shape of the arrays, as 3,224,224; * is any length.")
]
IgnoreLabelOption = Annotated[
    int | None, typer.Option(help="Value of masks that means nothing, often 255.")
]
BoxToleranceOption = Annotated[
    float | None, typer.Option(help="Pixels by which a box may stand out of its picture.")
]


@dataclass(frozen=True, slots=True)
class PolicyOptions:
    """What was asked for on the command line; nothing where it was not."""

    file: Path | None = None
    num_classes: int | None = None
    classes: Path | None = None
    max_tokens: int | None = None
    tokenizer: Path | None = None
    expect_shape: str | None = None
    box_tolerance: float | None = None
    ignore_label: int | None = None


def chosen(options: PolicyOptions, stored: Policy) -> Policy:
    """Return the policy to scan by; ``stored`` is the data set's own.

    Raises:
        BadInput: a file cannot be read, or asks for what no policy can.
    """
    written = {} if options.file is None else from_toml(_text(options.file))
    policy = stored.overridden(written).overridden(_given(options))
    if policy.tokenizer is not None and options.tokenizer is None:
        raise BadInput(
            "The policy counts tokens with the tokenizer file of SHA-256 "
            f"{policy.tokenizer[:12]}…; give that file with --tokenizer."
        )
    return policy


def read_policy(path: Path) -> Policy:
    """Read a policy file.

    Raises:
        BadInput: it cannot be read, or is none.
    """
    return Policy.from_toml(_text(path))


def said(policy: Policy) -> str:
    """Return in one line what of the policy is not as by default; nothing where all is."""
    differences = policy.differences()
    severities = differences.pop("severities", {})
    words = [f"{name} {_shown(value)}" for name, value in differences.items()]
    words += [f"{code} {severity}" for code, severity in severities.items()]
    return f"Policy: {', '.join(words)}." if words else ""


_LENGTH = re.compile(r"[0-9]{1,15}")
_MOST_SHOWN = 4
"""Entries of a list in one line."""


def _shown(value: Any) -> str:
    if isinstance(value, list):
        shown = ["*" if one is None else str(one) for one in value[:_MOST_SHOWN]]
        more = f" … ({len(value):,})" if len(value) > _MOST_SHOWN else ""
        return f"{'/'.join(shown)}{more}"
    return str(value)[:12]


def _given(options: PolicyOptions) -> Mapping[str, Any]:
    given = {
        "num_classes": options.num_classes,
        "classes": None if options.classes is None else _class_names(options.classes),
        "max_tokens": options.max_tokens,
        "tokenizer": None if options.tokenizer is None else _sha256(options.tokenizer),
        "expect_shape": None if options.expect_shape is None else _shape(options.expect_shape),
        "box_tolerance": options.box_tolerance,
        "ignore_label": options.ignore_label,
    }
    return {name: value for name, value in given.items() if value is not None}


def _class_names(path: Path) -> Any:
    text = _text(path)
    if text.lstrip().startswith("["):
        return strict_json.loads(text.encode("utf-8"))
    return [line.strip() for line in text.splitlines() if line.strip()]


def _shape(text: str) -> list[int | str]:
    parts = [part.strip() for part in text.strip().strip("()[]").split(",")]
    lengths = [part for part in parts if part]
    if not lengths or not all(one == "*" or _LENGTH.fullmatch(one) for one in lengths):
        raise BadInput("--expect-shape takes lengths with commas, such as 3,224,224 or 3,*,*.")
    return [one if one == "*" else int(one) for one in lengths]


def _sha256(path: Path) -> str:
    return hashlib.sha256(_bytes(path)).hexdigest()


def _text(path: Path) -> str:
    data = _bytes(path)
    if len(data) > MOST_TEXT:
        raise BadInput(f"{str(path)!r} is larger than {MOST_TEXT:,} bytes.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInput(f"{str(path)!r} is not UTF-8 at byte {error.start:,}.") from None


def _bytes(path: Path) -> bytes:
    try:
        return path.expanduser().read_bytes()
    except OSError as error:
        raise BadInput(f"{str(path)!r} cannot be read: {error.strerror}.") from None
