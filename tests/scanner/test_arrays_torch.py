"""torch's files: the verdict is that of `torch.load(weights_only=True)`, without torch."""

import collections
import io
import os
import pickle
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from tests.scanner.array_files import INF, NAN, examined, said
from tests.scanner.recorded import codes

torch = pytest.importorskip("torch", reason="torch is not installed")

OLD = {"_use_new_zipfile_serialization": False}
FORMATS = pytest.mark.parametrize("form", [{}, OLD], ids=["archive", "old"])


def saved(value: Any, **options: Any) -> bytes:
    made = io.BytesIO()
    torch.save(value, made, **options)
    return made.getvalue()


def loads(data: bytes) -> bool:
    """Whether torch itself loads it without running code."""
    try:
        torch.load(io.BytesIO(data), weights_only=True)
    except (pickle.UnpicklingError, RuntimeError, EOFError, ValueError):
        return False
    return True


def linear() -> Any:
    return torch.nn.Linear(3, 4)


def _of_itself() -> list[Any]:
    value: list[Any] = [torch.ones(1)]
    value.append(value)
    return value


SOUND = {
    "tensor": lambda: torch.ones(3),
    "of nothing": lambda: torch.zeros(0, 3),
    "without axes": lambda: torch.tensor(1.5),
    "transposed": lambda: torch.ones(3, 4).T,
    "expanded": lambda: torch.ones(1).expand(1000),
    "overlapping": lambda: torch.arange(10.0).unfold(0, 3, 1),
    "conjugate": lambda: torch.conj(torch.tensor([1j])),
    "state": lambda: linear().state_dict(),
    "optimizer": lambda: torch.optim.Adam(linear().parameters()).state_dict(),
    "parameter": lambda: torch.nn.Parameter(torch.ones(2)),
    "sparse": lambda: torch.sparse_coo_tensor(torch.tensor([[0, 1]]), torch.ones(2), (3,)),
    "quantized": lambda: torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.qint8),
    "without values": lambda: torch.ones(3, device="meta"),
    "words of torch": lambda: [torch.Size([1]), torch.device("cpu"), torch.float32, torch.strided],
    "plain values": lambda: {"a": 1, "b": None, "c": [1.5, "x", True, 2**80], "d": (1, b"x", 1j)},
    "collections": lambda: [{1, 2}, bytearray(b"x"), collections.OrderedDict(a=torch.ones(1))],
    "counter": lambda: collections.Counter("aab"),
    "itself": _of_itself,
}


@FORMATS
@pytest.mark.parametrize("name", SOUND)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_what_torch_loads_without_code_has_no_findings(name: str, form: dict[str, Any]) -> None:
    data = saved(SOUND[name](), **form)
    assert loads(data)
    found = examined(data, "a.pt")
    assert (found.findings, found.format, found.decoded) == ((), "PT", True)


@FORMATS
@pytest.mark.parametrize(
    "value",
    [linear(), {"f": os.system}, [print], collections.deque([1]), torch.utils.data.Dataset],
    ids=["module", "function", "builtin", "class", "torch's own class"],
)
def test_what_torch_refuses_without_code_is_unloadable(value: Any, form: dict[str, Any]) -> None:
    data = saved(value, **form)
    assert not loads(data)
    (finding,) = examined(data, "a.pth").findings
    assert (finding.code, finding.severity) == ("array.unloadable", "block")
    assert finding.message.startswith("Loading it would run code: it names ")


@FORMATS
@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_protocols_of_pickle_are_taken_as_torch_takes_them(
    protocol: int, form: dict[str, Any]
) -> None:
    data = saved({"a": torch.ones(2)}, pickle_protocol=protocol, **form)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("warnings.warn", lambda *_, **__: None)
        taken = loads(data)
    assert (said(data, "a.pt") == []) is taken


@FORMATS
def test_code_in_a_pickle_is_never_run(tmp_path: Path, form: dict[str, Any]) -> None:
    class Payload:
        def __reduce__(self) -> tuple[Any, ...]:
            return os.mkdir, (str(tmp_path / "ran"),)

    (finding,) = examined(saved({"x": [Payload()]}, **form), "a.pt").findings
    assert finding.code == "array.unloadable"
    assert finding.detail["name"] == "posix.mkdir"
    plain = examined(pickle.dumps(Payload()), "b.pt")
    assert codes(plain.findings) == ["array.unloadable"]
    assert not (tmp_path / "ran").exists()


def test_a_pickle_cannot_change_what_the_next_file_meets() -> None:
    evil = b"\x80\x02ccollections\nOrderedDict\n(N}X\x03\x00\x00\x00newK\x01stb."
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("a/data.pkl", evil)
    assert said(made.getvalue(), "a.pt") == ["array.unloadable"]
    assert not hasattr(collections.OrderedDict, "new")


@FORMATS
def test_arrays_are_named_by_their_path(form: dict[str, Any]) -> None:
    value = {"model": {"weight": torch.ones(2, 3)}, "steps": [1, torch.tensor([1, NAN])], 5: "x"}
    found = examined(saved(value, **form), "a.pt")
    assert {(one.item, one.shape, one.dtype) for one in found.arrays} == {
        ("model.weight", (2, 3), "float32"),
        ("steps.1", (2,), "float32"),
    }
    (finding,) = found.findings
    assert (finding.code, finding.item, finding.detail["first"]) == (
        "array.not-finite",
        "steps.1",
        [1],
    )


