"""Where the paths of a data set's items come from."""

import itertools
import os
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeAlias

KNOWN = ("samples", "imgs", "image_paths", "files", "paths")
"""Attributes in which data sets keep their paths; of pairs, the first is the path."""
KEYS = ("path", "image_path", "img_path", "file", "filename", "file_name", "__key__", "url")
"""Keys under which an item itself may say it."""
LOCALS = ("path", "image_path", "img_path", "filepath", "file_path", "file", "filename", "fname")
"""Local variables that hold the path of what is being read."""
_MOST_FRAMES, _MOST_CAUSES = 100, 5
Paths: TypeAlias = Sequence[Any] | Callable[[Any], Any] | str | None


class Names:
    """Says the path of an item, by its index or by itself.

    Args:
        dataset: the data set.
        paths: one path an item; or a function of the index (of the item, for an iterable data
            set); or the name of an attribute of the data set, or of a key of its items. Where
            nothing is said, the known attributes are looked for.
    """

    def __init__(self, dataset: Any, paths: Paths = None) -> None:
        self._call = paths if callable(paths) else None
        self._keys = (paths,) if isinstance(paths, str) else KEYS
        self._listed: Any = None
        if isinstance(paths, str):
            self._listed = _column(getattr(dataset, paths, None))
        elif paths is None:
            found = (_column(getattr(dataset, name, None)) for name in KNOWN)
            self._listed = next((one for one in found if one is not None), None)
        elif self._call is None:
            self._listed = paths

    def of(self, index: Any) -> str:
        """Return the path of an item that is known by its index only."""
        try:
            if self._listed is not None:
                path = self._listed[index]
                if type(path) is tuple and path:
                    path = path[0]
                return path if type(path) is str and path else _as_path(path)
            if self._call is not None:
                return _as_path(self._call(index))
        except Exception:  # noqa: BLE001, S110 (a list of the job's may raise anything)
            pass
        return f"index:{index}"

    def of_item(self, item: Any, count: int) -> str:
        """Return the path of an item of an iterable data set, the ``count``-th of its worker."""
        with suppress(Exception):
            if self._call is not None:
                return _as_path(self._call(item))
        return self.said_by(item) or f"index:{count}"

    def said_by(self, item: Any) -> str | None:
        """Return the path that an item itself names."""
        if isinstance(item, Mapping):
            for key in self._keys:
                with suppress(TypeError, ValueError):
                    if key in item:
                        return _as_path(item[key])
        return None

    def vague(self, path: str) -> bool:
        """Whether a path is only a number of ours."""
        return path.startswith("index:")


def in_error(error: BaseException) -> str | None:
    """Return the path that an exception names: its file's, or a variable's where it was raised.

    Where it names none, its cause is asked, and so on.
    """
    seen: BaseException | None = error
    for _ in range(_MOST_CAUSES):
        if seen is None:
            break
        if path := _in_one(seen):
            return path
        seen = seen.__cause__
    return None


def _in_one(error: BaseException) -> str | None:
    filename = getattr(error, "filename", None)
    with suppress(TypeError, ValueError):
        if filename is not None:
            return _as_path(filename)
    frames = itertools.islice(traceback.walk_tb(error.__traceback__), _MOST_FRAMES)
    named = [path for frame, _ in frames if (path := _local(frame.f_locals))]
    return named[-1] if named else None


def in_generator(generator: Any) -> str | None:
    """Return the path that a generator, or the one it yields from, holds in a variable now."""
    found = None
    for _ in range(_MOST_FRAMES):
        frame = getattr(generator, "gi_frame", None)
        if frame is None:
            break
        found = _local(frame.f_locals) or found
        generator = generator.gi_yieldfrom
    return found


def _local(variables: Mapping[str, Any]) -> str | None:
    for name in LOCALS:
        value = variables.get(name)
        if isinstance(value, str | os.PathLike) and str(value) and "\n" not in str(value):
            return os.fsdecode(value)
    return None


def _column(found: Any) -> Any:
    """Return what can be asked for the path at an index: a list of paths or of pairs."""
    if found is None or isinstance(found, str | bytes | Mapping) or callable(found):
        return None
    with suppress(Exception):
        _as_path(found[0])
        return found
    return None


def _as_path(value: Any) -> str:
    """Return a path as text.

    Raises:
        TypeError, ValueError: it is none.
    """
    if isinstance(value, tuple | list) and value:
        value = value[0]
    if isinstance(value, str | bytes | os.PathLike):
        path = os.fsdecode(value)
        if path:
            return path
    raise TypeError("no path")
