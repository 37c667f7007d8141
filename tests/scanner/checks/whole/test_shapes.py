"""Arrays that cannot be batched with the rest are named; what varies by nature is not."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st
from tests.scanner.noted import Noted

from sickbay.contract.defects import Severity
from sickbay.scanner.checks.whole.shapes import Tally
from sickbay.scanner.evidence import ArrayFacts

Shape = tuple[int, ...]


def arrays(*shapes: Shape, dtypes: Sequence[str] = (), item: str | None = None) -> Noted:
    """Return a set of one array a file."""
    noted = Noted()
    for number, shape in enumerate(shapes):
        facts = ArrayFacts(item, shape, dtypes[number] if dtypes else "float32")
        noted.add(f"{number:02}.npy", kind="array", arrays=(facts,), form="NPY")
    return noted


def said(noted: Noted) -> list[tuple[str, str, str]]:
    """Return path, code and message of all findings."""
    return [
        (path, finding.code, finding.message)
        for path, findings in noted.said().items()
        for finding in findings
    ]


def test_a_shape_that_departs_from_two_thirds_of_the_set_is_held() -> None:
    noted = arrays((3, 32, 32), (3, 32, 32), (3, 32, 31))
    message = "Its shape is (3, 32, 31); most of the set is (3, 32, 32)."
    assert said(noted) == [("02.npy", "array.wrong-shape", message)]
    (finding,) = noted.said()["02.npy"]
    assert finding.severity is Severity.BLOCK
    assert finding.item is None
    assert finding.detail["array"] == {"shape": [3, 32, 31], "dtype": "float32"}
    assert noted.of_the_set() == []


def test_two_files_make_no_rule() -> None:
    noted = arrays((3,), (4,))
    assert said(noted) == []
    assert noted.of_the_set() == []


def test_a_type_that_departs_is_held() -> None:
    noted = arrays((3,), (3,), (3,), dtypes=["float32", "float64", "float32"])
    message = "Its type is float64; most of the set is float32."
    assert said(noted) == [("01.npy", "array.wrong-dtype", message)]


def test_recordings_of_any_length_are_one_remark_on_the_set() -> None:
    noted = arrays(*((100 + number, 80) for number in range(20)))
    assert said(noted) == []
    (finding,) = noted.of_the_set()
    assert (finding.code, finding.severity) == ("set.mixed-shapes", Severity.NOTE)
    assert finding.message == (
        "Arrays do not all fit into one batch: shapes differ from file to file in NPY files."
    )


def test_a_recording_with_another_number_of_bands_is_held() -> None:
    noted = arrays(*((100 + number, 80) for number in range(20)), (130, 64), (90, 80, 1))
    assert [row[:2] for row in said(noted)] == [
        ("20.npy", "array.wrong-shape"),
        ("21.npy", "array.wrong-shape"),
    ]
    assert said(noted)[0][2] == "Its shape is (130, 64); most of the set is (*, 80)."


def test_a_set_of_halves_holds_nothing() -> None:
    noted = arrays(*[(3, 8, 8), ()] * 10, dtypes=["float32", "int64"] * 10)
    assert said(noted) == []
    assert noted.of_the_set()[0].detail == {"shapes": ["NPY files"], "types": ["NPY files"]}


def test_arrays_of_one_archive_are_compared_by_name() -> None:
    noted = Noted()
    for number in range(6):
        wrong = number == 4
        facts = (
            ArrayFacts("x", (3, 8, 8), "float32"),
            ArrayFacts("y", (2,) if wrong else (), "int64"),
        )
        noted.add(f"{number}.npz", kind="array", arrays=facts, form="NPZ")
    assert said(noted) == [
        ("4.npz", "array.wrong-shape", "Its shape is (2,); most of the set is ().")
    ]
    assert noted.said()["4.npz"][0].item == "y"


@given(st.permutations(["usual", "usual", "other"]), st.integers(1, 3))
def test_what_two_thirds_have_outlives_any_number_of_other_values(
    order: list[str], times: int
) -> None:
    tally = Tally()
    for number in range(1500):
        for value in order * times:
            tally.add(value if value == "usual" else number)
    assert tally.usual() == "usual"
    assert len(tally.counts) <= 1000
