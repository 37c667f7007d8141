"""Which bytes and which names belong to which picture format."""

SUFFIXES: dict[str, frozenset[str]] = {
    "JPEG": frozenset({".jpg", ".jpeg", ".jpe", ".jfif", ".mpo"}),
    "PNG": frozenset({".png", ".apng"}),
    "GIF": frozenset({".gif"}),
    "WEBP": frozenset({".webp"}),
    "TIFF": frozenset({".tif", ".tiff"}),
    "BMP": frozenset({".bmp", ".dib"}),
    "DIB": frozenset({".bmp", ".dib"}),
    "AVIF": frozenset({".avif", ".avifs"}),
    "HEIF": frozenset({".heic", ".heif", ".hif"}),
    "PPM": frozenset({".ppm", ".pgm", ".pbm", ".pnm", ".pfm"}),
    "ICO": frozenset({".ico"}),
    "CUR": frozenset({".cur"}),
    "TGA": frozenset({".tga"}),
    "JPEG2000": frozenset({".jp2", ".j2k", ".jpx", ".jpf"}),
    "JXL": frozenset({".jxl"}),
}
PICTURE_SUFFIXES = frozenset().union(*SUFFIXES.values())
PLAIN_MODES = frozenset({"1", "L", "LA", "P", "RGB", "RGBA"})  # odd only beside others in a set
MAX_PIXELS = 89_478_485  # Pillow's own MAX_IMAGE_PIXELS: a quarter of 1 GiB at three bytes each
HEAD_BYTES = 32  # enough for every signature below

_SIGNATURES = (
    (b"\xff\xd8\xff", "JPEG"),
    (b"\x89PNG\r\n\x1a\n", "PNG"),
    (b"GIF87a", "GIF"),
    (b"GIF89a", "GIF"),
    (b"II*\0", "TIFF"),
    (b"MM\0*", "TIFF"),
    (b"II+\0", "TIFF"),
    (b"MM\0+", "TIFF"),
    (b"\0\0\1\0", "ICO"),
    (b"\0\0\0\x0cjP  \r\n\x87\n", "JPEG2000"),
    (b"\xff\x4f\xff\x51", "JPEG2000"),
    (b"\0\0\0\x0cJXL \r\n\x87\n", "JXL"),
    (b"\xff\x0a", "JXL"),
)
_BRANDS = {
    b"avif": "AVIF",
    b"avis": "AVIF",
    **dict.fromkeys((b"heic", b"heix", b"hevc", b"hevx", b"heim", b"heis", b"mif1"), "HEIF"),
}
_BMP_HEADERS = {12, 40, 52, 56, 64, 108, 124}  # sizes of the known information headers


def sniff(head: bytes) -> str | None:
    """Name the format by its first bytes, or nothing where no signature fits."""
    for signature, name in _SIGNATURES:
        if head.startswith(signature):
            return name
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "WEBP"
    if head[4:8] == b"ftyp":
        return _brand(head)
    if head[:2] == b"BM" and int.from_bytes(head[14:18], "little") in _BMP_HEADERS:
        return "BMP"
    if head[:1] == b"P" and head[1:2] in b"1234567fF" and head[2:3].isspace():
        return "PPM"
    return None


def _brand(head: bytes) -> str | None:
    """An ISO container tells its format by its major brand, else by a compatible one."""
    major = _BRANDS.get(head[8:12])
    compatible = [
        _BRANDS[head[at : at + 4]] for at in range(16, 32, 4) if head[at : at + 4] in _BRANDS
    ]
    if major == "HEIF" and "AVIF" in compatible:
        return "AVIF"
    return major or (compatible[0] if compatible else None)
