"""Landscapes drawn from noise: pictures that look real enough to review, owned by nobody.

Every scene is an array of shape (height, width, 3), float32, values 0 to 1, and depends on
nothing but its seed.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np
import numpy.typing as npt
from PIL import Image

WIDTH, HEIGHT = 640, 427

Plane = npt.NDArray[np.float32]
Picture = npt.NDArray[np.float32]
Random = np.random.Generator
Colour = tuple[float, float, float]


def draw(scene: str, seed: int) -> Image.Image:
    """Draw one picture of a scene named in ``SCENES``."""
    random = np.random.default_rng(seed)
    picture = SCENES[scene](random)
    grain = random.normal(0, 0.012, picture.shape).astype(np.float32)
    pixels = np.clip((picture + grain) * _vignette()[..., None], 0, 1)
    return Image.fromarray((pixels * 255).astype(np.uint8), "RGB")


def _mountain(random: Random) -> Picture:
    """Ranges that fade into the haze, snow above a line."""
    haze = _mix((0.75, 0.82, 0.90), (0.95, 0.78, 0.66), random.random())
    picture = _sky(random, (0.25, 0.45, 0.75), haze)
    for depth in range(4):
        near = depth / 3
        ridge = _ridge(random, base=0.38 + 0.16 * depth, height=0.34 - 0.05 * depth, roughness=0.55)
        rock = _mix(haze, (0.16, 0.19, 0.20), 0.25 + 0.7 * near)
        picture = _stack(picture, ridge, rock, random, relief=0.35)
        if depth < 2:  # noqa: PLR2004 (only the far, high ranges carry snow)
            picture = _snow(picture, ridge, random)
    return picture


def _forest(random: Random) -> Picture:
    """Rows of firs in fog."""
    fog = _mix((0.82, 0.86, 0.86), (0.70, 0.78, 0.80), random.random())
    picture = _sky(random, (0.62, 0.72, 0.78), fog)
    for depth in range(5):
        ridge = _ridge(random, base=0.36 + 0.13 * depth, height=0.16, roughness=0.5)
        ridge = ridge - _firs(random, size=10 + 9 * depth) * (0.035 + 0.024 * depth)
        green = _mix(fog, (0.05, 0.15, 0.09), 0.2 + 0.19 * depth)
        picture = _stack(picture, ridge, green, random, relief=0.3)
    return picture


def _beach(random: Random) -> Picture:
    """Sea under a low sun, wet sand in front."""
    warm = random.random()
    low = _mix((0.80, 0.88, 0.93), (0.98, 0.70, 0.45), warm)
    picture = _sky(random, _mix((0.30, 0.55, 0.85), (0.35, 0.30, 0.50), warm), low)
    sun_x, horizon = 0.2 + 0.6 * random.random(), 0.45 + 0.06 * random.random()
    picture = _sun(picture, sun_x, horizon - 0.1, 0.05)
    picture = _sea(picture, random, horizon, sun_x, low)
    shore = _ridge(random, base=0.8, height=0.07, roughness=0.35)
    return _stack(
        picture, shore, _mix((0.85, 0.75, 0.56), (0.62, 0.46, 0.36), warm), random, relief=0.12
    )


def _desert(random: Random) -> Picture:
    """Dunes, one side lit."""
    picture = _sky(random, (0.22, 0.48, 0.80), (0.86, 0.87, 0.83))
    for depth in range(4):
        ridge = _ridge(random, base=0.5 + 0.13 * depth, height=0.16, roughness=0.28)
        sand = _mix((0.87, 0.66, 0.42), (0.76, 0.44, 0.20), depth / 3)
        picture = _stack(picture, ridge, sand, random, relief=0.1)
        picture = _shade(picture, ridge, random)
    return picture


def _city(random: Random) -> Picture:
    """Towers at night with lit windows, and their reflection."""
    picture = _sky(
        random, (0.03, 0.05, 0.13), _mix((0.22, 0.20, 0.33), (0.45, 0.25, 0.25), random.random())
    )
    for depth in range(3):
        shade = 0.11 - 0.03 * depth
        for _ in range(14):
            picture = _tower(picture, random, depth, shade)
    water = int(0.8 * HEIGHT)
    mirrored = picture[water - (HEIGHT - water) : water][::-1]
    ripple = 0.5 + 0.2 * _noise(random, (48, 6))[water:, :, None]
    picture[water:] = mirrored * ripple + 0.02
    return picture


def _meadow(random: Random) -> Picture:
    """Grass with flowers under clouds."""
    picture = _sky(random, (0.24, 0.50, 0.86), (0.80, 0.89, 0.95))
    picture = _stack(picture, _ridge(random, 0.5, 0.1, 0.4), (0.34, 0.48, 0.42), random, relief=0.2)
    ground = _ridge(random, 0.6, 0.05, 0.3)
    picture = _stack(picture, ground, (0.30, 0.50, 0.16), random, relief=0.5)
    blossom = _mix((0.95, 0.85, 0.25), (0.85, 0.30, 0.45), random.random())
    rows, columns = np.mgrid[0:HEIGHT, 0:WIDTH]
    for _ in range(260):
        y = int(HEIGHT * (0.66 + 0.33 * random.random() ** 0.7))
        x, size = int(random.random() * WIDTH), 1 + 4 * (y / HEIGHT - 0.6) * random.random() * 4
        near = (slice(max(0, y - 8), y + 8), slice(max(0, x - 8), x + 8))
        inside = (rows[near] - y) ** 2 + (columns[near] - x) ** 2 < size**2
        picture[near][inside] = blossom
    return picture


SCENES: Mapping[str, Callable[[Random], Picture]] = MappingProxyType(
    {
        "beach": _beach,
        "city": _city,
        "desert": _desert,
        "forest": _forest,
        "meadow": _meadow,
        "mountain": _mountain,
    }
)
"""Scene names, which are the data set's classes, and what draws them."""


