"""A file that crashes, hangs or exhausts the decoder costs only itself."""

import io
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image
from tests.pictures import encoded, jpeg, picture, raw_png, truncated, write
from tests.scanner.planted import COMMAND
from tests.scanner.recorded import codes

from sickbay.contract.errors import Busy, SickbayError
from sickbay.scanner import Guard, Guards, Limits, Setup, Task
from sickbay.scanner.where import Below

SOUND = jpeg(1)


@pytest.fixture
def guard() -> Iterator[Guard]:
    with Guard(Setup(Limits(cpu_seconds=0.5)), COMMAND) as made:
        yield made


def planted(word: bytes) -> bytes:
    """A sound JPEG with a comment that the planted decoder obeys."""
    return jpeg(1, comment=word)


@pytest.mark.parametrize(
    ("word", "code", "how"),
    [
        (b"PLANT-SEGFAULT", "decoder.crashed", "SIGSEGV"),
        (b"PLANT-ABORT", "decoder.crashed", "SIGABRT"),
        (b"PLANT-EXIT", "decoder.crashed", "exit status 3"),
        (b"PLANT-NONSENSE", "decoder.crashed", "its answer made no sense"),
        (b"PLANT-SPIN", "decoder.timed-out", "over 0.5 s of CPU"),
        (b"PLANT-MEMORY", "decoder.out-of-memory", "over 512 MB"),
    ],
)
def test_a_file_that_kills_its_decoder_is_held_and_keeps_its_hash(
    guard: Guard, word: bytes, code: str, how: str
) -> None:
    found = guard.check_bytes(planted(word), "a.jpg")
    (finding,) = found.findings
    assert (finding.code, finding.severity, finding.detail["how"]) == (code, "block", how)
    assert found.sha256 is not None
    assert found.size == len(planted(word))
    assert finding.detail["head"] == planted(word)[:32].hex()


def test_a_hang_ends_at_the_deadline() -> None:
    with Guard(Setup(Limits(wall_seconds=1)), COMMAND) as guard:
        assert codes(guard.check_bytes(planted(b"PLANT-SLEEP"), "a.jpg").findings) == [
            "decoder.timed-out"
        ]
        assert guard.check_bytes(SOUND, "a.jpg").findings == ()


@pytest.mark.parametrize("depth", [1, 63, 64, 300])
def test_a_sound_picture_is_sound_however_deep_it_lies(tmp_path: Path, depth: int) -> None:
    name = "/".join("d" * depth) + "/a.jpg"
    write(tmp_path, name, SOUND)
    with Guard() as guard:
        (found,) = guard.check(Below(str(tmp_path)), [Task(name.encode())])
    assert found.findings == ()


def test_what_a_dying_decoder_printed_is_evidence(guard: Guard) -> None:
    (finding,) = guard.check_bytes(planted(b"PLANT-SEGFAULT"), "a.jpg").findings
    assert finding.detail["stderr"] == "corrupted double-linked list"


def test_a_crash_of_one_decoder_is_a_note_where_the_other_reads_the_file(guard: Guard) -> None:
    found = guard.check_bytes(planted(b"PLANT-SEGFAULT ONLY-QUICK"), "a.jpg")
    (finding,) = found.findings
    assert (finding.code, finding.severity) == ("decoder.crashed", "note")
    assert (found.width, found.height) == (160, 120)


def test_what_a_decoder_prints_is_kept_with_the_finding_it_explains(guard: Guard) -> None:
    (finding,) = guard.check_bytes(truncated(planted(b"PLANT-PRINT")), "a.jpg").findings
    assert finding.code == "image.truncated"
    assert finding.detail["stderr"] == "decoder: something is odd  [31m"
    (finding,) = guard.check_bytes(truncated(SOUND), "a.jpg").findings
    assert "stderr" not in finding.detail


def test_only_the_culprit_of_a_batch_is_blamed(guard: Guard, tmp_path: Path) -> None:
    words = {3: b"PLANT-SEGFAULT", 6: b"PLANT-SPIN", 7: b"PLANT-MEMORY"}
    for number in range(10):
        data = planted(words[number]) if number in words else jpeg(number)
        write(tmp_path, f"{number}.jpg", data)
    found = guard.check(
        Below(str(tmp_path)), [Task(f"{number}.jpg".encode()) for number in range(10)]
    )
    blamed = {number: codes(item.findings) for number, item in enumerate(found) if item.findings}
    assert blamed == {
        3: ["decoder.crashed"],
        6: ["decoder.timed-out"],
        7: ["decoder.out-of-memory"],
    }
    sizes = [(tmp_path / f"{number}.jpg").stat().st_size for number in range(10)]
    assert [item.size for item in found] == sizes


@pytest.mark.parametrize(
    "command",
    [("/no/such/program",), (sys.executable, "-c", "raise SystemExit('broken')")],
    ids=["none", "dies"],
)
def test_a_child_that_cannot_start_is_no_fault_of_any_file(command: tuple[str, ...]) -> None:
    with Guard(command=command) as guard, pytest.raises(SickbayError, match="cannot be started"):
        guard.check_bytes(SOUND, "a.jpg")


def test_a_root_that_goes_away_makes_its_files_unreadable(guard: Guard, tmp_path: Path) -> None:
    found = guard.check(Below(str(tmp_path / "gone")), [Task(b"a.jpg"), Task(b"b.jpg")])
    assert [codes(item.findings) for item in found] == [["file.unreadable"]] * 2


