"""COCO: JSON files that list images, annotations and categories, with pictures beside them.

Detection, segmentation with outlines and crowd masks, and keypoints. Samples are the images that
the files list, as for loaders: a picture that none lists is not trained on, one without
annotations is background. Files are told apart from other JSON by what they hold; their split is
in their name (``instances_train2017.json``) or in that of a folder they are in.
"""

import re
from collections.abc import Iterator
from contextlib import closing
from itertools import chain

from sickbay.contract.errors import BadInput, SickbayError
from sickbay.contract.finding import Finding
from sickbay.contract.paths import SamplePath
from sickbay.contract.policy import Policy
from sickbay.scanner.checks.most import bounded
from sickbay.scanner.formats import PICTURE_SUFFIXES
from sickbay.scanner.sources import Item, Noted
from sickbay.scanner.sources.coco_file import CocoFile
from sickbay.scanner.sources.coco_samples import Listing, Samples
from sickbay.scanner.sources.coco_tables import Tables
from sickbay.scanner.sources.folders import Folders, split_named
from sickbay.scanner.sources.glimpse import Glimpse
from sickbay.scanner.sources.joined import Joined, Place
from sickbay.scanner.sources.named import Names
from sickbay.scanner.trees import Skipped, Tree, What

NAME = "coco"
SUMMARY = "COCO JSON files with boxes, outlines, masks or keypoints, and the pictures they list"
NOT_LISTED = "not listed"
_MOST_ENTRIES = 64  # of `images`, in all files, that name one picture
_JSON = b".json"
_WORDS = re.compile(r"[a-z]+")
_WORDS_AND_NUMBERS = re.compile(r"[a-z]+[0-9]*")
_TELLING = ("images", "annotations", "categories")
_HEAD = 1 << 16
_NAMED = re.compile(rb"_?(annotations?|instances|person_keypoints|captions|coco)([._-].*)?\.json")


class Coco:
    """The pictures that COCO files list."""

    def __init__(self, tree: Tree, policy: Policy) -> None:
        self.classes: tuple[str, ...] = ()
        self._tree = tree
        self._policy = policy
        self._listings: dict[int, Listing] = {}
        self._numbers: dict[bytes, int] = {}

    def items(self) -> Iterator[Item]:
        """Yield pictures, files with findings, and what no file lists, in order of raw path.

        Raises:
            BadInput: there is no COCO file.
            StorageFailed: the disk for temporary files is full.
        """
        with closing(Joined(self._tree)) as joined:
            tables = Tables(joined)
            for number, raw in enumerate(joined.files(_JSON)):
                self._read(tables, number, raw)
            if not self._listings:
                raise BadInput(
                    f"No JSON file below {self._tree.where!r} lists images and annotations as "
                    "COCO does; name another layout, or `auto`."
                )
            tables.whole()
            samples = Samples(tables, self._listings, Folders(self._tree), self._policy)
            self.classes = samples.classes
            _Finder(joined, self._tree.where, self._listings, tables).run()
            for place in joined.places(_MOST_ENTRIES):
                yield from self._at(place, tables, samples)

    def _read(self, tables: Tables, number: int, raw: bytes) -> None:
        """Read a file into tables; what is sound JSON without COCO's names is none of ours."""
        text = SamplePath(raw).text
        read = CocoFile(tables, number, text)
        try:
            file = self._tree.open(raw)
        except (SickbayError, OSError) as error:
            read.unreadable(error)
        else:
            with file:
                read.read(file)
        if read.is_one or read.broken:
            split = _split_of(raw)
            self._listings[number] = Listing(raw, text, split, read.categories, read.broken)
            self._numbers[raw] = number

    def _at(self, place: Place, tables: Tables, samples: Samples) -> Iterator[Item]:
        number = self._numbers.get(place.raw)
        if number is not None:
            listing = self._listings[number]
            own = tables.faults(number, listing.text, broken=listing.broken)
            faults = tuple(bounded(chain(samples.faults(number), own)))
            if faults:
                yield Noted(place.raw, faults)
        elif place.said:
            yield samples.found(place)
        elif isinstance(place.entry, Skipped):
            yield place.entry
        elif place.entry is not None:
            listed = place.entry.what is What.FILE
            yield Skipped(place.raw, NOT_LISTED if listed else str(place.entry.what.value))


