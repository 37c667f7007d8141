"""Files of samples, as a browser gets them."""

import hashlib
import io
from collections.abc import Callable
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from PIL import Image
from tests.pictures import jpeg

from sickbay.accounts.tables import Role
from sickbay.cli.local_sink import LocalSink
from sickbay.quarantine.tables import Sample
from sickbay.scanner.engine import scan
from sickbay.web.files import SANDBOX
from sickbay.web.site import Site

SOUND, CUT = jpeg(1, (640, 480)), jpeg(2, (640, 480))


@pytest.fixture
def root(tmp_path: Path, site: Site) -> Path:
    """A data set of two pictures, one cut in half, scanned into the site."""
    folder = tmp_path / "pets"
    (folder / "cat").mkdir(parents=True)
    (folder / "cat" / "sound.jpg").write_bytes(SOUND)
    (folder / "cat" / 'cut "<b>ü.jpg').write_bytes(CUT[: len(CUT) // 2])
    scanned(folder, site)
    return folder


def scanned(root: Path, site: Site) -> None:
    sink = LocalSink(site.database, site.blobs, root=root, by="anna", dataset="pets")
    scan(root, dataset="pets", sink=sink, workers=1)


@pytest.fixture
def anna(visitor: Callable[[Role], TestClient]) -> TestClient:
    return visitor(Role.VIEWER)


def address(site: Site, start: str) -> str:
    with site.database.reading() as session:
        found = session.query(Sample).filter(Sample.path.startswith(f"cat/{start}")).one()
    return f"/datasets/pets/samples/{found.id}"


@pytest.mark.usefixtures("root")
@pytest.mark.parametrize("name", ["sound", "cut"])
@pytest.mark.parametrize(("what", "side"), [("thumbnail", 256), ("preview", 640)])
def test_a_picture_is_a_webp_of_its_size(
    site: Site, anna: TestClient, name: str, what: str, side: int
) -> None:
    answer = anna.get(f"{address(site, name)}/{what}")
    assert answer.headers["content-type"] == "image/webp"
    assert answer.headers["cache-control"] == "private, no-cache"
    assert Image.open(io.BytesIO(answer.content)).width == side


@pytest.mark.usefixtures("root")
@pytest.mark.parametrize("name", ["sound", "cut"])
@pytest.mark.parametrize("what", ["thumbnail", "preview"])
def test_a_browser_that_has_a_picture_does_not_get_it_again(
    site: Site, anna: TestClient, name: str, what: str
) -> None:
    path = f"{address(site, name)}/{what}"
    tag = anna.get(path).headers["etag"]
    again = anna.get(path, headers={"If-None-Match": f'W/"x", {tag}'})
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["etag"] == tag


@pytest.mark.usefixtures("root")
def test_an_original_leaves_as_an_attachment_that_nothing_runs(
    site: Site, anna: TestClient
) -> None:
    answer = anna.get(f"{address(site, 'cut')}/original")
    assert hashlib.sha256(answer.content).digest() == hashlib.sha256(CUT[: len(CUT) // 2]).digest()
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["content-security-policy"] == SANDBOX
    assert answer.headers["x-content-type-options"] == "nosniff"
    said = answer.headers["content-disposition"]
    assert said.startswith('attachment; filename="sample-')
    assert said.endswith("filename*=UTF-8''cut%20%22%3Cb%3E%C3%BC.jpg")


def test_a_file_that_changed_since_the_scan_is_not_shown_as_what_was_judged(
    root: Path, site: Site, anna: TestClient
) -> None:
    (root / "cat" / "sound.jpg").write_bytes(CUT)
    answer = anna.get(f"{address(site, 'sound')}/preview")
    assert answer.status_code == 409
    assert "scan again" in answer.json()["error"]


def test_a_link_that_leads_out_after_the_scan_is_not_followed(
    root: Path, site: Site, anna: TestClient
) -> None:
    secret = root.parent / "secret.txt"
    secret.write_text("canary")
    (root / "cat" / "sound.jpg").unlink()
    (root / "cat" / "sound.jpg").symlink_to(secret)
    for what in ("original", "preview"):
        answer = anna.get(f"{address(site, 'sound')}/{what}")
        assert 400 <= answer.status_code < 500
        assert "canary" not in answer.text


def test_a_file_that_is_gone_is_not_found(root: Path, site: Site, anna: TestClient) -> None:
    (root / "cat" / "sound.jpg").unlink()
    assert anna.get(f"{address(site, 'sound')}/original").status_code == 404
    (root / "cat").rename(root / "dog")
    assert anna.get(f"{address(site, 'cut')}/preview").status_code == 200, "its tile is kept"


@pytest.mark.usefixtures("root")
def test_a_sample_is_found_in_its_own_data_set_only(
    site: Site, anna: TestClient, tmp_path: Path
) -> None:
    other = tmp_path / "birds"
    other.mkdir()
    (other / "a.jpg").write_bytes(SOUND)
    sink = LocalSink(site.database, site.blobs, root=other, by="anna", dataset="birds")
    scan(other, dataset="birds", sink=sink, workers=1)
    path = address(site, "sound").replace("pets", "birds")
    for what in ("thumbnail", "preview", "original"):
        assert anna.get(f"{path}/{what}").status_code == 404


@pytest.mark.usefixtures("root")
def test_without_a_replacement_there_is_none_to_see(site: Site, anna: TestClient) -> None:
    for what in ("thumbnail", "preview", "original"):
        assert anna.get(f"{address(site, 'cut')}/replacement/{what}").status_code == 404