def test_a_child_killed_from_outside_is_replaced() -> None:
    with Guard() as guard:
        assert guard.check_bytes(SOUND, "a.jpg").findings == ()
        assert guard._child is not None  # noqa: SLF001 (there is no other way to hit it)
        guard._child._process.kill()  # noqa: SLF001 (as above)
        assert guard.check_bytes(SOUND, "a.jpg").findings == ()


def test_a_picture_of_more_memory_than_allowed_is_held_by_the_real_decoder() -> None:
    data = encoded(Image.new("RGB", (6000, 6000)), "TIFF", compression="tiff_deflate")
    with Guard(Setup(Limits(memory=64 << 20))) as guard:
        assert "decoder.out-of-memory" in codes(guard.check_bytes(data, "a.tif").findings)
    with Guard() as guard:
        assert "decoder.out-of-memory" not in codes(guard.check_bytes(data, "a.tif").findings)


def test_a_bomb_of_a_png_costs_neither_time_nor_memory() -> None:
    side = 13_300
    bomb = raw_png(side, side, bytes((1 + side) * side), colour=0)
    with Guard(Setup(Limits(memory=64 << 20))) as guard:
        assert codes(guard.check_bytes(bomb, "a.png").findings) == ["image.huge"]


def test_a_preview_is_encoded_anew_and_no_larger_than_asked(guard: Guard) -> None:
    made = guard.preview(jpeg(1, (500, 375)), ".jpg", 100)
    assert made is not None
    with Image.open(io.BytesIO(made)) as image:
        assert (image.format, image.size) == ("WEBP", (100, 75))


def test_a_preview_of_nothing_is_nothing(guard: Guard) -> None:
    assert guard.preview(b"no picture", ".jpg", 100) is None


def test_what_a_truncated_file_lost_is_transparent_in_its_preview(guard: Guard) -> None:
    for data in (truncated(jpeg(1, (500, 375))), truncated(jpeg(1, (500, 375)), end_marker=True)):
        made = guard.preview(data, ".jpg", 400)
        assert made is not None
        with Image.open(io.BytesIO(made)) as shown:
            assert shown.convert("RGBA").getpixel((200, shown.height - 2)) == (0, 0, 0, 0)


def test_a_preview_of_a_file_is_made_below_the_root_only(guard: Guard, tmp_path: Path) -> None:
    write(tmp_path, "root/a.jpg", SOUND)
    write(tmp_path, "outside.jpg", SOUND)
    root = str(tmp_path / "root")
    (tmp_path / "root/out.jpg").symlink_to("../outside.jpg")
    assert guard.preview_file(root, b"a.jpg", 100) is not None
    assert guard.preview_file(root, b"out.jpg", 100) is None
    assert guard.preview_file(root, b"../outside.jpg", 100) is None
    assert guard.preview_file(str(tmp_path / "none"), b"a.jpg", 100) is None


def test_several_threads_share_a_pool() -> None:
    guards = Guards(2)
    found: list[tuple[int | None, int | None]] = []

    def check() -> None:
        for _ in range(5):
            item = guards.check_bytes(SOUND, "a.jpg")
            found.append((item.width, item.height))

    threads = [threading.Thread(target=check) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    guards.close()
    assert found == [(160, 120)] * 30


def test_a_busy_pool_says_so_instead_of_waiting_for_ever() -> None:
    guards = Guards(1)
    with guards.one(), pytest.raises(Busy), guards.one(timeout=0.01):
        pass
    guards.close()


def test_a_closed_pool_leaves_no_process_behind() -> None:
    guards = Guards(1)
    guards.check_bytes(SOUND, "a.jpg")
    with guards.one() as guard:
        assert guard._child is not None  # noqa: SLF001 (its process is what this is about)
        pid = guard._child._process.pid  # noqa: SLF001 (as above)
    guards.close()
    assert not Path(f"/proc/{pid}").exists()
    with pytest.raises(Busy), guards.one():
        pass


def test_a_child_ends_when_its_guard_is_gone() -> None:
    guard = Guard()
    guard.check_bytes(SOUND, "a.jpg")
    assert guard._child is not None  # noqa: SLF001 (its process is what this is about)
    process = guard._child._process  # noqa: SLF001 (as above)
    assert process.stdin is not None
    process.stdin.close()
    assert process.wait(10) == 0
    guard.close()


def test_the_child_inherits_no_secrets_and_no_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SICKBAY_SOMETHING", "private")
    with (tmp_path / "open").open("wb"), Guard() as guard:
        guard.check_bytes(SOUND, "a.jpg")
        assert guard._child is not None  # noqa: SLF001 (its process is what this is about)
        process = Path(f"/proc/{guard._child._process.pid}")  # noqa: SLF001 (as above)
        assert b"SICKBAY" not in (process / "environ").read_bytes()
        held = {entry.readlink() for entry in (process / "fd").iterdir()}
        assert not any(path.is_relative_to(tmp_path) for path in held)


def test_the_picture_of_a_preview_is_not_turned(guard: Guard) -> None:
    image = picture(1)
    exif = image.getexif()
    exif[0x0112] = 6
    made = guard.preview(encoded(image, "JPEG", exif=exif), ".jpg", 400)
    assert made is not None
    with Image.open(io.BytesIO(made)) as shown:
        assert shown.size == (160, 120)
