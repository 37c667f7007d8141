"""Roots behind a URL: the same records as from a folder, and per-file trouble costs one file."""

from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import fsspec
import pytest
from tests.pictures import jpeg, truncated, write
from tests.scanner.recorded import codes, scanned

from sickbay.contract.errors import BadInput, SickbayError
from sickbay.contract.inside import Missing, Unreadable
from sickbay.scanner.cache import Cache
from sickbay.scanner.trees.opened import opened

NAMES = {
    "train/cats/a.jpg": jpeg(1, (48, 48)),
    "train/cats/cut.jpg": truncated(jpeg(2, (96, 96))),
    "train/dogs/b c.jpg": jpeg(3, (48, 48)),
    "train/dogs/größe #1%.jpg": jpeg(4, (48, 48)),
    "train/dogs/.hidden.jpg": b"",
    "train/dogs/empty.jpg": b"",
    "val/cats/d.jpg": jpeg(5, (48, 48)),
    "README.md": b"about",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, data in NAMES.items():
        write(tmp_path / "root", name, data)
    return tmp_path / "root"


class Shop(SimpleHTTPRequestHandler):
    """A web server's folders, with a file that is locked and one that is listed and gone."""

    def do_GET(self) -> None:
        if "locked" in self.path:
            self.send_error(403)
        elif "gone" in self.path:
            self.send_error(404)
        else:
            super().do_GET()

    do_HEAD = do_GET  # noqa: N815 (http.server's name)

    def log_message(self, *_: object) -> None:
        """Keep quiet."""


@pytest.fixture
def url(folder: Path) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Shop, directory=str(folder)))
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def memory(request: pytest.FixtureRequest) -> str:
    root = f"/{request.node.name}"
    system = fsspec.filesystem("memory")
    for name, data in NAMES.items():
        system.pipe_file(f"{root}/{name}", data)
    return f"memory:/{root}"


def facts(root: str | Path) -> dict[str, tuple[object, ...]]:
    """What is found of each sample, without when it was written."""
    found = scanned(root)
    return {
        path: (one.split, one.label, one.sha256, one.size, one.width, codes(one.findings))
        for path, one in found.samples.items()
    }


def test_a_bucket_and_a_web_server_give_what_the_folder_gives(
    folder: Path, url: str, memory: str
) -> None:
    here = facts(folder)
    assert len(here) == 6
    assert facts(f"file://{folder}") == here
    assert facts(url) == here
    assert facts(f"{memory}/") == here


def test_totals_and_thumbnails_are_there_too(memory: str, folder: Path) -> None:
    there, here = scanned(memory), scanned(folder)
    assert there.totals == here.totals
    assert there.thumbnails == here.thumbnails


def test_files_that_are_locked_or_gone_are_findings_and_the_scan_goes_on(
    folder: Path, url: str
) -> None:
    write(folder, "train/cats/locked.jpg", NAMES["train/cats/a.jpg"])
    write(folder, "train/cats/gone.jpg", NAMES["train/cats/a.jpg"])
    found = scanned(url)
    assert found.codes("train/cats/locked.jpg") == ["file.unreadable"]
    assert found.codes("train/cats/gone.jpg") == ["file.missing"]
    assert found.codes("train/cats/a.jpg") == []
    assert found.totals.found == 10


def test_a_folder_that_cannot_be_listed_is_recorded_and_the_scan_goes_on(
    folder: Path, url: str
) -> None:
    write(folder, "locked/a.jpg", b"")
    found = scanned(url)
    assert codes(found.files["locked"].findings) == ["file.unreadable"]
    assert found.totals.found == 9


def test_what_a_store_says_is_unchanged_is_not_fetched_again(memory: str, tmp_path: Path) -> None:
    def counts() -> tuple[int, int]:
        cache = Cache(tmp_path / "cache", clock=lambda: 10**19)
        scanned(memory, cache=cache)
        return cache.counts.read, cache.counts.reused

    assert counts() == (6, 0)
    assert counts() == (0, 6)
    fsspec.filesystem("memory").pipe_file(
        f"{memory.removeprefix('memory:/')}/val/cats/d.jpg", NAMES["train/cats/a.jpg"]
    )
    assert counts() == (1, 5)


@pytest.mark.parametrize("root", ["memory://no/such/folder", "nowhere://bucket/folder"])
def test_a_root_that_is_not_there_is_said_plainly(root: str) -> None:
    with pytest.raises(BadInput, match=r"no folder|cannot be read"):
        opened(root)


def test_a_web_server_that_is_not_there_is_said_plainly() -> None:
    with pytest.raises(BadInput, match="cannot be read"):
        opened("http://127.0.0.1:9/data")


def test_annotation_files_are_opened_where_they_are(url: str, memory: str) -> None:
    for root in (url, memory):
        with opened(root).open(b"README.md") as file:
            assert file.read() == b"about"
            assert file.seek(1) == 1
            assert file.readline() == b"bout"
        with pytest.raises(SickbayError) as trouble:
            opened(root).open(b"no.md")
        assert isinstance(trouble.value, Missing | Unreadable)
