"""Pascal VOC: an XML file a picture, with or without lists of what is in which split.

The XML of ``JPEGImages/a.jpg`` is ``Annotations/a.xml``, else it lies beside the picture. Loaders
of VOC go by XML files or lists, so a picture without XML is not trained on and skipped here; one
that is listed lacks its label, unless it is listed for the test.
"""

from collections.abc import Iterator, Sequence

from sickbay.contract.finding import Finding
from sickbay.contract.paths import SamplePath
from sickbay.contract.policy import Policy
from sickbay.scanner.formats import PICTURE_SUFFIXES
from sickbay.scanner.sources import Found, Item, Noted, Skipped
from sickbay.scanner.sources.glimpse import Glimpse
from sickbay.scanner.sources.joined import Place
from sickbay.scanner.sources.named import LEAVES, Named, Names, normal
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

NAME = "voc"
SUMMARY = "pictures with an XML file each (Annotations, JPEGImages, ImageSets/Main), Pascal VOC"
_PICTURES = (b"JPEGImages", b"images", b"Images", b"img", b"imgs")
_XML = (b"Annotations", b"annotations", b"xmls", b"xml", b"labels")
_NESTED = b"annotations/xmls"  # as Oxford-IIIT Pet has them, beside its annotations/trimaps
_TO_XML = tuple(tuple((one, xml) for one in _PICTURES) for xml in (*_XML, _NESTED))
_TO_PICTURE = tuple(tuple((xml, one) for xml in _XML) for one in _PICTURES)
_MAIN = b"ImageSets/Main/"
_SUFFIXES = (b".jpg", b".jpeg", b".png", b".JPG", b".JPEG", b".PNG", b".bmp", b".webp")
_DEPTH = 3  # folders below the root in which a VOC year may lie, VOCdevkit/VOC2012
_LOOKED = 64  # folders looked into for one
_FLAGS = {b"-1", b"0", b"1"}  # of lists of one class: absent, difficult, present
NO_XML = "no annotation file"
NO_PART = "not a picture or its annotation"


class Voc:
    """The pictures below a root that have an XML file or are listed."""

    def __init__(self, tree: Tree, policy: Policy) -> None:
        self.classes = policy.classes or ()
        self._partners = Partners(tree)
        self._lists = Lists(tree, _split_lists(tree, self._partners), self._find)

    def items(self) -> Iterator[Item]:
        """Yield the pictures, and XML files and lists with findings, in order of raw path."""
        for place in self._lists.places():
            if (item := self._item(place)) is not None:
                yield item

    def _item(self, place: Place) -> Item | None:
        raw = place.raw
        if isinstance(place.entry, Skipped):
            return place.entry
        suffix = SamplePath(raw).suffix
        if place.entry is None or suffix in PICTURE_SUFFIXES:
            return self._picture(place)
        if raw in self._lists.findings:
            found = self._lists.findings[raw]
            return Noted(raw, found) if found else None
        if suffix != ".xml":
            return Skipped(raw, NO_PART)
        return None if self._has_picture(raw) else Noted(raw, (orphan(raw),))

    def _picture(self, place: Place) -> Found | Skipped:
        raw, splits = place.raw, splits_of(place)
        side = self._partners.first(_xml_of(raw))
        if side is None and not splits:
            return Skipped(raw, NO_XML)
        split = splits[0] if splits else self._split(raw)
        bare = side is None and place.entry is not None and split != "test"
        return Found(
            raw,
            split,
            kind=NAME if side else "picture",
            side=side,
            listed=listed_at(place),
            findings=(*listed_twice(place), *(_bare(raw) if bare else ())),
        )

    def _split(self, raw: bytes) -> str:
        return "" if self._lists.lists else split_above(raw)

    def _has_picture(self, xml: bytes) -> bool:
        flat = xml.replace(_NESTED + b"/", b"xmls/", 1)
        places = [moved(raw, pairs) for pairs in _TO_PICTURE for raw in {xml, flat}]
        return any(self._partners.has_picture(stem(raw)) for raw in (*places, xml) if raw)

    def _find(self, _names: Names, text: str, beside: bytes) -> Named:
        """Find the picture whose name without extension a list gives."""
        base = beside.partition(_MAIN)[0]
        line = text.encode("utf-8", "surrogateescape")
        first, _, flag = line.rpartition(b" ")
        for name in (line, first.strip() if flag in _FLAGS else line):
            below = [normal(base + folder + b"/" + name) for folder in _PICTURES]
            candidates = [one + suffix for one in below if one for suffix in _SUFFIXES]
            if (raw := self._partners.first(candidates)) is not None:
                return Named(raw, lies=True)
        expected = normal(base + _PICTURES[0] + b"/" + line + b".jpg")
        return Named(expected) if expected else Named(b"", unsafe=LEAVES)


def read(tree: Tree, policy: Policy) -> Voc:
    """Read the pictures below a root, and what lists them."""
    return Voc(tree, policy)


def recognise(glimpse: Glimpse) -> str | None:
    """Say why a folder looks like Pascal VOC."""
    for raw in glimpse.files():
        if raw.endswith(b".xml") and b"<annotation" in glimpse.head(raw, 4096):
            return f"{SamplePath(raw).text} is an annotation in XML"
    return None


def _xml_of(picture: bytes) -> Iterator[bytes]:
    for pairs in _TO_XML:
        if (raw := moved(picture, pairs)) is not None:
            yield stem(raw) + b".xml"
    yield stem(picture) + b".xml"


def _bare(raw: bytes) -> tuple[Finding, ...]:
    message = "It is listed for a split, but has no annotation file."
    return (Finding.of("label.missing", SamplePath(raw).text, message),)


def _split_lists(tree: Tree, partners: Partners) -> Sequence[SplitList]:
    """Find the lists of each year's splits; ``trainval`` counts where neither part is there."""
    found = []
    for base in _years(tree):
        names = [
            split
            for split in ("train", "val", "test")
            if partners.has(base + _MAIN + split.encode() + b".txt")
        ]
        found += [SplitList(base + _MAIN + name.encode() + b".txt", name) for name in names]
        both = base + _MAIN + b"trainval.txt"
        if not {"train", "val"} & set(names) and partners.has(both):
            found.append(SplitList(both, "train"))
    return found


def _years(tree: Tree) -> Iterator[bytes]:
    """Yield the folders near the top that hold ``ImageSets``, each with its slash."""
    waiting, looked = [(b"", 0)], 0
    while waiting and looked < _LOOKED:
        folder, depth = waiting.pop(0)
        looked += 1
        names = sorted(name for name, is_folder in tree.listing(folder.rstrip(b"/")) if is_folder)
        if b"ImageSets" in names:
            yield folder
        elif depth < _DEPTH:
            waiting += [(folder + name + b"/", depth + 1) for name in names]
