"""``sickbay scan`` of tables and texts: what a person says of columns and tokens."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.commands import run


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A table whose columns nobody would guess."""
    folder = tmp_path / "set"
    folder.mkdir()
    (folder / "data.csv").write_text("a:b:c\n1:x:some words\n2:y: \n")
    return folder


def samples(out: Path) -> list[dict[str, Any]]:
    records = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    return [record for record in records if record["kind"] == "sample"]


def test_options_say_which_columns_are_label_and_text(root: Path, tmp_path: Path) -> None:
    options = ["--label-column", "b", "--text-column", "c", "--delimiter", ":"]
    out = tmp_path / "out.ndjson"
    ran = run("scan", root, "--dataset", "x", "--out", out, "--no-cache", *options)
    assert (ran.code, ran.out) == (0, "found 2 = clean 1 + held 1 + skipped 0\n")
    assert [(one["label"], one["held"]) for one in samples(out)] == [("x", False), ("y", True)]


def test_other_columns_are_another_scan_of_the_same_files(root: Path, tmp_path: Path) -> None:
    labels: list[list[str]] = []
    for column in ("a", "b", "a"):
        out = tmp_path / f"{len(labels)}.ndjson"
        options = ["--label-column", column, "--delimiter", ":", "--cache", tmp_path / "cache"]
        assert run("scan", root, "--dataset", "x", "--out", out, *options).code == 0
        labels.append([one["label"] for one in samples(out)])
    assert labels == [["1", "2"], ["x", "y"], ["1", "2"]]


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (
            ["--label-column", "z", "--delimiter", ":"],
            "data.csv has no column 'z'; it has: 'a', 'b', 'c'.",
        ),
        (["--delimiter", "::"], "A delimiter is one character"),
        (["--layout", "voc", "--label-column", "b"], "those options are of csv, jsonl, text."),
    ],
)
def test_options_that_fit_nothing_are_refused(
    root: Path, tmp_path: Path, options: list[str], why: str
) -> None:
    ran = run("scan", root, "--dataset", "x", "--out", tmp_path / "out", *options)
    assert ran.code == 2
    assert why in ran.err


def test_a_tokenizer_that_is_none_is_refused_before_anything_is_scanned(
    root: Path, tmp_path: Path
) -> None:
    (tmp_path / "no.json").write_text("{}")
    options: list[str | Path] = ["--max-tokens", "5", "--tokenizer", tmp_path / "no.json"]
    ran = run("scan", root, "--dataset", "x", "--out", tmp_path / "out", *options)
    assert ran.code == 2
    assert "is no tokenizer.json that can be read" in ran.err


def test_a_folder_with_a_broken_table_only_is_scanned_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "data.csv").write_bytes(b"text,label\n")
    out = tmp_path / "out.ndjson"
    ran = run("scan", tmp_path / "set", "--dataset", "x", "--out", out, "--no-cache")
    assert (ran.code, ran.out) == (0, "found 0 = clean 0 + held 0 + skipped 0\n")
    assert '"annotation.malformed"' in out.read_text()
