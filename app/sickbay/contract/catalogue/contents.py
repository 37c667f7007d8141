"""What can be wrong with texts and arrays."""

from sickbay.contract.catalogue.row import Row

ROWS: tuple[Row, ...] = (
    Row(
        "text.empty",
        "block",
        "The text has no characters but white space.",
        "Fill it in, or leave it out.",
    ),
    Row(
        "text.bad-encoding",
        "block",
        "The bytes are not UTF-8 from the offset given on.",
        "Convert the file to UTF-8 from the encoding it was written in.",
    ),
    Row(
        "text.mojibake",
        "warn",
        "The text was decoded in the wrong encoding once, as in “Ã©” for “é”.",
        "Read it again from its source in the right encoding.",
    ),
    Row(
        "text.control-characters",
        "warn",
        "The text holds control characters or NUL.",
        "Remove them; a tokenizer may stop on them or learn them.",
    ),
    Row(
        "text.overlong",
        "block",
        "The text is longer than the limit set.",
        "Cut or split it, or raise the limit.",
    ),
    Row(
        "text.duplicate",
        "warn",
        "The same text stands elsewhere in the same split.",
        "Keep one copy.",
    ),
    Row(
        "array.not-finite",
        "block",
        "It holds NaN or infinite values.",
        "Compute it again, or leave it out: one such value makes the loss NaN.",
    ),
    Row(
        "array.wrong-shape",
        "block",
        "Its shape is not the one expected, or not that of the rest, so it cannot be batched.",
        "Correct it, or pad or crop in the loader and state the shape you expect.",
    ),
    Row(
        "array.wrong-dtype",
        "block",
        "Its values are of another type than the rest of the set's.",
        "Convert it to the type of the rest.",
    ),
    Row(
        "array.truncated",
        "block",
        "The file ends before the array is complete.",
        "Write or copy it again, or leave it out.",
    ),
    Row(
        "array.unloadable",
        "block",
        "It cannot be loaded without running code, or is no array file.",
        "Save it as plain arrays or tensors, without pickled objects.",
    ),
    Row(
        "array.damaged",
        "block",
        "A checksum in the file does not fit its values: some of them have changed since.",
        "Copy it again from its source, or leave it out: torch loads it without a word.",
    ),
    Row(
        "array.trailing-data",
        "note",
        "Bytes follow the values; loaders ignore them.",
        "Nothing needs to be done, unless a second array was meant to be read.",
    ),
    Row(
        "array.duplicate",
        "warn",
        "The same array stands elsewhere in the same split.",
        "Keep one copy.",
    ),
)
