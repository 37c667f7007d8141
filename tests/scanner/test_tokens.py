"""How long a text is in tokens of a tokenizer's file."""

import hashlib
from pathlib import Path

import pytest
from tests.pictures import write
from tests.scanner.recorded import codes, scanned

from sickbay.contract.errors import BadInput
from sickbay.contract.policy import Policy
from sickbay.scanner import Setup, tokens

tokenizers = pytest.importorskip("tokenizers", reason="needs the extra tokens")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A tokenizer that makes a token of each character."""
    letters = {letter: number for number, letter in enumerate("[abcdefghijklmnopqrstuvwxyz ")}
    model = tokenizers.models.WordLevel(letters, unk_token="[")  # noqa: S106 (no password)
    made = tokenizers.Tokenizer(model)
    made.pre_tokenizer = tokenizers.pre_tokenizers.Split("", "isolated")
    path = tmp_path / "tokenizer.json"
    made.save(str(path))
    return path


def test_tokens_are_those_of_the_file(file: Path) -> None:
    assert tokens.length("abc def", str(file)) == 7
    assert tokens.length("abc def", None) == 2


def test_a_scan_counts_tokens_in_its_child(file: Path, tmp_path: Path) -> None:
    root = tmp_path / "set"
    write(root, "short.txt", b"abc")
    write(root, "long.txt", b"abcdef")
    policy = Policy(max_tokens=5, tokenizer=hashlib.sha256(file.read_bytes()).hexdigest())
    records = scanned(root, layout="text", setup=Setup(policy=policy, tokenizer=str(file)))
    assert codes(records.samples["short.txt"].findings) == []
    (finding,) = records.samples["long.txt"].findings
    assert finding.message == "The text has 6 tokens, 5 are allowed."


def test_a_file_that_is_no_tokenizer_is_refused(tmp_path: Path) -> None:
    (tmp_path / "no.json").write_text("{}")
    with pytest.raises(BadInput, match=r"is no tokenizer\.json that can be read"):
        tokens.load(str(tmp_path / "no.json"))
