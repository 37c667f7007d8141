"""What each key of a policy is called on the page, and what it means to a person."""

from dataclasses import dataclass

from sickbay.web.language import _


@dataclass(frozen=True, slots=True)
class Words:
    """A field of the form: its label, a sentence about it, and its unit."""

    label: str
    help: str
    unit: str = ""


LABELS: dict[str, Words] = {
    "num_classes": Words(
        _("Number of classes"), _("Labels are numbers from 0 to one less than this.")
    ),
    "classes": Words(_("Names of the classes"), _("One a line, in order of their numbers.")),
    "ignore_label": Words(
        _("Mask value to ignore"), _("Pixels of this value are not labelled, often 255.")
    ),
}
LIMITS: dict[str, Words] = {
    "max_tokens": Words(
        _("Longest text in tokens"), _("Of the scan's tokenizer; words where it has none.")
    ),
    "max_characters": Words(_("Longest text in characters"), ""),
    "expect_shape": Words(
        _("Shape of arrays"), _("Lengths with commas between, * for any: 3, 224, 224.")
    ),
    "box_tolerance": Words(
        _("Boxes may stand out by"), _("Rounding puts many boxes a fraction outside."), "pixels"
    ),
    "min_side": Words(
        _("Shortest side"), _("Pictures with a shorter side are noted as too small."), "pixels"
    ),
}
THRESHOLDS: dict[str, Words] = {
    "near_duplicate_distance": Words(
        _("Near duplicates"),
        _("How many of 64 bits of their perceptual hashes may differ."),
        "bits",
    ),
    "odd_size_factor": Words(
        _("Odd size"), _("Times larger or smaller than the middle picture of the set."), "times"
    ),
    "odd_aspect_beyond": Words(_("Odd aspect"), _("Longer side by shorter side, above."), "to 1"),
    "dark_below": Words(_("Dark"), _("The brightest hundredth of the picture is below, 0 to 1.")),
    "light_above": Words(_("Light"), _("The darkest twentieth of the picture is above, 0 to 1.")),
    "blurry_below": Words(_("Blurry"), _("A score of how sharp the edges are is below, 0 to 1.")),
    "low_information_below": Words(
        _("Low information"), _("A score of how much the pixels differ is below, 0 to 1.")
    ),
    "drift_threshold": Words(
        _("Drift between splits"), _("Distance of their distributions above, 0 to 1.")
    ),
}
GROUPS: tuple[tuple[str, dict[str, Words]], ...] = (
    (_("Labels"), LABELS),
    (_("Limits"), LIMITS),
    (_("Where odd begins"), THRESHOLDS),
)


def label(name: str) -> Words:
    """Return the words for a key; a key without any stands for itself."""
    for _title, group in GROUPS:
        if name in group:
            return group[name]
    return Words(name.replace("_", " ").capitalize(), "")
