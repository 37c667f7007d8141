import base64
import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from tests.releases.a_data_set import ADataSet, with_every_decision

from sickbay.accounts.tables import Role, Scope
from sickbay.contract.manifest import FILES
from sickbay.database import Database
from sickbay.quarantine.tables import Action

RELEASES = "/api/v1/datasets/animals/releases"


@pytest.fixture
def data_set(database: Database, state: Path, tmp_path: Path) -> ADataSet:
    """A data set with one sample of each status."""
    made = ADataSet(database, state, tmp_path / "root")
    with_every_decision(made)
    return made


@pytest.fixture
def job(program: Callable[[Scope], TestClient]) -> TestClient:
    """A training job with a token for releases."""
    return program(Scope.RELEASES)


@pytest.fixture
def manifest(data_set: ADataSet) -> str:
    """The address of a manifest."""
    return f"{RELEASES}/{data_set.make().digest}/manifest.jsonl"


def test_a_release_is_made_once_and_found_again(job: TestClient, data_set: ADataSet) -> None:
    first = job.post(RELEASES, json={})
    again = job.post(RELEASES, json={"require_decided": False})
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.headers["Location"] == f"{RELEASES}/{first.json()['id']}"
    assert first.json()["counts"]["pending"] == 1
    assert again.json()["already_there"]
    listed = job.get(RELEASES).json()["releases"]
    assert [(one["id"], one["created_by"]) for one in listed] == [
        (first.json()["id"], "token a releases")
    ]
    assert data_set.left_over() == [first.json()["id"]]


def test_undecided_samples_refuse_a_release_that_requires_decisions(
    job: TestClient, data_set: ADataSet
) -> None:
    answer = job.post(RELEASES, json={"require_decided": True})
    assert answer.status_code == 409
    assert answer.json()["error"].startswith(f"Held samples of {data_set.name} without")


@pytest.mark.parametrize("body", [{"require_decided": 1}, {"root": "/etc"}, {"by": "eve"}])
def test_a_making_takes_one_flag_and_no_folder_from_a_request(
    job: TestClient, data_set: ADataSet, body: dict[str, object]
) -> None:
    assert job.post(RELEASES, json=body).status_code == 422
    assert not data_set.releases.exists()


def test_a_viewer_reads_releases_and_does_not_make_them(
    visitor: Callable[[Role], TestClient], data_set: ADataSet
) -> None:
    viewer = visitor(Role.VIEWER)
    assert viewer.post(RELEASES, json={}).status_code == 403
    assert visitor(Role.REVIEWER).post(RELEASES, json={}).status_code == 201
    digest = data_set.make().digest
    assert viewer.get(f"{RELEASES}/{digest}/manifest.jsonl").status_code == 200


@pytest.mark.parametrize("scope", [Scope.SCAN, Scope.EVENTS])
def test_a_token_for_something_else_gets_no_release(
    program: Callable[[Scope], TestClient], manifest: str, scope: Scope
) -> None:
    other = program(scope)
    blob = f"/blobs/sha256/{hashlib.sha256(b'better').hexdigest()}"
    for address in (RELEASES, manifest, blob):
        assert other.get(address).status_code == 403


def test_every_file_arrives_as_it_is_with_its_digest_on_it(
    job: TestClient, data_set: ADataSet
) -> None:
    made = data_set.make()
    described = job.get(f"{RELEASES}/{made.digest}").json()
    assert sorted(file["name"] for file in described["files"]) == sorted(FILES)
    for file in described["files"]:
        answer = job.get(file["url"], headers={"Accept-Encoding": "gzip, br, zstd"})
        digest = hashlib.sha256(answer.content)
        assert answer.content == (data_set.folder(made) / file["name"]).read_bytes()
        assert file["sha256"] == digest.hexdigest()
        assert answer.headers["ETag"] == f'"{digest.hexdigest()}"'
        repr_digest = base64.b64encode(digest.digest()).decode()
        assert answer.headers["Repr-Digest"] == f"sha-256=:{repr_digest}:"
        assert answer.headers["Cache-Control"] == "private, max-age=31536000, immutable"
        assert answer.headers["Content-Length"] == str(file["size"])
        assert answer.headers["Accept-Ranges"] == "bytes"
        assert "Content-Encoding" not in answer.headers


