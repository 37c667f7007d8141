"""Reading a scan's records back from lines of NDJSON, trusting nothing in them."""

import json
import re
from collections.abc import Callable
from typing import Any

from sickbay.contract import strict_json
from sickbay.contract.defects import Severity, defect
from sickbay.contract.errors import BadInput
from sickbay.contract.finding import (
    MAX_DETAIL_BYTES,
    MAX_FINDINGS,
    MAX_LABELS,
    MAX_MESSAGE,
    RECORDS_VERSION,
    Depth,
    FileRecord,
    Finding,
    Record,
    SampleRecord,
    ScanRecord,
    SummaryRecord,
)
from sickbay.contract.paths import from_record
from sickbay.contract.policy import Policy

_SHA256 = re.compile(r"[0-9a-f]{64}")
_SPLIT = re.compile(r"[^\x00-\x1f]{0,255}")


def from_line(line: bytes) -> Record:
    """Parse one record from a line.

    Raises:
        BadInput: the line is not a record; the sentence says what is wrong, not what it held.
    """
    value = strict_json.loads(line)
    if not isinstance(value, dict):
        raise BadInput("A record is not a JSON object.")
    kind = value.pop("kind", None)
    try:
        return _READERS[kind](value)
    except KeyError as error:
        if error.args == (kind,):
            raise BadInput("A record's kind is none of scan, sample, file, summary.") from None
        raise BadInput(f"A record lacks the field {error.args[0]!r}.") from None
    except TypeError:
        raise BadInput("A record has an unknown field or one of the wrong type.") from None


def _read_scan(value: dict[str, Any]) -> ScanRecord:
    if _int(value["records"]) != RECORDS_VERSION:
        raise BadInput(
            f"These records are not of version {RECORDS_VERSION}; update the older side."
        )
    classes = tuple(_text(name, 255) for name in _list(value.pop("classes"), 1_000_000))
    policy = _dict(value.pop("policy"))
    Policy.from_json(policy)
    return ScanRecord(
        dataset=_text(value.pop("dataset"), 255),
        layout=_text(value.pop("layout"), 32),
        classes=classes,
        policy=policy,
        depth=_depth(value.pop("depth")),
        records=value.pop("records"),
        **value,
    )


def _depth(value: Any) -> Depth:
    try:
        return Depth(value)
    except ValueError:
        raise BadInput(f"A scan's depth is none of {', '.join(Depth)}.") from None


def _read_sample(value: dict[str, Any]) -> SampleRecord:
    path = from_record(_text(value.pop("path"), 16_384), value.pop("path_bytes", None))
    held = value.pop("held")
    record = SampleRecord(
        path=path,
        split=_matching(_SPLIT, value.pop("split"), "split"),
        label=_matching(_SPLIT, value.pop("label"), "label"),
        size=_count(value.pop("size")),
        mtime_ns=_int(value.pop("mtime_ns")),
        sha256=None
        if (digest := value.pop("sha256")) is None
        else _matching(_SHA256, digest, "sha256"),
        width=_count(value.pop("width")),
        height=_count(value.pop("height")),
        format=None if (name := value.pop("format")) is None else _text(name, 32),
        mode=None if (name := value.pop("mode")) is None else _text(name, 32),
        findings=_findings(value.pop("findings")),
        decoded=_truth(value.pop("decoded")),
        **value,
    )
    if record.held is not held:
        raise BadInput("A record's held contradicts its findings.")
    return record


def _read_file(value: dict[str, Any]) -> FileRecord:
    path = from_record(_text(value.pop("path"), 16_384), value.pop("path_bytes", None))
    return FileRecord(path=path, findings=_findings(value.pop("findings")), **value)


def _read_summary(value: dict[str, Any]) -> SummaryRecord:
    numbers = {
        name: _sure(_count(value.pop(name))) for name in ("found", "clean", "held", "skipped")
    }
    reasons, codes = (
        {_text(key, 255): _sure(_count(number)) for key, number in _dict(value.pop(name)).items()}
        for name in ("reasons", "codes")
    )
    if numbers["found"] != numbers["clean"] + numbers["held"] + numbers["skipped"]:
        raise BadInput("A summary's numbers do not add up.")
    return SummaryRecord(
        **numbers,
        reasons=reasons,
        codes=codes,
        labels=_labels(value.pop("labels")),
        findings=_findings(value.pop("findings")),
        **value,
    )


def _labels(value: Any) -> dict[str, dict[str, int]]:
    labels = {
        _matching(_SPLIT, split, "split"): {
            _matching(_SPLIT, label, "label"): _sure(_count(number))
            for label, number in _dict(counts).items()
        }
        for split, counts in _dict(value).items()
    }
    if sum(map(len, labels.values())) > MAX_LABELS:
        raise BadInput(f"A summary counts more than {MAX_LABELS:,} labels.")
    return labels


_READERS: dict[Any, Callable[[dict[str, Any]], Record]] = {
    "scan": _read_scan,
    "sample": _read_sample,
    "file": _read_file,
    "summary": _read_summary,
}


def _findings(value: Any) -> tuple[Finding, ...]:
    return tuple(_finding(_dict(item)) for item in _list(value, MAX_FINDINGS))


def _finding(value: dict[str, Any]) -> Finding:
    detail = _dict(value.pop("detail"))
    if len(json.dumps(detail)) > MAX_DETAIL_BYTES:
        raise BadInput("A finding's detail is too large.")
    code = _text(value.pop("code"), 64)
    defect(code)
    try:
        severity = Severity(value.pop("severity"))
    except ValueError:
        raise BadInput("A finding's severity is none of block, warn, note.") from None
    item = value.pop("item")
    return Finding(
        code=code,
        severity=severity,
        file=_text(value.pop("file"), 16_384),
        item=None if item is None else _text(item, 255),
        message=_text(value.pop("message"), MAX_MESSAGE),
        detail=detail,
        **value,
    )


def _text(value: Any, limit: int) -> str:
    if not isinstance(value, str) or len(value) > limit:
        raise BadInput(
            f"A record holds something else where text of at most {limit} characters belongs."
        )
    return value


def _matching(pattern: re.Pattern[str], value: Any, name: str) -> str:
    if not isinstance(value, str) or not pattern.fullmatch(value):
        raise BadInput(f"A record's {name} is malformed.")
    return value


def _truth(value: Any) -> bool:
    if not isinstance(value, bool):
        raise BadInput("A record holds something else where true or false belongs.")
    return value


def _int(value: Any) -> int | None:
    if value is not None and type(value) is not int:
        raise BadInput("A record holds something else where a whole number belongs.")
    return value


def _count(value: Any) -> int | None:
    number = _int(value)
    if number is not None and number < 0:
        raise BadInput("A record holds a negative number where a count belongs.")
    return number


def _sure(value: int | None) -> int:
    if value is None:
        raise BadInput("A record holds null where a count belongs.")
    return value


def _list(value: Any, limit: int) -> list[Any]:
    if not isinstance(value, list) or len(value) > limit:
        raise BadInput(f"A record holds something else where a list of at most {limit} belongs.")
    return value


def _dict(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise BadInput("A record holds something else where an object belongs.")
    return value
