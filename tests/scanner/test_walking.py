"""What a source yields, on its way to those who check."""

import json

from sickbay.contract.finding import Finding
from sickbay.contract.policy import Policy
from sickbay.scanner import wire
from sickbay.scanner.sources import Found, Noted
from sickbay.scanner.task import Task
from sickbay.scanner.walking import FOUND, MAX_TASK, NOTED, walked


def test_a_task_travels_as_the_bytes_that_the_child_reads() -> None:
    sample = Found(b"\xff.jpg", "train", "cat", "marks", b"a.json", {"marks": []})
    value, task = walked(sample, Policy(), lambda found: [found.kind])
    assert value == [FOUND, "\xff.jpg", "marks", "train", "cat", None, None, ["marks"], []]
    assert Task.from_json(json.loads(task)) == Task(b"\xff.jpg", "marks", b"a.json", {"marks": []})


def test_annotations_too_long_to_send_are_a_finding_and_the_picture_is_checked_alone() -> None:
    sample = Found(b"a.jpg", kind="marks", given={"marks": ["x" * MAX_TASK]})
    value, task = walked(sample, Policy(), None)
    (finding,) = wire.to_findings(value[-1])
    assert (finding.code, finding.severity) == ("decoder.out-of-memory", "block")
    assert Task.from_json(json.loads(task)) == Task(b"a.jpg", held=True)


def test_a_policy_decides_what_a_source_found() -> None:
    found = Finding.of("label.missing", "a.csv", "There is no label.")
    warn, silent = (Policy(severities={"label.missing": word}) for word in ("warn", "silent"))
    value, task = walked(Found(b"a.jpg", findings=(found,)), warn, None)
    assert [one.severity for one in wire.to_findings(value[-1])] == ["warn"]
    assert not Task.from_json(json.loads(task)).held
    assert walked(Noted(b"a.csv", (found,)), silent, None) == ([NOTED, "a.csv", []], b"")