@pytest.mark.parametrize(
    ("name", "media_type"),
    [
        ("manifest.jsonl", "application/jsonl"),
        ("version.json", "application/json"),
        ("SHA256SUMS", "text/plain; charset=utf-8"),
    ],
)
def test_files_say_what_they_are(
    job: TestClient, data_set: ADataSet, name: str, media_type: str
) -> None:
    answer = job.get(f"{RELEASES}/{data_set.make().digest}/{name}")
    assert answer.headers["Content-Type"] == media_type


def test_head_tells_all_but_the_bytes(job: TestClient, manifest: str) -> None:
    whole, head = job.get(manifest), job.head(manifest)
    assert head.content == b""
    for name in ("ETag", "Repr-Digest", "Content-Length", "Content-Type", "Cache-Control"):
        assert head.headers[name] == whole.headers[name]


@pytest.mark.parametrize("form", ["{0}", "W/{0}", '"other", {0}', "*", '"x" , W/{0}'])
def test_who_has_the_file_does_not_get_it_again(job: TestClient, manifest: str, form: str) -> None:
    etag = job.get(manifest).headers["ETag"]
    answer = job.get(manifest, headers={"If-None-Match": form.format(etag)})
    assert (answer.status_code, answer.content) == (304, b"")
    assert answer.headers["ETag"] == etag
    assert "immutable" in answer.headers["Cache-Control"]


def test_who_has_another_file_gets_this_one(job: TestClient, manifest: str) -> None:
    assert job.get(manifest, headers={"If-None-Match": '"abc"'}).status_code == 200


@pytest.mark.parametrize(
    ("wanted", "start", "end"),
    [("bytes=10-19", 10, 20), ("bytes=100-", 100, None), ("bytes=-7", -7, None)],
)
def test_a_part_arrives_with_the_digest_of_the_whole(
    job: TestClient, manifest: str, wanted: str, start: int, end: int | None
) -> None:
    whole = job.get(manifest)
    part = job.get(manifest, headers={"Range": wanted, "If-Range": whole.headers["ETag"]})
    assert part.status_code == 206
    assert part.content == whole.content[start:end]
    assert part.headers["Repr-Digest"] == whole.headers["Repr-Digest"]
    assert part.headers["Content-Range"].endswith(f"/{len(whole.content)}")


def test_a_part_of_another_file_is_the_whole_of_this_one(job: TestClient, manifest: str) -> None:
    answer = job.get(manifest, headers={"Range": "bytes=10-19", "If-Range": '"other"'})
    assert (answer.status_code, answer.content) == (200, job.get(manifest).content)


def test_a_part_behind_the_end_is_not_satisfiable(job: TestClient, manifest: str) -> None:
    answer = job.get(manifest, headers={"Range": "bytes=999999-"})
    assert answer.status_code == 416
    assert answer.headers["Content-Range"] == f"bytes */{len(job.get(manifest).content)}"


@pytest.mark.parametrize(
    "wanted",
    [
        "",
        "bytes",
        "bytes=",
        "bytes=-",
        "bytes=,",
        "bytes=5-1",
        "bytes=abc",
        "bytes=a-b",
        "bytes=1-b",
        "bytes=+1-2",
        "bytes=--5",
        "bytes=1_0-2_0",
        "bytes=0x1-0x2",
        "bytes=1.5-2",
        "bytes=0-1,9-2",
        "bytes=0-1,abc",
        "bytes=0-1;2-3",
        "bytes 0-1",
        "lines=1-2",
        "bytes=" + "9" * 5000 + "-",
        "x" * 5000,
    ],
)
def test_a_range_that_is_none_is_ignored_and_the_whole_file_arrives(
    job: TestClient, manifest: str, wanted: str
) -> None:
    whole = job.get(manifest)
    answer = job.get(manifest, headers={"Range": wanted})
    assert (answer.status_code, answer.content) == (200, whole.content)
    assert answer.headers["ETag"] == whole.headers["ETag"]
    head = job.head(manifest, headers={"Range": wanted})
    assert (head.status_code, head.headers["Content-Length"]) == (200, str(len(whole.content)))


