"""``data.yaml``: the classes of a YOLO data set and where its splits are.

It is read with PyYAML's pure ``SafeLoader``, which makes plain values only. Aliases are refused:
nobody needs them here, and with them a few lines stand for more memory than there is.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from sickbay.contract.errors import SickbayError
from sickbay.contract.finding import Finding
from sickbay.contract.paths import SamplePath
from sickbay.scanner.sources.folders import shown_label
from sickbay.scanner.sources.split_lists import refusal
from sickbay.scanner.trees import Tree

MAX_BYTES = 1 << 20  # 20,000 class names take half of it, and two seconds
MAX_CLASSES = 100_000
SPLIT_KEYS = {"train": "train", "val": "val", "valid": "val", "test": "test"}
_TELLING = 2  # parts of an absolute path that are enough to know a folder by
_FIRST = (b"data.yaml", b"dataset.yaml", b"data.yml", b"dataset.yml")


@dataclass(frozen=True, slots=True)
class Description:
    """What the file says, as far as it can be used.

    Attributes:
        raw: its raw path; nothing where there is none.
        classes: names of the classes, in order of their numbers.
        splits: by split, of each folder and list file it names, the raw paths it may mean.
        keypoints: how many a class has, and values for each.
        findings: what is wrong with the file.
    """

    raw: bytes | None = None
    classes: tuple[str, ...] = ()
    splits: Mapping[str, tuple[tuple[bytes, ...], ...]] = field(default_factory=dict)
    keypoints: tuple[int, int] | None = None
    findings: tuple[Finding, ...] = ()


class _Loader(yaml.SafeLoader):
    """Plain values, without aliases."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            event = self.peek_event()  # type: ignore[no-untyped-call]  # so in the stubs
            raise yaml.MarkedYAMLError(
                problem="aliases are not read here", problem_mark=event.start_mark
            )
        return super().compose_node(parent, index)


def find(tree: Tree) -> Description:
    """Read the description at the top of a tree: ``data.yaml``, or what has ``names`` or ``nc``."""
    found = [
        name
        for name, is_folder in tree.listing()
        if not is_folder and name.endswith((b".yaml", b".yml"))
    ]
    for name in sorted(found, key=lambda name: (name not in _FIRST, name)):
        description = _read(tree, name)
        if name in _FIRST or description.classes:
            return description
    return Description()


def _read(tree: Tree, raw: bytes) -> Description:
    try:
        with tree.open(raw) as file:
            data = file.read(MAX_BYTES + 1)
    except (SickbayError, OSError) as error:
        code, message = refusal(error)
        return Description(raw, findings=(_finding(raw, message, code=code),))
    value, findings = _parsed(raw, data)
    if findings:
        return Description(raw, findings=findings)
    if not isinstance(value, dict):
        return Description(raw, findings=(_schema(raw, "It is not a mapping of keys to values."),))
    classes, wrong = _classes(value)
    return Description(
        raw,
        classes,
        {split: paths for key, split in SPLIT_KEYS.items() if (paths := _paths(value, key))},
        _keypoints(value.get("kpt_shape")),
        tuple(_schema(raw, message) for message in wrong),
    )


def _parsed(raw: bytes, data: bytes) -> tuple[Any, tuple[Finding, ...]]:
    if len(data) > MAX_BYTES:
        return None, (_finding(raw, f"It is larger than {MAX_BYTES:,} bytes."),)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"It is not UTF-8 at byte {error.start}."
        return None, (_finding(raw, message, line=line, byte=error.start),)
    try:
        return yaml.load(text, _Loader), ()  # noqa: S506 (a safe loader, and stricter)
    except yaml.MarkedYAMLError as error:
        return None, (_marked(raw, text, error),)
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError):
        return None, (_finding(raw, "It is not YAML that can be read."),)


def _marked(raw: bytes, text: str, error: yaml.MarkedYAMLError) -> Finding:
    mark = error.problem_mark or error.context_mark
    problem = error.problem or error.context or "it cannot be read"
    if mark is None:
        return _finding(raw, f"It is not YAML: {problem}.")
    byte = len(text[: mark.index].encode("utf-8", "surrogatepass"))
    message = f"It is not YAML at line {mark.line + 1}: {problem}."
    return _finding(raw, message, line=mark.line + 1, byte=byte)


