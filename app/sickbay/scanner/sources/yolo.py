"""YOLO: a text file a picture, a line an object, with or without ``data.yaml``.

A picture's label file is found as Ultralytics finds it: ``labels`` in place of the last folder
named ``images``, and ``.txt`` in place of the extension; beside the picture where there is no
such folder. A picture without a label file is background.
"""

from collections.abc import Iterator, Sequence

from sickbay.contract.errors import SickbayError
from sickbay.contract.finding import Finding
from sickbay.contract.paths import SamplePath
from sickbay.contract.policy import Policy
from sickbay.scanner.formats import PICTURE_SUFFIXES
from sickbay.scanner.sources import Found, Item, Noted, Skipped, dataset_yaml
from sickbay.scanner.sources.folders import shown_label, split_named
from sickbay.scanner.sources.glimpse import Glimpse
from sickbay.scanner.sources.joined import Place
from sickbay.scanner.sources.named import Named, Names
from sickbay.scanner.sources.partners import Partners, moved, orphan, stem
from sickbay.scanner.sources.split_lists import (
    Lists,
    SplitList,
    listed_at,
    listed_twice,
    split_above,
    splits_of,
)
from sickbay.scanner.trees import Tree

NAME = "yolo"
SUMMARY = (
    "pictures with a .txt file each, one object a line (boxes, polygons, keypoints); data.yaml"
)
_FOLDERS = ((b"images", b"labels"), (b"JPEGImages", b"labels"))
_BACK = ((b"labels", b"images"), (b"labels", b"JPEGImages"))
_NAMES = (b"classes.txt", b"labels/classes.txt", b"obj.names", b"classes.names")
_NAMES_BYTES = 1 << 20
_LISTS = (b"train.txt", b"val.txt", b"valid.txt", b"test.txt")
_ROW = 5  # columns of a box
NO_PART = "not a picture or its label file"


