"""Archives of NumPy arrays: sound, damaged, and made to do harm."""

import io
import zipfile

import numpy as np
import pytest
from tests.scanner.array_files import NAN, examined, npy, npz, said

from sickbay.contract.policy import Policy
from sickbay.scanner import Setup


def test_an_archive_by_another_name_is_read_as_numpy_reads_it() -> None:
    assert examined(npz(x=np.ones(3)), "a.npy").format == "NPZ"
    assert examined(npy(np.ones(3)), "a.npz").format == "NPY"


@pytest.mark.parametrize("compressed", [False, True])
def test_each_array_of_an_archive_is_checked_by_its_name(compressed: bool) -> None:  # noqa: FBT001 (a case)
    data = npz(compressed=compressed, x=np.ones((2, 3)), y=np.array([1, NAN]), z=np.array(["a"]))
    found = examined(data, "a.npz")
    assert [(one.code, one.item) for one in found.findings] == [("array.not-finite", "y")]
    assert [(one.item, one.shape) for one in found.arrays] == [
        ("x", (2, 3)),
        ("y", (2,)),
        ("z", (1,)),
    ]


def test_one_bad_array_of_an_archive_leaves_the_others_checked() -> None:
    data = npz(a=np.array([None], object), b=np.array([NAN]), c=np.ones(3))
    found = examined(data, "a.npz")
    assert [(one.code, one.item) for one in found.findings] == [
        ("array.unloadable", "a"),
        ("array.not-finite", "b"),
    ]
    assert [one.item for one in found.arrays] == ["b", "c"]


def test_an_archive_without_its_end_is_truncated() -> None:
    whole = npz(x=np.ones(100), y=np.ones(100))
    for length in (len(whole) - 1, len(whole) // 2, 40):
        assert said(whole[:length], "a.npz") == ["array.truncated"]


@pytest.mark.parametrize("compressed", [False, True])
def test_a_byte_changed_in_an_archive_is_found(compressed: bool) -> None:  # noqa: FBT001 (a case)
    values = np.random.default_rng(0).random(1000)
    data = bytearray(npz(compressed=compressed, x=values))
    data[len(data) // 2] ^= 1
    found = examined(bytes(data), "a.npz").findings
    assert {finding.code for finding in found} <= {
        "array.damaged",
        "array.unloadable",
        "array.truncated",
    }
    assert found
    assert {finding.severity for finding in found} == {"block"}


def test_a_name_twice_in_an_archive_is_unloadable() -> None:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("x.npy", npy(np.ones(3)))
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("x.npy", npy(np.ones(4)))
    assert said(made.getvalue(), "a.npz") == ["array.unloadable"]


def test_an_encrypted_archive_is_unloadable() -> None:
    data = bytearray(npz(x=np.ones(3)))
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(mark) + offset] |= 1
    assert said(bytes(data), "a.npz") == ["array.unloadable"]


def test_a_bomb_is_refused_before_it_is_inflated() -> None:
    made = io.BytesIO()
    with (
        zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("x.npy", "w", force_zip64=True) as member,
    ):
        for _ in range(600):
            member.write(bytes(1 << 20))
    (finding,) = examined(made.getvalue(), "a.npz").findings
    assert finding.code == "array.unloadable"
    assert finding.detail["inflated"] == 600 << 20


def test_a_mask_that_compresses_well_is_no_bomb() -> None:
    data = npz(compressed=True, mask=np.zeros((4096, 4096), np.uint8))
    assert len(data) < 100_000
    assert said(data, "a.npz") == []


def test_names_in_an_archive_are_shown_as_records_allow() -> None:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("a\nb\x01" + "é" * 400 + ".npy", npy(np.array([NAN])))
    (finding,) = examined(made.getvalue(), "a.npz").findings
    assert finding.item is not None
    assert finding.item.startswith("a\\x0ab\\x01é")
    assert len(finding.item) == 255


def test_beside_others_only_arrays_of_as_many_axes_are_meant() -> None:
    setup = Setup(policy=Policy(expect_shape=(3, None)))
    data = npz(picture=np.ones((4, 7)), label=np.array(1))
    (finding,) = examined(data, "a.npz", setup).findings
    assert (finding.code, finding.item) == ("array.wrong-shape", "picture")


@pytest.mark.parametrize("names", [[], ["readme.txt"]])
def test_an_archive_without_an_array_cannot_be_trained_on(names: list[str]) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in names:
            archive.writestr(name, b"some words")
    assert said(buffer.getvalue(), "a.npz") == ["array.unloadable"]
