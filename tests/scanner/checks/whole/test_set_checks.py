"""Odd sizes, labels by split, and copies of texts and arrays."""

from contextlib import closing

import pytest
from tests.scanner.noted import Noted

from sickbay.contract.finding import Finding, SampleRecord
from sickbay.contract.paths import SamplePath
from sickbay.contract.policy import Policy
from sickbay.scanner.checks.whole import FirstPass, Sample, WholeSet
from sickbay.scanner.evidence import Examined


def of_code(noted: Noted, code: str, policy: Policy | None = None) -> dict[str, Finding]:
    """Return the findings of one code by path."""
    return {
        path: finding
        for path, findings in noted.said(policy).items()
        for finding in findings
        if finding.code == code
    }


def set_findings(noted: Noted) -> list[tuple[str, str]]:
    """Return code and message of what is said of the set."""
    return [(finding.code, finding.message) for finding in noted.of_the_set()]


def sized(*sizes: tuple[int, int]) -> Noted:
    """Return a set of pictures of these sizes."""
    noted = Noted()
    for number, size in enumerate(sizes):
        noted.add(f"{number}.jpg", size=size)
    return noted


def test_a_picture_of_ten_times_the_pixels_is_an_odd_size() -> None:
    noted = sized(*[(640, 480)] * 40, (2100, 1500), (150, 150), (200, 200), (1900, 1500))
    found = of_code(noted, "image.odd-size")
    assert [(path, finding.message) for path, finding in found.items()] == [
        ("40.jpg", "It has 10 times more pixels than the middle picture of the set."),
        ("41.jpg", "It has 14 times fewer pixels than the middle picture of the set."),
    ]
    assert found["40.jpg"].detail == {"pixels": 3_150_000, "median": 307_200}


def test_the_factor_is_the_policys() -> None:
    noted = sized(*[(640, 480)] * 40, (1920, 1080))
    assert of_code(noted, "image.odd-size") == {}
    assert list(of_code(noted, "image.odd-size", Policy(odd_size_factor=5))) == ["40.jpg"]


def test_in_a_set_of_all_sizes_none_is_odd() -> None:
    noted = sized(*((20 * step, 15 * step) for step in range(3, 100)))
    assert of_code(noted, "image.odd-size") == {}


def test_a_handful_of_pictures_has_no_usual_size() -> None:
    assert of_code(sized((640, 480), (640, 480), (64, 48)), "image.odd-size") == {}


def test_a_class_that_a_split_lacks_is_named() -> None:
    noted = Noted()
    for split, labels in {"train": "abcde", "val": "ab", "test": "abcdef"}.items():
        for label in labels:
            noted.add(f"{split}/{label}.jpg", label=label)
    noted.add("unlabelled/a.jpg")
    assert set_findings(noted) == [
        ("set.class-missing", "1 class of the set has no sample in train: f."),
        ("set.class-missing", "4 classes of the set have no sample in val: c, d, e and others."),
    ]
    (_, val) = noted.of_the_set()
    assert val.detail == {"split": "val", "count": 4, "classes": ["c", "d", "e", "f"]}


def test_samples_without_a_split_lack_no_class() -> None:
    noted = Noted()
    for path, label in (("train/a.jpg", "x"), ("val/b.jpg", "x"), ("c.jpg", "y")):
        noted.add(path, label=label)
    assert set_findings(noted) == []


def test_more_than_ten_missing_classes_are_counted() -> None:
    noted = Noted()
    for number in range(25):
        noted.add(f"train/{number}.jpg", label=f"class {number:02}")
    noted.add("val/a.jpg", label="class 00")
    (finding,) = noted.of_the_set()
    assert finding.detail["count"] == 24
    assert len(finding.detail["classes"]) == 10


def test_one_split_lacks_nothing() -> None:
    noted = Noted()
    noted.add("train/a.jpg", label="a")
    noted.add("train/b.jpg", label="b")
    assert set_findings(noted) == []


def test_labels_are_counted_by_split_and_every_mark_counts() -> None:
    noted = Noted()
    noted.add("train/b.jpg", labels=["dog", "cat", "dog"])
    noted.add("train/a.jpg", label="cat")
    noted.add("val/a.jpg", label="cat", labels=[])
    noted.add("val/b.jpg", label="dog")
    with noted.whole() as whole:
        assert whole.labels() == {"train": {"cat": 2, "dog": 2}, "val": {"dog": 1}}


def test_labels_that_are_captions_are_not_counted() -> None:
    noted = Noted()
    for number in range(10_002):
        noted.add(f"train/{number}.jpg", label=f"caption {number}")
    assert set_findings(noted) == [
        ("set.many-labels", "There are more than 10,000 labels; they are not counted.")
    ]
    with noted.whole() as whole:
        assert whole.labels() == {}


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        ("picture", "image.duplicate"),
        ("text", "text.duplicate"),
        ("row", "text.duplicate"),
        ("array", "array.duplicate"),
    ],
)
def test_copies_are_called_by_what_they_are(kind: str, code: str) -> None:
    noted = Noted()
    noted.add("train/a", kind=kind, content="one")
    noted.add("train/b", kind=kind, content="one")
    assert list(of_code(noted, code)) == ["train/a", "train/b"]


@pytest.mark.parametrize("kind", ["text", "row", "array"])
def test_a_leak_of_any_kind_holds_every_copy(kind: str) -> None:
    noted = Noted()
    for path in ("train/a", "val/b", "val/c"):
        noted.add(path, kind=kind, content="one")
    assert list(of_code(noted, "set.split-leak")) == ["train/a", "val/b", "val/c"]


def test_a_copy_under_many_labels_names_ten_of_them() -> None:
    noted = Noted()
    for number in range(15):
        noted.add(f"train/{number:02}", content="one", label=f"{number:02}")
    finding = of_code(noted, "image.duplicate")["train/03"]
    assert finding.message == "The same content as 'train/00' and 13 more, under 15 labels."
    assert finding.detail["labels"] == [f"{number:02}" for number in range(10)]


def test_names_in_other_scripts_collide_as_well() -> None:
    noted = Noted()
    for path in ("Ünal.jpg", "ünal.jpg", "unal.jpg"):
        noted.add(path)
    assert list(of_code(noted, "file.name-collision")) == ["Ünal.jpg", "ünal.jpg"]


def test_rows_have_no_names_that_could_collide() -> None:
    noted = Noted()
    for path in ("A.csv#row=000000001", "a.csv#row=000000001"):
        noted.add(path, kind="row")
    assert of_code(noted, "file.name-collision") == {}


def test_very_many_splits_share_the_last_name() -> None:
    first = FirstPass()
    found = Examined(size=10, sha256="ab" * 32)
    for number in range(65_540):
        first.note(b"a", str(number), "", "text", found if number > 65_530 else Examined())
    record = SampleRecord(SamplePath(b"a"), "65539", "", 10, 0, "ab" * 32, None, None, None, None)
    with closing(WholeSet(first, Policy())) as whole:
        (leak,) = whole.findings(Sample(65_539, record, "text"))
    assert leak.detail["splits"] == ["65531", "65532", "65533", "65534", "other splits"]
