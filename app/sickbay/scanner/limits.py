"""What a scan allows one file to cost."""

from dataclasses import dataclass

MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one scan; the defaults are those of the design.

    Attributes:
        memory: bytes a file may cost above the child's own baseline.
        cpu_seconds: CPU time for one file.
        wall_seconds: time by the clock for one file.
        file_bytes: larger files are not read into memory, so they are held unchecked.
        inflated_bytes: pixel data of one file inflated at most; what is beyond stays unchecked.
        frames: frames of an animation that are decoded.
        thumbnail_side: longest side in pixels of a held sample's thumbnail.
    """

    memory: int = 512 * MIB
    cpu_seconds: float = 5.0
    wall_seconds: float = 30.0
    file_bytes: int = 256 * MIB
    inflated_bytes: int = 512 * MIB
    frames: int = 1000
    thumbnail_side: int = 256
