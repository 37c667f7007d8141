import json
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as some
from tests.releases.a_data_set import ADataSet, with_every_decision

from sickbay.quarantine.tables import Status
from sickbay.releases.stats import MILLION, Statistics

KEPT = {Status.CLEAN, Status.APPROVED, Status.REPAIRED}


def test_stats_say_per_split_and_class_what_became_of_the_samples(data_set: ADataSet) -> None:
    data_set.add("val/cat/6.jpg", split="val")
    with_every_decision(data_set)
    stats = json.loads((data_set.folder(data_set.make()) / "stats.json").read_bytes())
    train, val = stats["splits"]
    assert stats["samples"] == {
        "after": 4,
        "approved": 1,
        "before": 6,
        "excluded": 1,
        "pending": 1,
        "repaired": 1,
    }
    assert stats["bytes"] == {"after": 82, "before": 154}
    assert (train["split"], val["split"]) == ("train", "val")
    assert [(one["label_name"], one["before"], one["after"]) for one in train["classes"]] == [
        ("cat", 2, 1),
        ("dog", 3, 2),
    ]
    assert train["balance"] == {
        "smallest_class": "cat",
        "smallest_share_millionths": 333_333,
        "total_variation_millionths": 66_666,
    }
    assert val["balance"]["total_variation_millionths"] == 0


def test_leaving_a_whole_class_out_is_seen_in_the_balance() -> None:
    statistics = Statistics()
    statistics.add("", "cat", Status.CLEAN, 1, 1)
    statistics.add("", "dog", Status.EXCLUDED, 1, 0)
    assert statistics.document({})["balance"] == {
        "smallest_class": "dog",
        "smallest_share_millionths": 0,
        "total_variation_millionths": MILLION // 2,
    }


def test_leaving_everything_out_is_the_largest_distance() -> None:
    statistics = Statistics()
    statistics.add("", "cat", Status.EXCLUDED, 1, 0)
    assert statistics.document({})["balance"]["total_variation_millionths"] == MILLION


@given(some.lists(some.tuples(some.sampled_from("abc"), some.sampled_from(Status)), max_size=40))
def test_the_distance_is_exact_arithmetic_rounded_down(samples: list[tuple[str, Status]]) -> None:
    statistics = Statistics()
    for label, status in samples:
        statistics.add("", label, status, 1, 1)
    kept = [label for label, status in samples if status in KEPT]
    balance = statistics.document({})["balance"]
    if kept:
        apart = sum(
            abs(
                Fraction(sum(one == label for one, _ in samples), len(samples))
                - Fraction(kept.count(label), len(kept))
            )
            for label in "abc"
        )
        assert balance["total_variation_millionths"] == apart * MILLION // 2
    counts = statistics.counts()
    assert counts.kept + counts.excluded + counts.pending == counts.samples == len(samples)
