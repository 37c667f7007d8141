"""The program itself: its version, its help, and what it says of a word it does not know."""

from importlib.metadata import version

from tests.commands import sickbay


def test_the_version_is_the_installed_one() -> None:
    assert sickbay("--version").stdout == f"sickbay {version('sickbay')}\n"


def test_without_a_command_the_help_names_them_all() -> None:
    said = sickbay()
    for command in ("demo", "scan", "serve", "release", "pull", "verify", "token", "codes"):
        assert command in said.stdout


def test_an_unknown_command_is_a_plain_refusal() -> None:
    refused = sickbay("scam")
    assert refused.returncode == 2
    assert "scam" in refused.stderr
    assert "Traceback" not in refused.stderr
