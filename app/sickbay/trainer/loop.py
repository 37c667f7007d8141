"""A plain training loop that tells which samples each step used.

for step, batch in sickbay.steps(loader):
    …
"""

from collections.abc import Iterable, Iterator
from typing import Any

import sickbay.trainer as kit
from sickbay.trainer.inputs import BatchChecks
from sickbay.trainer.traced.arrivals import samples_of


def steps(
    loader: Iterable[Any], start: int = 0, *, checks: BatchChecks | None = None
) -> Iterator[tuple[int, Any]]:
    """Yield the loader's batches, each with its step, and tell the run its samples.

    Args:
        loader: gives batches; of a ``Traced`` data set, their samples are known.
        start: the first step.
        checks: looks at each batch, where it is given.

    Raises:
        Exception: what the loader raises, after the run was told of it.
    """
    step = start
    batches = iter(loader)
    while True:
        try:
            batch = next(batches)
        except StopIteration:
            return
        except Exception as error:
            kit.run().failure(exception=error, step=step)
            raise
        if paths := samples_of(batch):
            kit.run().seen(step, paths)
        if checks is not None:
            checks.look(batch, step)
        yield step, batch
        step += 1
