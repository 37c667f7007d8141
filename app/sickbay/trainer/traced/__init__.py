"""Which sample? A data set under watch: batches know their samples, and exceptions name theirs.

    data = Traced(ImageFolder("/data/cells"))
    loader = DataLoader(data, batch_size=32, num_workers=4, collate_fn=data.collate())
    for batch in loader:
        paths = samples_of(batch)

Nothing else changes: items, batches and exceptions are what they would be without it. An
exception carries one more line that names the sample.
"""

import importlib
import sys
from typing import Any

from sickbay.trainer.traced.arrivals import moved, samples_of
from sickbay.trainer.traced.dataset import TracedMap
from sickbay.trainer.traced.fetching import fetching
from sickbay.trainer.traced.names import Paths

__all__ = ["Traced", "fetching", "moved", "samples_of"]


def Traced(  # noqa: N802 (used as the classes that it chooses from)
    dataset: Any, paths: Paths = None, *, on_bad: str = "raise"
) -> Any:
    """Put a data set under watch; what is returned passes for the data set.

    Args:
        dataset: any map-style or iterable data set.
        paths: where its samples' paths come from: one an item; or a function of the index (of
            the item, for an iterable data set); or the name of an attribute of the data set or of
            a key of its items. Without it they are looked for in ``samples``, ``imgs``,
            ``image_paths``, ``files`` and ``paths``, then under usual keys of the items; else a
            sample is ``index:N``.
        on_bad: ``raise``: an exception is recorded and goes on. ``skip``: the sample is left out
            of its batch, and that is counted, told by class, and never silent.

    Raises:
        BadInput: ``on_bad`` is neither.
    """
    data: Any = sys.modules.get("torch.utils.data")
    if data is not None and isinstance(dataset, data.IterableDataset):
        kind: Any = importlib.import_module("sickbay.trainer.traced.iterable").TracedIterable
        return kind(dataset, paths, on_bad)
    return TracedMap(dataset, paths, on_bad)
