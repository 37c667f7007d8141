"""Names in annotation files are found wherever those who wrote them stood, but never outside."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.pictures import write

from sickbay.contract.paths import leaves_root
from sickbay.scanner.sources.joined import Joined
from sickbay.scanner.sources.named import ABSOLUTE, LEAVES, NO_TEXT, Named, Names, normal
from sickbay.scanner.trees.local import LocalTree

FILES = ("top.jpg", "images/a.jpg", "labels/a.jpg", "train2017/t.jpg", "val/t.jpg", "deep/in/u.jpg")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in FILES:
        write(tmp_path / "root", name, b"bytes")
    write(tmp_path / "root", "caf\u00e9.jpg", b"bytes")
    return tmp_path / "root"


@pytest.fixture
def names(root: Path) -> Iterator[Names]:
    with closing(Joined(LocalTree(root))) as joined:
        yield Names(joined, str(root))


@pytest.mark.parametrize(
    ("text", "beside", "raw"),
    [
        ("top.jpg", b"list.json", b"top.jpg"),
        ("./images//a.jpg", b"list.json", b"images/a.jpg"),
        ("a.jpg", b"labels/list.json", b"labels/a.jpg"),
        ("a.jpg", b"list.json", b"images/a.jpg"),
        ("u.jpg", b"list.json", b"deep/in/u.jpg"),
        ("other/u.jpg", b"list.json", b"deep/in/u.jpg"),
        ("../images/a.jpg", b"labels/list.json", b"images/a.jpg"),
        ("caf\u00e9.jpg", b"list.json", "caf\u00e9.jpg".encode()),
        ("root/val/t.jpg", b"list.json", b"val/t.jpg"),
    ],
)
def test_a_name_is_found(names: Names, text: str, beside: bytes, raw: bytes) -> None:
    assert names.find(text, beside) == Named(raw, lies=True)


def test_a_folder_that_the_caller_knows_tells_two_of_one_name_apart(names: Names) -> None:
    assert not names.find("t.jpg", b"list.json").lies
    assert names.find("t.jpg", b"list.json", [b"train2017"]).raw == b"train2017/t.jpg"
    assert names.find("t.jpg", b"list.json", [b"val"]).raw == b"val/t.jpg"


def test_what_is_missing_is_expected_beside_those_found_before(names: Names) -> None:
    assert names.find("gone.jpg", b"list.json") == Named(b"gone.jpg")
    names.find("a.jpg", b"list.json")
    assert names.find("gone.jpg", b"list.json") == Named(b"images/gone.jpg")


def test_an_absolute_path_below_the_root_is_one_below_the_root(names: Names, root: Path) -> None:
    assert names.find(f"{root}/images/a.jpg", b"list.json") == Named(b"images/a.jpg", lies=True)
    assert names.find(f"{root}/gone.jpg", b"list.json") == Named(b"gone.jpg")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("/etc/passwd", ABSOLUTE),
        ("C:\\data\\a.jpg", ABSOLUTE),
        ("https://example.org/a.jpg", ABSOLUTE),
        ("../a.jpg", LEAVES),
        ("../../etc/passwd", LEAVES),
        ("images/../../a.jpg", LEAVES),
        ("", NO_TEXT),
        (".", NO_TEXT),
        ("a\0.jpg", NO_TEXT),
        ("\ud800.jpg", NO_TEXT),
        ("a" * 5000, NO_TEXT),
    ],
)
def test_what_names_no_path_below_the_root_is_unsafe(names: Names, text: str, reason: str) -> None:
    found = names.find(text, b"list.json")
    assert (found.raw, found.lies, found.unsafe) == (b"", False, reason)


def test_a_path_out_of_the_root_and_back_in_is_unsafe(names: Names, root: Path) -> None:
    assert names.find(f"{root}/../root/top.jpg", b"list.json").unsafe == ABSOLUTE


@given(st.text(alphabet="a./", max_size=12).map(str.encode))
def test_a_normal_path_never_leaves_the_root(raw: bytes) -> None:
    made = normal(raw)
    assert made is None or not leaves_root(made)
