"""Requests that outlive a restart, and those that end at once."""

import hashlib
import socket
from pathlib import Path

import pytest
from tests.client.conftest import Reply, Script

from sickbay.client.http import LONGEST_PAUSE, Pace, Server
from sickbay.contract.errors import (
    BadInput,
    Conflict,
    Denied,
    NotFound,
    SickbayError,
    StorageFailed,
    Unreachable,
)

SENTENCE = b'{"error": "So it is."}'


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, BadInput),
        (401, Denied),
        (403, Denied),
        (404, NotFound),
        (409, Conflict),
        (413, BadInput),
        (415, BadInput),
        (422, BadInput),
    ],
)
def test_a_refusal_is_final_and_says_what_the_server_said(
    script: Script, status: int, kind: type[SickbayError]
) -> None:
    script.replies = [Reply(status, SENTENCE)]
    with pytest.raises(kind) as caught:
        script.server().get("/x")
    assert caught.value.sentence == "So it is."
    assert len(script.asked) == 1


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504, 507])
def test_what_may_pass_is_tried_again(script: Script, status: int) -> None:
    script.replies = [Reply(status, SENTENCE), Reply(status, SENTENCE), Reply(body=b'{"a": 1}')]
    assert script.server().send("PUT", "/x", b"data", "text/plain").json() == {"a": 1}
    assert [body for _, _, _, body in script.asked] == [b"data"] * 3


@pytest.mark.parametrize(
    ("status", "kind"), [(500, Unreachable), (503, Unreachable), (507, StorageFailed)]
)
def test_patience_ends_with_what_the_server_said_last(
    script: Script, status: int, kind: type[SickbayError]
) -> None:
    script.replies = [Reply(status, SENTENCE)]
    with pytest.raises(kind, match="So it is"):
        script.server(patience=60).get("/x")
    assert 30 < sum(script.waited) <= 60
    assert max(script.waited) <= LONGEST_PAUSE


def test_the_server_says_how_long_to_wait(script: Script) -> None:
    script.replies = [Reply(503, SENTENCE, {"Retry-After": "7"}), Reply()]
    script.server().get("/x")
    assert script.waited == [7.0]


@pytest.mark.parametrize("value", ["-1", "1e9", "soon", "Wed, 21 Oct 2015 07:28:00 GMT", "9" * 9])
def test_an_odd_wait_does_not_stop_the_client_for_long(script: Script, value: str) -> None:
    script.replies = [Reply(503, SENTENCE, {"Retry-After": value}), Reply()]
    script.server(patience=120).get("/x")
    assert sum(script.waited) <= 60


def test_nobody_there_is_one_plain_sentence() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(Unreachable, match="sickbay serve"):
        Server(f"http://127.0.0.1:{port}", pace=Pace(patience=0.0)).get("/x")


def test_a_server_that_says_nothing_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(Unreachable, match="timed out"):
            Server(url, pace=Pace(timeout=0.05, patience=0.0)).get("/x")


@pytest.mark.parametrize("body", [b"", b"<html>no</html>", b"[1]", b'{"error": 7}', b"\xff"])
def test_an_answer_of_something_else_is_still_one_sentence(script: Script, body: bytes) -> None:
    script.replies = [Reply(404, body)]
    with pytest.raises(NotFound) as caught:
        script.server().get("/x")
    assert caught.value.sentence


def test_a_sentence_cannot_drive_the_terminal(script: Script) -> None:
    script.replies = [Reply(404, b'{"error": "a\\u001b[31mb\\nc' + b"d" * 9999 + b'"}')]
    with pytest.raises(NotFound) as caught:
        script.server().get("/x")
    assert caught.value.sentence.isprintable()
    assert len(caught.value.sentence) == 500


def test_the_token_is_sent_but_not_shown(script: Script) -> None:
    script.replies = [Reply()]
    server = script.server("sickbay_1_secret")
    server.get("/x")
    assert script.asked[0][2]["authorization"] == "Bearer sickbay_1_secret"
    assert "secret" not in repr(server)


def test_a_redirect_on_the_same_server_is_followed(script: Script) -> None:
    script.replies = [Reply(307, b"", {"Location": "/y?z=1"}), Reply(body=b'{"a": 2}')]
    assert script.server("t").get("/x").json() == {"a": 2}
    assert [path for _, path, _, _ in script.asked] == ["/x", "/y?z=1"]


@pytest.mark.parametrize("elsewhere", ["http://127.0.0.1:1/", "//evil.example/", "https://[::1]/"])
def test_a_redirect_to_another_server_does_not_get_the_token(
    script: Script, elsewhere: str
) -> None:
    script.replies = [Reply(307, b"", {"Location": elsewhere})]
    with pytest.raises(Unreachable, match="another"):
        script.server("t").get("/x")


def test_a_circle_ends(script: Script) -> None:
    script.replies = [Reply(307, b"", {"Location": "/x"})]
    with pytest.raises(Unreachable, match="circles"):
        script.server().get("/x")


@pytest.mark.parametrize(
    "url", ["", "x", "ftp://host", "http://", "http://a:99999", "http://me:pw@host", "http://["]
)
def test_a_url_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(BadInput):
        Server(url)


@pytest.mark.parametrize("token", ["a\nb", "ä", "a\r\nX: y"])
def test_a_token_that_would_break_a_header_is_refused(token: str) -> None:
    with pytest.raises(BadInput):
        Server("http://127.0.0.1", token)


def test_a_url_may_have_a_path_in_front(script: Script) -> None:
    script.replies = [Reply()]
    Server(f"{script.url}/sickbay/").get("/api/v1/me")
    assert script.asked[0][1] == "/sickbay/api/v1/me"


def test_a_file_arrives_with_its_hash(script: Script, tmp_path: Path) -> None:
    data = bytes(range(256)) * 9000
    script.replies = [Reply(body=data, headers={"ETag": '"x"'})]
    got = script.server().download("/f", tmp_path / "f")
    assert (tmp_path / "f").read_bytes() == data
    assert (got.size, got.sha256) == (len(data), hashlib.sha256(data).hexdigest())
    assert got.headers["etag"] == '"x"'


def test_a_file_cut_off_is_fetched_anew(script: Script, tmp_path: Path) -> None:
    data = b"x" * 5_000_000
    script.replies = [Reply(body=data, cut=1_500_000), Reply(body=data, cut=0), Reply(body=data)]
    got = script.server().download("/f", tmp_path / "f")
    assert got.sha256 == hashlib.sha256(data).hexdigest()
    assert (tmp_path / "f").stat().st_size == len(data)


def test_a_file_that_is_always_cut_off_is_given_up(script: Script, tmp_path: Path) -> None:
    script.replies = [Reply(body=b"x" * 100, cut=50)]
    with pytest.raises(Unreachable):
        script.server().download("/f", tmp_path / "f")


def test_a_target_that_cannot_be_written_is_no_matter_of_the_server(
    script: Script, tmp_path: Path
) -> None:
    script.replies = [Reply(body=b"x")]
    with pytest.raises(StorageFailed):
        script.server().download("/f", tmp_path / "none" / "f")
    assert script.waited == []
