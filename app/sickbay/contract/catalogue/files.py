"""What can be wrong with a file, whatever it holds, and with checking it."""

from sickbay.contract.catalogue.row import Row

ROWS: tuple[Row, ...] = (
    Row(
        "file.empty",
        "block",
        "The file has no bytes.",
        "Copy it again from its source, or leave it out.",
    ),
    Row(
        "file.missing",
        "block",
        "The file is named but not there.",
        "Restore it, or leave it out.",
    ),
    Row(
        "file.unreadable",
        "block",
        "The file cannot be read.",
        "Check its permissions and the disk, then scan again.",
    ),
    Row(
        "file.not-regular",
        "block",
        "It is a device, pipe, socket or folder, not a file.",
        "Remove it from the data set.",
    ),
    Row(
        "file.unsafe-path",
        "block",
        "The name cannot be written safely into a manifest, or leads out of the data set.",
        "Rename the file, then scan again.",
    ),
    Row(
        "file.name-collision",
        "warn",
        "Another name differs from this one only in upper and lower case.",
        "Rename one of them: on some systems one overwrites the other.",
    ),
    Row(
        "file.changed",
        "block",
        "The file changed while it was read.",
        "Scan again when nothing writes to the data set.",
    ),
    Row(
        "decoder.crashed",
        "block",
        "The decoder crashed on this file.",
        "Leave it out, or replace it with a re-encoded copy.",
    ),
    Row(
        "decoder.timed-out",
        "block",
        "Checking this file took longer than allowed.",
        "Leave it out, or allow more time.",
    ),
    Row(
        "decoder.out-of-memory",
        "block",
        "Checking this file took more memory than allowed.",
        "Leave it out, or replace it with a smaller copy.",
    ),
)
