"""What can only be said by looking at the whole set.

``FirstPass.note`` takes one sample after another into account, in the order of the records; then
``WholeSet`` answers for each of them again, in the same order, and for the set itself.
"""

from sickbay.scanner.checks.whole.first_pass import FirstPass
from sickbay.scanner.checks.whole.set_checks import SET_CHECKS, Sample
from sickbay.scanner.checks.whole.whole_set import WholeSet

__all__ = ["SET_CHECKS", "FirstPass", "Sample", "WholeSet"]
