"""What COCO files say of one picture, made into a sample; and what they say of classes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sickbay.contract.finding import Finding
from sickbay.contract.policy import Policy
from sickbay.scanner.checks.most import bounded
from sickbay.scanner.sources import Found
from sickbay.scanner.sources.coco_file import Category
from sickbay.scanner.sources.coco_tables import (
    MOST_BYTES,
    MOST_MARKS,
    Annotation,
    Image,
    Key,
    Tables,
    shown,
)
from sickbay.scanner.sources.folders import Folders
from sickbay.scanner.sources.joined import Place

KIND = "coco"


@dataclass(frozen=True, slots=True)
class Listing:
    """One COCO file: its path, its path as findings have it, its split and its classes by id.

    Of a broken one the rest is not known, and may hold what an entry refers to.
    """

    raw: bytes
    text: str
    split: str
    categories: Mapping[Key, Category]
    broken: bool = False


@dataclass(slots=True)
class _Sample:
    """What is gathered of one picture."""

    splits: dict[str, str] = field(default_factory=dict)
    labels: list[str] = field(default_factory=list)
    given: list[dict[str, Any]] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    marks: int = 0
    size: int = 0


class Samples:
    """Makes samples of what the tables say.

    Attributes:
        classes: names of all classes in the order of their ids, file by file.
    """

    def __init__(
        self,
        tables: Tables,
        listings: Mapping[int, Listing],
        folders: Folders,
        policy: Policy,
    ) -> None:
        self._tables = tables
        self._listings = listings
        self._folders = folders
        self._policy = policy
        self.classes = tuple(dict.fromkeys(_names(listings)))
        self._known: dict[Key, tuple[str, str]] = {}
        self._ranks = {name: rank for rank, name in enumerate(self.classes)}

    def found(self, place: Place) -> Found:
        """Return the sample of a picture that files list."""
        images = [self._tables.image(number) for number in place.said]
        sample = _Sample()
        for before, image in enumerate(images):
            self._add(sample, image, images[:before])
        if place.count > len(images):
            said = f"{place.count:,} images are this picture; {len(images)} were looked at."
            sample.findings.append(self._fault(images[0], "annotation.malformed", said))
        first = self._listings[images[0].file]
        split = next(iter(sample.splits), "") or self._folders.place(place.raw)[0]
        names = set(sample.labels)
        return Found(
            place.raw,
            split,
            sample.labels[0] if len(names) == 1 else "",
            KIND,
            given=sample.given,
            listed=(first.raw, images[0].item),
            findings=tuple(bounded(sample.findings)),
            labels=tuple(sample.labels),
        )

    def faults(self, file: int) -> Iterator[Finding]:
        """Yield classes of a file that are another class in a file before it.

        Ask for each file once, in their order.
        """
        listing = self._listings[file]
        for identity, category in listing.categories.items():
            name, where = self._known.setdefault(identity, (category.name, listing.text))
            if name != category.name:
                said = f"It is {category.name!r} here and {name!r} in {where}."
                item = f"category {shown(identity)}"
                yield Finding.of("annotation.schema-mismatch", listing.text, said, item)

    def _add(self, sample: _Sample, image: Image, before: Sequence[Image]) -> None:
        listing = self._listings[image.file]
        sample.findings += [*image.faults, *self._twice(image, before)]
        self._add_split(sample, image, listing)
        annotations = self._bounded(sample, image)
        for annotation in annotations:
            sample.findings += annotation.faults
            if annotation.again:
                said = "Its id is already that of another annotation of the file."
                fault = Finding.of("annotation.malformed", listing.text, said, annotation.item)
                sample.findings.append(fault)
            self._add_label(sample, annotation, listing)
        sample.given.append(_given(image, annotations, listing))

    def _twice(self, image: Image, before: Sequence[Image]) -> Iterator[Finding]:
        """Say of an image that its id is taken, or its picture, by one before it in its file."""
        if image.again:
            said = "Its id is already that of another image of the file."
            yield self._fault(image, "annotation.malformed", said)
            return
        for other in before:
            if other.file == image.file:
                said = f"It is the same picture as {other.item}."
                yield self._fault(image, "annotation.malformed", said)
                return

    def _add_split(self, sample: _Sample, image: Image, listing: Listing) -> None:
        other = next((split for split in sample.splits if split != listing.split), None)
        if listing.split and other is not None:
            said = (
                f"The picture is in {listing.split} here and in {other} in {sample.splits[other]}."
            )
            sample.findings.append(self._fault(image, "set.split-leak", said))
        if listing.split:
            sample.splits.setdefault(listing.split, listing.text)

    def _bounded(self, sample: _Sample, image: Image) -> list[Annotation]:
        kept: list[Annotation] = []
        for annotation in self._tables.annotations(image):
            sample.marks += 1
            sample.size += len(annotation.text)
            if sample.marks > MOST_MARKS or sample.size > MOST_BYTES:
                count = self._tables.count(image)
                said = f"It has {count:,} annotations; the first {len(kept):,} were checked."
                sample.findings.append(self._fault(image, "annotation.malformed", said))
                break
            kept.append(annotation)
        return kept

    def _add_label(self, sample: _Sample, annotation: Annotation, listing: Listing) -> None:
        if annotation.category is None:
            return
        category = listing.categories.get(annotation.category)
        if category is None and listing.broken:
            return
        if category is None:
            code, said = _unknown(annotation.category, listing)
        else:
            sample.labels.append(category.name)
            fault = self._refused(category.name)
            if fault is None:
                return
            code, said = fault
        sample.findings.append(Finding.of(code, listing.text, said, annotation.item))

    def _refused(self, name: str) -> tuple[str, str] | None:
        """Say what the policy has against a class; numbers are places in the list of classes."""
        allowed, most = self._policy.classes, self._policy.num_classes
        if allowed is not None and name not in allowed:
            return "label.unknown-class", f"The class {name!r} is not among those of the policy."
        if most is not None and self._ranks[name] >= most:
            said = f"The class {name!r} is number {self._ranks[name]}, from 0; there are {most:,}."
            return "label.out-of-range", said
        return None

    def _fault(self, image: Image, code: str, message: str) -> Finding:
        return Finding.of(code, self._listings[image.file].text, message, image.item)


def _names(listings: Mapping[int, Listing]) -> Iterator[str]:
    for listing in listings.values():
        for identity in sorted(listing.categories, key=_order):
            yield listing.categories[identity].name


def _order(identity: Key) -> tuple[bool, float, str]:
    """Numbers first, by size; text by itself."""
    is_text = isinstance(identity, str)
    return is_text, 0 if isinstance(identity, str) else identity, str(identity) if is_text else ""


def _unknown(category: Key, listing: Listing) -> tuple[str, str]:
    alike = isinstance(category, str)
    if listing.categories and all(isinstance(one, str) is not alike for one in listing.categories):
        kinds = ("text", "numbers") if alike else ("a number", "text")
        said = f"Its category_id {shown(category)} is {kinds[0]}; ids of categories are {kinds[1]}."
        return "label.wrong-type", said
    said = f"Its category_id is {shown(category)}, which no category of the file has."
    return "label.unknown-class", said


def _given(image: Image, annotations: Sequence[Annotation], listing: Listing) -> dict[str, Any]:
    """Return what is checked where the picture is decoded, with the text as the file has it."""
    return {
        "file": listing.text,
        "item": image.item,
        "size": image.size,
        "items": [one.item for one in annotations],
        "points": [_points(one, listing) for one in annotations],
        "annotations": "[" + ",".join([one.text for one in annotations]) + "]",
    }


def _points(annotation: Annotation, listing: Listing) -> int | None:
    if annotation.category is None:
        return None
    category = listing.categories.get(annotation.category)
    return category.points if category else None
