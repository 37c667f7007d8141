"""What can be wrong with annotations: their files, labels and boxes."""

from sickbay.contract.catalogue.row import Row

ROWS: tuple[Row, ...] = (
    Row(
        "annotation.malformed",
        "block",
        "The annotation cannot be parsed.",
        "Mend it at the line or byte given, then scan again.",
    ),
    Row(
        "annotation.orphan",
        "block",
        "The annotation belongs to a picture that is not there.",
        "Add the picture, correct its name or number, or remove the annotation.",
    ),
    Row(
        "annotation.schema-mismatch",
        "block",
        "The annotation lacks a field, or has other columns or kinds than the rest.",
        "Give it the fields and kinds that the rest of the file has.",
    ),
    Row(
        "annotation.size-mismatch",
        "block",
        "The size written in the annotation, or that of the mask, is not the picture's.",
        "Correct the size; if the picture was resized, scale its boxes or its mask as well.",
    ),
    Row(
        "annotation.bad-polygon",
        "block",
        "The polygon has too few points, no area or a value that is no number, or stands out.",
        "Draw it again, or remove it.",
    ),
    Row(
        "annotation.bad-mask",
        "block",
        "The mask is missing, cannot be read, or does not fit its picture.",
        "Export the mask again, or leave the sample out.",
    ),
    Row(
        "label.missing",
        "block",
        "The sample has no label where one is expected.",
        "Label it, or leave it out.",
    ),
    Row(
        "label.malformed",
        "block",
        "The label or label row cannot be read as one.",
        "Correct it at the line given, then scan again.",
    ),
    Row(
        "label.wrong-type",
        "block",
        "The label is of another type than labels here have.",
        "Correct it: a number where the rest are numbers, a name where they are names.",
    ),
    Row(
        "label.out-of-range",
        "block",
        "The label is a number outside the classes.",
        "Correct it, or raise the number of classes; a loss function stops on it.",
    ),
    Row(
        "label.unknown-class",
        "block",
        "The label names a class that the data set does not have.",
        "Correct the spelling, or add the class to the list.",
    ),
    Row(
        "label.mixed-kinds",
        "block",
        "Labels of different kinds stand together: boxes and polygons, or numbers and names.",
        "Use one kind throughout.",
    ),
    Row(
        "box.not-finite",
        "block",
        "A value of the box is NaN or infinite.",
        "Draw it again, or remove it.",
    ),
    Row(
        "box.not-positive",
        "block",
        "The box has no width or no height, or a negative one.",
        "Draw it again, or remove it; check that corners are in the right order.",
    ),
    Row(
        "box.outside",
        "block",
        "The box stands out of its picture by more than the tolerance.",
        "Clip it to the picture, or check that picture and annotation belong together.",
    ),
    Row(
        "box.duplicate",
        "block",
        "The same box with the same label stands there more than once.",
        "Keep one of them.",
    ),
)
