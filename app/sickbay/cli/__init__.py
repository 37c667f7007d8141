"""The command line: the composition root.

Each command is one file beside this one; here they are put together, and errors become one
plain sentence and an exit code (see ``contract/errors.py``).
"""

import sys

import typer

from sickbay.contract.errors import SickbayError

app = typer.Typer(
    name="sickbay",
    help="Find the samples that would break a training run, decide on them, train on the rest.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def main() -> None:
    """Run the command line and exit with its code."""
    try:
        app()
    except SickbayError as error:
        print(f"sickbay: {error.sentence}", file=sys.stderr)  # noqa: T201 (a command line prints)
        sys.exit(error.exit_code)
