import hashlib
from pathlib import Path

import pytest

from sickbay.contract.errors import Busy, StorageFailed
from sickbay.releases import draft
from sickbay.releases.draft import HashedFile, alone, new_folder


def test_a_file_is_hashed_while_it_is_written(tmp_path: Path) -> None:
    with HashedFile(tmp_path, "file") as file:
        for line in (b"one\n", b"two\n"):
            file.write(line)
    assert (tmp_path / "file").read_bytes() == b"one\ntwo\n"
    assert file.entry.sha256 == hashlib.sha256(b"one\ntwo\n").hexdigest()
    assert (file.entry.size, file.rows) == (8, 2)


def test_what_older_makings_left_half_done_is_swept_away(tmp_path: Path) -> None:
    (tmp_path / ".making-forgotten").mkdir()
    (tmp_path / ".making-forgotten/manifest.jsonl").write_bytes(b"half")
    (tmp_path / "a-release").mkdir()
    with new_folder(tmp_path) as folder:
        assert sorted(tmp_path.iterdir()) == [folder, tmp_path / "a-release"]
    assert list(tmp_path.iterdir()) == [tmp_path / "a-release"]


def test_a_making_waits_for_another_one_and_then_says_that_it_is_busy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(draft, "WAIT_SECONDS", 0.1)
    with (
        alone(tmp_path),
        pytest.raises(Busy, match="Another release is being made"),
        alone(tmp_path),
    ):
        pass
    with alone(tmp_path):
        pass


def test_a_state_that_cannot_be_written_is_one_plain_sentence(tmp_path: Path) -> None:
    (tmp_path / "state").write_bytes(b"a file")
    with pytest.raises(StorageFailed, match="No release was made"), alone(tmp_path / "state"):
        pass
