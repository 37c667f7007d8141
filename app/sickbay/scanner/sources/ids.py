"""Pictures that a table names by an id: their name without the suffix, as competitions do.

A column holds ids where at least half of its first values are names of pictures in one folder of
the data set, and nearly no value is there twice, as labels are.
"""

from collections.abc import Sequence

from sickbay.contract.paths import SamplePath
from sickbay.scanner.formats import PICTURE_SUFFIXES
from sickbay.scanner.sources.glimpse import Glimpse
from sickbay.scanner.sources.partners import Partners
from sickbay.scanner.trees import Tree

_FOLDERS = 8  # with pictures, looked into: as many as are remembered at once
_SOME = 50  # values that tell
_HALF, _NEARLY_ALL = 0.5, 0.9
_LONGEST = 200  # characters of an id
_USUAL = (".jpg", ".png", ".jpeg", ".tif", ".tiff", ".bmp", ".webp")


class Ids:
    """The pictures of a tree by their names without suffix.

    Args:
        tree: the data set.
        glimpse: a first look at it, where there was one.
    """

    def __init__(self, tree: Tree, glimpse: Glimpse | None = None) -> None:
        self._tree = tree
        self._glimpse = glimpse
        self._partners = Partners(tree)
        self._folders: list[bytes] | None = None
        self._last: tuple[bytes, str] = (b"", ".jpg")

    def column(self, columns: Sequence[Sequence[str]]) -> int | None:
        """Return which of some columns holds ids, by the first values of each."""
        return next((at for at, values in enumerate(columns) if self._fits(values)), None)

    def path(self, value: str) -> str:
        """Return the path of the picture that an id names; where none lies, where it should be."""
        name = value.strip()
        raw = name.encode("utf-8", errors="surrogateescape")
        if not name or len(name) > _LONGEST or "/" in name or "\\" in name or "\0" in name:
            return name
        for folder in self._holders():
            if self._partners.has_picture(folder + raw):
                self._last = (folder, self._suffix(folder + raw))
                break
        folder, suffix = self._last
        return folder.decode("utf-8", errors="surrogateescape") + name + suffix

    def _fits(self, values: Sequence[str]) -> bool:
        some = [value.strip() for value in values if value.strip()][:_SOME]
        if not some or len(set(some)) < _NEARLY_ALL * len(some):
            return False
        raws = [one.encode("utf-8", errors="surrogateescape") for one in some]
        return any(
            sum(self._partners.has_picture(folder + raw) for raw in raws) >= _HALF * len(raws)
            for folder in self._holders()
        )

    def _suffix(self, stem: bytes) -> str:
        known = (*_USUAL, *sorted(PICTURE_SUFFIXES))
        every = (one for suffix in known for one in (suffix, suffix.upper()))
        return next((one for one in every if self._partners.has(stem + one.encode())), _USUAL[0])

    def _holders(self) -> list[bytes]:
        """Return the folders that hold pictures, with a slash, nearest to the top first."""
        if self._folders is None:
            files = (self._glimpse or Glimpse(self._tree)).files()
            pictures = (raw for raw in files if SamplePath(raw).suffix in PICTURE_SUFFIXES)
            folders = dict.fromkeys(raw[: raw.rfind(b"/") + 1] for raw in pictures)
            self._folders = list(folders)[:_FOLDERS]
        return self._folders
