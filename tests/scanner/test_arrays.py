"""NumPy's arrays: sound ones of any kind, those that are not finite, cut, or no arrays at all."""

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.scanner.array_files import INF, NAN, examined, header, npy, npz, said, tensor
from tests.scanner.recorded import codes, scanned

from sickbay.contract.policy import Policy
from sickbay.scanner import Setup
from sickbay.scanner.evidence import ArrayFacts
from sickbay.scanner.guard import Guard

Version = tuple[int, int]


@pytest.mark.parametrize(
    "values",
    [
        np.ones((3, 4), np.float32),
        np.asfortranarray(np.ones((3, 4))),
        np.ones((3, 4), ">f8"),
        np.array(1.5),
        np.ones((0, 5)),
        np.ones((2, 0, 3), np.float16),
        np.array([1 + 2j]),
        np.array([True, False]),
        np.array(["a", "bc"]),
        np.array([b"a"]),
        np.arange(10, dtype=np.uint64),
        np.array(["2026-11-30"], "datetime64[D]"),
        np.zeros(4, [("x", "f4", (2, 2)), ("y", [("z", "<i8")])]),
        np.zeros(3, "V0"),
        np.zeros(3, "V5"),
    ],
    ids=lambda values: f"{values.dtype.str}{values.shape}",
)
@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_sound_arrays_of_any_kind_have_no_findings(
    values: npt.NDArray[Any], version: Version
) -> None:
    found = examined(npy(values, version))
    assert found.findings == ()
    assert found.arrays[0].shape == values.shape
    assert (found.format, found.decoded) == ("NPY", True)


def test_a_header_as_python_2_wrote_it_is_read() -> None:
    text = "{'descr': '<f4', 'fortran_order': False, 'shape': (2L, 1L), }\n"
    found = examined(header(text, bytes(8)))
    assert found.findings == ()
    assert found.arrays == (ArrayFacts(None, (2, 1), "float32"),)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", ">f4", ">f8", "c8", "c16", "g"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_values_that_are_not_finite_are_counted_and_placed(dtype: str, order: Any) -> None:
    values = np.ones((50, 40), dtype, order=order)
    values[3, 7], values[3, 8], values[20, 1], values[49, 39] = NAN, INF, NAN, -INF
    (finding,) = examined(npy(values)).findings
    assert (finding.code, finding.severity) == ("array.not-finite", "block")
    counts = ("nan", "positive_infinity", "negative_infinity")
    assert [finding.detail[name] for name in counts] == [2, 1, 1]
    assert finding.detail["first"] == ([3, 7] if order == "C" else [20, 1])
    assert finding.detail["array"]["shape"] == [50, 40]


def test_the_first_of_many_is_found_in_a_file_of_many_pieces() -> None:
    values = np.ones(1_000_003, np.float64)
    values[[900_001, 999_999]] = NAN
    (finding,) = examined(npy(values)).findings
    assert (finding.detail["nan"], finding.detail["first"]) == (2, [900_001])
    assert finding.message == "It holds 2 NaN, the first at [900001]."


def test_fields_of_a_structured_array_are_looked_at() -> None:
    values = np.zeros((2, 3), [("name", "S3"), ("at", "<f4", (2,)), ("in", [("deep", "<f8")])])
    values["at"][1, 2, 1] = INF
    (finding,) = examined(npy(values)).findings
    assert finding.detail["first"] == [1, 2]
    values["at"][1, 2, 1], values["in"]["deep"][0, 1] = 0, NAN
    assert examined(npy(values)).findings[0].detail["first"] == [0, 1]


@settings(max_examples=50)
@given(
    at=st.integers(0, 59),
    value=st.sampled_from([NAN, INF, -INF]),
    order=st.sampled_from(["C", "F"]),
    dtype=st.sampled_from(["f2", "f4", ">f8", "c8"]),
)
def test_one_bad_value_is_found_wherever_it_is(
    at: int, value: float, order: Any, dtype: str
) -> None:
    place = tuple(int(one) for one in np.unravel_index(at, (3, 4, 5)))
    values = np.zeros((3, 4, 5), dtype, order=order)
    values[place] = value
    (finding,) = examined(npy(values)).findings
    assert finding.detail["first"] == list(place)


def test_pickled_objects_are_never_loaded(tmp_path: Path) -> None:
    class Payload:
        def __reduce__(self) -> tuple[Any, ...]:
            return open, (str(tmp_path / "ran"), "w")

    for data, name in (
        (npy(np.array([Payload()], object)), "a.npy"),
        (npz(x=np.array([Payload()], object)), "a.npz"),
    ):
        (finding,) = examined(data, name).findings
        assert finding.code == "array.unloadable"
        assert finding.message == "It holds pickled objects, which run code when loaded."
    assert not (tmp_path / "ran").exists()


def test_a_file_that_ends_early_is_truncated_wherever_it_ends() -> None:
    whole = npy(np.ones((8, 8)))
    for length in range(1, len(whole)):
        assert said(whole[:length]) == ["array.truncated"], length
    assert said(b"") == ["file.empty"]
    (finding,) = examined(whole[:-8]).findings
    assert finding.message == "The header states 512 bytes of values; 504 are there."


