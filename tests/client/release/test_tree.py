import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from sickbay.client import tree
from sickbay.contract.errors import StorageFailed
from sickbay.contract.manifest import ManifestRow


def test_names_come_in_order_of_bytes_though_folders_sort_otherwise(tmp_path: Path) -> None:
    names = ["a", "a-b/1", "a-b/2", "a.d/1", "aé", "B/x/y", "c/\udcff", "c0", "c-"]
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    (tmp_path / "empty").mkdir()
    assert list(tree.names(tmp_path)) == sorted(map(os.fsencode, names))


def test_links_are_named_and_never_followed(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(".")
    (tmp_path / "nothing").symlink_to("nowhere")
    assert list(tree.names(tmp_path)) == [b"loop/", b"nothing"]


def test_what_is_left_out_is_left_out_at_the_top_only(tmp_path: Path) -> None:
    for name in ("SHA256SUMS", "below/SHA256SUMS"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    assert list(tree.names(tmp_path, {b"SHA256SUMS"})) == [b"below/SHA256SUMS"]


def test_a_folder_that_goes_away_in_between_is_told(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a/1").write_bytes(b"")
    (tmp_path / "b").mkdir()
    names = tree.names(tmp_path)
    assert next(names) == b"a/1"
    (tmp_path / "b").rmdir()
    with pytest.raises(StorageFailed, match="'b/' cannot be read"):
        list(names)


NAMES = some.sets(some.text("abc-./é", min_size=1, max_size=4), max_size=20)


def rows(names: Iterable[str]) -> Iterator[ManifestRow]:
    for name in sorted(names, key=str.encode):
        yield ManifestRow("", name, "", 0, "", "", 0, "", "", "clean")


def unlisted(present: Iterable[str], listed: Iterable[str]) -> list[bytes]:
    found = list(tree.beside(iter(sorted(map(str.encode, present))), rows(listed)))
    assert [one for one in found if not isinstance(one, bytes)] == list(rows(listed))
    return [one for one in found if isinstance(one, bytes)]


@given(NAMES, NAMES)
def test_what_is_not_listed_is_the_difference_and_every_row_comes(
    present: set[str], listed: set[str]
) -> None:
    files = {name for name in present if not name.endswith("/")}
    assert unlisted(files, listed) == sorted(map(str.encode, files - listed))


def test_a_linked_folder_counts_as_listed_where_the_list_goes_on_below_it() -> None:
    listed = ["alias/1", "alias/2", "b"]
    assert unlisted(["alias/", "b"], listed) == []
    assert unlisted(["alia/", "b", "c/"], listed) == [b"alia/", b"c/"]
