"""Tables that name pictures by ids, as competitions do."""

from pathlib import Path

import pytest
from tests.pictures import jpeg, write
from tests.scanner.recorded import Recorded, scanned

from sickbay.scanner.sources.choose import choose
from sickbay.scanner.trees.local import LocalTree

PICTURES = {number: jpeg(number, (40, 40)) for number in range(1, 5)}


def laid(root: Path, pattern: str, rows: list[str], name: str = "train.csv") -> Path:
    for number, data in PICTURES.items():
        write(root, pattern.format(number), data)
    write(root, name, "\n".join(rows).encode() + b"\n")
    return root


def labels(made: Recorded) -> dict[str, str]:
    return {path: record.label for path, record in made.samples.items() if not record.held}


@pytest.mark.parametrize(
    ("pattern", "given"),
    [
        ("train/{:04d}.jpg", "{:04d}"),
        ("images/{}.png", "{}"),
        ("train_images/ab_{}.JPG", "ab_{}"),
        ("{}.jpeg", "{}"),
    ],
)
def test_ids_name_pictures_by_either_way_of_choosing(
    tmp_path: Path, pattern: str, given: str
) -> None:
    rows = ["id,label", *(f"{given.format(number)},pug" for number in (1, 2, 3))]
    root = laid(tmp_path, pattern, [*rows, f"{given.format(9)},pug"])
    assert choose(LocalTree(root)).name == "csv"
    made = scanned(root, layout="csv")
    assert labels(made) == {pattern.format(number): "pug" for number in (1, 2, 3)}
    (missing,) = made.samples[pattern.format(9)].findings
    assert (missing.code, missing.item) == ("file.missing", "row 4")


def test_labels_that_are_names_of_pictures_by_chance_are_no_ids(tmp_path: Path) -> None:
    rows = ["text,label", *(f"some words {number},{number % 2 + 1}" for number in range(9))]
    made = scanned(laid(tmp_path, "pictures/{}.jpg", rows, "data.csv"), layout="csv")
    assert len(made.samples) == 9
    assert all(path.startswith("data.csv#") for path in made.samples)


def test_what_a_competition_wants_handed_in_is_no_list(tmp_path: Path) -> None:
    root = laid(tmp_path, "train/{}.jpg", ["id,label", "1,0", "2,1", "3,1", "4,0"])
    write(root, "sample_submission.csv", b"id,label\n1,0.5\n2,0.5\n")
    made = scanned(root, layout="csv")
    assert len(made.samples) == 4
    assert not made.totals.held


def test_a_row_without_an_id_is_told(tmp_path: Path) -> None:
    made = scanned(
        laid(tmp_path, "a/{}.jpg", ["id,label", "1,0", ",1", "3,1", "4,0"]), layout="csv"
    )
    found = [one for record in made.files.values() for one in record.findings]
    assert [(one.code, one.item) for one in found] == [("file.unsafe-path", "row 2")]
