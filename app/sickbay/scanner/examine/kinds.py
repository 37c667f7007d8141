"""Which examiner checks which kind of task."""

from collections.abc import Mapping

from sickbay.scanner.examine import Examiner, picture

EXAMINERS: Mapping[str, Examiner] = {
    "picture": picture.examine,
}
