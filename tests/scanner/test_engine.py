"""Whole scans: every file is counted, the same data give the same bytes, nothing ends a scan."""

import os
import socket
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.pictures import encoded, jpeg, picture, png, truncated, write
from tests.scanner.recorded import Recorded, codes, scanned

from sickbay.contract.errors import BadInput, StorageFailed
from sickbay.contract.finding import SampleRecord
from sickbay.contract.inside import Inside
from sickbay.contract.policy import Policy
from sickbay.contract.read_record import from_line
from sickbay.scanner import Limits, NdjsonSink, Setup, scan
from sickbay.scanner.checks.files import read

UNLIKE = Setup(policy=Policy(severities={"image.near-duplicate": "silent"}))
"""Small pictures of soft shapes are easily alike."""


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    """A data set with a little of everything."""
    root = tmp_path / "root"
    for seed in range(40):
        write(root, f"train/{'cats' if seed % 2 else 'dogs'}/{seed:02}.jpg", jpeg(seed, (48, 48)))
    write(root, "val/cats/leak.jpg", jpeg(0, (48, 48)))
    write(root, "train/cats/twin.jpg", jpeg(1, (48, 48)))
    write(root, "train/cats/cut.jpg", truncated(jpeg(50, (96, 96))))
    write(root, "train/dogs/empty.png", b"")
    write(root, "train/dogs/text.jpg", b"not a picture")
    write(root, "train/.DS_Store", b"litter")
    write(root, "README.md", b"about")
    os.mkfifo(root / "train/dogs/pipe.jpg")
    (root / "train/dogs/gone.jpg").symlink_to("nowhere")
    return root


def lines(root: Path, out: Path, **options: object) -> bytes:
    scan(root, dataset="test", sink=NdjsonSink(out), **options)  # type: ignore[arg-type]
    return out.read_bytes()


def test_found_is_clean_and_held_and_skipped(mixed: Path) -> None:
    totals = scanned(mixed).totals
    assert (totals.found, totals.clean, totals.held, totals.skipped) == (49, 40, 7, 2)
    assert totals.reasons == {"hidden file": 1, "not a picture by name or content": 1}


def test_every_defect_has_its_code(mixed: Path) -> None:
    found = scanned(mixed, setup=UNLIKE)
    assert found.codes("train/cats/cut.jpg") == ["image.truncated"]
    assert found.codes("train/dogs/empty.png") == ["file.empty"]
    assert found.codes("train/dogs/text.jpg") == ["image.undecodable"]
    assert found.codes("train/dogs/pipe.jpg") == ["file.not-regular"]
    assert found.codes("train/dogs/gone.jpg") == ["file.missing"]
    assert found.codes("train/cats/twin.jpg") == ["image.duplicate"]
    assert found.codes("val/cats/leak.jpg") == ["set.split-leak"]
    assert found.totals.codes["set.split-leak"] == 2


def test_the_header_names_the_classes_in_order(mixed: Path) -> None:
    header = scanned(mixed).header_record
    assert header is not None
    assert (header.dataset, header.layout, header.classes) == (
        "test",
        "imagefolder",
        ("cats", "dogs"),
    )


def test_a_sample_is_known_by_its_facts(mixed: Path) -> None:
    found = scanned(mixed)
    record = found.samples["train/dogs/00.jpg"]
    status = (mixed / "train/dogs/00.jpg").stat()
    assert (record.split, record.label, record.size) == ("train", "dogs", status.st_size)
    assert record.mtime_ns == status.st_mtime_ns
    assert (record.width, record.height, record.format, record.mode) == (48, 48, "JPEG", "RGB")
    assert found.stats["train/dogs/00.jpg"] == (status.st_dev, status.st_ino, status.st_ctime_ns)


def test_held_samples_come_with_a_thumbnail_where_something_can_be_shown(mixed: Path) -> None:
    assert set(scanned(mixed).thumbnails) == {"train/cats/cut.jpg"}


def test_the_same_data_give_the_same_bytes_for_any_number_of_workers(
    mixed: Path, tmp_path: Path
) -> None:
    one = lines(mixed, tmp_path / "1.ndjson", workers=1)
    assert lines(mixed, tmp_path / "2.ndjson", workers=3) == one
    with ThreadPoolExecutor(2) as threads:
        assert lines(mixed, tmp_path / "3.ndjson", executor=threads) == one
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as processes:
        assert lines(mixed, tmp_path / "4.ndjson", executor=processes) == one


