"""The demonstration's data set: six classes, three splits, some pictures gone bad."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sickbay.contract.errors import StorageFailed
from sickbay.demo import damage
from sickbay.demo.scenes import SCENES, draw

_SPLITS = {"train": 11, "val": 3, "test": 2}
"""Pictures of each class in each split."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where one picture goes, and the seed it is drawn from."""

    split: str
    scene: str
    number: int
    seed: int

    @property
    def path(self) -> str:
        """Its path below the root."""
        return f"{self.split}/{self.scene}/{self.scene}_{self.number:04}.jpg"


def make(root: Path) -> None:
    """Write the data set below ``root``, which must not exist yet; the same bytes every time.

    Raises:
        StorageFailed: the folder exists, or cannot be written.
    """
    try:
        # The folder above is the demo's state, and for its owner alone.
        root.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        root.mkdir()
        for path, data in _files():
            target = root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
    except OSError as error:
        raise StorageFailed(
            f"The demo data set cannot be written to {root}: {error.strerror}."
        ) from error


def _files() -> Iterator[tuple[str, bytes]]:
    """Yield each file: most are sound, some damaged, some unusual, and two kinds of copies."""
    places = list(_places())
    order = np.random.default_rng(1).permutation(len(places))
    kinds = dict(zip(order.tolist(), (*damage.BAD, *damage.BAD, *damage.UNUSUAL), strict=False))
    sound = []
    for index, place in enumerate(places):
        spoil = kinds.get(index, damage.jpeg)
        data = spoil(draw(place.scene, place.seed))
        yield place.path, data
        if spoil is damage.jpeg:
            sound.append((place, data))
    yield from _copies(sound)
    yield "train/city/city_scan.png", damage.checksum_wrong(draw("city", 7001))
    yield "train/city/.DS_Store", b"\0\0\0\1Bud1"
    yield "train/forest/forest\n0099.jpg", damage.jpeg(draw("forest", 7002))


def _places() -> Iterator[Place]:
    seed = 0
    for split, count in _SPLITS.items():
        for scene in SCENES:
            for number in range(count):
                yield Place(split, scene, number, seed)
                seed += 1


def _copies(sound: list[tuple[Place, bytes]]) -> Iterator[tuple[str, bytes]]:
    """Repeat one training picture in validation (a leak) and one in training (a duplicate)."""
    training = [(place, data) for place, data in sound if place.split == "train"]
    leaked, doubled = training[0], training[-1]
    yield f"val/{leaked[0].scene}/{leaked[0].scene}_copy.jpg", leaked[1]
    yield f"train/{doubled[0].scene}/{doubled[0].scene}_copy.jpg", doubled[1]
