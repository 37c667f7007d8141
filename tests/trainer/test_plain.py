"""Whatever a script holds becomes JSON of bounded size, without secrets."""

import argparse
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sickbay.contract.strict_json import loads
from sickbay.trainer.plain import HIDDEN, names_secret, plain, text, without_secrets

_ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers(), inner),
    max_leaves=30,
)


@given(st.dictionaries(st.text(), _ANYTHING))
def test_any_configuration_is_json_that_the_server_takes(config: dict[str, Any]) -> None:
    made = plain(config, 8192)
    sent = json.dumps(made, allow_nan=False)
    assert len(sent) <= 8192
    assert loads(sent.encode()) == made


@dataclass
class _Config:
    lr: float
    path: Path


def test_namespaces_dataclasses_and_objects_are_configurations_too() -> None:
    assert plain(argparse.Namespace(lr=0.1, layers=[1, 2]), 999) == {"lr": 0.1, "layers": [1, 2]}
    assert plain(_Config(math.nan, Path("/data")), 999) == {"lr": "nan", "path": "/data"}
    assert plain({"lr": 1 << 70, "names": {"a"}}, 999) == {"lr": str(1 << 70), "names": ["a"]}
    assert plain("alone", 999) == {"value": "alone"}


def test_numpys_numbers_are_numbers() -> None:
    numpy = pytest.importorskip("numpy", reason="needs the extra scan")
    assert plain({"lr": numpy.float32(0.5), "n": numpy.int64(3)}, 999) == {"lr": 0.5, "n": 3}


def test_what_is_too_large_is_cut_and_the_rest_is_kept() -> None:
    made = plain({"small": 1, "large": ["x" * 1000] * 500}, 9000)
    assert made == {"small": 1, "large": "(too large)"}


def test_what_holds_itself_comes_to_an_end() -> None:
    config: dict[str, Any] = {"lr": 0.1}
    config["self"] = config
    assert plain(config, 99_999)["lr"] == 0.1


@pytest.mark.parametrize(
    "name", ["password", "API_KEY", "hf_token", "wandb-api-key", "clientSecret", "auth", "db.pwd"]
)
def test_settings_that_are_secrets_by_name_are_hidden(name: str) -> None:
    assert names_secret(name)
    assert plain({name: "sesame", "nested": {name: "sesame"}}, 999) == {
        name: HIDDEN,
        "nested": {name: HIDDEN},
    }


@pytest.mark.parametrize(
    "name", ["tokenizer", "max_tokens", "author", "key", "num_keys", "authors", "token_dropout_p"]
)
def test_settings_that_only_sound_like_secrets_are_shown_where_they_are_numbers(name: str) -> None:
    assert plain({name: 512}, 999) == {name: 512}


def test_secrets_in_texts_are_hidden() -> None:
    assert without_secrets("https://anna:sesame@host/x") == f"https://{HIDDEN}@host/x"
    assert "abcdefgh" not in without_secrets("use hf_abcdefghijklmnopqrstuvwxyz now")
    assert without_secrets("plain words stay") == "plain words stay"


@given(st.text(), st.integers(min_value=10, max_value=50))
def test_a_long_text_keeps_both_ends(value: str, most: int) -> None:
    made = text(value, most)
    assert len(made) <= most
    made.encode("utf-8")
    if len(value) > most:
        assert "…" in made


class _Hostile:
    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(name)

    def __str__(self) -> str:
        raise RuntimeError("no text")


def test_a_setting_that_cannot_be_read_costs_no_other() -> None:
    made = plain({"lr": 0.1, "odd": _Hostile(), "long": 10**5000}, 999)
    assert made == {"lr": 0.1, "odd": "(_Hostile)", "long": "(int)"}


def test_objects_that_hold_one_another_are_read_up_to_a_bound() -> None:
    objects = [argparse.Namespace() for _ in range(12)]
    for one in objects:
        vars(one).update({f"part{number}": other for number, other in enumerate(objects)})
    assert plain({"lr": 0.1, "trainer": objects[0]}, 99_999)["lr"] == 0.1
