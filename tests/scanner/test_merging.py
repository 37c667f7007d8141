"""Findings from elsewhere, put into the records of a scan."""

import json
from pathlib import Path

from tests.pictures import jpeg

from sickbay.contract.finding import Finding, SummaryRecord
from sickbay.contract.policy import Policy
from sickbay.scanner.engine import scan
from sickbay.scanner.merging import Merging
from sickbay.scanner.sink import NdjsonSink


def _merged(
    folder: Path, policy: Policy | None = None
) -> tuple[Merging, list[dict[str, object]], SummaryRecord]:
    for number in range(3):
        path = folder / "root" / "cat" / f"{number}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(jpeg(number) if number else jpeg(number)[:2000])
    extra = {
        f"cat/{name}.jpg".encode(): [
            Finding.of("training.loader-error", f"cat/{name}.jpg", "raises")
        ]
        for name in (0, 1, 7)
    }
    sink = Merging(NdjsonSink(folder / "out"), extra, policy or Policy())
    scan(folder / "root", dataset="pets", sink=sink)
    records = [json.loads(line) for line in (folder / "out").read_text().splitlines()]
    assert sink.summary is not None
    return sink, records, sink.summary


def test_they_hold_their_samples_and_are_counted(tmp_path: Path) -> None:
    sink, records, summary = _merged(tmp_path)
    assert [record["held"] for record in records[1:4]] == [True, True, False]
    assert (summary.found, summary.clean, summary.held) == (3, 1, 2)
    assert summary.codes["training.loader-error"] == 2
    assert records[-1]["held"] == 2
    assert sink.unknown == (b"cat/7.jpg",)


def test_the_data_sets_policy_holds_for_them_too(tmp_path: Path) -> None:
    _, records, summary = _merged(tmp_path, Policy(severities={"training.loader-error": "note"}))
    assert [record["held"] for record in records[1:4]] == [True, False, False]
    assert summary.held == 1