def test_bytes_after_the_values_are_only_worth_a_note() -> None:
    whole = npy(np.ones(4))
    (finding,) = examined(whole + whole).findings
    assert (finding.code, finding.severity) == ("array.trailing-data", "note")
    assert "another array" in finding.message
    assert said(whole + b"x") == ["array.trailing-data"]


@pytest.mark.parametrize(
    "text",
    [
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2.5,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': 4}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (True,)}",
        "{'descr': '<f4', 'fortran_order': 1, 'shape': ()}",
        "{'descr': '<q9', 'fortran_order': False, 'shape': ()}",
        "{'descr': None, 'fortran_order': False, 'shape': ()}",
        "{'descr': [('a', '<f4'), 3], 'fortran_order': False, 'shape': ()}",
        "{'descr': '<f4', 'fortran_order': False}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (), 'more': 1}",
        "{'shape': __import__('os').system('false')}",
        "[" * 9000,
        "-" * 9000 + "1",
        "not a literal",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,) }" + " " * 10_000,
        "{'descr': '<f4', 'fortran_order': False, 'shape': (" + "1," * 65 + ")}",
    ],
)
def test_a_header_that_no_array_can_have_is_unloadable(text: str) -> None:
    assert said(header(text, bytes(64))) == ["array.unloadable"]


def test_a_shape_beyond_all_numbers_is_only_not_there() -> None:
    text = "{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775807, 4)}"
    assert said(header(text, bytes(64))) == ["array.truncated"]
    assert said(header(text.replace("9223372036854775807", "9" * 30))) == ["array.unloadable"]


def test_what_is_no_array_is_unloadable() -> None:
    for data in (b"hello", b"\x80\x04K\x01.", b"\x89PNG\r\n\x1a\n", b"\x93NUMPY\x09\x00aaaa"):
        for name in ("a.npy", "a.npz"):
            (finding,) = examined(data, name).findings
            assert finding.code == "array.unloadable"
            assert finding.detail["head"] == data.hex()


def test_another_shape_than_the_one_expected_is_found() -> None:
    setup = Setup(policy=Policy(expect_shape=(3, None)))
    assert said(npy(np.ones((3, 7))), setup=setup) == []
    for shape in ((4, 7), (3,), (3, 7, 1), ()):
        (finding,) = examined(npy(np.ones(shape)), setup=setup).findings
        assert finding.code == "array.wrong-shape"
        assert finding.message == f"Its shape is {shape}, not (3, any)."


def test_without_decoding_headers_are_read_and_values_are_not() -> None:
    setup = Setup(depth="structure")
    found = examined(npy(np.array([NAN])), setup=setup)
    assert (found.findings, found.decoded, len(found.sha256 or "")) == ((), False, 64)
    assert said(npy(np.ones(9))[:-1], setup=setup) == ["array.truncated"]


def test_the_digest_is_that_of_all_bytes(tmp_path: Path) -> None:
    files = {
        "a.npy": npy(np.ones(300_000)) + b"tail",
        "b.npz": npz(x=np.ones(300_000), y=np.ones(5)) + b"",
        "c.npy": b"nothing",
        "d.safetensors": tensor("U8", b"abc", 3),
    }
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    sink = scanned(tmp_path, layout="arrays")
    for name, data in files.items():
        assert sink.samples[name].sha256 == hashlib.sha256(data).hexdigest()
        assert sink.samples[name].size == len(data)


def test_a_folder_of_arrays_is_scanned_as_one_of_pictures_is(tmp_path: Path) -> None:
    for place in ("train/cat", "val/cat"):
        (tmp_path / place).mkdir(parents=True)
    (tmp_path / "train/cat/a.npy").write_bytes(npy(np.zeros(3, np.float32)))
    (tmp_path / "val/cat/b.npy").write_bytes(npy(np.array([INF], np.float32)))
    (tmp_path / "notes.md").write_text("what these are")
    sink = scanned(tmp_path, layout="auto")
    assert sink.header_record is not None
    assert (sink.header_record.layout, sink.header_record.classes) == ("arrays", ("cat",))
    sample = sink.samples["train/cat/a.npy"]
    assert (sample.split, sample.label, sample.mode) == ("train", "cat", "float32")
    assert (sample.format, sample.decoded) == ("NPY", True)
    assert sink.codes("val/cat/b.npy") == ["array.not-finite"]
    assert sink.totals.reasons == {"not a file of arrays by name": 1}


def test_what_is_no_file_is_told_as_for_pictures(tmp_path: Path) -> None:
    (tmp_path / "a.npy").mkdir()
    (tmp_path / "b.npy").symlink_to("/nowhere")
    (tmp_path / "c.npy").write_bytes(npy(np.ones(3)))
    sink = scanned(tmp_path, layout="arrays")
    assert sink.codes("b.npy") == ["file.unsafe-path"]
    assert sink.codes("c.npy") == []


def test_a_guarded_child_checks_arrays() -> None:
    with Guard() as guard:
        found = guard.check_bytes(npy(np.array([[1, NAN]])), "a.npy", "array")
    assert codes(found.findings) == ["array.not-finite"]
    assert found.arrays == (ArrayFacts(None, (1, 2), "float64"),)