@pytest.mark.parametrize(
    "dtype",
    [
        *("float16", "bfloat16", "float32", "float64", "complex32", "complex64", "complex128"),
        *("float8_e5m2", "float8_e4m3fn", "float8_e5m2fnuz", "float8_e4m3fnuz", "float8_e8m0fnu"),
    ],
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_every_type_that_may_be_nan_is_looked_at(dtype: str) -> None:
    kind = getattr(torch, dtype)
    start = torch.tensor([1, complex(0, NAN), 2] if dtype.startswith("c") else [1, NAN, 2])
    found = examined(saved(start.to(kind)), "a.pt")
    assert found.arrays[0].dtype == dtype
    assert [one.detail["first"] for one in found.findings] == [[1]]
    assert said(saved(torch.tensor([1, 2]).to(kind)), "a.pt") == []


VIEWS: dict[str, tuple[Any, Any]] = {
    "whole": (lambda x: x, [5, 7]),
    "transposed": (lambda x: x.T, [7, 5]),
    "row": (lambda x: x[5], [7]),
    "column": (lambda x: x[:, 7], [5]),
    "steps": (lambda x: x[1:9:2, 1::2], [2, 3]),
    "columns of the transposed": (lambda x: x.T[:, 4:6], [7, 1]),
    "one value": (lambda x: x[5, 7], []),
    "expanded": (lambda x: x[5:6].expand(3, 12), [0, 7]),
    "rows before": (lambda x: x[:5], None),
    "another column": (lambda x: x[:, 8], None),
    "other steps": (lambda x: x[::2], None),
}


@pytest.mark.parametrize("name", VIEWS)
@FORMATS
def test_only_values_of_a_view_count(name: str, form: dict[str, Any]) -> None:
    view, first = VIEWS[name]
    whole = torch.zeros(10, 12)
    whole[5, 7] = INF
    found = [one.detail["first"] for one in examined(saved(view(whole), **form), "a.pt").findings]
    assert found == ([] if first is None else [first])


@FORMATS
def test_a_file_that_ends_early_is_truncated(form: dict[str, Any]) -> None:
    whole = saved({"a": torch.ones(50), "b": torch.ones(50)}, **form)
    for length in (len(whole) - 1, len(whole) // 2, 100):
        assert said(whole[:length], "a.pt") == ["array.truncated"]


def test_a_changed_byte_that_torch_does_not_see_is_found() -> None:
    values = torch.arange(100.0)
    data = bytearray(saved(values))
    data[data.index(values.numpy().tobytes()) + 42] ^= 1
    assert loads(bytes(data))
    (finding,) = examined(bytes(data), "a.pt").findings
    assert (finding.code, finding.severity) == ("array.damaged", "block")


def test_an_archive_saved_without_checksums_is_sound() -> None:
    torch.serialization.set_crc32_options(compute_crc32=False)
    try:
        data = saved(torch.tensor([1, NAN]))
    finally:
        torch.serialization.set_crc32_options(compute_crc32=True)
    assert said(data, "a.pt") == ["array.not-finite"]


def rewritten(data: bytes, **changed: bytes | None) -> bytes:
    """The archive with other members; nothing drops one."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as before, zipfile.ZipFile(made, "w") as after:
        for name in before.namelist():
            content = changed.get(name.rpartition("/")[2], before.read(name))
            if content is not None:
                after.writestr(name, content)
    return made.getvalue()


def test_values_that_are_not_in_the_archive_are_truncated() -> None:
    data = saved({"a": torch.ones(5)})
    for content in (None, bytes(19)):
        (finding,) = examined(rewritten(data, **{"0": content}), "a.pt").findings
        assert (finding.code, finding.item) == ("array.truncated", "a")


def test_values_of_the_other_byte_order_are_read_in_it() -> None:
    values = torch.tensor([1.0, NAN, 2.0])
    swapped = values.numpy().byteswap().tobytes()
    data = rewritten(saved(values), byteorder=b"big", **{"0": swapped})
    assert loads(data)
    (finding,) = examined(data, "a.pt").findings
    assert finding.detail["first"] == [1]


def test_an_archive_that_torch_did_not_make_is_unloadable() -> None:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("a/readme", b"hello")
    assert said(made.getvalue(), "a.pt") == ["array.unloadable"]
    empty = io.BytesIO()
    zipfile.ZipFile(empty, "w").close()
    assert said(empty.getvalue(), "a.pt") == ["array.unloadable"]


def test_a_program_is_unloadable() -> None:
    made = io.BytesIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("warnings.warn", lambda *_, **__: None)
        torch.jit.save(torch.jit.script(linear()), made)
    assert said(made.getvalue(), "a.pt") == ["array.unloadable"]


def test_files_of_torch_are_checked_where_torch_is_not() -> None:
    program = """
import sys
sys.modules["torch"] = None
from tests.scanner.array_files import said
print(said(sys.stdin.buffer.read(), "a.pt"))
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=saved(torch.tensor([NAN])),
        capture_output=True,
        check=True,
        cwd=Path(__file__).parents[2],
    )
    assert done.stdout == b"['array.not-finite']\n"
