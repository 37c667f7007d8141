"""Files are opened below the root, and nowhere else."""

import os
import socket
import threading
from pathlib import Path

import pytest
from tests.pictures import write

from sickbay.contract.inside import (
    Inside,
    LeadsOut,
    Missing,
    NotRegular,
    Unreadable,
    open_inside,
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write(tmp_path, "root/a/b/file.txt", b"inside")
    write(tmp_path, "secret/file.txt", b"outside")
    return tmp_path / "root"


def content(root: Path, raw_path: bytes) -> bytes:
    fd = open_inside(root, raw_path)
    with os.fdopen(fd, "rb") as file:
        return file.read()


def test_an_ordinary_file_is_opened(root: Path) -> None:
    assert content(root, b"a/b/file.txt") == b"inside"


@pytest.mark.parametrize(
    "target", ["a/b/file.txt", "a/../a/b/file.txt", "{root}/a/b/file.txt", "other"]
)
def test_a_link_that_stays_inside_is_followed(root: Path, target: str) -> None:
    (root / "other").symlink_to("a/b/file.txt")
    (root / "link").symlink_to(target.format(root=root))
    assert content(root, b"link") == b"inside"


def test_a_linked_folder_inside_is_followed(root: Path) -> None:
    (root / "folder").symlink_to("a/b")
    assert content(root, b"folder/file.txt") == b"inside"


def test_an_absolute_link_by_the_name_the_root_was_given_stays_inside(root: Path) -> None:
    named = root.parent / "named"
    named.symlink_to(root)
    (root / "link").symlink_to(named / "a/b/file.txt")
    assert content(named, b"link") == b"inside"


@pytest.mark.parametrize(
    "target",
    ["../secret/file.txt", "{outside}/file.txt", "/etc/hostname", "a/../../secret/file.txt"],
)
def test_a_link_that_leads_out_is_refused(root: Path, target: str) -> None:
    (root / "link").symlink_to(target.format(outside=root.parent / "secret"))
    with pytest.raises(LeadsOut):
        open_inside(root, b"link")


def test_a_folder_whose_name_begins_like_the_root_is_outside(root: Path) -> None:
    write(root.parent, "root2/file.txt", b"outside")
    (root / "link").symlink_to(root.parent / "root2/file.txt")
    with pytest.raises(LeadsOut):
        open_inside(root, b"link")


def test_a_linked_folder_that_leads_out_is_refused(root: Path) -> None:
    (root / "folder").symlink_to("../secret")
    with pytest.raises(LeadsOut):
        open_inside(root, b"folder/file.txt")


@pytest.mark.parametrize(
    "raw", [b"../secret/file.txt", b"/etc/hostname", b"a//b", b"", b"a\0b", b"./a"]
)
def test_a_path_that_is_not_below_the_root_is_refused(root: Path, raw: bytes) -> None:
    with pytest.raises(LeadsOut):
        open_inside(root, raw)


@pytest.mark.parametrize("raw", [b"none", b"a/none/file.txt", b"a/b/file.txt/more", b"dangling"])
def test_what_is_not_there_is_missing(root: Path, raw: bytes) -> None:
    (root / "dangling").symlink_to("nowhere")
    with pytest.raises(Missing, match="There is no file"):
        open_inside(root, raw)


def test_pipes_sockets_devices_and_folders_are_not_regular_and_nothing_waits(root: Path) -> None:
    os.mkfifo(root / "pipe")
    (root / "device").symlink_to("/dev/null")
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(root / "socket"))
        for raw in (b"pipe", b"socket", b"a"):
            with pytest.raises(NotRegular):
                open_inside(root, raw)
    with pytest.raises(LeadsOut):
        open_inside(root, b"device")


def test_links_in_a_circle_are_unreadable(root: Path) -> None:
    (root / "one").symlink_to("two")
    (root / "two").symlink_to("one")
    with pytest.raises(Unreadable):
        open_inside(root, b"one")


def test_a_name_too_long_is_unreadable(root: Path) -> None:
    with pytest.raises(Unreadable):
        open_inside(root, b"x" * 300)


def test_a_root_that_is_missing_or_a_file_is_said(root: Path) -> None:
    with pytest.raises(Missing):
        Inside(root / "none")
    with pytest.raises(Missing):
        Inside(root / "a/b/file.txt")


def test_no_descriptor_is_left_open(root: Path) -> None:
    (root / "link").symlink_to("../secret/file.txt")
    before = len(list(Path("/proc/self/fd").iterdir()))
    with Inside(root) as folder:
        for _ in range(50):
            os.close(folder.open(b"a/b/file.txt"))
            with pytest.raises(LeadsOut):
                folder.open(b"link")
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_a_file_swapped_for_a_link_in_between_never_gives_the_outside(root: Path) -> None:
    target, spare = root / "swapped", root / "spare"
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            spare.unlink(missing_ok=True)
            spare.symlink_to("../secret/file.txt")
            spare.replace(target)
            spare.write_bytes(b"inside")
            spare.replace(target)

    target.write_bytes(b"inside")
    thread = threading.Thread(target=swap)
    thread.start()
    try:
        seen = {_tried(root) for _ in range(2000)}
    finally:
        stop.set()
        thread.join()
    assert b"outside" not in seen
    assert b"inside" in seen


def _tried(root: Path) -> bytes:
    try:
        return content(root, b"swapped")
    except (LeadsOut, Missing, Unreadable):
        return b""
