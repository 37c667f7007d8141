"""Near duplicates: nothing within the distance is missed, and the work is bounded."""

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.scanner.noted import Noted

from sickbay.contract.defects import Severity
from sickbay.contract.finding import Finding
from sickbay.contract.policy import Policy
from sickbay.scanner.checks.whole.alike import Pairs

HASHES = st.integers(0, (1 << 64) - 1)
SOME = 0x0F1E_2D3C_4B5A_6978


@st.composite
def hash_sets(draw: st.DrawFn) -> list[int]:
    """Return hashes of which some differ from others in a few bits."""
    bases = draw(st.lists(HASHES, min_size=1, max_size=8))
    flips = st.lists(st.integers(0, 63), max_size=12)
    near = draw(st.lists(st.tuples(st.sampled_from(bases), flips), max_size=60))
    return sorted([*bases, *(base ^ sum({1 << bit for bit in bits}) for base, bits in near)])


def pairs_of(hashes: list[int], distance: int) -> list[tuple[int, int, int]]:
    """Return the pairs found, as places and bits."""
    found = Pairs(np.array(hashes, dtype=np.uint64), distance)
    return sorted(
        (min(pair), max(pair), bits)
        for left, right, differing in found
        for *pair, bits in zip(left.tolist(), right.tolist(), differing.tolist(), strict=True)
    )


@given(hash_sets(), st.integers(0, 10))
def test_every_pair_within_the_distance_is_found_once(hashes: list[int], distance: int) -> None:
    expected = [
        (one, other, bits)
        for one, other in combinations(range(len(hashes)), 2)
        if (bits := (hashes[one] ^ hashes[other]).bit_count()) <= distance
    ]
    assert pairs_of(hashes, distance) == expected


def test_thousands_of_hashes_are_compared_by_bands_with_the_same_result() -> None:
    rest = np.random.default_rng(4)
    base = rest.integers(0, 1 << 64, 3000, dtype=np.uint64)
    near = base[:300] ^ (np.uint64(1) << rest.integers(0, 64, 300, dtype=np.uint64))
    hashes = np.sort(np.concatenate((base, near)))
    bits = np.bitwise_count(hashes[:, None] ^ hashes[None, :])
    expected = np.argwhere(np.triu(bits <= 4, k=1)).tolist()
    assert len(expected) >= 300
    assert [[one, other] for one, other, _ in pairs_of(hashes.tolist(), 4)] == expected


def test_no_hashes_and_one_make_no_pairs() -> None:
    assert pairs_of([], 4) == pairs_of([SOME], 4) == []


def test_beyond_the_bound_on_work_the_hashes_concerned_are_marked() -> None:
    hashes = np.arange(4096, dtype=np.uint64)
    bounded = Pairs(hashes, 4, most=100_000)
    found = sum(len(left) for left, _, _ in bounded)
    assert 0 < found < 400_000
    assert bounded.cut.all()


def near(noted: Noted, policy: Policy | None = None) -> dict[str, Finding]:
    """Return the near-duplicate findings by path."""
    return {
        path: finding
        for path, findings in noted.said(policy).items()
        for finding in findings
        if finding.code == "image.near-duplicate"
    }


def test_pictures_whose_hashes_differ_in_few_bits_name_each_other() -> None:
    noted = Noted()
    noted.add("a.jpg", hashed=SOME)
    noted.add("b.jpg", hashed=SOME ^ 0b111)
    noted.add("c.jpg", hashed=SOME ^ 0b11111)
    noted.add("d.jpg", hashed=~SOME & (1 << 64) - 1)
    found = near(noted)
    assert list(found) == ["a.jpg", "b.jpg", "c.jpg"]
    assert found["a.jpg"].severity is Severity.NOTE
    assert found["a.jpg"].message == "It looks almost like 'b.jpg' (3 of 64 bits differ)."
    assert found["b.jpg"].detail == {
        "count": 2,
        "others": ["c.jpg", "a.jpg"],
        "distances": [2, 3],
    }


