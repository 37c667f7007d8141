"""What lies in a folder, against what ought to lie there."""

import os
from collections.abc import Collection, Iterator
from pathlib import Path

from sickbay.contract.errors import StorageFailed
from sickbay.contract.manifest import ManifestRow
from sickbay.contract.paths import SamplePath


def names(top: Path, leaving_out: Collection[bytes] = ()) -> Iterator[bytes]:
    """Yield the raw path of everything below ``top`` that is no folder, in order of bytes.

    Links are not followed; one to a folder has a slash behind its name. A manifest has the same
    order, so that both can be compared line by line in constant memory.

    Args:
        top: the folder.
        leaving_out: names directly in it that do not count.

    Raises:
        StorageFailed: a folder cannot be read.
    """
    waiting = [_entries(os.fsencode(top), b"", leaving_out)]
    while waiting:
        entry = next(waiting[-1], None)
        if entry is None:
            waiting.pop()
        elif entry[1]:
            waiting.append(_entries(os.fsencode(top), entry[0], ()))
        else:
            yield entry[0]


def beside(present: Iterator[bytes], rows: Iterator[ManifestRow]) -> Iterator[ManifestRow | bytes]:
    """Yield every row, and the raw path of everything present that no row lists.

    Both come, and go, in order of bytes. A link to a folder counts as listed where the rows go on
    below it.
    """
    waiting = next(present, None)
    for row in rows:
        name = row.file_name.encode("utf-8")
        while waiting is not None and waiting <= name:
            if waiting != name and not (waiting.endswith(b"/") and name.startswith(waiting)):
                yield waiting
            waiting = next(present, None)
        yield row
    if waiting is not None:
        yield waiting
        yield from present


def _entries(
    top: bytes, folder: bytes, leaving_out: Collection[bytes]
) -> Iterator[tuple[bytes, bool]]:
    """Yield the names in one folder, and whether each is a folder to go into."""
    try:
        with os.scandir(os.path.join(top, folder)) as found:  # noqa: PTH118 (bytes)
            seen = [_seen(folder, entry) for entry in found if entry.name not in leaving_out]
    except OSError as error:
        shown = SamplePath(folder).text or "."
        raise StorageFailed(f"The folder {shown!r} cannot be read: {error.strerror}.") from None
    yield from sorted(seen)


def _seen(folder: bytes, entry: os.DirEntry[bytes]) -> tuple[bytes, bool]:
    slash = b"/" if entry.is_dir() else b""
    return folder + entry.name + slash, bool(slash) and not entry.is_symlink()
