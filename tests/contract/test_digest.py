import hashlib
import os
from pathlib import Path

import pytest

from sickbay.contract import digest


@pytest.mark.parametrize("size", [0, 1, digest.BLOCK, digest.BLOCK + 1, 3 * digest.BLOCK])
def test_a_file_of_the_expected_size_has_its_sha256(tmp_path: Path, size: int) -> None:
    content = os.urandom(size)
    (tmp_path / "file").write_bytes(content)
    with (tmp_path / "file").open("rb") as file:
        assert digest.of_handle(file.fileno(), size) == hashlib.sha256(content).hexdigest()


@pytest.mark.parametrize("expected", [0, 9, 11, 5 * digest.BLOCK])
def test_a_file_of_another_size_has_none(tmp_path: Path, expected: int) -> None:
    (tmp_path / "file").write_bytes(b"ten bytes!")
    with (tmp_path / "file").open("rb") as file:
        assert digest.of_handle(file.fileno(), expected) is None


def test_a_file_without_an_end_is_not_read_to_it() -> None:
    with Path("/dev/zero").open("rb") as endless:
        assert digest.of_handle(endless.fileno(), 1000) is None
