"""A folder of this machine, as layouts see it."""

import os
from pathlib import Path

from sickbay.scanner.trees.local import LocalTree


def test_a_link_to_itself_does_not_end_a_listing(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}-loop").symlink_to(f"{name}-loop")
        (tmp_path / name).mkdir()
        (tmp_path / f"{name}.csv").touch()
    (tmp_path / "link").symlink_to("a")
    (tmp_path / ".hidden").touch()
    os.mkfifo(tmp_path / "pipe")
    listed = dict(LocalTree(tmp_path).listing())
    assert {name for name, is_folder in listed.items() if is_folder} == {b"a", b"b", b"c", b"link"}
    assert len(listed) == 11
    assert list(LocalTree(tmp_path).listing(b"nothing")) == []
