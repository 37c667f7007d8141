"""What decoders learn of one picture, and what is made of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sickbay.contract.finding import Finding

if TYPE_CHECKING:  # with them come decoders, which only children load
    from sickbay.scanner.looks import Looks
    from sickbay.scanner.small import Small


@dataclass(frozen=True, slots=True)
class Fault:
    """What a decoder proved to be wrong with the data, and whether it ran out of them.

    What is only ``likely`` is not proved: it comes from the pixels, is shown, and holds nothing.
    """

    code: str
    message: str
    detail: Mapping[str, Any] = field(default_factory=dict)
    ran_out: bool = False
    likely: bool = False


@dataclass(frozen=True, slots=True)
class Traits:
    """What a picture is compared by with the rest of its set.

    Attributes:
        hash: perceptual hash, 64 bits without sign; nothing where the picture is too plain for
            one to say anything.
        brightness: mean of its grey values, 0 to 255.
    """

    hash: int | None
    brightness: float


@dataclass(frozen=True, slots=True)
class ArrayFacts:
    """One array of a file: its name where the file holds several, its shape and type."""

    item: str | None
    shape: tuple[int, ...]
    dtype: str


@dataclass(slots=True)
class Evidence:
    """Facts of one picture as its decoder found them; sizes in pixels, ``trailing`` in bytes.

    ``unchecked`` says that it was too large to decode in whole. ``small`` makes the picture small
    and grey, where it was decoded; not at once, because some scans never look at it.
    """

    format: str | None = None
    width: int | None = None
    height: int | None = None
    mode: str | None = None
    frames: int = 1
    orientation: int = 1
    trailing: int = 0
    unchecked: bool = False
    fault: Fault | None = None
    small: "Callable[[], Small | None] | None" = None
    looks: "Looks | None" = None
    traits: Traits | None = None

    @property
    def sound(self) -> bool:
        """Whether nothing is proved against it."""
        return self.fault is None or self.fault.likely

    @property
    def cut(self) -> bool:
        """Whether the lower part of the picture is what decoders put where data are missing."""
        fault = self.fault
        return fault is not None and (fault.ran_out or fault.code == "image.truncated")

    @property
    def pixels(self) -> int:
        """Pixels of one frame, 0 where the size is unknown."""
        return (self.width or 0) * (self.height or 0)


@dataclass(frozen=True, slots=True)
class Examined:
    """One file after its one read.

    ``stat`` is (device, inode, ctime in ns); ``thumbnail`` is a WebP picture of a held sample.
    The findings do not yet name their file. ``head`` is the file's first bytes in hexadecimal,
    where no decoder may see it again. ``traits`` are there for sound pictures only, ``arrays``
    for files of arrays, ``labels`` where a file beside the sample names its classes (one for each
    object). ``decoded`` says that the content was read as what it is, not only as bytes.
    """

    size: int | None = None
    mtime_ns: int | None = None
    stat: tuple[int, int, int] | None = None
    sha256: str | None = None
    width: int | None = None
    height: int | None = None
    format: str | None = None
    mode: str | None = None
    findings: tuple[Finding, ...] = ()
    thumbnail: bytes | None = None
    head: str | None = None
    traits: Traits | None = None
    arrays: tuple[ArrayFacts, ...] = ()
    labels: tuple[str, ...] | None = None
    decoded: bool = False
