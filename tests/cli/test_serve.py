"""``sickbay serve`` and ``sickbay login-link``."""

import http.client
import socket
import stat
from contextlib import closing
from pathlib import Path

import pytest
from tests.commands import run
from tests.serving import serving, start

from sickbay.client.http import Server


def test_the_printed_link_is_good_once_and_another_can_be_had(state: Path) -> None:
    with serving(state) as server:
        assert _log_in(server.url, server.secret) == 303
        assert _log_in(server.url, server.secret) == 403
        link = run("login-link", "--state", state).out.strip()
        url, _, secret = link.partition("/login#")
        assert url == server.url, "it names the server that runs, whatever its port"
        assert _log_in(url, secret) == 303


def test_each_start_prints_a_link_of_its_own(state: Path) -> None:
    secrets = set()
    for _ in range(2):
        with serving(state) as server:
            secrets.add(server.secret)
    assert len(secrets) == 2


def test_a_link_for_a_colleague(state: Path) -> None:
    assert run("login-link", "--name", "bert", "--state", state).code == 2
    ran = run("login-link", "--name", "bert", "--role", "reviewer", "--state", state)
    assert ran.code == 0
    assert run("login-link", "--name", "bert", "--state", state).code == 0
    odd = run("login-link", "--name", "bert", "--role", "king", "--state", state)
    assert odd.code == 2
    assert "admin, reviewer and viewer" in odd.sentence


def test_a_second_server_on_the_same_state_refuses(state: Path) -> None:
    with serving(state) as server:
        ran = run("serve", "--state", state, "--port", "0")
        assert ran.code == 2
        assert "Another server" in ran.sentence
        assert Server(server.url).get("/healthz").status == 200
    with serving(state):
        pass  # a killed server leaves no lock behind


def test_a_port_in_use_is_one_sentence(state: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ran = run("serve", "--state", state, "--port", str(taken.getsockname()[1]))
    assert ran.code == 2
    assert "--port" in ran.sentence


@pytest.mark.parametrize("host", ["256.1.1.1", "198.51.100.7"])
def test_an_address_that_is_not_ours_is_one_sentence(state: Path, host: str) -> None:
    ran = run("serve", "--state", state, "--host", host, "--port", "0")
    assert ran.code in {1, 2}
    assert host in ran.sentence


def test_a_state_that_is_a_file_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for command in (
        ["serve", "--port", "0"],
        ["token", "list"],
        ["login-link"],
        ["demo", "--check"],
    ):
        ran = run(*command, "--state", tmp_path / "file")
        assert ran.code == 2
        assert ran.sentence.endswith("file is a file; give a folder with --state.")


def test_a_database_that_is_none_is_one_sentence(state: Path) -> None:
    (state / "sickbay.db").write_bytes(b"no database at all" * 1000)
    ran = run("serve", "--state", state, "--port", "0")
    assert ran.code == 5
    assert "not a database" in ran.sentence


def test_told_to_stop_it_ends_cleanly(state: Path) -> None:
    server = start(state)
    assert server.stop() == 0


def test_what_it_writes_is_for_its_owner_only(tmp_path: Path) -> None:
    state = tmp_path / "new" / "state"
    state.mkdir(parents=True, mode=0o700)
    with serving(state):
        found = {path: path.stat().st_mode for path in state.rglob("*")}
    secret = {path for path, mode in found.items() if path.name != "server.log"}
    assert state / "sickbay.db" in secret
    assert not [path for path in secret if stat.S_IMODE(found[path]) & 0o077]


def test_it_listens_on_loopback_only(state: Path) -> None:
    with serving(state) as server:
        assert server.url.startswith("http://127.0.0.1:")
        listening = Path("/proc/net/tcp").read_text().split()
        assert f"0100007F:{server.port:04X}" in listening
        assert f"00000000:{server.port:04X}" not in listening


def test_without_home_or_name_it_still_starts(state: Path) -> None:
    ran = run("login-link", "--state", state, LOGNAME="", USER="", HOME="/nonexistent")
    assert ran.code == 0


def _log_in(url: str, secret: str) -> int:
    with closing(http.client.HTTPConnection(url.partition("://")[2], timeout=10)) as server:
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        server.request("POST", "/login", f"link={secret}", headers)
        return server.getresponse().status
