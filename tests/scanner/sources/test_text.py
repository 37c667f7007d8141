"""Plain texts: each file a sample, in folders as image folders are."""

from pathlib import Path

import pytest
from tests.pictures import write
from tests.scanner.recorded import codes, scanned

from sickbay.contract.policy import Policy
from sickbay.scanner import Setup
from sickbay.scanner.sources import Found, Skipped, text
from sickbay.scanner.sources.glimpse import Glimpse
from sickbay.scanner.sources.layouts import LAYOUTS
from sickbay.scanner.trees.local import LocalTree


def test_texts_have_the_split_and_label_of_their_folders(tmp_path: Path) -> None:
    for name in ("train/pos/a.txt", "train/neg/b.md", "test/pos/c.txt", "train/neg/d.bin"):
        write(tmp_path, name, b"some words")
    source = text.read(LocalTree(tmp_path), Policy())
    items = list(source.items())
    assert [(item.raw, item.split, item.label) for item in items if isinstance(item, Found)] == [
        (b"test/pos/c.txt", "test", "pos"),
        (b"train/neg/b.md", "train", "neg"),
        (b"train/pos/a.txt", "train", "pos"),
    ]
    assert [item.raw for item in items if isinstance(item, Skipped)] == [b"train/neg/d.bin"]
    assert source.classes == ("neg", "pos")


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"some words\n", []),
        (b"\xef\xbb\xbfsome words", []),
        (b"", ["file.empty"]),
        (b" \n", ["text.empty"]),
        (b"\xef\xbb\xbf", ["text.empty"]),
        (b"k\xe4se", ["text.bad-encoding"]),
        ("some words".encode("utf-16"), ["text.bad-encoding"]),
        ("CafÃ© MÃ¼ller".encode(), ["text.mojibake"]),
        (b"a\x00b", ["text.control-characters"]),
        (b"one two three four", ["text.overlong"]),
    ],
)
def test_each_text_is_checked(tmp_path: Path, data: bytes, expected: list[str]) -> None:
    write(tmp_path, "a.txt", data)
    records = scanned(tmp_path, layout="text", setup=Setup(policy=Policy(max_tokens=3)))
    record = records.samples["a.txt"]
    assert codes(record.findings) == expected
    assert (record.size, record.format) == (len(data), "TXT")


def test_lines_of_json_files_are_texts_too(tmp_path: Path) -> None:
    write(tmp_path, "a.txt", b"some words")
    write(tmp_path, "b.jsonl", b'{"text": "fine"}\n{"text": " "}\n')
    samples = scanned(tmp_path, layout="text").samples
    assert {name: codes(record.findings) for name, record in samples.items()} == {
        "a.txt": [],
        "b.jsonl#line=000000001": [],
        "b.jsonl#line=000000002": ["text.empty"],
    }


@pytest.mark.parametrize(
    ("names", "layout", "why"),
    [
        (["a.txt", "b.txt", "x/c.md"], "text", "3 of the first 3 files are texts"),
        (["README.md"], "text", None),
        (["a.txt", "b.jpg"], "text", None),
        (["labels.csv", "images/a.jpg"], "csv", "labels.csv holds rows"),
        (["train.tsv", "test.tsv"], "csv", "test.tsv and 1 more hold rows"),
        (["sensor/one/a.csv"], "csv", None),
        (["data.jsonl"], "jsonl", "data.jsonl holds JSON lines"),
        (["cats/metadata.jsonl", "cats/a.jpg"], "jsonl", "cats/metadata.jsonl holds JSON lines"),
    ],
)
def test_layouts_of_rows_and_texts_are_recognised(
    tmp_path: Path, names: list[str], layout: str, why: str | None
) -> None:
    for name in names:
        write(tmp_path, name, b"x")
    assert LAYOUTS[layout].recognise(Glimpse(LocalTree(tmp_path))) == why
