"""Pictures with segmentation masks: two folders of the same names, or ``a.jpg`` and ``a_mask.png``.

A mask is a picture whose values are classes. It belongs to the picture of the same name without
extension (and without ``_mask`` or the like) in the folder that stands for its own.
"""

from collections.abc import Iterator
from itertools import product

from sickbay.contract.finding import Finding
from sickbay.contract.paths import SamplePath
from sickbay.contract.policy import Policy
from sickbay.scanner.formats import PICTURE_SUFFIXES
from sickbay.scanner.sources import Found, Item, Noted, Skipped
from sickbay.scanner.sources.glimpse import Glimpse
from sickbay.scanner.sources.partners import Partners, orphan, stem
from sickbay.scanner.sources.split_lists import split_above
from sickbay.scanner.trees import Entry, Tree

NAME = "masks"
SUMMARY = "pictures and segmentation masks of the same names in two folders, or NAME_mask beside"
_PICTURES = (b"images", b"image", b"imgs", b"img", b"JPEGImages", b"Images")
_MASKS = (
    *(b"masks", b"mask", b"labels", b"label", b"annotations", b"SegmentationClass", b"Masks"),
    *(b"segmentations", b"gt", b"labelTrainIds"),
)
_ENDS = (b"_masks", b"_mask", b"_labels", b"annot")  # train and train_masks side by side
_NAME_ENDS = (
    b"",
    b"_mask",
    b"-mask",
    b"_label",
    b"_labels",
    b"_seg",
    b"_segmentation",
    b"_gt",
    b"_L",
)
_SUFFIXES = (
    *(b".png", b".PNG", b".tif", b".tiff", b".bmp", b".gif", b".jpg", b".jpeg", b".webp"),
    *(b".JPG", b".TIF"),
)
NO_PART = "not a picture or its mask"


class Masks:
    """The pictures below a root, each with its mask."""

    def __init__(self, tree: Tree, policy: Policy) -> None:
        self.classes = policy.classes or ()
        self._tree = tree
        self._partners = Partners(tree)
        self._known: tuple[bytes | None, tuple[bytes, ...]] = (None, ())

    def items(self) -> Iterator[Item]:
        """Yield the pictures, and masks without one, in order of raw path."""
        for entry in self._tree.entries():
            if isinstance(entry, Skipped):
                yield entry
            elif SamplePath(entry.raw).suffix not in PICTURE_SUFFIXES:
                yield Skipped(entry.raw, NO_PART)
            elif (item := self._item(entry)) is not None:
                yield item

    def _item(self, entry: Entry) -> Item | None:
        raw = entry.raw
        if _is_mask_folder(raw):
            return None if self._has_picture(raw) else Noted(raw, (orphan(raw),))
        if self._is_beside(raw):
            return None
        mask = self._mask_of(raw)
        split = split_above(raw)
        if mask is None:
            message = "There is no mask that belongs to it."
            finding = Finding.of("label.missing", SamplePath(raw).text, message)
            return Found(raw, split, findings=(finding,))
        return Found(raw, split, kind="mask", side=mask)

    def _mask_of(self, picture: bytes) -> bytes | None:
        folder, _, name = picture.rpartition(b"/")
        if self._known[0] != folder:
            self._known = (folder, tuple(self._mask_folders(folder)))
        bare = stem(name)
        places = [
            *(place + bare + end for place, end in product(self._known[1], _NAME_ENDS)),
            *(_joined(folder, bare + end) for end in _NAME_ENDS[1:]),
        ]
        there = (place for place in places if self._partners.has_picture(place))
        return self._partners.first(place + suffix for place in there for suffix in _SUFFIXES)

    def _mask_folders(self, folder: bytes) -> Iterator[bytes]:
        """Yield the folders that may hold the masks of a folder's pictures, with a slash."""
        for place in _other_folders(folder):
            if next(iter(self._tree.listing(place)), None) is not None:
                yield place + b"/"

    def _has_picture(self, mask: bytes) -> bool:
        folder, _, name = mask.rpartition(b"/")
        return any(
            self._partners.has_picture(_joined(place, bare))
            for place in _picture_folders(folder)
            for bare in _bare_names(name)
        )

    def _is_beside(self, raw: bytes) -> bool:
        """Whether it is the mask of a picture in the same folder."""
        folder, _, name = raw.rpartition(b"/")
        bare = stem(name)
        return any(
            self._partners.has_picture(_joined(folder, one))
            for one in _bare_names(name)
            if one != bare
        )


def read(tree: Tree, policy: Policy) -> Masks:
    """Read the pictures and masks below a root."""
    return Masks(tree, policy)


def recognise(glimpse: Glimpse) -> str | None:
    """Say why a folder looks like pictures with masks."""
    pictures = [raw for raw in glimpse.files() if SamplePath(raw).suffix in PICTURE_SUFFIXES]
    stems = {stem(raw) for raw in pictures if not _is_mask_folder(raw)}
    for raw in pictures:
        folder, _, name = raw.rpartition(b"/")
        masks = _is_mask_folder(raw)
        places = _picture_folders(folder) if masks else [folder]
        bare = [one for one in _bare_names(name) if masks or one != stem(name)]
        if any(_joined(place, one) in stems for place in places for one in bare):
            return f"{SamplePath(raw).text} has the name of a picture, as masks have"
    return None


def _other_folders(folder: bytes) -> Iterator[bytes]:
    """Yield where masks of pictures in a folder may lie: another name for one part of its path."""
    parts = folder.split(b"/")
    for at in range(len(parts) - 1, -1, -1):
        others = _MASKS if parts[at] in _PICTURES else ()
        for other in (*others, *(parts[at] + end for end in _ENDS if parts[at])):
            yield b"/".join([*parts[:at], other, *parts[at + 1 :]])


def _is_mask_folder(raw: bytes) -> bool:
    folders = raw.split(b"/")[:-1]
    return any(part in _MASKS or part.endswith(_ENDS) for part in folders)


def _picture_folders(folder: bytes) -> Iterator[bytes]:
    """Yield where the pictures of masks in a folder may lie."""
    parts = folder.split(b"/")
    for at in range(len(parts) - 1, -1, -1):
        others = [*(_PICTURES if parts[at] in _MASKS else ())]
        others += [parts[at].removesuffix(end) for end in _ENDS if parts[at].endswith(end)]
        for other in others:
            if other:
                yield b"/".join([*parts[:at], other, *parts[at + 1 :]])


def _bare_names(name: bytes) -> Iterator[bytes]:
    """Yield the names without extension that the picture of a mask may have."""
    bare = stem(name)
    for end in _NAME_ENDS:
        if bare.endswith(end) and len(bare) > len(end):
            yield bare[: len(bare) - len(end)]


def _joined(folder: bytes, name: bytes) -> bytes:
    return folder + b"/" + name if folder else name
