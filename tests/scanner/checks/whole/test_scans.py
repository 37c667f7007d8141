"""What only the whole set can tell."""

from pathlib import Path

from tests.pictures import jpeg, png, truncated, write
from tests.scanner.recorded import scanned

from sickbay.contract.finding import to_line
from sickbay.contract.policy import Policy
from sickbay.contract.read_record import from_line
from sickbay.scanner.task import Setup

SIZE = (48, 48)
UNLIKE = Setup(policy=Policy(severities={"image.near-duplicate": "silent"}))
"""Generated pictures of this size look alike, which is not what most tests are about."""


def test_the_same_content_twice_in_a_split_is_a_warning_on_both(tmp_path: Path) -> None:
    for name in ("cats/a.jpg", "cats/b.jpg", "dogs/c.jpg"):
        write(tmp_path, name, jpeg(1, SIZE))
    write(tmp_path, "dogs/d.jpg", jpeg(2, SIZE))
    found = scanned(tmp_path, setup=UNLIKE)
    assert [found.codes(name) for name in found.samples] == [["image.duplicate"]] * 3 + [[]]
    (finding,) = found.samples["cats/a.jpg"].findings
    assert finding.detail == {
        "copies": 3,
        "others": ["cats/b.jpg", "dogs/c.jpg"],
        "labels": ["cats", "dogs"],
    }
    assert found.totals.held == 0


def test_the_same_content_in_two_splits_holds_every_copy_as_one_group(tmp_path: Path) -> None:
    for name in ("train/cats/a.jpg", "train/cats/b.jpg", "val/cats/a.jpg"):
        write(tmp_path, name, jpeg(1, SIZE))
    write(tmp_path, "val/cats/fine.jpg", jpeg(2, SIZE))
    found = scanned(tmp_path, setup=UNLIKE)
    leaks = [record.findings[-1] for record in found.samples.values() if record.held]
    assert [finding.code for finding in leaks] == ["set.split-leak"] * 3
    assert len({finding.detail["group"] for finding in leaks}) == 1
    assert leaks[0].detail["splits"] == ["train", "val"]
    assert leaks[0].detail["copies"] == 3
    assert leaks[0].detail["others"] == ["val/cats/a.jpg"]


def test_empty_files_are_no_duplicates_of_each_other(tmp_path: Path) -> None:
    for name in ("train/a.jpg", "train/b.jpg", "val/a.jpg"):
        write(tmp_path, name, b"")
    assert scanned(tmp_path, setup=UNLIKE).totals.codes == {"file.empty": 3}


def test_a_placeholder_many_times_names_only_a_few_others(tmp_path: Path) -> None:
    for number in range(40):
        write(tmp_path, f"{number:02}.jpg", jpeg(1, SIZE))
    found = scanned(tmp_path, setup=UNLIKE)
    (finding,) = found.samples["00.jpg"].findings
    assert finding.detail["copies"] == 40
    assert len(finding.detail["others"]) == 10


def test_copies_with_very_long_names_still_fit_into_a_record(tmp_path: Path) -> None:
    cat = "\u732b"
    for number in range(12):
        name = f"{cat * 60}/{number:02}{cat * 80}"
        write(tmp_path, f"{'train' if number % 2 else 'val'}/{name}.jpg", jpeg(1, SIZE))
    for record in scanned(tmp_path, setup=UNLIKE).samples.values():
        assert from_line(to_line(record)) == record


def test_names_that_differ_in_case_only_are_a_warning(tmp_path: Path) -> None:
    write(tmp_path, "cats/A.jpg", jpeg(1, SIZE))
    write(tmp_path, "cats/a.jpg", jpeg(2, SIZE))
    write(tmp_path, "Cats/a.jpg", jpeg(3, SIZE))
    write(tmp_path, "cats/b.jpg", jpeg(4, SIZE))
    found = scanned(tmp_path, setup=UNLIKE)
    assert found.codes("cats/A.jpg") == found.codes("Cats/a.jpg") == ["file.name-collision"]
    assert found.codes("cats/b.jpg") == []
    assert found.totals.held == 0


def test_one_name_in_two_normal_forms_is_two_names(tmp_path: Path) -> None:
    write(tmp_path, "caf\u00e9/a.jpg", jpeg(1, SIZE))
    write(tmp_path, "cafe\u0301/a.jpg", jpeg(2, SIZE))
    assert scanned(tmp_path, setup=UNLIKE).totals.codes == {}


def test_a_grey_picture_in_a_coloured_set_is_a_note(tmp_path: Path) -> None:
    for seed in range(3):
        write(tmp_path, f"{seed}.jpg", jpeg(seed, SIZE))
    write(tmp_path, "grey.jpg", jpeg(3, SIZE, mode="L"))
    found = scanned(tmp_path, setup=UNLIKE)
    assert found.codes("grey.jpg") == ["image.odd-mode"]
    assert found.totals.codes == {"image.odd-mode": 1}


def test_a_set_that_is_all_grey_has_no_odd_mode(tmp_path: Path) -> None:
    for seed in range(3):
        write(tmp_path, f"{seed}.png", png(seed, SIZE, mode="L"))
    assert scanned(tmp_path, setup=UNLIKE).totals.codes == {}


def test_two_broken_files_of_one_content_are_still_a_leak(tmp_path: Path) -> None:
    for split in ("train", "val"):
        write(tmp_path, f"{split}/a.jpg", truncated(jpeg(1, SIZE)))
    assert scanned(tmp_path, setup=UNLIKE).codes("val/a.jpg") == [
        "image.truncated",
        "set.split-leak",
    ]


def test_a_picture_encoded_again_into_another_split_is_a_likely_leak(tmp_path: Path) -> None:
    write(tmp_path, "train/cats/a.jpg", jpeg(1, (320, 240), quality=90))
    write(tmp_path, "train/cats/b.jpg", jpeg(2, (320, 240)))
    write(tmp_path, "val/cats/a.png", png(1, (320, 240)))
    found = scanned(tmp_path)
    (finding,) = found.samples["train/cats/a.jpg"].findings
    assert finding.code == "image.near-duplicate"
    assert finding.detail["across"]["path"] == "val/cats/a.png"
    assert found.codes("val/cats/a.png") == ["image.near-duplicate"]
    assert found.codes("train/cats/b.jpg") == []
    assert found.totals.held == 0


def test_what_is_said_of_the_set_stands_in_the_summary(tmp_path: Path) -> None:
    for number, name in enumerate(("train/cats/a", "train/dogs/a", "val/cats/a")):
        write(tmp_path, f"{name}.jpg", jpeg(number, SIZE))
    totals = scanned(tmp_path, setup=UNLIKE).totals
    assert totals.labels == {"train": {"cats": 1, "dogs": 1}, "val": {"cats": 1}}
    assert [finding.code for finding in totals.findings] == ["set.class-missing"]
