"""The process that takes a job apart: prints a JSON object a line for who watches it.

``begins`` at each stage, ``at`` before each sample, ``alive`` now and then, ``ended`` behind a
stage, and ``report`` or ``refused`` at the end.
"""

import json
import sys
import time
from dataclasses import asdict

from sickbay.contract.errors import SickbayError
from sickbay.contract.report import Stage
from sickbay.trainer.blame.replaying import named
from sickbay.trainer.to_parent import Say, standard_output
from sickbay.trainer.triage.running import Options, Watcher, run

_OFTEN = 1.0
"""Seconds between two signs of life."""


def _watcher(say: Say) -> Watcher:
    said = [0.0]

    def alive() -> None:
        if time.monotonic() - said[0] > _OFTEN:
            said[0] = time.monotonic()
            say({"alive": True})

    def ended(stage: Stage) -> None:
        say({"ended": asdict(stage)})

    return Watcher(
        begins=lambda name: say({"begins": name}),
        alive=alive,
        at=lambda path: say({"at": path}),
        ended=ended,
    )


def main() -> None:
    """Take apart the job that the arguments name."""
    say = standard_output()
    asked = json.loads(sys.argv[1])
    spec = asked.pop("spec")
    try:
        report = run(named(spec), Options(**asked), _watcher(say))
    except SickbayError as error:
        say({"refused": error.sentence})
    else:
        say({"report": asdict(report)})


if __name__ == "__main__":
    main()
