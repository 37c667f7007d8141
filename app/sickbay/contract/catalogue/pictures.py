"""What can be wrong with a picture."""

from sickbay.contract.catalogue.row import Row

ROWS: tuple[Row, ...] = (
    Row(
        "image.undecodable",
        "block",
        "No decoder gives a picture.",
        "Replace the file, or leave it out.",
    ),
    Row(
        "image.unsupported",
        "warn",
        "Sound by its signature, but no decoder for it is installed here.",
        "Install the decoder (for HEIC: sickbay[heif]), or convert the file.",
    ),
    Row(
        "image.truncated",
        "block",
        "The data end before the picture is complete.",
        "Copy it again from its source, or leave it out.",
    ),
    Row(
        "image.damaged",
        "block",
        "It decodes, but its data or a checksum is provably wrong.",
        "Replace the file with an intact copy, or leave it out.",
    ),
    Row(
        "image.wrong-extension",
        "note",
        "The content is of another format than the name says.",
        "Rename the file if your loader goes by extension.",
    ),
    Row(
        "image.bomb",
        "block",
        "It inflates to far more than its header states, or than is allowed.",
        "Leave it out.",
    ),
    Row(
        "image.huge",
        "note",
        "It has more pixels than common loaders accept by default.",
        "Scale it down, or raise the loader's limit.",
    ),
    Row(
        "image.too-small",
        "note",
        "One of its sides is very short.",
        "Check that it shows what its label says.",
    ),
    Row(
        "image.odd-mode",
        "note",
        "Its colour mode differs from plain RGB or from the rest of the set.",
        "Convert in the loader, and check that the conversion is right.",
    ),
    Row(
        "image.exif-rotated",
        "note",
        "Its metadata ask the viewer to turn it; many loaders do not.",
        "Apply the rotation in the loader.",
    ),
    Row(
        "image.animated",
        "note",
        "It has more than one frame.",
        "Check which frame the label means.",
    ),
    Row(
        "image.trailing-data",
        "note",
        "Bytes follow the end of the picture.",
        "Nothing, if your loader reads it.",
    ),
    Row(
        "image.duplicate",
        "warn",
        "The same content stands elsewhere in the same split.",
        "Keep one copy.",
    ),
    Row(
        "image.dark",
        "note",
        "Even its brightest parts are dark.",
        "Check that it shows what its label says; expose it better, or leave it out.",
    ),
    Row(
        "image.light",
        "note",
        "Even its darkest parts are light.",
        "Check that it shows what its label says; expose it better, or leave it out.",
    ),
    Row(
        "image.blurry",
        "note",
        "It has no sharp edge.",
        "Check that it shows what its label says.",
    ),
    Row(
        "image.low-information",
        "note",
        "Its pixels hardly differ from one another.",
        "Check that it is not a blank or a placeholder.",
    ),
    Row(
        "image.odd-aspect",
        "note",
        "One side is many times as long as the other.",
        "Check that your loader's crop or resize keeps what its label means.",
    ),
    Row(
        "image.odd-size",
        "note",
        "It is far larger or smaller than most of the set.",
        "Check that it belongs here; resizing may blur or lose what its label means.",
    ),
    Row(
        "image.near-duplicate",
        "note",
        "It looks almost the same as another picture of the set.",
        "Keep both only if the difference matters for training.",
    ),
)