def test_the_distance_is_the_policys() -> None:
    noted = Noted()
    noted.add("a.jpg", hashed=SOME)
    noted.add("b.jpg", hashed=SOME ^ 0b11)
    noted.add("c.jpg", hashed=SOME)
    assert set(near(noted, Policy(near_duplicate_distance=0))) == {"a.jpg", "c.jpg"}
    assert near(noted, Policy(severities={"image.near-duplicate": "silent"})) == {}


def test_copies_of_one_file_are_no_near_duplicates_of_each_other() -> None:
    noted = Noted()
    for path in ("train/a.jpg", "train/b.jpg", "val/a.jpg"):
        noted.add(path, content="one", hashed=SOME)
    assert near(noted) == {}
    noted.add("val/b.jpg", content="another", hashed=SOME)
    found = near(noted)
    assert found["train/a.jpg"].detail["others"] == ["val/b.jpg"]
    assert found["train/a.jpg"].detail["count"] == 1
    assert found["val/b.jpg"].detail["others"] == ["val/a.jpg", "train/a.jpg"]


def test_a_near_copy_in_another_split_is_called_a_likely_leak_even_if_others_are_nearer() -> None:
    noted = Noted()
    for number in range(30):
        noted.add(f"train/{number:02}.jpg", hashed=SOME ^ (number & 1))
    noted.add("val/a.jpg", hashed=SOME ^ 0b1110)
    found = near(noted)
    leak = {"path": "val/a.jpg", "split": "val", "distance": 3}
    assert found["train/00.jpg"].detail["across"] == leak
    assert found["train/00.jpg"].detail["count"] == 30
    assert found["train/00.jpg"].message.endswith(
        "a likely leak: 'val/a.jpg' (3 of 64 bits differ) stands in val."
    )
    assert found["val/a.jpg"].message.endswith("a likely leak: it stands in train.")


def test_a_leaked_copy_is_not_called_a_likely_leak_on_top() -> None:
    noted = Noted()
    noted.add("train/a.jpg", content="one", hashed=SOME)
    noted.add("train/b.jpg", hashed=SOME ^ 1)
    noted.add("val/a.jpg", content="one", hashed=SOME)
    found = near(noted)
    assert "across" not in found["train/a.jpg"].detail
    assert found["train/b.jpg"].detail["across"]["path"] == "val/a.jpg"


def test_plain_pictures_without_a_hash_are_near_to_nothing() -> None:
    noted = Noted()
    for path in ("a.jpg", "b.jpg"):
        noted.add(path, hashed=None)
    assert near(noted) == {}
    for path in ("c.jpg", "d.jpg"):
        noted.add(path, hashed=0)
    assert list(near(noted)) == ["c.jpg", "d.jpg"]


def test_a_crowd_of_one_hash_names_a_few_and_counts_all() -> None:
    noted = Noted()
    for number in range(500):
        noted.add(f"{number:03}.jpg", hashed=SOME)
    found = near(noted)
    assert len(found) == 500
    assert found["007.jpg"].detail["count"] == 499
    assert len(found["007.jpg"].detail["others"]) == 10
    assert found["007.jpg"].message == (
        "It looks almost like '000.jpg' (no bit differs) and 498 more."
    )


def test_where_too_much_looks_alike_the_count_is_a_least() -> None:
    noted = Noted()
    for number in range(2000):
        noted.add(f"{number:04}.jpg", hashed=number)
    (finding,) = noted.said(most=10_000)["0007.jpg"]
    assert finding.detail["at_least"] is True
    assert " more." in finding.message
    assert " and at least " in finding.message


def test_copies_in_many_splits_do_not_hide_a_near_one() -> None:
    noted = Noted()
    for split in "abcdefgh":
        noted.add(f"{split}/a.jpg", content="one", hashed=SOME)
    noted.add("a/b.jpg", hashed=SOME ^ 1)
    found = near(noted)
    assert found["h/a.jpg"].detail["others"] == ["a/b.jpg"]
    assert found["h/a.jpg"].detail["count"] == 1
    assert found["a/b.jpg"].detail["count"] == 8
