"""The step from a list of items to a batch, under watch."""

import importlib
from collections.abc import Callable, Sequence
from typing import Any

from sickbay.contract.event import FailureKind
from sickbay.trainer.shapes import Signature, odd, signature
from sickbay.trainer.traced import arrivals
from sickbay.trainer.traced.arrivals import Facts
from sickbay.trainer.traced.fetching import Fetching
from sickbay.trainer.traced.noted import noted
from sickbay.trainer.traced.skipping import Skipped

_MOST_TRIED = 100
"""Samples that are tried in the place of a batch of which none could be fetched."""
_MOST_TRIED_ALONE = 256
_OTHER = FailureKind.LOADER_ERROR
Named = list[tuple[str, Any]]


class Collate:
    """Puts items together as the given function does, and sends their paths with the batch.

    Args:
        fetch: watches the data set.
        collate: the job's own function, or nothing for torch's default.
        another: fetches another item where none of a batch could be, or nothing.
    """

    def __init__(
        self,
        fetch: Fetching,
        collate: Callable[[Any], Any] | None,
        another: Callable[[Any], Any] | None = None,
    ) -> None:
        self._fetch = fetch
        self.own = collate
        self._another = another
        self._usual: Signature | None = None
        self._looked = False

    def __call__(self, data: Any) -> Any:
        """Put a batch together, or pass one item on where the loader makes no batches.

        Raises:
            Exception: as the job's own function raises it.
        """
        single = not isinstance(data, list) or noted().is_last(data)
        items = [data] if single else data
        named = noted().take(items)
        skipped = [item for item in items if isinstance(item, Skipped)]
        if skipped:
            items, named = self._without(items, named, skipped)
        batch = self._put(items, named, single=single, skipped=skipped)
        facts = Facts(tuple(path for path, _ in named), tuple(one.record for one in skipped))
        return arrivals.on_way(batch, facts, in_worker=self._fetch.here().remote)

    def _without(
        self, items: Sequence[Any], named: Named, skipped: list[Skipped]
    ) -> tuple[list[Any], Named]:
        """Take out what was skipped; where nothing is left, put another sample in."""
        pairs = list(zip(items, named, strict=False))
        kept = [pair for pair in pairs if not isinstance(pair[0], Skipped)]
        if kept:
            return [item for item, _ in kept], [name for _, name in kept]
        return self._instead(named, skipped)

    def _instead(self, named: Named, skipped: list[Skipped]) -> tuple[list[Any], Named]:
        last = named[-1][1] if named else None
        for offset in range(1, _MOST_TRIED + 1):
            if self._another is None or not isinstance(last, int):
                break
            item = self._another(last + offset)
            found = noted().take([item])
            if not isinstance(item, Skipped):
                return [item], found
            skipped.append(item)
        note = self._fetch.note(FailureKind.LOADER_ERROR, [path for path, _ in named])
        return self._fetch.stop(skipped[-1].error, note)

    def _put(self, items: list[Any], named: Named, *, single: bool, skipped: list[Skipped]) -> Any:
        self._fetch.collating([path for path, _ in named])
        try:
            batch = self._put_together(items, single=single)
        except Exception as error:  # noqa: BLE001 (raised again, or the policy is to skip)
            return self._bad(error, items, named, single=single, skipped=skipped)
        finally:
            self._fetch.idle()
        if not self._looked:
            self._looked = True
            found = set(map(signature, items))
            self._usual = found.pop() if len(found) == 1 else None
        return batch

    def _put_together(self, items: list[Any], *, single: bool) -> Any:
        what = items[0] if single else items
        if self.own is not None:
            return self.own(what)
        data: Any = importlib.import_module("torch.utils.data")
        return data.default_convert(what) if single else data.default_collate(what)

    def _bad(
        self,
        error: Exception,
        items: list[Any],
        named: Named,
        *,
        single: bool,
        skipped: list[Skipped],
    ) -> Any:
        """Name the samples that are unlike the others, or all; leave them out if told to."""
        kind, places = self._blamed(items) if len(named) == len(items) else (_OTHER, [])
        blamed = [named[place] for place in places] or named
        index = blamed[0][1] if len(blamed) == 1 else None
        note = self._fetch.note(kind, [path for path, _ in blamed], index)
        found = {"shapes": [list(signature(items[place])) for place in places[:4]]}
        if not self._fetch.skip or not places or len(places) == len(items):
            self._fetch.stop(error, note, batch_size=len(items), **found)
        for place in sorted(places, reverse=True):
            path, at = named.pop(place)
            del items[place]
            one = self._fetch.note(kind, [path], at)
            skipped.append(self._fetch.left_out(error, one, path, at, **found))
        return self._put(items, named, single=single, skipped=skipped)

    def _blamed(self, items: list[Any]) -> tuple[FailureKind, list[int]]:
        """Return the places of samples that are unlike the others, or that fail alone."""
        if places := odd(items, self._usual):
            return FailureKind.SHAPE_MISMATCH, places
        if len(items) > _MOST_TRIED_ALONE:
            return _OTHER, []
        return _OTHER, [place for place, item in enumerate(items) if self._fails([item])]

    def _fails(self, items: list[Any]) -> bool:
        try:
            self._put_together(items, single=False)
        except Exception:  # noqa: BLE001 (whatever it is)
            return True
        return False