def _classes(value: Mapping[Any, Any]) -> tuple[tuple[str, ...], list[str]]:
    """Return the names of the classes, and what is wrong with them in sentences."""
    names, number = value.get("names"), value.get("nc")
    counted = number if type(number) is int and 0 < number <= MAX_CLASSES else None
    if isinstance(names, dict):
        names, wrong = _from_mapping(names)
    else:
        wrong = [] if names is None or isinstance(names, list) else ["Its names are no list."]
    if not isinstance(names, list):
        return tuple(str(one) for one in range(counted or 0)), wrong
    if number is not None and number != len(names):
        some = "1 class" if len(names) == 1 else f"{len(names):,} classes"
        wrong = [*wrong, f"It names {some}, but nc is {_shown(number)[:20]}."]
    return tuple(_name(name) for name in names[:MAX_CLASSES]), wrong


def _from_mapping(names: Mapping[Any, Any]) -> tuple[list[Any], list[str]]:
    """Put names given by number in order; a number without a name is its own."""
    numbers = [key for key in names if type(key) is int and 0 <= key < MAX_CLASSES]
    if len(numbers) != len(names):
        wrong = ["Its names have keys that are no class numbers."]
    elif numbers and max(numbers) != len(numbers) - 1:
        wrong = [f"Its {len(numbers):,} names are not numbered 0 to {len(numbers) - 1:,}."]
    else:
        wrong = []
    return [names.get(number, number) for number in range(max(numbers, default=-1) + 1)], wrong


def _name(value: Any) -> str:
    return shown_label(_shown(value).encode("utf-8", "surrogatepass"))


def _shown(value: Any) -> str:
    """Write a plain value; a number of thousands of digits has no text."""
    if isinstance(value, str):
        return value
    plain = value is None or type(value) in {bool, float} or _is_count(value)
    return str(value) if plain else "?"


def _is_count(value: Any) -> bool:
    return type(value) is int and value.bit_length() < 64  # noqa: PLR2004 (as records allow)


def _paths(value: Mapping[Any, Any], key: str) -> tuple[tuple[bytes, ...], ...]:
    """Return where the folders and lists of a split may be."""
    given, base = value.get(key), value.get("path")
    found = given if isinstance(given, list) else [given]
    top = base if isinstance(base, str) else ""
    return tuple(_places(top, one) for one in found if isinstance(one, str) and one)


def _keypoints(value: Any) -> tuple[int, int] | None:
    """Read ``kpt_shape``: [number, 2 or 3]."""
    if isinstance(value, list) and len(value) == 2 and all(type(one) is int for one in value):  # noqa: PLR2004 (a pair)
        number, values = value
        if 0 < number <= MAX_CLASSES and values in {2, 3}:
            return number, values
    return None


def _places(base: str, text: str) -> tuple[bytes, ...]:
    """Return what a path may mean below the root, wherever its writer stood, longest first.

    ``../train/images`` of one machine and ``/data/set/train/images`` of another are both
    ``train/images`` here.
    """
    own = _parts(text)
    absolute = text.startswith("/") or text[1:2] == ":"
    whole = own if absolute else [*_parts(base), *own]
    least = min(_TELLING, len(own)) if absolute else len(own)
    return tuple(b"/".join(whole[at:]) for at in range(len(whole) - least + 1))


def _parts(text: str) -> list[bytes]:
    raw = text.replace("\\", "/").encode("utf-8", "surrogatepass")
    return [part for part in raw.split(b"/") if part not in {b"", b".", b".."}]


def _finding(
    raw: bytes, message: str, code: str = "annotation.malformed", **detail: Any
) -> Finding:
    return Finding.of(code, SamplePath(raw).text, message, **detail)


def _schema(raw: bytes, message: str) -> Finding:
    return _finding(raw, message, code="annotation.schema-mismatch")