def _noise(random: Random, cells: tuple[int, int], octaves: int = 4) -> Plane:
    """Return smooth noise, values about -1 to 1: ``cells`` (rows, columns) in the first octave."""
    total = np.zeros((HEIGHT, WIDTH), np.float32)
    for octave in range(octaves):
        shape = (min(cells[0] << octave, HEIGHT), min(cells[1] << octave, WIDTH))
        grid = random.uniform(-1, 1, shape).astype(np.float32)
        layer = Image.fromarray(grid).resize((WIDTH, HEIGHT), Image.Resampling.BICUBIC)
        total += np.asarray(layer, np.float32) * 0.55**octave
    return total


def _mix(one: Colour, other: Colour, share: float) -> Colour:
    first, second = np.asarray(one), np.asarray(other)
    red, green, blue = first + (second - first) * share
    return float(red), float(green), float(blue)


def _sky(random: Random, high: Colour, low: Colour) -> Picture:
    """Return a gradient with clouds."""
    down = np.linspace(0, 1, HEIGHT, dtype=np.float32)[:, None, None] ** 0.8
    picture = np.asarray(high, np.float32) * (1 - down) + np.asarray(low, np.float32) * down
    clouds = np.clip(_noise(random, (4, 3), 5) - 0.1, 0, 1)[..., None] * (1 - down) * 0.7
    white = np.float32(0.93 * max(low))
    cloudy: Picture = picture * (1 - clouds) + white * clouds
    return cloudy


def _ridge(random: Random, base: float, height: float, roughness: float) -> Plane:
    """Return the height of a skyline for each column, as a share of the picture from the top."""
    across = np.arange(WIDTH, dtype=np.float32) / WIDTH
    line = np.zeros(WIDTH, np.float32)
    for octave in range(7):
        knots = random.uniform(-1, 1, 4 + (2 << octave))
        smooth = np.interp(across, np.linspace(0, 1, len(knots)), knots)
        line += (smooth * roughness**octave).astype(np.float32)
    return (base + line * height / 2).astype(np.float32)


def _below(ridge: Plane) -> npt.NDArray[np.bool_]:
    down = np.arange(HEIGHT, dtype=np.float32)[:, None] / HEIGHT
    return down >= ridge[None, :]


def _stack(
    picture: Picture, ridge: Plane, colour: Colour, random: Random, relief: float
) -> Picture:
    """Put a layer of land in front of what is there."""
    texture = 1 + relief * _noise(random, (16, 12), 5)
    land = np.asarray(colour, np.float32) * texture[..., None]
    return np.where(_below(ridge)[..., None], land, picture)


