import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.releases.a_data_set import ADataSet

from sickbay.client.pull import pull
from sickbay.client.release_source import StoredRelease
from sickbay.client.verify import Fault, verify
from sickbay.contract.errors import NotFound

ONE, TWO, THREE = "train/cat/1.jpg", "train/dog/3.jpg", "train/dog/4.jpg"


@pytest.fixture
def tree(data_set: ADataSet, source: StoredRelease, tmp_path: Path) -> Path:
    """A pulled tree that is in order."""
    to = tmp_path / "tree"
    pull(source, data_set="animals", to=to, root=data_set.root, tell=print)
    return to


def found(release: Path, folder: Path) -> list[tuple[str, str]]:
    return [(problem.fault.value, problem.file_name) for problem in verify(release, folder)]


def keep_time(change: Callable[[Path], object]) -> Callable[[Path], None]:
    def act(tree: Path) -> None:
        before = (tree / ONE).stat()
        change(tree)
        os.utime(tree / ONE, ns=(before.st_atime_ns, before.st_mtime_ns))

    return act


def swap(tree: Path) -> None:
    (tree / ONE).rename(tree / "between")
    (tree / THREE).rename(tree / ONE)
    (tree / "between").rename(tree / THREE)


def link_out(tree: Path) -> None:
    (tree / ONE).rename(tree.parent / "outside.jpg")
    (tree / ONE).symlink_to(tree.parent / "outside.jpg")


def folder_instead(tree: Path) -> None:
    (tree / ONE).unlink()
    (tree / ONE).mkdir()


def pipe_instead(tree: Path) -> None:
    (tree / ONE).unlink()
    os.mkfifo(tree / ONE)


def link_to_folder(tree: Path) -> None:
    (tree / "more").symlink_to(tree / "train")


def link_to_nothing(tree: Path) -> None:
    (tree / ONE).unlink()
    (tree / ONE).symlink_to("nowhere")


def manifest_folder(tree: Path) -> None:
    (tree / "manifest.jsonl").unlink()
    (tree / "manifest.jsonl").mkdir()


def samples_only(tree: Path) -> None:
    for path in tree.iterdir():
        if path.is_file():
            path.unlink()


CASES: dict[str, tuple[Callable[[Path], object], list[tuple[str, str]]]] = {
    "nothing": (lambda _tree: None, []),
    "an edit of the same size": (
        keep_time(lambda tree: (tree / ONE).write_bytes(b"X" * 26)),
        [("changed", ONE)],
    ),
    "a shorter file": (lambda tree: (tree / ONE).write_bytes(b"X"), [("changed", ONE)]),
    "an empty file": (lambda tree: (tree / ONE).write_bytes(b""), [("changed", ONE)]),
    "a missing file": (lambda tree: (tree / ONE).unlink(), [("missing", ONE)]),
    "swapped names": (swap, [("changed", ONE), ("changed", THREE)]),
    "a link out of the tree": (link_out, [("changed", ONE)]),
    "a link to nothing": (
        link_to_nothing,
        [("missing", ONE)],
    ),
    "a folder instead": (folder_instead, [("changed", ONE)]),
    "a pipe instead": (pipe_instead, [("changed", ONE)]),
    "an extra file": (
        lambda tree: (tree / "train/cat/.hidden").write_bytes(b""),
        [("extra", "train/cat/.hidden")],
    ),
    "an extra link to a folder": (link_to_folder, [("extra", "more/")]),
    "another spelling": (
        lambda tree: (tree / ONE).rename(tree / "train/cat/1.JPG"),
        [("extra", "train/cat/1.JPG"), ("missing", ONE)],
    ),
    "an edited manifest": (
        lambda tree: (tree / "manifest.jsonl").write_bytes(b""),
        [("changed", "manifest.jsonl")],
    ),
    "an edited release.json": (
        lambda tree: (tree / "release.json").write_bytes(b"{}"),
        [("changed", "release.json")],
    ),
    "a manifest that is a folder": (
        manifest_folder,
        [("changed", "manifest.jsonl")],
    ),
    "a tree without the release's files": (
        samples_only,
        [],
    ),
}


@pytest.mark.parametrize(("change", "expected"), CASES.values(), ids=CASES)
def test_what_was_done_to_a_tree_is_found_and_named(
    release: Path,
    tree: Path,
    change: Callable[[Path], object],
    expected: list[tuple[str, str]],
) -> None:
    change(tree)
    assert found(release, tree) == expected


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("train/cat/2.jpg", "left out of the release: damaged"),
        ("train/dog/5.jpg", "held and undecided when the release was made: image.truncated"),
        ("train/dog/6.jpg", "the release does not list it"),
    ],
)
def test_an_extra_file_is_told_apart_by_why_it_should_not_be_there(
    release: Path, tree: Path, name: str, why: str
) -> None:
    (tree / name).write_bytes(b"")
    (problem,) = verify(release, tree)
    assert (problem.fault, problem.file_name, problem.why) == (Fault.EXTRA, name, why)


def test_a_name_that_is_no_text_is_still_known_as_left_out(data_set: ADataSet) -> None:
    data_set.add(b"caf\xe9.jpg", "file.unsafe-path")
    data_set.scan()
    release = data_set.folder(data_set.make())
    names = [(problem.file_name, problem.why) for problem in verify(release, data_set.root)]
    assert (
        "caf\\xe9.jpg",
        "held and undecided when the release was made: file.unsafe-path",
    ) in names


def test_the_root_itself_is_not_the_release_while_left_out_files_lie_there(
    release: Path, data_set: ADataSet
) -> None:
    assert found(release, data_set.root) == [
        ("extra", "train/cat/2.jpg"),
        ("changed", TWO),
        ("extra", "train/dog/5.jpg"),
    ]


def test_folders_that_are_links_within_the_root_are_walked_by_name(
    data_set: ADataSet,
) -> None:
    (data_set.root / "real").mkdir()
    (data_set.root / "alias").symlink_to("real")
    data_set.add("alias/7.jpg")
    data_set.scan()
    release = data_set.folder(data_set.make())
    problems = found(release, data_set.root)
    assert ("extra", "real/7.jpg") in problems
    assert not any(name.startswith("alias") for _, name in problems)


def test_a_tree_is_its_own_witness_without_any_server(tree: Path) -> None:
    assert found(tree, tree) == []
    (tree / ONE).unlink()
    assert found(tree, tree) == [("missing", ONE)]


def test_a_folder_that_is_not_there_is_one_plain_sentence(release: Path, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="There is no folder"):
        found(release, tmp_path / "nowhere")


def test_names_with_control_characters_do_not_pass_for_others(release: Path, tree: Path) -> None:
    (tree / "train/cat/1.jpg\n").write_bytes(b"")
    assert ("extra", "train/cat/1.jpg\n") in found(release, tree)


def test_a_large_sparse_file_of_the_wrong_size_is_not_read(release: Path, tree: Path) -> None:
    with (tree / ONE).open("wb") as sparse:
        sparse.truncate(1 << 40)
    assert found(release, tree) == [("changed", ONE)]


def test_content_is_compared_by_sha256(release: Path, tree: Path) -> None:
    listed = hashlib.sha256((tree / ONE).read_bytes()).hexdigest()
    assert listed in (release / "SHA256SUMS").read_text()
