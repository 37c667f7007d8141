"""``sickbay replay``: repeat a bad step of a training job another day."""

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sickbay.contract.errors import BadInput, Busy
from sickbay.contract.opening import Opened

if TYPE_CHECKING:
    from sickbay.contract.blame import Verdict
    from sickbay.trainer.blame.evidence import Evidence

_SHOWN = 10
_SAID = {
    "reproduced-alone": "These samples do it in a fresh model too: it is the data.",
    "only-in-this-state": "It does it again with the weights of then, and not with fresh ones.",
    "not-reproduced": "The same batch with the same weights is fine: the cause is elsewhere.",
    "differs-on-repeat": "The same step gave two results: nondeterminism, or the hardware.",
}


def replay(
    event: Annotated[
        str, typer.Argument(help="The failure's ref (16 hex digits), or its evidence file.")
    ],
    factory: Annotated[
        str,
        typer.Argument(
            metavar="MODULE:FACTORY",
            help="Returns the job as for triage, its (model, criterion), a model whose output has "
            "the loss, or a Blame. This runs that module's code.",
        ),
    ],
    *,
    evidence: Annotated[
        Path | None, typer.Option(help="The folder of evidence; SICKBAY_EVIDENCE, or the cache's.")
    ] = None,
    checkpoint: Annotated[
        Path | None, typer.Option(help="The weights before the step, if they were moved.")
    ] = None,
    budget: Annotated[float, typer.Option(help="Seconds it may take.", min=0.1)] = 600.0,
    server: Annotated[
        str, typer.Option(envvar="SICKBAY_URL", help="Send the verdict there.", show_default=False)
    ] = "",
    token: Annotated[
        str, typer.Option(envvar="SICKBAY_TOKEN", help="A token that may send events.")
    ] = "",
    run: Annotated[
        str, typer.Option(help="The run's key (the end of its page's address), if not kept.")
    ] = "",
    attempt: Annotated[int, typer.Option(help="Its attempt, if not kept.", min=0)] = 0,
) -> None:
    """Repeat a failure's step from its saved batch, random state and checkpoint.

    Says whether its samples are the cause, and adds that verdict to the failure where a server is
    given. Nothing is left out of any data set by it.
    """
    from sickbay.trainer.blame.replaying import named, replay

    found = _evidence(event, evidence)
    key, number = run or found.run, attempt or found.attempt
    if server and not (key and number):
        raise BadInput(
            "The job did not know its run when the evidence was kept: give --run and --attempt."
        )
    verdict = replay(found, named(factory), checkpoint=checkpoint, budget=budget)
    if verdict is None:
        raise Busy(f"{budget:g} seconds were not enough to repeat the step; give more --budget.")
    _say(found, verdict)
    if server:
        _send(server, token, Opened(key, number), found, verdict)


def _evidence(event: str, folder: Path | None) -> "Evidence":
    from sickbay.trainer.blame import evidence as kept

    path = kept.find(event, folder or kept.default_folder())
    if importlib.util.find_spec("torch") is None:
        raise BadInput("Repeating a step needs torch: run this where the job runs.")
    return kept.read(path)


def _say(found: "Evidence", verdict: "Verdict") -> None:
    typer.echo(f"{found.kind.value} at step {found.step}: {verdict.outcome.value}")
    typer.echo(_SAID[verdict.outcome.value])
    for sample in verdict.samples[:_SHOWN]:
        loss = "" if sample.loss is None else f"  loss {sample.loss:.6g}"
        typer.echo(f"  {sample.path}{loss}")
    if len(verdict.samples) > _SHOWN:
        typer.echo(f"  and {len(verdict.samples) - _SHOWN} more")
    if rows := verdict.detail.get("rows") if not verdict.samples else None:
        typer.echo(f"  rows of the batch: {', '.join(map(str, rows[:_SHOWN]))}")
    if unfinished := verdict.detail.get("unfinished"):
        typer.echo(f"Not finished: {unfinished}.")
    typer.echo(f"It took {verdict.forwards} forward passes.")


def _send(server: str, token: str, opened: Opened, found: "Evidence", verdict: "Verdict") -> None:
    from sickbay.client.http import Pace
    from sickbay.trainer.blame.replaying import send
    from sickbay.trainer.line import Line

    line = Line(server, token or None, Pace(patience=60.0))
    send(line, opened, found.rank, verdict)
    typer.echo(f"Sent to {server}.")
