"""What only a look at the whole data set shows."""

from sickbay.contract.catalogue.row import Row

ROWS: tuple[Row, ...] = (
    Row(
        "set.split-leak",
        "block",
        "The same content stands in more than one split.",
        "Keep it in one split only; decide all copies together.",
    ),
    Row(
        "set.class-missing",
        "note",
        "A class has no sample in one of the splits.",
        "Split again so that every class stands in every split.",
    ),
    Row(
        "set.drift",
        "note",
        "Two splits differ more than chance explains in labels, sizes or brightness.",
        "Check how the splits were made; split again at random if the difference is not meant.",
    ),
    Row(
        "set.mixed-shapes",
        "note",
        "Arrays of one name differ in shape or type from file to file.",
        "Pad or crop in the loader, or batch by shape.",
    ),
    Row(
        "set.many-labels",
        "note",
        "There are too many labels to count.",
        "Check that the label is a class, not a caption or a number.",
    ),
)
