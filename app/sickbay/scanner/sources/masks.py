"""Pictures with segmentation masks: two folders of the same names, or ``a.jpg`` and ``a_mask.png``.

A mask is a picture or a ``.npy`` array whose values are classes; a picture may have several
(``a_mask.png``, ``a_mask_1.png``). It belongs to the picture of the same name without
extension (and without ``_mask`` or the like) in the folder that stands for its own. Where only
some pictures have one, the others are held, but for those of a test.
"""

import re
from collections.abc import Container, Iterator, Sequence
from itertools import product

from sickbay.contract.finding import Finding
from sickbay.contract.paths import SamplePath
from sickbay.contract.policy import Policy
from sickbay.scanner.formats import PICTURE_SUFFIXES
from sickbay.scanner.sources import Found, Item, Noted, Skipped
from sickbay.scanner.sources.glimpse import Glimpse
from sickbay.scanner.sources.mask_folders import inputs_of, is_truth, truths_of
from sickbay.scanner.sources.partners import Partners, orphan, stem
from sickbay.scanner.sources.split_lists import split_above
from sickbay.scanner.trees import Entry, Tree

NAME = "masks"
SUMMARY = "pictures and segmentation masks of the same names in two folders, or NAME_mask beside"
_PICTURES = (b"leftImg8bit", b"images", b"image", b"imgs", b"img", b"JPEGImages", b"Images")
_MASKS = (
    *(b"masks", b"mask", b"labels", b"label", b"annotations", b"SegmentationClass", b"Masks"),
    *(b"segmentations", b"gt", b"gtFine", b"annotations/trimaps"),
)
_ENDS = (b"_masks", b"_mask", b"_labels", b"annot")  # train and train_masks side by side
_PICTURE_ENDS = (b"", b"_image", b"_img", b"_sat", b"_leftImg8bit")
_BESIDE_ENDS = (b"_mask", b"-mask", b"_label", b"_labels", b"_seg", b"_segmentation", b"_gt")
_NUMBERED = re.compile(rb"(.+[_-]mask)[_-]?([0-9]{1,2})")  # one mask of several
_FIRST_ENDS = (b"_mask_0", b"_mask_1", b"_mask0", b"_mask1")  # where none is without a number
_MOST = 100  # masks of one picture
_NO_PICTURES = b"_superpixels"  # beside the pictures of ISIC
_ARRAY = b".npy"
_LEFT_ENDS = (b"_mask", b"-mask")  # of what is a mask even where its picture is gone
_BESIDE_ALL = (*_BESIDE_ENDS, *_FIRST_ENDS)
_MASK_ENDS = (
    b"",
    *_BESIDE_ENDS,
    *_FIRST_ENDS,
    b"_L",
    b"_gtFine_labelTrainIds",
    b"_gtFine_labelIds",
)
_OTHER_ENDS = (b"_gtFine_color", b"_gtFine_instanceIds")  # beside masks, and none
_SUFFIXES = (
    *(b".png", b".PNG", b".tif", b".tiff", b".bmp", b".gif", b".jpg", b".jpeg", b".webp"),
    *(b".JPG", b".TIF", _ARRAY),
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
            elif not _may_be_mask(entry.raw) or stem(entry.raw).endswith(_NO_PICTURES):
                yield Skipped(entry.raw, NO_PART)
            elif (item := self._item(entry)) is not None:
                yield item

    def _item(self, entry: Entry) -> Item | None:
        raw = entry.raw
        if _is_mask_folder(raw):
            return None if self._has_picture(raw) else Noted(raw, (orphan(raw),))
        if self._is_beside(raw):
            return None
        if raw.endswith(_ARRAY):
            return Skipped(raw, NO_PART)
        return self._picture(raw)

    def _picture(self, raw: bytes) -> Item:
        mask = self._mask_of(raw)
        if mask is None and not self._known[1] and stem(raw).endswith(_LEFT_ENDS):
            return Noted(raw, (orphan(raw),))
        split = split_above(raw)
        if mask is None and split == "test":
            return Found(raw, split)
        if mask is None:
            message = "There is no mask that belongs to it."
            finding = Finding.of("label.missing", SamplePath(raw).text, message)
            return Found(raw, split, findings=(finding,))
        others = [name.decode("latin-1") for name in self._others(mask)]
        given = {"masks": others} if others else None
        return Found(raw, split, kind="mask", side=mask, given=given)

    def _mask_of(self, picture: bytes) -> bytes | None:
        folder, _, name = picture.rpartition(b"/")
        if self._known[0] != folder:
            self._known = (folder, tuple(self._mask_folders(folder)))
        cores = _without(stem(name), _PICTURE_ENDS)
        elsewhere = product(self._known[1], cores, _MASK_ENDS)
        places = [
            *(place + core + end for place, core, end in elsewhere),
            *(_joined(folder, core + end) for core in cores for end in _BESIDE_ALL),
        ]
        there = (place for place in places if self._lies(place))
        return self._partners.first(place + suffix for place in there for suffix in _SUFFIXES)

    def _lies(self, place: bytes) -> bool:
        return self._partners.has_picture(place) or self._partners.has(place + _ARRAY)

    def _others(self, mask: bytes) -> Iterator[bytes]:
        """Yield the other masks of a picture, which are numbered."""
        base, suffix = stem(mask), mask[len(stem(mask)) :]
        numbered = _NUMBERED.fullmatch(base)
        base, first = (numbered[1], int(numbered[2])) if numbered else (base, 0)
        for number in range(first + 1, first + _MOST):
            names = (base + dash + b"%d" % number + suffix for dash in (b"_", b"", b"-"))
            found = self._partners.first(names)
            if found is None:
                return
            yield found

    def _folders_in(self, folder: bytes) -> Iterator[bytes]:
        return (name for name, is_folder in self._tree.listing(folder) if is_folder)

    def _mask_folders(self, folder: bytes) -> Iterator[bytes]:
        """Yield the folders that may hold the masks of a folder's pictures, with a slash."""
        for place in (*_other_folders(folder), *truths_of(folder, self._folders_in)):
            if next(iter(self._tree.listing(place)), None) is not None:
                yield place + b"/"

    def _has_picture(self, mask: bytes) -> bool:
        folder, _, name = mask.rpartition(b"/")
        cores = _without(_numberless(stem(name)), (*_MASK_ENDS, *_OTHER_ENDS))
        return any(
            self._partners.has_picture(_joined(place, core + end))
            for place in (*_picture_folders(folder), *inputs_of(folder, self._folders_in))
            for core in cores
            for end in _PICTURE_ENDS
        )

    def _is_beside(self, raw: bytes) -> bool:
        """Whether it is the mask of a picture in the same folder."""
        folder, _, name = raw.rpartition(b"/")
        return any(
            self._partners.has_picture(_joined(folder, core + end))
            for core in _without(_numberless(stem(name)), _BESIDE_ENDS)
            for end in _PICTURE_ENDS
        )


def read(tree: Tree, policy: Policy) -> Masks:
    """Read the pictures and masks below a root."""
    return Masks(tree, policy)


def recognise(glimpse: Glimpse) -> str | None:
    """Say why a folder looks like pictures with masks.

    One pair in two folders is enough; beside pictures there must be a mask for every second one,
    for names may end in ``_mask`` for other reasons.
    """
    pictures = [raw for raw in glimpse.files() if _may_be_mask(raw)]
    own = (raw for raw in pictures if not _is_mask_folder(raw) and not raw.endswith(_ARRAY))
    stems = {stem(raw) for raw in own}
    pairs = [raw for raw in pictures if _is_one_of(raw, stems, glimpse)]
    apart = next((raw for raw in pairs if _is_mask_folder(raw)), None)
    if apart is None and len(pairs) * 3 < len(pictures):
        return None
    first = apart or next(iter(pairs), None)
    if first is None:
        return None
    return f"{SamplePath(first).text} has the name of a picture, as masks have"


def _is_one_of(raw: bytes, stems: Container[bytes], glimpse: Glimpse) -> bool:
    """Whether it is a mask of one of the pictures with these names."""
    folder, _, name = raw.rpartition(b"/")
    apart = _is_mask_folder(raw)
    inputs = inputs_of(folder, lambda above: [one for one, inner in glimpse.names(above) if inner])
    places = [*_picture_folders(folder), *inputs] if apart else [folder]
    cores = _without(_numberless(stem(name)), _MASK_ENDS if apart else _BESIDE_ENDS)
    wanted = product(places, cores, _PICTURE_ENDS)
    return any(_joined(place, core + end) in stems for place, core, end in wanted)


def _other_folders(folder: bytes) -> Iterator[bytes]:
    """Yield where masks of pictures in a folder may lie: another name for one part of its path."""
    parts = folder.split(b"/")
    for at in range(len(parts) - 1, -1, -1):
        others = _MASKS if parts[at] in _PICTURES else ()
        for other in (*others, *(parts[at] + end for end in _ENDS if parts[at])):
            yield b"/".join([*parts[:at], other, *parts[at + 1 :]])


def _is_mask_folder(raw: bytes) -> bool:
    folders = raw.split(b"/")[:-1]
    return any(part in _MASKS or part.endswith(_ENDS) or is_truth(part) for part in folders)


def _picture_folders(folder: bytes) -> Iterator[bytes]:
    """Yield where the pictures of masks in a folder may lie."""
    parts = folder.replace(b"annotations/trimaps", b"annotations", 1).split(b"/")
    for at in range(len(parts) - 1, -1, -1):
        others = [*(_PICTURES if parts[at] in _MASKS else ())]
        others += [parts[at].removesuffix(end) for end in _ENDS if parts[at].endswith(end)]
        for other in others:
            if other:
                yield b"/".join([*parts[:at], other, *parts[at + 1 :]])


def _may_be_mask(raw: bytes) -> bool:
    return SamplePath(raw).suffix in PICTURE_SUFFIXES or raw.endswith(_ARRAY)


def _numberless(name: bytes) -> bytes:
    """Return the name of one mask of several without its number."""
    numbered = _NUMBERED.fullmatch(name)
    return numbered[1] if numbered else name


def _without(name: bytes, ends: Sequence[bytes]) -> list[bytes]:
    """Return what is left of a name without each of the ends that it has."""
    return [
        name[: len(name) - len(end)] for end in ends if name.endswith(end) and len(name) > len(end)
    ]


def _joined(folder: bytes, name: bytes) -> bytes:
    return folder + b"/" + name if folder else name
