import dataclasses
import json
import math
import pickle
from dataclasses import MISSING
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from sickbay.contract.defects import DEFECTS, Severity, defect
from sickbay.contract.errors import BadInput
from sickbay.contract.finding import Finding
from sickbay.contract.policy import MOST_TEXT, Policy
from sickbay.contract.policy_fields import CHOICES

NAMES = some.text(
    some.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=8
) | some.sampled_from(["*", "chat noir", "猫"])
LENGTHS = some.lists(some.integers(0, 1 << 40) | some.none(), max_size=5)

POLICIES = some.fixed_dictionaries(
    {},
    optional={
        "severities": some.dictionaries(
            some.sampled_from(list(DEFECTS)), some.sampled_from(CHOICES)
        ),
        "classes": some.lists(NAMES, min_size=1, max_size=4, unique=True),
        "ignore_label": some.integers(0, 255),
        "max_tokens": some.integers(1, 5000),
        "max_characters": some.integers(1, 5000),
        "tokenizer": some.binary(min_size=32, max_size=32).map(bytes.hex),
        "expect_shape": LENGTHS,
        "box_tolerance": some.floats(0, 100),
        "min_side": some.integers(0, 500),
        "drift_threshold": some.floats(0, 1),
    },
).map(Policy.from_json)


@given(POLICIES)
def test_a_policy_survives_json_whole_and_by_its_differences(policy: Policy) -> None:
    whole = json.loads(json.dumps(policy.to_json(), allow_nan=False))
    assert Policy.from_json(whole) == policy
    assert Policy.from_json(policy.differences()) == policy
    assert Policy().overridden(policy.differences()) == policy
    assert pickle.loads(pickle.dumps(policy)) == policy  # noqa: S301 (made a line above)


@given(POLICIES, POLICIES)
def test_two_policies_have_one_digest_only_if_they_are_equal(one: Policy, other: Policy) -> None:
    assert (one.digest() == other.digest()) is (one == other)


def test_the_order_of_keys_does_not_change_a_digest() -> None:
    severities = {"image.dark": "warn", "box.outside": "note"}
    turned = dict(reversed(severities.items()))
    one, other = (
        Policy.from_json({"min_side": 16, "severities": severities}),
        Policy.from_json({"severities": turned, "min_side": 16}),
    )
    assert one.digest() == other.digest()
    assert hash(one) == hash(other)


def test_a_policy_is_written_in_toml_as_people_write_it() -> None:
    policy = Policy.from_toml(
        """
        num_classes = 2
        expect_shape = [3, "*", 224]
        box_tolerance = 2

        [severities]
        image.dark = "block"
        "image.trailing-data" = "silent"
        """
    )
    assert policy.class_count == 2
    assert policy.expect_shape == (3, None, 224)
    assert policy.box_tolerance == 2.0
    assert policy.severities == {"image.dark": "block", "image.trailing-data": "silent"}


MISTAKES: dict[str, str] = {
    "min_side = -1": "min_side is not a whole number from 0 to 100,000",
    "min_side = 1.5": "min_side is not a whole number",
    "min_side = true": "min_side is not a whole number",
    "box_tolerance = nan": "box_tolerance is not a number from",
    "box_tolerance = inf": "box_tolerance is not a number from",
    "box_tolerance = '1'": "box_tolerance is not a number from",
    "drift_threshold = 1.1": "drift_threshold is not a number from 0 to 1",
    "near_duplicate_distance = 11": "near_duplicate_distance is not a whole number from 0 to 10",
    "classes = []": "classes is not a list of 1 to 100,000 names",
    "classes = 'cat'": "classes is not a list",
    "classes = ['cat', '']": "Entry 2 of the policy's classes is not a name",
    "classes = ['cat', 3]": "Entry 2 of the policy's classes is not a name",
    "classes = ['cat', 'cat']": "classes holds a name twice",
    "classes = ['cat']\nnum_classes = 2": "num_classes is 2, but its classes are 1",
    "tokenizer = 'tokenizer.json'": "tokenizer is not a SHA-256",
    "expect_shape = 3": "expect_shape is not a list",
    "expect_shape = [3, '?']": "expect_shape holds something else than lengths",
    "expect_shape = [-1]": "expect_shape holds something else than lengths",
    "severities = 'block'": "severities is not a table of codes",
    "[severities]\n'image.grey' = 'block'": "no finding code 'image.grey'",
    "[severities]\nimage = 'block'": "no finding code 'image'",
    "[severities]\nimage.dark.er = 'block'": "severity of image.dark is none of",
    "[severities]\nimage.dark = 'fatal'": "severity of image.dark is none of block, warn, note",
    "[severities]\nimage.dark = 1": "severity of image.dark is none of",
    "num-classes = 3": "no key 'num-classes'; it is written num_classes",
    "colour = 3": "no key 'colour'.",
    "min_side = \nx = 1": "not TOML: .*line 1",
    "min_side = 1\nmin_side = 2\n": "not TOML: .*line 2",
    f"min_side = {'9' * 5000}": "not TOML",
    "x = " + "[" * 100_000: "not TOML",
    "#" * (MOST_TEXT + 1): "longer than",
}