def test_every_line_is_a_record_and_they_come_in_order_of_raw_path(
    mixed: Path, tmp_path: Path
) -> None:
    records = [from_line(line) for line in lines(mixed, tmp_path / "out").splitlines()]
    paths = [record.path for record in records if isinstance(record, SampleRecord)]
    assert len(paths) == 47
    assert paths == sorted(paths)


def test_a_root_relative_to_the_working_folder_is_found(
    mixed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(mixed.parent)
    assert scanned(Path("root")).totals.found == 49


def test_no_name_is_taken_for_something_else(tmp_path: Path) -> None:
    for name in ("skipped", "null", "sample"):
        write(tmp_path, name, jpeg(len(name), (48, 48)))
    assert scanned(tmp_path).totals.clean == 3


def test_progress_reaches_the_total(mixed: Path) -> None:
    seen: list[tuple[str, int, int]] = []
    scanned(mixed, progress=lambda *at: seen.append(at))
    assert seen[:2] == [("finding files", 0, 0), ("checking", 0, 49)]
    assert seen[-2:] == [("checking", 49, 49), ("comparing and writing", 49, 49)]


def test_the_data_set_is_only_read(mixed: Path) -> None:
    def state() -> list[tuple[str, int, int]]:
        found = sorted(mixed.rglob("*"))
        return [(str(path), path.lstat().st_mtime_ns, path.lstat().st_size) for path in found]

    before = state()
    scanned(mixed)
    assert state() == before


def test_names_that_are_no_text_are_findings_and_the_scan_goes_on(tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path)
    for name in (b"\xff.jpg", b"new\nline.jpg", b"back\\slash.jpg", b"fine.jpg"):
        Path(os.fsdecode(folder + b"/" + name)).write_bytes(jpeg(len(name), (48, 48)))
    found = scanned(tmp_path, setup=UNLIKE)
    assert {path: codes(record.findings) for path, record in found.samples.items()} == {
        "\\xff.jpg": ["file.unsafe-path"],
        "new\nline.jpg": ["file.unsafe-path"],
        "back\\slash.jpg": ["file.unsafe-path"],
        "fine.jpg": [],
    }
    assert found.samples["\\xff.jpg"].path.base64 == "/y5qcGc="


def test_links_are_followed_inside_and_held_where_they_lead_out(tmp_path: Path) -> None:
    root = tmp_path / "root"
    write(root, "store/real.jpg", jpeg(1, (48, 48)))
    write(tmp_path, "outside.jpg", jpeg(2, (48, 48)))
    (root / "cats").mkdir()
    (root / "cats/in.jpg").symlink_to("../store/real.jpg")
    (root / "cats/out.jpg").symlink_to("../../outside.jpg")
    (root / "cats/circle.jpg").symlink_to("circle.jpg")
    found = scanned(root)
    assert not found.samples["cats/in.jpg"].held
    assert found.codes("cats/out.jpg") == ["file.unsafe-path"]
    assert found.samples["cats/out.jpg"].sha256 is None
    assert found.codes("cats/circle.jpg") == ["file.unreadable"]


def test_sockets_and_folders_called_like_pictures_are_no_trouble(tmp_path: Path) -> None:
    (tmp_path / "folder.jpg").mkdir()
    write(tmp_path, "folder.jpg/a.jpg", jpeg(1, (48, 48)))
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(tmp_path / "socket.jpg"))
        found = scanned(tmp_path)
    assert found.codes("socket.jpg") == ["file.not-regular"]
    assert found.samples["folder.jpg/a.jpg"].label == "folder.jpg"


def test_a_sparse_giant_is_held_without_being_read(tmp_path: Path) -> None:
    with (tmp_path / "giant.jpg").open("wb") as file:
        file.truncate(1 << 40)
    found = scanned(tmp_path)
    assert found.codes("giant.jpg") == ["decoder.out-of-memory"]
    assert found.samples["giant.jpg"].size == 1 << 40


