"""JPEGs and four ways to damage them, all from a seed; also valid ones that are unusual."""

import io
import os
import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw
from tests.pictures import encoded, picture

SIZES = ((320, 240), (500, 375), (375, 500), (640, 480))
_BLOCK = 4096
_PHOTOS = "SICKBAY_PHOTOS"  # names a folder of large photos; without it halves are made up alike
_VISIBLE = 8  # grey values of any channel, from which a pixel counts as spoiled


@dataclass(frozen=True)
class Sound:
    """An undamaged JPEG: what it was made from, and where its scan data begin."""

    kind: str
    data: bytes

    @property
    def scan(self) -> int:
        """Position of the first byte of scan data."""
        at = self.data.index(b"\xff\xda")
        return at + 2 + int.from_bytes(self.data[at + 2 : at + 4], "big")


def undamaged(count: int, seed: int = 0) -> Iterator[Sound]:
    """Half rendered, half photos; baseline and progressive, restart markers on and off."""
    photos = photos_given()
    for number in range(count):
        rng = np.random.default_rng((seed, number))
        size = SIZES[rng.integers(len(SIZES))]
        if number % 2:
            image = crop(photos, size, rng) if photos else picture(number, size)
        else:
            image = rendered(rng, size)
        kind = "photo" if number % 2 else "rendered"
        yield Sound(kind, encoded(image, "JPEG", **_options(number // 2, rng)))


def photos_given() -> list[Path]:
    """The photos of the folder that the environment names, if it does."""
    return sorted(Path(os.environ[_PHOTOS]).rglob("*.jp*g")) if _PHOTOS in os.environ else []


def _options(number: int, rng: np.random.Generator) -> dict[str, Any]:
    restarts = {"restart_marker_rows": int(rng.integers(1, 5))} if number % 4 > 1 else {}
    quality = int(rng.choice((75, 85, 92)))
    return {"quality": quality, "progressive": bool(number % 2), "subsampling": 2, **restarts}


def rendered(rng: np.random.Generator, size: tuple[int, int]) -> Image.Image:
    """Waves of colour with shapes on them."""
    y, x = np.mgrid[0 : size[1], 0 : size[0]]
    waves = [
        128 + 100 * np.sin(x / rng.uniform(20, 90) + y / rng.uniform(20, 90) + rng.uniform(0, 6))
        for _ in range(3)
    ]
    noise = rng.normal(scale=rng.choice((1, 4, 10)), size=(size[1], size[0], 3))
    image = Image.fromarray(np.clip(np.stack(waves, -1) + noise, 0, 255).astype(np.uint8))
    draw = ImageDraw.Draw(image)
    for _ in range(int(rng.integers(3, 14))):
        left, top = int(rng.integers(size[0])), int(rng.integers(size[1]))
        right, low = left + int(rng.integers(10, size[0])), top + int(rng.integers(10, size[1]))
        colour = tuple(int(value) for value in rng.integers(0, 256, 3))
        (draw.ellipse if rng.random() < 0.5 else draw.rectangle)((left, top, right, low), colour)
    return image


def crop(photos: list[Path], size: tuple[int, int], rng: np.random.Generator) -> Image.Image:
    """A part of a photo, made so small that it is as sharp as a photo of that size."""
    with Image.open(photos[rng.integers(len(photos))]) as image:
        largest = min(image.width / size[0], image.height / size[1])
        times = rng.uniform(min(1, largest), largest)
        width, height = int(size[0] * times), int(size[1] * times)
        left = int(rng.integers(image.width - width + 1))
        top = int(rng.integers(image.height - height + 1))
        part = image.convert("RGB").crop((left, top, left + width, top + height))
    return part.resize(size, Image.Resampling.LANCZOS)


def cut(sound: Sound, rng: np.random.Generator) -> bytes:
    """End within the scan data, with an end marker glued on."""
    return sound.data[: int(rng.integers(sound.scan + 1, len(sound.data) - 2))] + b"\xff\xd9"


def flipped(sound: Sound, rng: np.random.Generator) -> bytes:
    """One byte of the scan data is another."""
    data = bytearray(sound.data)
    at = int(rng.integers(sound.scan, len(data) - 2))
    data[at] = (data[at] + int(rng.integers(1, 256))) % 256
    return bytes(data)


def zeroed(sound: Sound, rng: np.random.Generator) -> bytes:
    """512 bytes of the scan data are zero."""
    at = int(rng.integers(sound.scan, len(sound.data) - 514))
    return sound.data[:at] + bytes(512) + sound.data[at + 512 :]


def swapped(sound: Sound, rng: np.random.Generator) -> bytes:
    """Two blocks of 4 KiB of the file have changed places; smaller ones where it has not two."""
    data, first = sound.data, -(-sound.scan // 512) * 512
    size = min(_BLOCK, (len(data) - first) // 3)
    one = first + int(rng.integers(size))
    other = int(rng.integers(one + size, len(data) - size + 1))
    middle = data[one + size : other]
    return (
        data[:one]
        + data[other : other + size]
        + middle
        + data[one : one + size]
        + data[other + size :]
    )


WAYS: Mapping[str, Callable[[Sound, np.random.Generator], bytes]] = {
    "truncated": cut,
    "one byte flipped": flipped,
    "512 bytes zeroed": zeroed,
    "two blocks swapped": swapped,
}


def spoiled(sound: bytes, broken: bytes) -> float:
    """Share of the pixels that differ visibly."""
    return float((np.abs(_pixels(sound) - _pixels(broken)).max(axis=2) > _VISIBLE).mean())


def _pixels(data: bytes) -> NDArray[np.int16]:
    with Image.open(io.BytesIO(data)) as image:
        return np.asarray(image.convert("RGB"), dtype=np.int16)


def unusual(seed: int = 0) -> dict[str, bytes]:
    """Valid JPEGs on which some decoders stumble."""
    image = picture(seed, (320, 240))
    plain = encoded(image, "JPEG", quality=85)
    table = plain.index(b"\xff\xdb")
    profile = b"ICC_PROFILE\0\x07\x01broken"
    return {
        "4:4:4": encoded(image, "JPEG", subsampling=0),
        "4:2:2": encoded(image, "JPEG", subsampling=1),
        "grey": encoded(image.convert("L"), "JPEG"),
        "CMYK": encoded(image.convert("CMYK"), "JPEG"),
        "optimised, poor": encoded(image, "JPEG", quality=8, optimize=True),
        "a restart after each unit": encoded(image, "JPEG", restart_marker_blocks=1),
        "progressive with restarts": encoded(
            image, "JPEG", progressive=True, restart_marker_rows=1
        ),
        "without its end marker": plain[:-2],
        "bytes behind the end": plain + bytes(700),
        "stray bytes in the headers": plain[:table] + b"stray" + plain[table:],
        "a broken colour profile": plain[:2]
        + b"\xff\xe2"
        + struct.pack(">H", len(profile) + 2)
        + profile
        + plain[2:],
        "filling bytes before a marker": plain[:table] + b"\xff\xff\xff" + plain[table:],
    }