def _snow(picture: Picture, ridge: Plane, random: Random) -> Picture:
    """Whiten what lies just under a skyline, and more where it is high."""
    down = np.arange(HEIGHT, dtype=np.float32)[:, None] / HEIGHT
    depth = 0.18 * (0.62 - ridge)[None, :] + 0.05 * _noise(random, (12, 16), 4)
    white = _below(ridge) & (down - ridge[None, :] < depth)
    return np.where(white[..., None], picture * 0.25 + 0.68, picture)


def _shade(picture: Picture, ridge: Plane, random: Random) -> Picture:
    """Darken the lee side of a dune: under the skyline where it falls to the right."""
    down = np.arange(HEIGHT, dtype=np.float32)[:, None] / HEIGHT
    falls = np.clip(np.gradient(ridge) * 160, -1, 1)[None, :]
    fade = np.exp(-(down - ridge[None, :]) * 9) * _below(ridge)
    ripples = 0.05 * _noise(random, (90, 8), 2)
    dim = 1 - 0.45 * np.clip(falls + ripples, -0.25, 1) * fade
    shaded: Picture = picture * dim[..., None].astype(np.float32)
    return shaded


def _sun(picture: Picture, x: float, y: float, radius: float) -> Picture:
    rows, columns = np.mgrid[0:HEIGHT, 0:WIDTH].astype(np.float32)
    distance = np.hypot(columns / WIDTH - x, (rows / HEIGHT - y) * HEIGHT / WIDTH)
    glow = np.exp(-((distance / (radius * 3)) ** 1.3))[..., None]
    disc = (distance < radius * 0.6)[..., None]
    lit: Picture = np.where(disc, 1.0, picture + glow * np.asarray((0.5, 0.38, 0.2), np.float32))
    return lit.astype(np.float32)


def _sea(picture: Picture, random: Random, horizon: float, sun_x: float, low: Colour) -> Picture:
    """Lay water below the horizon: waves, and the sun's path on them."""
    top = int(horizon * HEIGHT)
    waves = _noise(random, (100, 10), 3)[top:]
    across = np.arange(WIDTH, dtype=np.float32)[None, :] / WIDTH
    path = np.exp(-(((across - sun_x) / 0.09) ** 2)) * np.clip(waves + 0.2, 0, 1)
    water = (
        np.asarray(_mix((0.08, 0.28, 0.40), low, 0.25), np.float32) * (1 + 0.3 * waves)[..., None]
    )
    picture[top:] = water + path[..., None] * np.asarray((0.75, 0.6, 0.4), np.float32)
    return picture


def _firs(random: Random, size: int) -> Plane:
    """Return a row of pointed tops, 0 to 1 for each column."""
    across = np.arange(WIDTH)
    tops = np.zeros(WIDTH, np.float32)
    for _ in range(int(1.7 * WIDTH / size)):
        middle, width = random.uniform(0, WIDTH), size * random.uniform(0.5, 1)
        tall = random.uniform(0.4, 1)
        steps = 0.12 * np.sign(np.sin(across * (25 / size)))
        top = tall * (1 - np.abs(across - middle) / width + steps * 0.5)
        tops = np.maximum(tops, top.astype(np.float32))
    return tops


def _tower(picture: Picture, random: Random, depth: int, shade: float) -> Picture:
    """Put up one building with some of its windows lit."""
    wide = int(random.integers(28, 70))
    left = int(random.integers(-10, WIDTH - 20))
    top = int(HEIGHT * (0.2 + 0.14 * depth + 0.3 * random.random()))
    wall = picture[top:, max(0, left) : left + wide]
    wall[:] = np.asarray((0.8, 0.9, 1.2), np.float32) * shade
    for y in range(4, wall.shape[0] - 4, 9):
        for x in range(4, wall.shape[1] - 5, 8):
            if random.random() < 0.32:  # noqa: PLR2004 (a third of the windows)
                wall[y : y + 5, x : x + 4] = _mix(
                    (0.95, 0.78, 0.42), (0.75, 0.85, 0.95), random.random()
                )
    return picture


def _vignette() -> Plane:
    rows, columns = np.mgrid[-1 : 1 : HEIGHT * 1j, -1 : 1 : WIDTH * 1j].astype(np.float32)
    dim: Plane = 1 - 0.16 * (rows**2 + columns**2)
    return dim