def test_a_folder_linked_to_the_outside_is_recorded_as_a_file_of_its_own(tmp_path: Path) -> None:
    write(tmp_path, "outside/a.jpg", jpeg(1, (48, 48)))
    write(tmp_path, "root/b.jpg", jpeg(2, (48, 48)))
    (tmp_path / "root/more").symlink_to("../outside")
    found = scanned(tmp_path / "root")
    assert codes(found.files["more"].findings) == ["file.unsafe-path"]
    assert found.totals.skipped == 1
    assert found.totals.codes == {"file.unsafe-path": 1}


def test_a_file_that_grows_while_it_is_read_is_held(tmp_path: Path) -> None:
    write(tmp_path, "growing.jpg", bytes(1 << 20))
    writer = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys\nfile = open(sys.argv[1], 'ab', buffering=0)\nwhile True: file.write(b'x')",
            str(tmp_path / "growing.jpg"),
        ]
    )
    try:
        with Inside(tmp_path) as folder:
            seen: set[str] = set()
            while not seen:
                facts, _ = read(folder, b"growing.jpg", Limits())
                seen |= set(codes(facts.findings))
    finally:
        writer.kill()
        writer.wait()
    assert seen == {"file.changed"}


@pytest.mark.parametrize("there", [False, True])
def test_a_missing_or_empty_root_is_bad_input_and_the_sink_is_aborted(
    tmp_path: Path, *, there: bool
) -> None:
    root = tmp_path / "root"
    if there:
        (root / "only/folders").mkdir(parents=True)
    sink = Recorded()
    with pytest.raises(BadInput, match="root"):
        scan(root, dataset="test", sink=sink)
    assert sink.aborted
    assert sink.header_record is None


def test_a_root_that_is_a_file_and_an_unknown_layout_are_bad_input(tmp_path: Path) -> None:
    path = write(tmp_path, "a.jpg", jpeg(1))
    with pytest.raises(BadInput, match="is a file"):
        scan(path, dataset="test", sink=Recorded())
    with pytest.raises(BadInput, match="layout 'cocoa'"):
        scan(tmp_path, dataset="test", sink=Recorded(), layout="cocoa")


def test_the_process_that_scans_loads_no_decoder_of_its_own() -> None:
    program = (
        "import sys, sickbay.scanner\nprint(sorted({'PIL', 'simplejpeg'} & sys.modules.keys()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_a_failing_sink_ends_the_scan_and_is_aborted(mixed: Path) -> None:
    class Full(Recorded):
        def sample(self, *_: object) -> None:
            raise StorageFailed("The disk is full.")

    sink = Full()
    with pytest.raises(StorageFailed):
        scan(mixed, dataset="test", sink=sink)
    assert sink.aborted
    assert sink.summary is None


def test_a_full_disk_for_temporary_files_is_said_in_one_sentence() -> None:
    program = (
        "import resource, sys, tempfile\n"
        "from sickbay.contract.errors import StorageFailed\n"
        "from sickbay.scanner.spool import Spool\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "spool = Spool()\n"
        "try:\n"
        "    for _ in range(10): spool.write('x' * 100_000)\n"
        "    next(spool.frames())\n"
        "except StorageFailed as error: print(error.sentence)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert "cannot be written: File too large" in done.stdout


KINDS = {
    "sound.jpg": jpeg(1, (48, 48)),
    "cut.jpg": truncated(jpeg(1, (48, 48))),
    "empty.png": b"",
    "text.txt": b"text",
    ".hidden": b"",
    "sound.png": png(1, (48, 48)),
    "bytes": encoded(picture(3, (48, 48)), "WEBP"),
}


@settings(max_examples=8, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.dictionaries(st.sampled_from("abcd"), st.sets(st.sampled_from(sorted(KINDS))), min_size=1)
)
def test_the_numbers_add_up_for_any_folder(
    tmp_path_factory: pytest.TempPathFactory, tree: dict[str, set[str]]
) -> None:
    root = tmp_path_factory.mktemp("tree")
    names = [f"{folder}/{name}" for folder, inside in tree.items() for name in inside]
    for name in names:
        write(root, name, KINDS[name.partition("/")[2]])
    if names:
        found = scanned(root)
        totals = found.totals
        assert totals.found == len(names) == totals.clean + totals.held + totals.skipped
        assert totals.held == sum(record.held for record in found.samples.values())
        assert totals.codes == {
            code: sum(path.count(code) for path in map(found.codes, found.samples))
            for code in totals.codes
        }
