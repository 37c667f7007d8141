"""The program itself: its version, its help, and what it says of a word it does not know."""

from importlib.metadata import version

from tests.commands import run


def test_the_version_is_the_installed_one() -> None:
    assert run("--version").out == f"sickbay {version('sickbay')}\n"


def test_without_a_command_the_help_names_them_all() -> None:
    said = run()
    for command in (
        "demo",
        "scan",
        "serve",
        "release",
        "pull",
        "verify",
        "token",
        "codes",
        "doctor",
    ):
        assert command in said.out


def test_an_unknown_command_is_a_plain_refusal() -> None:
    refused = run("scam")
    assert refused.code == 2
    assert "scam" in refused.err
    assert "Traceback" not in refused.err
