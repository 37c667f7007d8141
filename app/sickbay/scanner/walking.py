"""The first step of a scan: what its source yields, spooled for the steps after it.

A frame is about a sample, something skipped, or a file with findings of its own. A sample's task
travels as the bytes that the child will read.
"""

import json
from collections.abc import Callable
from typing import Any, TypeAlias

from sickbay.contract.defects import Severity
from sickbay.contract.finding import Finding
from sickbay.contract.paths import SamplePath
from sickbay.contract.policy import Policy
from sickbay.scanner import wire
from sickbay.scanner.sources import Found, Item, Noted, Skipped, Source
from sickbay.scanner.spool import Spool
from sickbay.scanner.task import Task

FOUND, SKIPPED, NOTED = range(3)
"""What a frame of a spool is about."""
MAX_TASK = wire.MAX_JSON // 4
"""Bytes of what an annotation file says of one sample; four times that fits into a frame."""
_REPORTED = 1000  # samples between two reports
_encode = json.JSONEncoder(separators=(",", ":")).encode


KeysOf: TypeAlias = Callable[[Found], Any]
"""Returns the keys of a sample's files, for a cache."""


def walk_into(
    spool: Spool,
    source: Source,
    policy: Policy,
    report: Callable[[int], None],
    keys: KeysOf | None = None,
) -> int:
    """Spool everything that a source yields, and return how many samples and skipped there are."""
    found = 0
    for item in source.items():
        spool.write(*walked(item, policy, keys))
        if not isinstance(item, Noted):
            found += 1
            if found % _REPORTED == 0:
                report(found)
    return found


def walked(item: Item, policy: Policy, keys: KeysOf | None) -> tuple[list[Any], bytes]:
    """Return the frame of one item."""
    name = item.raw.decode("latin-1")
    if isinstance(item, Noted):
        return [NOTED, name, _applied(policy, item.findings)], b""
    if isinstance(item, Skipped):
        given = () if item.finding is None else (item.finding,)
        return [SKIPPED, name, item.reason, _applied(policy, given)], b""
    return _sample(name, item, policy, None if keys is None else keys(item))


def _sample(name: str, item: Found, policy: Policy, keys: Any) -> tuple[list[Any], bytes]:
    findings = policy.applied(item.findings)
    held = any(finding.severity is Severity.BLOCK for finding in findings)
    task = _encode(Task(item.raw, item.kind, item.side, item.given, held).to_json())
    if len(task) > MAX_TASK:
        findings += policy.applied([_too_long(len(task))])
        task = _encode(Task(item.raw, "picture", held=True).to_json())
    listed = item.listed and [SamplePath(item.listed[0]).text, item.listed[1]]
    value = [FOUND, name, item.kind, item.split, item.label, listed, item.labels]
    return [*value, keys, _plain(findings)], task.encode("ascii")


def _applied(policy: Policy, findings: tuple[Finding, ...]) -> list[Any]:
    return _plain(policy.applied(findings)) if findings else []


def _plain(findings: tuple[Finding, ...]) -> list[Any]:
    """As JSON has them, whatever a source put into their details."""
    plain: list[Any] = json.loads(_encode(wire.from_findings(findings))) if findings else []
    return plain


def _too_long(size: int) -> Finding:
    message = f"What the annotations say of this sample is too long to check: {size:,} bytes."
    return Finding.of("decoder.out-of-memory", "", message, limit=MAX_TASK)
