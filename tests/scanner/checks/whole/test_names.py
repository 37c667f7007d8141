"""Names on disk come back as they went in."""

import random
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sickbay.contract.errors import StorageFailed
from sickbay.contract.paths import SamplePath
from sickbay.scanner.checks.whole.names import Names

ROWS = st.lists(st.tuples(st.binary(min_size=1, max_size=300), st.text(max_size=100)), max_size=30)


@given(ROWS, st.randoms(use_true_random=False))
def test_any_name_and_label_is_read_back_in_any_order(
    rows: list[tuple[bytes, str]], order: random.Random
) -> None:
    with closing(Names()) as names:
        for raw, label in rows:
            names.note(raw, label)
        numbers = list(range(len(rows)))
        order.shuffle(numbers)
        for number in numbers:
            raw, label = rows[number]
            assert names.path(number) == SamplePath(raw).text
            assert names.label(number) == label


def test_a_folder_for_temporary_files_that_cannot_be_used_is_a_plain_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "nowhere"))
    with pytest.raises(StorageFailed, match="free some space or set TMPDIR"):
        Names()
