"""Trees made to do harm: each file a finding or a reason, in every layout, in bounded memory."""

import io
import json
import os
import socket
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.pictures import jpeg, write
from tests.scanner.large import LARGE

from sickbay.scanner import Setup
from sickbay.scanner.guard import Guard
from sickbay.scanner.limits import Limits
from sickbay.scanner.sources.layouts import LAYOUTS
from sickbay.scanner.task import Task
from sickbay.scanner.where import Below

EVERY = pytest.mark.parametrize("layout", [*LAYOUTS, "auto"])
PICTURE = jpeg(0, (40, 40))
GIB = 1 << 30
_MIB = 300  # of a process that scans; half of it are the libraries that decode
_SUFFIXES = ("jpg", "png", "txt", "csv", "tsv", "json", "jsonl", "xml", "yaml", "npy", "npz", "pt")


@dataclass(frozen=True)
class Scanned:
    """What a scan of a hostile tree came to."""

    refused: str | None
    mib: int
    sum: tuple[int, int] | None
    codes: dict[str, list[str]]


def scan(root: Path, layout: str) -> Scanned:
    """Scan in a process of its own; it ends by itself, in order and in bounded memory."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.scanner.hostile_scan", os.fspath(root), layout],
        capture_output=True,
        check=False,
        timeout=300,
        cwd=Path(__file__).parents[2],
    )
    assert done.returncode == 0, done.stderr.decode(errors="replace")[-2000:]
    found = Scanned(**json.loads(done.stdout))
    assert found.mib < _MIB
    if found.refused is None:
        assert found.sum is not None
        assert found.sum[0] == found.sum[1] > 0
    else:
        assert found.refused.endswith(".")
        assert "\n" not in found.refused
    return found


def sparse(path: Path, start: bytes = b"", size: int = 20 * GIB) -> None:
    """Make a file that takes no room."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.write(start)
        file.truncate(size)


def sound(root: Path) -> Path:
    """Make a small set that each layout finds something in."""
    root.mkdir(exist_ok=True)
    write(root, "images/ok.jpg", PICTURE)
    write(root, "labels/ok.txt", b"0 0.5 0.5 0.1 0.1\n")
    write(root, "annotations.json", b'{"images": [], "annotations": [], "categories": []}')
    write(root, "labels.csv", b"path,label\nimages/ok.jpg,cat\n")
    return root


def add_odd_names(root: Path) -> None:
    for name in (
        b"\xff\xfe",
        b"a\nb",
        b"'q\"",
        "é".encode(),
        b"a,b",
        b" x",
        b"\x01",
        b"a\\b",
        b"-",
    ):
        for suffix in _SUFFIXES:
            path = os.path.join(os.fsencode(root), name + b"." + suffix.encode())  # noqa: PTH118 (bytes)
            with open(path, "wb") as file:  # noqa: PTH123 (bytes)
                file.write(PICTURE if suffix == "jpg" else b"0 0.5 0.5 0.1 0.1\n")


def add_what_is_no_file(root: Path, stack: ExitStack) -> None:
    """Add pipes, devices, sockets, loops and links out of the set, by names of every layout."""
    folder = os.open(root, os.O_RDONLY)
    stack.callback(os.close, folder)
    for suffix in _SUFFIXES:
        os.mkfifo(root / f"pipe.{suffix}")
        (root / f"zero.{suffix}").symlink_to("/dev/zero")
        (root / f"loop.{suffix}").symlink_to(f"loop.{suffix}")
        (root / f"out.{suffix}").symlink_to("/etc/passwd")
        (root / f"gone.{suffix}").symlink_to("nothing")
        (root / f"folder.{suffix}").mkdir()
        listening = stack.enter_context(socket.socket(socket.AF_UNIX))
        listening.bind(f"/proc/self/fd/{folder}/socket.{suffix}")  # its own path may be too long
    (root / "up").symlink_to(".")
    (root / "images/up").symlink_to("..")
    for name in ("data.yaml", "metadata.jsonl", "train.txt", "classes.txt"):
        os.mkfifo(root / name)


def add_bombs(root: Path) -> None:
    with (
        zipfile.ZipFile(root / "bomb.npz", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("x.npy", "w", force_zip64=True) as member,
    ):
        for _ in range(600):
            member.write(bytes(1 << 20))
    for name in ("bomb.pt", "images/bomb.jpg", "labels/bomb.txt"):
        write(root, name, (root / "bomb.npz").read_bytes())


def add_gigabytes(root: Path) -> None:
    for suffix in _SUFFIXES:
        sparse(root / f"big.{suffix}")
        sparse(root / f"labels/big.{suffix}")
    sparse(root / "images/big.jpg", PICTURE)


@pytest.fixture(scope="module")
def scanned_as(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Scanned]]:
    """A set with all of it, scanned once in each layout."""
    root = sound(tmp_path_factory.mktemp("hostile") / "set")
    with ExitStack() as stack:
        add_odd_names(root)
        add_what_is_no_file(root, stack)
        add_bombs(root)
        add_gigabytes(root)
        yield cache(partial(scan, root))


ScannedAs = Callable[[str], Scanned]


@EVERY
def test_a_tree_made_to_do_harm_is_scanned_to_its_end_in_bounded_memory(
    layout: str, scanned_as: ScannedAs
) -> None:
    assert scanned_as(layout).refused is None