class Yolo:
    """The pictures below a root, each with its label file."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._partners = Partners(tree)
        self._yaml = dataset_yaml.find(tree)
        self._folders: list[tuple[bytes, str]] = []
        self._noted = {self._yaml.raw: list(self._yaml.findings)} if self._yaml.raw else {}
        self._lists = Lists(tree, self._placed_splits(), _find)
        self.classes = self._yaml.classes or _names(tree)

    def items(self) -> Iterator[Item]:
        """Yield the pictures, and label files and lists with findings, in order of raw path."""
        for place in self._lists.places():
            yield from self._items(place)

    def _items(self, place: Place) -> Iterator[Item]:
        raw, entry = place.raw, place.entry
        if isinstance(entry, Skipped):
            yield entry
        elif entry is None or SamplePath(raw).suffix in PICTURE_SUFFIXES:
            yield self._sample(place)
        elif findings := (*self._noted.get(raw, ()), *self._lists.findings.get(raw, ())):
            yield Noted(raw, findings)
        elif self._is_read(raw):
            return
        elif not self._is_label(raw):
            yield Skipped(raw, NO_PART)
        elif not self._has_picture(raw):
            yield Noted(raw, (orphan(raw),))

    def _sample(self, place: Place) -> Found:
        splits = splits_of(place)
        points = self._yaml.keypoints
        return Found(
            place.raw,
            splits[0] if splits else self._split(place.raw),
            kind=NAME,
            side=self._label_of(place.raw),
            given=None if points is None else {"keypoints": list(points)},
            listed=listed_at(place),
            findings=listed_twice(place),
        )

    def _label_of(self, picture: bytes) -> bytes:
        elsewhere = moved(picture, _FOLDERS)
        if elsewhere is not None and self._partners.has_files(elsewhere.rpartition(b"/")[0]):
            return stem(elsewhere) + b".txt"
        return stem(picture) + b".txt"

    def _is_label(self, raw: bytes) -> bool:
        name = raw.rpartition(b"/")[2]
        if not name.endswith(b".txt") or name == b"classes.txt":
            return False
        return moved(raw, _BACK) is not None or self._partners.has_picture(stem(raw))

    def _has_picture(self, label: bytes) -> bool:
        pairs = [moved(label, (pair,)) for pair in _BACK]
        return any(self._partners.has_picture(stem(raw)) for raw in (*pairs, label) if raw)

    def _is_read(self, raw: bytes) -> bool:
        lists = (one.raw for one in self._lists.lists)
        return raw == self._yaml.raw or raw in lists or raw in _NAMES

    def _split(self, raw: bytes) -> str:
        """Return the split whose folder holds a picture, else the one a folder is named for."""
        for folder, split in self._folders:
            if raw.startswith(folder):
                return split
        return "" if self._folders else split_above(raw)

    def _placed_splits(self) -> Sequence[SplitList]:
        """Find the folders and lists of the splits."""
        if not self._yaml.splits:
            return [
                SplitList(raw, split_named(stem(raw)))
                for raw in _LISTS
                if self._partners.has(raw) and not self._partners.has_picture(stem(raw))
            ]
        lists = []
        for split, paths in self._yaml.splits.items():
            for places in paths:
                if (raw := self._partners.first(places)) is not None:
                    lists.append(SplitList(raw, split))
                elif (folder := self._folder(places)) is not None:
                    self._folders.append((folder, split))
                else:
                    self._tell_missing(split, places[0])
        self._tell_shared()
        return lists

    def _folder(self, places: Sequence[bytes]) -> bytes | None:
        """Return the first that is a folder, with the slash that its files begin with."""
        for raw in places:
            if next(iter(self._tree.listing(raw)), None) is not None:
                return raw + b"/" if raw else raw
        return None

    def _tell_shared(self) -> None:
        """Tell folders that training shares with another split: loaders read what lies below."""
        trained = [folder for folder, split in self._folders if split == "train"]
        for folder, split in self._folders:
            for ours in () if split == "train" else trained:
                if ours.startswith(folder) or folder.startswith(ours):
                    names = [
                        repr(SamplePath(raw.rstrip(b"/")).text or ".") for raw in (ours, folder)
                    ]
                    where = names[0] if ours == folder else " and ".join(names)
                    message = f"train and {split} share pictures: both read {where}."
                    self._tell("set.split-leak", message, split)

    def _tell_missing(self, split: str, raw: bytes) -> None:
        if split != "test":  # exports name a test split that they lack
            message = f"There is no folder or list {SamplePath(raw).text!r} for {split}."
            self._tell("file.missing", message, split)

    def _tell(self, code: str, message: str, split: str) -> None:
        if self._yaml.raw is not None:
            finding = Finding.of(code, SamplePath(self._yaml.raw).text, message, split)
            self._noted.setdefault(self._yaml.raw, []).append(finding)


def read(tree: Tree, _policy: Policy) -> Yolo:
    """Read the pictures below a root, and what describes them."""
    return Yolo(tree)


def recognise(glimpse: Glimpse) -> str | None:
    """Say why a folder looks like YOLO."""
    files = glimpse.files()
    for raw in files:
        if raw in {b"data.yaml", b"dataset.yaml"} and b"names" in glimpse.head(raw):
            return f"{SamplePath(raw).text} names classes"
    stems = {stem(raw) for raw in files if SamplePath(raw).suffix in PICTURE_SUFFIXES}
    texts = [raw for raw in files if raw.endswith(b".txt")]
    for raw in texts:
        if any(one and stem(one) in stems for one in (moved(raw, (pair,)) for pair in _BACK)):
            return f"{SamplePath(raw).text} has the name of a picture in images"
    for raw in texts:  # beside a picture it may be a caption as well
        if stem(raw) in stems and _has_rows(glimpse.head(raw, 4096)):
            return f"{SamplePath(raw).text} has rows of a class and numbers, beside its picture"
    return None


def _find(names: Names, text: str, beside: bytes) -> Named:
    return names.find_moved(text, beside)


def _has_rows(head: bytes) -> bool:
    """Whether text begins with a row of a class number and at least four numbers."""
    parts = head.lstrip(b"\xef\xbb\xbf").strip().partition(b"\n")[0].split()
    try:
        return len([float(part) for part in parts]) >= _ROW
    except ValueError:
        return False


def _names(tree: Tree) -> tuple[str, ...]:
    """Read the classes from a text file of one name a line, where there is one."""
    for raw in _NAMES:
        try:
            with tree.open(raw) as file:
                data = file.read(_NAMES_BYTES).removeprefix(b"\xef\xbb\xbf")
        except (SickbayError, OSError):
            continue
        return tuple(shown_label(line.strip()) for line in data.splitlines() if line.strip())
    return ()
