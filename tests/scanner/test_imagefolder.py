"""Walking image folders: what is a sample, what is skipped and why."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.pictures import jpeg, write

from sickbay.contract.errors import BadInput
from sickbay.contract.policy import Policy
from sickbay.scanner.sources import Found, Item, Skipped, imagefolder
from sickbay.scanner.trees.local import LocalTree

PICTURE = jpeg(0, (40, 40))


def walk(root: str) -> Iterator[Item]:
    return imagefolder.read(LocalTree(root), Policy()).items()


def walked(root: Path) -> dict[str, Item]:
    return {item.raw.decode("utf-8", "backslashreplace"): item for item in walk(str(root))}


def labelled(root: Path) -> dict[str, tuple[str, str]]:
    return {
        name: (item.split, item.label)
        for name, item in walked(root).items()
        if isinstance(item, Found)
    }


def reasons(root: Path) -> dict[str, str]:
    return {name: item.reason for name, item in walked(root).items() if isinstance(item, Skipped)}


def test_a_plain_folder_has_no_labels(tmp_path: Path) -> None:
    write(tmp_path, "a.jpg", PICTURE)
    assert labelled(tmp_path) == {"a.jpg": ("", "")}


def test_a_class_is_the_topmost_folder(tmp_path: Path) -> None:
    write(tmp_path, "cats/a.jpg", PICTURE)
    write(tmp_path, "dogs/deep/down/b.jpg", PICTURE)
    assert labelled(tmp_path) == {"cats/a.jpg": ("", "cats"), "dogs/deep/down/b.jpg": ("", "dogs")}


@pytest.mark.parametrize(
    ("folder", "split"),
    [
        ("train", "train"),
        ("Training", "train"),
        ("val", "val"),
        ("valid", "val"),
        ("VALIDATION", "val"),
        ("test", "test"),
        ("testing", "test"),
    ],
)
def test_splits_are_known_by_their_usual_names(tmp_path: Path, folder: str, split: str) -> None:
    write(tmp_path, f"{folder}/cats/a.jpg", PICTURE)
    write(tmp_path, f"{folder}/b.jpg", PICTURE)
    assert labelled(tmp_path) == {
        f"{folder}/cats/a.jpg": (split, "cats"),
        f"{folder}/b.jpg": (split, ""),
    }


def test_splits_may_have_other_folders_beside_them(tmp_path: Path) -> None:
    for name in ("train/cats/a.jpg", "val/cats/a.jpg", "more/a.jpg"):
        write(tmp_path, name, PICTURE)
    assert labelled(tmp_path)["more/a.jpg"] == ("", "more")
    assert labelled(tmp_path)["train/cats/a.jpg"] == ("train", "cats")


def test_a_class_called_train_among_others_is_a_class(tmp_path: Path) -> None:
    for name in ("car/a.jpg", "plane/a.jpg", "train/a.jpg"):
        write(tmp_path, name, PICTURE)
    assert labelled(tmp_path)["train/a.jpg"] == ("", "train")


def test_litter_and_what_is_no_picture_are_skipped_with_a_reason(tmp_path: Path) -> None:
    for name in (
        ".DS_Store",
        "t/Thumbs.db",
        "t/desktop.ini",
        "t/.hidden.jpg",
        ".git/objects/a.jpg",
    ):
        write(tmp_path, name, PICTURE)
    for name in ("README.md", "t/labels.txt", "t/data.json", "t/list.csv", "empty"):
        write(tmp_path, name, b"text" if name != "empty" else b"")
    write(tmp_path, "t/a.jpg", PICTURE)
    found = walked(tmp_path)
    assert labelled(tmp_path) == {"t/a.jpg": ("", "t")}
    assert len(reasons(tmp_path)) == len(found) - 1
    assert reasons(tmp_path)["t/Thumbs.db"] == "file manager's litter"
    assert reasons(tmp_path)[".git/objects/a.jpg"] == "hidden file"
    assert reasons(tmp_path)["t/data.json"] == "not a picture by name or content"


def test_a_picture_without_a_suffix_is_found_by_its_content(tmp_path: Path) -> None:
    write(tmp_path, "t/0001", PICTURE)
    write(tmp_path, "t/picture.bin", PICTURE)
    assert set(labelled(tmp_path)) == {"t/0001", "t/picture.bin"}


def test_a_picture_suffix_makes_a_sample_whatever_it_holds(tmp_path: Path) -> None:
    write(tmp_path, "t/text.jpg", b"text")
    os.mkfifo(tmp_path / "t/pipe.PNG")
    (tmp_path / "t/dangling.gif").symlink_to("nowhere")
    assert set(labelled(tmp_path)) == {"t/text.jpg", "t/pipe.PNG", "t/dangling.gif"}


def test_odd_files_without_a_suffix_are_skipped_with_a_reason(tmp_path: Path) -> None:
    write(tmp_path, "root/a.jpg", PICTURE)
    write(tmp_path, "outside", PICTURE)
    root = tmp_path / "root"
    os.mkfifo(root / "pipe")
    (root / "dangling").symlink_to("nowhere")
    (root / "out").symlink_to("../outside")
    assert reasons(root) == {
        "pipe": "not a regular file",
        "dangling": "link to nothing",
        "out": "link out of the data set",
    }


def test_everything_comes_in_order_of_raw_path(tmp_path: Path) -> None:
    for name in ("a/x.jpg", "a.jpg", "a-b/x.jpg", "b.jpg", "a/\xe9.jpg", "A/z.jpg", "a0.jpg"):
        write(tmp_path, name, PICTURE)
    order = [item.raw for item in walk(str(tmp_path))]
    assert order == sorted(order)


@given(st.sets(st.text("ab./-é", min_size=1, max_size=12), min_size=1, max_size=8))
def test_any_tree_is_walked_once_and_in_order(
    tmp_path_factory: pytest.TempPathFactory, names: set[str]
) -> None:
    root = tmp_path_factory.mktemp("tree")
    for name in names:
        parts = [part for part in name.split("/") if part.strip(".")]
        if parts and not (root / "/".join(parts)).exists():
            try:
                write(root, "/".join(parts), PICTURE)
            except (FileExistsError, NotADirectoryError):
                continue
    on_disk = sorted(
        os.fsencode(path.relative_to(root)) for path in root.rglob("*") if path.is_file()
    )
    if on_disk:
        assert [item.raw for item in walk(str(root))] == on_disk


def test_a_linked_folder_is_walked_and_a_circle_is_not(tmp_path: Path) -> None:
    write(tmp_path, "store/a.jpg", PICTURE)
    (tmp_path / "cats").symlink_to("store")
    (tmp_path / "store/back").symlink_to("..")
    (tmp_path / "store/self").symlink_to(".")
    assert set(labelled(tmp_path)) >= {"cats/a.jpg", "store/a.jpg"}
    assert "link to a folder already scanned" in reasons(tmp_path).values()


def test_links_that_multiply_do_not_multiply_the_walk(tmp_path: Path) -> None:
    write(tmp_path, "0/a.jpg", PICTURE)
    for depth in range(1, 20):
        (tmp_path / str(depth)).mkdir()
        for side in "ab":
            (tmp_path / str(depth) / side).symlink_to(f"../{depth - 1}")
    assert len(walked(tmp_path)) < 1000


def test_a_linked_folder_outside_is_skipped_with_a_finding(tmp_path: Path) -> None:
    write(tmp_path, "outside/a.jpg", PICTURE)
    write(tmp_path, "root/b.jpg", PICTURE)
    (tmp_path / "root/cats").symlink_to("../outside")
    item = walked(tmp_path / "root")["cats"]
    assert isinstance(item, Skipped)
    assert item.finding is not None
    assert item.finding.code == "file.unsafe-path"


def test_names_that_are_no_text_are_found(tmp_path: Path) -> None:
    for name in (b"\xe9.jpg", b"new\nline.jpg"):
        write(tmp_path, os.fsdecode(b"cl\xffss/" + name), PICTURE)
    labels = {item.label for item in walk(str(tmp_path)) if isinstance(item, Found)}
    assert labels == {"cl\\xffss"}


def test_a_label_has_no_control_characters(tmp_path: Path) -> None:
    write(tmp_path, "two\nlines/a.jpg", PICTURE)
    assert labelled(tmp_path) == {"two\nlines/a.jpg": ("", "two\\x0alines")}


def test_a_deep_tree_does_not_exhaust_the_stack(tmp_path: Path) -> None:
    folder = tmp_path
    for _ in range(400):
        folder = folder / "d"
        folder.mkdir()
    write(folder, "a.jpg", PICTURE)
    assert len(labelled(tmp_path)) == 1


def test_a_folder_that_cannot_be_listed_is_skipped_with_a_finding(tmp_path: Path) -> None:
    # A path too long to open is unreadable for everybody, the superuser included.
    write(tmp_path, "a.jpg", PICTURE)
    deep = tmp_path / "/".join(["d" * 250] * 15)
    deep.mkdir(parents=True)
    (deep / "e").mkdir()
    descriptor = os.open(deep / "e", os.O_RDONLY)
    os.mkdir("f" * 250, dir_fd=descriptor)
    os.mkdir("f" * 250 + "/" + "g" * 250, dir_fd=descriptor)
    try:
        found = walked(tmp_path)
    finally:
        os.rmdir("f" * 250 + "/" + "g" * 250, dir_fd=descriptor)
        os.rmdir("f" * 250, dir_fd=descriptor)
        os.close(descriptor)
    skipped = [item for item in found.values() if isinstance(item, Skipped)]
    assert [item.reason for item in skipped] == ["cannot be read"]
    assert skipped[0].finding is not None
    assert skipped[0].finding.code == "file.unreadable"


@pytest.mark.parametrize("name", ["none", "file"])
def test_a_root_that_cannot_be_one_is_bad_input(tmp_path: Path, name: str) -> None:
    write(tmp_path, "file", b"")
    with pytest.raises(BadInput) as caught:
        walk(str(tmp_path / name))
    assert name in caught.value.sentence
