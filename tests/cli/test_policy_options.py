"""The policy that options, a file and the data set's own make together."""

import hashlib
from pathlib import Path

import pytest

from sickbay.cli.policy_options import PolicyOptions, chosen, said
from sickbay.contract.errors import BadInput
from sickbay.contract.policy import Policy

STORED = Policy.from_json(
    {"min_side": 8, "max_tokens": 9, "severities": {"image.dark": "warn", "box.outside": "note"}}
)


@pytest.fixture
def a_file(tmp_path: Path) -> Path:
    return tmp_path / "file"


def test_an_option_counts_more_than_the_file_and_that_more_than_what_is_stored(
    a_file: Path,
) -> None:
    a_file.write_text('min_side = 32\nmax_tokens = 5\n[severities]\nimage.dark = "block"\n')
    policy = chosen(PolicyOptions(file=a_file, max_tokens=3), STORED)
    assert (policy.min_side, policy.max_tokens) == (32, 3)
    assert policy.severities == {"image.dark": "block", "box.outside": "note"}
    assert chosen(PolicyOptions(), STORED) == STORED


@pytest.mark.parametrize(
    "content", [b"cat\ndog\n", b"\xef\xbb\xbfcat\r\n\r\n dog", b' ["cat", "dog"]\n']
)
def test_class_names_stand_one_a_line_or_in_a_json_list(a_file: Path, content: bytes) -> None:
    a_file.write_bytes(content)
    assert chosen(PolicyOptions(classes=a_file), Policy()).classes == ("cat", "dog")


@pytest.mark.parametrize("content", [b"", b"[", b'["cat", 3]', b"cat\ncat", b"cat\xff"])
def test_what_is_no_list_of_names_is_refused(a_file: Path, content: bytes) -> None:
    a_file.write_bytes(content)
    with pytest.raises(BadInput):
        chosen(PolicyOptions(classes=a_file), Policy())


def test_the_policy_knows_the_tokenizer_by_its_content(a_file: Path) -> None:
    a_file.write_bytes(b"{}")
    digest = hashlib.sha256(b"{}").hexdigest()
    assert chosen(PolicyOptions(tokenizer=a_file), Policy()).tokenizer == digest
    with pytest.raises(BadInput, match=f"SHA-256 {digest[:12]}…; give that file with --tokenizer"):
        chosen(PolicyOptions(), Policy(tokenizer=digest))


@pytest.mark.parametrize(
    ("text", "shape"),
    [("3,224,224", (3, 224, 224)), (" 3 , * ", (3, None)), ("(5,)", (5,)), ("*", (None,))],
)
def test_a_shape_is_written_as_people_write_it(text: str, shape: tuple[int | None, ...]) -> None:
    assert chosen(PolicyOptions(expect_shape=text), Policy()).expect_shape == shape


@pytest.mark.parametrize("text", ["", "3x224", "-1", "3;4", "²", "9" * 30])
def test_what_is_no_shape_is_refused(text: str) -> None:
    with pytest.raises(BadInput):
        chosen(PolicyOptions(expect_shape=text), Policy())


def test_what_is_not_as_by_default_is_said_in_one_line() -> None:
    names = tuple(f"class {number}" for number in range(1000))
    policy = Policy(
        classes=names, expect_shape=(3, None), severities={"image.dark": "silent"}, max_tokens=5
    )
    assert said(policy) == (
        "Policy: classes class 0/class 1/class 2/class 3 … (1,000), max_tokens 5, "
        "expect_shape 3/*, image.dark silent."
    )
    assert said(Policy()) == ""
