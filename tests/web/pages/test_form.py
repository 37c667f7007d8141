"""Numbers in forms: whatever a field holds, the answer is a sentence and never a fault."""

import pytest
from tests.web.pages.desk import SCRIPT, Desk

from sickbay.contract.errors import BadInput
from sickbay.web.pages.form import Form

NO_NUMBERS = (
    "",
    "-1",
    "+1",
    "1.0",
    "1e3",
    "1_0",
    "\u0661",
    "9223372036854775808",
    "9" * 30,
    "0" * 20 + "9" * 30,
    "0" * 20 + "9" * 5000,
)


@pytest.mark.parametrize("text", NO_NUMBERS)
def test_what_is_no_64_bit_number_is_bad_input(text: str) -> None:
    form = Form({"version": [text], "pick": [f"{text}:1"]})
    with pytest.raises(BadInput, match="version is not a number"):
        form.number("version")
    with pytest.raises(BadInput, match="pick is not a number"):
        form.picks()


@pytest.mark.parametrize("number", [0, 1, (1 << 63) - 1])
def test_every_number_from_0_to_the_largest_of_64_bits_is_read(number: int) -> None:
    assert Form({"version": [str(number)]}).number("version") == number


@pytest.mark.parametrize("text", NO_NUMBERS[1:])
@pytest.mark.parametrize("form", ["pick={}:1", "pick=1:{}", "all={}"])
def test_no_number_in_a_bulk_form_breaks_the_server(desk: Desk, form: str, text: str) -> None:
    key, _, value = form.format(text).partition("=")
    answer = desk.post("/decisions", {"action": "exclude", key: value}, **SCRIPT)
    assert answer.status_code == 422
    assert "is not a number" in answer.json()["error"]