@pytest.mark.parametrize("text", MISTAKES, ids=lambda text: text[:40])
def test_a_mistake_is_one_sentence_that_names_the_key(text: str) -> None:
    with pytest.raises(BadInput, match=MISTAKES[text]) as refused:
        Policy.from_toml(text)
    assert "\n" not in refused.value.sentence
    assert len(refused.value.sentence) < 300


@pytest.mark.parametrize("value", [None, [], "policy", 3])
def test_what_is_no_object_is_no_policy(value: Any) -> None:
    with pytest.raises(BadInput, match="not an object"):
        Policy.from_json(value)


def test_null_stands_for_nothing_where_nothing_is_the_default() -> None:
    assert Policy.from_json({"max_tokens": None, "classes": None}) == Policy()
    with pytest.raises(BadInput, match="min_side"):
        Policy.from_json({"min_side": None})


def test_every_default_is_one_that_can_be_written() -> None:
    assert Policy.from_json(Policy().to_json()) == Policy()
    assert Policy().differences() == {}
    for one in dataclasses.fields(Policy):
        assert "read" in one.metadata, one.name
        assert one.default is not MISSING or one.name == "severities"
        assert f"\n        {one.name}: " in (Policy.__doc__ or ""), f"{one.name} is not explained"


def test_a_policy_raises_lowers_and_silences_findings() -> None:
    policy = Policy(
        severities={"image.dark": "block", "file.empty": "note", "image.huge": "silent"}
    )
    findings = [
        Finding.of(code, "a.jpg", "It is so.")
        for code in ("image.dark", "file.empty", "image.huge", "image.truncated")
    ]
    assert [(one.code, one.severity) for one in policy.applied(findings)] == [
        ("image.dark", Severity.BLOCK),
        ("file.empty", Severity.NOTE),
        ("image.truncated", Severity.BLOCK),
    ]
    assert Policy().applied(iter(findings)) == tuple(findings)


def test_a_severity_that_a_check_chose_itself_stays_where_the_policy_says_nothing() -> None:
    sure = Finding.of("image.damaged", "a.jpg", "It is so.")
    unsure = dataclasses.replace(sure, severity=Severity.WARN)
    assert Policy(severities={"image.dark": "block"}).applied([unsure]) == (unsure,)
    assert Policy(severities={"image.damaged": "block"}).applied([unsure]) == (sure,)


def test_the_severity_of_a_code_is_the_policy_s_else_the_catalogue_s() -> None:
    policy = Policy(severities={"image.dark": "block", "image.huge": "silent"})
    assert policy.severity_of("image.dark") is Severity.BLOCK
    assert policy.severity_of("image.huge") is None
    assert all(
        policy.severity_of(code) is defect(code).severity
        for code in DEFECTS
        if code not in policy.severities
    )
    with pytest.raises(BadInput, match="no finding code"):
        policy.severity_of("image.grey")


def test_what_is_said_later_counts_and_the_rest_stays() -> None:
    stored = Policy.from_json(
        {
            "min_side": 8,
            "num_classes": 3,
            "severities": {"image.dark": "warn", "box.outside": "note"},
        }
    )
    now = stored.overridden(
        {"min_side": 32, "classes": ["a", "b"], "severities": {"image.dark": "note"}}
    )
    assert now.min_side == 32
    assert (now.num_classes, now.classes) == (None, ("a", "b"))
    assert now.severities == {"image.dark": "note", "box.outside": "note"}
    assert now.overridden({"num_classes": 5}).classes is None
    assert math.isclose(now.box_tolerance, Policy().box_tolerance)