def test_a_suffix_of_no_bytes_cannot_be_satisfied(job: TestClient, manifest: str) -> None:
    assert job.get(manifest, headers={"Range": "bytes=-0"}).status_code == 416


def test_a_range_that_ends_behind_the_end_is_the_rest(job: TestClient, manifest: str) -> None:
    answer = job.get(manifest, headers={"Range": "BYTES= 10-999999999"})
    assert (answer.status_code, answer.content) == (206, job.get(manifest).content[10:])


def test_latest_and_beginnings_of_ids_only_redirect(job: TestClient, data_set: ADataSet) -> None:
    first = data_set.make().digest
    data_set.decide("train/dog/5.jpg", Action.EXCLUDE)
    second = data_set.make().digest
    for wanted, digest in (("latest", second), (first[:8], first)):
        for file in ("", "/manifest.jsonl"):
            answer = job.get(f"{RELEASES}/{wanted}{file}")
            assert answer.status_code == 307
            assert answer.headers["Location"] == f"{RELEASES}/{digest}{file}"
            assert answer.headers["Cache-Control"] == "no-cache"
            assert answer.content == b""


@pytest.mark.parametrize(
    "address",
    [
        RELEASES + "/" + "0" * 64,
        RELEASES + "/latest",
        "/api/v1/datasets/plants/releases",
        "/api/v1/datasets/plants/releases/latest",
        "/api/v1/datasets/..%2f..%2fetc/releases",
        RELEASES + "/latest/..%2f..%2fsickbay.db",
        RELEASES + "/latest/%2e%2e%2fsickbay.db",
        RELEASES + "/latest/.lock",
    ],
)
def test_what_is_not_there_is_not_found(job: TestClient, data_set: ADataSet, address: str) -> None:
    assert not data_set.releases.exists()
    assert job.get(address).status_code == 404


@pytest.mark.parametrize("name", ["a.json", ".lock", "%2e%2e", "version.json%00", "SHA256SUMS%0a"])
def test_a_release_has_the_files_it_has_and_no_others(
    job: TestClient, data_set: ADataSet, name: str
) -> None:
    assert job.get(f"{RELEASES}/{data_set.make().digest}/{name}").status_code == 404


def test_a_replacement_is_handed_out_to_be_saved_and_not_to_be_shown(
    job: TestClient, manifest: str
) -> None:
    digest = hashlib.sha256(b"better")
    assert manifest
    answer = job.get(f"/blobs/sha256/{digest.hexdigest()}")
    assert answer.content == b"better"
    assert answer.headers["Content-Type"] == "application/octet-stream"
    assert answer.headers["Content-Disposition"].startswith("attachment")
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Content-Security-Policy"].startswith("sandbox;")
    assert answer.headers["ETag"] == f'"{digest.hexdigest()}"'
    assert job.head(f"/blobs/sha256/{digest.hexdigest()}").headers["Content-Length"] == "6"


def test_no_other_stored_file_is_handed_out_by_its_hash(
    job: TestClient, data_set: ADataSet
) -> None:
    thumbnail = data_set.blobs.put(b"a thumbnail")
    for digest in (thumbnail, "0" * 64, "A" * 64, "0" * 63, "..%2f..%2fsickbay.db"):
        assert job.get(f"/blobs/sha256/{digest}").status_code == 404


def test_a_release_whose_files_were_lost_says_so(job: TestClient, data_set: ADataSet) -> None:
    made = data_set.make()
    (data_set.folder(made) / "manifest.jsonl").unlink()
    answer = job.get(f"{RELEASES}/{made.digest}/manifest.jsonl")
    assert answer.status_code == 507
    assert "Make the release again" in answer.json()["error"]