class _Finder:
    """Finds the picture of every image that is listed."""

    def __init__(
        self, joined: Joined, root: str, listings: dict[int, Listing], tables: Tables
    ) -> None:
        self._joined = joined
        self._names = Names(joined, root)
        self._listings = listings
        self._tables = tables
        self._files = {listing.raw for listing in listings.values()}
        self._folders = {n: _folders_of(listing.raw) for n, listing in listings.items()}

    def run(self) -> None:
        """Say of each picture which images it is; the missing come last, to lie beside others."""
        for missing in (False, True):
            for number, file, name, item in self._tables.images():
                self._find(number, file, name, item, missing=missing)

    def _find(self, number: int, file: int, name: str, item: str, *, missing: bool) -> None:
        listing = self._listings[file]
        named = self._names.find(name, listing.raw, self._folders[file])
        if named.lies is missing:
            return
        unsafe = named.unsafe
        if named.raw in self._files:
            unsafe = "It names an annotation file, not a picture."
        if unsafe is None:
            self._joined.say(named.raw, number)
        else:
            fault = Finding.of("file.unsafe-path", listing.text, unsafe, item)
            self._tables.add_fault(file, fault)


def read(tree: Tree, policy: Policy) -> Coco:
    """Read the COCO files below a root."""
    return Coco(tree, policy)


def recognise(glimpse: Glimpse) -> str | None:
    """Say which file is a COCO file; one begins with or soon has the names that such files have."""
    for raw in glimpse.files():
        if raw.lower().endswith(_JSON) and _looks_like_one(glimpse.head(raw, _HEAD)):
            return f"{SamplePath(raw).text} lists images and annotations"
    return None


def recognise_broken(glimpse: Glimpse) -> str | None:
    """Say which file is one by its name, beside pictures, though nobody can read it.

    To be asked only where no other layout fits: what is wrong with it would go unsaid.
    """
    files = glimpse.files()
    if not any(SamplePath(raw).suffix in PICTURE_SUFFIXES for raw in files):
        return None
    for raw in files:
        if _NAMED.fullmatch(raw.rpartition(b"/")[2].lower()) and _is_none(glimpse.head(raw, _HEAD)):
            return f"{SamplePath(raw).text} is named as annotations are, and cannot be read"
    return None


def _is_none(head: bytes) -> bool:
    """Whether a file begins as no JSON does, or as Python writes an object."""
    bare = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    return bare[:1] not in {b"{", b"["} or bare[1:].lstrip()[:1] == b"'" or b"\0" in head


def _looks_like_one(head: bytes) -> bool:
    """Whether names of COCO's stand there; the first list may be longer than the head."""
    if head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] != b"{":
        return False
    names = [name for name in _TELLING if re.search(rb'"%s"\s*:\s*\[' % name.encode(), head)]
    telling = (b'"file_name"', b'"image_id"', b'"bbox"', b'"coco_url"')
    return len(names) > 1 or (bool(names) and any(name in head for name in telling))


def _split_of(raw: bytes) -> str:
    """Return the split that a file is named for, else that of the nearest folder named for one."""
    *folders, name = raw.split(b"/")
    for word in _WORDS.findall(name.decode("latin-1").lower()):
        if split := split_named(word.encode("latin-1")):
            return split
    return next((split for folder in reversed(folders) if (split := split_named(folder))), "")


def _folders_of(raw: bytes) -> tuple[bytes, ...]:
    """Return folders where a file's pictures may lie, besides its own and the root.

    ``coco/annotations/instances_train2017.json`` has them in ``coco/train2017``,
    ``coco/images/train2017`` or ``coco/images``.
    """
    stem = raw.rpartition(b"/")[2].decode("latin-1").lower().removesuffix(".json")
    words = _WORDS_AND_NUMBERS.findall(stem)
    named = [word for word in words if split_named(word.rstrip("0123456789").encode("latin-1"))]
    splits = [*named, *(word.rstrip("0123456789") for word in named)]
    ends = [part.encode("latin-1") for word in splits for part in (word, f"images/{word}")]
    beside = raw.rpartition(b"/")[0]
    above = beside.rpartition(b"/")[0]
    made = [_below(top, end) for top in (above, beside, b"") for end in (*ends, b"images", b"")]
    return tuple(dict.fromkeys(made))


def _below(top: bytes, end: bytes) -> bytes:
    return b"/".join(part for part in (top, end) if part)
