import pytest
from hypothesis import given
from hypothesis import strategies as st

from sickbay.contract.defects import DEFECTS
from sickbay.contract.errors import BadInput
from sickbay.quarantine.queue.filters import SORTS, Filter, from_pairs, to_pairs
from sickbay.quarantine.tables import Status

texts = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters=[chr(n) for n in range(32)]),
    max_size=200,
)
filters = st.builds(
    Filter,
    status=st.sets(st.sampled_from(Status), min_size=1).map(
        lambda chosen: tuple(one for one in Status if one in chosen)
    ),
    code=st.none() | st.sampled_from(sorted(DEFECTS)),
    split=st.none() | texts,
    label=st.none() | texts,
    path=texts,
    sort=st.sampled_from(SORTS),
)


@given(filters)
def test_a_filter_survives_the_url(chosen: Filter) -> None:
    assert from_pairs(to_pairs(chosen)) == chosen


def test_no_query_means_what_is_held() -> None:
    assert from_pairs([]) == Filter(status=(Status.HELD,))
    assert to_pairs(Filter()) == []


def test_an_empty_split_is_a_value_and_no_split_is_any() -> None:
    assert from_pairs([("split", "")]).split == ""
    assert from_pairs([]).split is None


def test_statuses_are_several_in_any_order() -> None:
    pairs = [("status", "excluded"), ("status", "held"), ("status", "held")]

    assert from_pairs(pairs).status == (Status.HELD, Status.EXCLUDED)


@pytest.mark.parametrize(
    "pair",
    [
        ("status", "gone"),
        ("status", ""),
        ("code", "image.nonsense"),
        ("code", ""),
        ("sort", "path; DROP TABLE sample"),
        ("sort", "-path"),
        ("limit", "-1"),
        ("offset", "1e18"),
        ("path", "%" * 201),
        ("path", "nul\0"),
        ("label", "\ud800"),
        ("label", "x" * 256),
        ("split", "line\nbreak"),
    ],
)
def test_what_is_no_filter_is_bad_input_and_not_repeated(pair: tuple[str, str]) -> None:
    with pytest.raises(BadInput) as refused:
        from_pairs([pair])

    if len(pair[1]) > 8:
        assert pair[1] not in refused.value.sentence


def test_a_key_given_twice_is_bad_input() -> None:
    with pytest.raises(BadInput):
        from_pairs([("path", "a"), ("path", "b")])
