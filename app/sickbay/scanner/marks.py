"""What annotation files say of a picture, whatever their format, as the checks see it.

Geometry is in pixels: 0-based and continuous, so that a picture of width w spans 0 to w, and a
box is left, top, width and height.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Box = tuple[float, float, float, float]
"""Left, top, width and height."""
Frame = tuple[int, int]
"""Width and height of the picture that marks were drawn in."""
Points = tuple[float, ...]
"""x and y in turn."""


@dataclass(frozen=True, slots=True)
class Mark:
    """One object marked in a picture.

    Attributes:
        item: where it stands in its file: ``annotation 7``, ``object 2``, ``line 3``.
        file: its annotation file, as findings name it.
        label: class name or number.
        box: left, top, width, height.
        polygons: the outlines of its parts.
        rle: a COCO mask: ``size`` (height, width) and ``counts``, a list or compressed text.
        keypoints: x, y and visibility in turn.
        points: how many keypoints its class has, where that is known.
        crowd: whether it marks many at once.
    """

    item: str
    file: str
    label: int | str | None = None
    box: Box | None = None
    polygons: tuple[Points, ...] | None = None
    rle: Mapping[str, Any] | None = None
    keypoints: Points | None = None
    points: int | None = None
    crowd: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON can carry it; what is nothing is left out."""
        value = {name: getattr(self, name) for name in self.__slots__}
        return {
            name: part for name, part in value.items() if part is not None and part is not False
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Mark":
        """Read what :meth:`to_json` wrote."""
        made = dict(value)
        for name in ("box", "keypoints"):
            if name in made:
                made[name] = tuple(made[name])
        if "polygons" in made:
            made["polygons"] = tuple(tuple(points) for points in made["polygons"])
        return cls(**made)