@pytest.mark.parametrize("layout", ["imagefolder", "yolo", "masks"])
def test_odd_names_are_samples_that_no_manifest_can_hold(
    layout: str, scanned_as: ScannedAs
) -> None:
    found = scanned_as(layout).codes
    for name in (r"\xff\xfe.jpg", "a\nb.jpg", "\x01.jpg", "a\\b.jpg"):
        assert "file.unsafe-path" in found[name]
    assert "file.unsafe-path" not in found.get("é.jpg", [])


@pytest.mark.parametrize(
    ("layout", "suffix"),
    [("imagefolder", "jpg"), ("arrays", "npy"), ("text", "txt"), ("csv", "csv")],
)
def test_what_is_no_file_is_never_read(layout: str, suffix: str, scanned_as: ScannedAs) -> None:
    found = scanned_as(layout).codes
    assert found[f"pipe.{suffix}"] == ["file.not-regular"]
    assert found[f"socket.{suffix}"] == ["file.not-regular"]
    assert found[f"zero.{suffix}"] == ["file.unsafe-path"]
    assert found[f"out.{suffix}"] == ["file.unsafe-path"]
    assert found[f"gone.{suffix}"] == ["file.missing"]
    assert found[f"loop.{suffix}"] == ["file.unreadable"]


def test_bombs_are_not_inflated(scanned_as: ScannedAs) -> None:
    found = scanned_as("arrays").codes
    assert found["bomb.npz"][0] == found["bomb.pt"][0] == "array.unloadable"


@pytest.mark.parametrize(
    ("layout", "name", "code"),
    [
        ("imagefolder", "big.jpg", "decoder.out-of-memory"),
        ("imagefolder", "images/big.jpg", "decoder.out-of-memory"),
        ("yolo", "images/big.jpg", "decoder.out-of-memory"),
        ("arrays", "big.npy", "array.unloadable"),
        ("arrays", "big.npz", "array.unloadable"),
        ("text", "big.txt", "decoder.out-of-memory"),
    ],
)
def test_gigabytes_of_nothing_are_held_unread(
    layout: str, name: str, code: str, scanned_as: ScannedAs
) -> None:
    assert code in scanned_as(layout).codes[name]


def test_an_array_of_twenty_gigabytes_takes_no_longer_than_allowed(tmp_path: Path) -> None:
    header = io.BytesIO()
    stated: dict[str, Any] = {"descr": "<f4", "fortran_order": False, "shape": (5 * GIB,)}
    np.lib.format.write_array_header_1_0(header, stated)
    sparse(tmp_path / "a.npy", header.getvalue(), 20 * GIB + len(header.getvalue()))
    with Guard(Setup(limits=Limits(cpu_seconds=0.5))) as guard:
        (found,) = guard.check(Below(os.fspath(tmp_path)), [Task(b"a.npy", "array")])
    assert [one.code for one in found.findings] == ["decoder.timed-out"]


@pytest.mark.parametrize("name", LARGE)
def test_an_annotation_file_of_thirty_megabytes_is_read_in_bounded_memory(
    name: str, tmp_path: Path
) -> None:
    LARGE[name].write(sound(tmp_path / "set"), 30)
    scan(tmp_path / "set", LARGE[name].layout)


@pytest.mark.soak
@pytest.mark.parametrize("name", LARGE)
def test_an_annotation_file_of_three_hundred_megabytes_is_read_in_bounded_memory(
    name: str, tmp_path: Path
) -> None:
    LARGE[name].write(sound(tmp_path / "set"), 300)
    scan(tmp_path / "set", LARGE[name].layout)


LAUGHS = (
    '<?xml version="1.0"?><!DOCTYPE lol [<!ENTITY a0 "lol">'
    + "".join(f'<!ENTITY a{at} "{f"&a{at - 1};" * 10}">' for at in range(1, 12))
    + "]><annotation><filename>&a11;</filename></annotation>"
)
OUTSIDE = (
    '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
    "<annotation><filename>&x;</filename></annotation>"
)
SQUARE = (
    f'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY x "{"A" * 50_000}">]>'
    f"<annotation><filename>{'&x;' * 50_000}</filename></annotation>"
)


@pytest.mark.parametrize("bomb", [LAUGHS, OUTSIDE, SQUARE], ids=["laughs", "outside", "square"])
def test_entities_of_xml_are_not_expanded(bomb: str, tmp_path: Path) -> None:
    write(tmp_path, "JPEGImages/a.jpg", PICTURE)
    write(tmp_path, "Annotations/a.xml", bomb.encode())
    found = scan(tmp_path, "voc")
    assert found.codes["JPEGImages/a.jpg"] == ["annotation.malformed"]


def test_aliases_of_yaml_are_not_expanded(tmp_path: Path) -> None:
    laughs = ['a0: &a0 ["lol", "lol"]']
    laughs += [f"a{at}: &a{at} [{', '.join([f'*a{at - 1}'] * 9)}]" for at in range(1, 12)]
    write(tmp_path, "data.yaml", "\n".join([*laughs, "names: *a11"]).encode())
    write(tmp_path, "images/a.jpg", PICTURE)
    assert scan(tmp_path, "yolo").codes["data.yaml"] == ["annotation.malformed"]
