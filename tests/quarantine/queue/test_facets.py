import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import select
from tests.quarantine.factories import EVERY, a_record, decided, scanned, the_data_set

from sickbay.database import Database
from sickbay.quarantine.queue.facets import Count, Facets, facets, total
from sickbay.quarantine.queue.filters import Filter
from sickbay.quarantine.queue.page import page
from sickbay.quarantine.tables import Action, Finding, Sample, Status


@pytest.fixture
def filled(database: Database) -> Database:
    scanned(
        database,
        [
            a_record("a.jpg", "image.truncated"),
            a_record("b.jpg", "image.truncated", "image.odd-mode", label="yield"),
            a_record("c.jpg", "image.damaged", "image.damaged", split="val"),
            a_record("d.jpg", "image.damaged", split="", label=""),
            a_record("e.jpg", "image.odd-mode"),
            a_record("f.jpg"),
        ],
    )
    decided(database, ["a.jpg"], Action.EXCLUDE)
    return database


def read(database: Database, chosen: Filter) -> Facets:
    key = the_data_set(database).id
    with database.reading() as session:
        return facets(session, key, chosen)


def test_each_facet_counts_what_its_values_would_show(filled: Database) -> None:
    assert read(filled, Filter()) == Facets(
        status=(Count("clean", 2), Count("held", 3), Count("excluded", 1)),
        code=(
            Count("image.damaged", 2),
            Count("image.odd-mode", 1),
            Count("image.truncated", 1),
        ),
        split=(Count("", 1), Count("train", 1), Count("val", 1)),
        label=(Count("", 1), Count("stop", 1), Count("yield", 1)),
    )


chosen_filters = st.builds(
    Filter,
    status=st.lists(st.sampled_from(Status), min_size=1, unique=True).map(tuple),
    code=st.sampled_from([None, "image.truncated", "image.odd-mode", "image.damaged"]),
    split=st.sampled_from([None, "train", "val", ""]),
    label=st.sampled_from([None, "stop", "yield", ""]),
    path=st.sampled_from(["", "a", ".JPG"]),
)


@given(chosen=chosen_filters)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whether_tallied_or_counted_the_numbers_are_those_of_the_samples(
    filled: Database, chosen: Filter
) -> None:
    key = the_data_set(filled).id
    with filled.reading() as session:
        samples = session.scalars(select(Sample)).all()
        codes: dict[int, set[str]] = {}
        for finding in session.scalars(select(Finding)):
            codes.setdefault(finding.sample_id, set()).add(finding.code)

        def matches(sample: Sample, without: str) -> bool:
            return (
                (without == "status" or sample.status in chosen.status)
                and (without == "code" or chosen.code in {None, *codes.get(sample.id, ())})
                and (without == "split" or chosen.split in {None, sample.split})
                and (without == "label" or chosen.label in {None, sample.label})
                and chosen.path.lower() in sample.path
            )

        def expected(name: str) -> dict[str, int]:
            found: dict[str, int] = {}
            for sample in samples:
                if matches(sample, name):
                    values = codes.get(sample.id, ()) if name == "code" else [getattr(sample, name)]
                    for value in values:
                        found[value] = found.get(value, 0) + 1
            return found

        shown = facets(session, key, chosen)
        for name in ("status", "code", "split", "label"):
            assert {one.value: one.samples for one in getattr(shown, name)} == expected(name)
        number = sum(matches(sample, "") for sample in samples)
        assert total(session, key, chosen) == number
        assert page(session, key, chosen).total == len(page(session, key, chosen).tiles) == number


def test_counts_of_one_data_set_know_nothing_of_another(filled: Database) -> None:
    before = read(filled, EVERY)

    scanned(filled, [a_record("a.jpg", "image.truncated")], name="other")

    assert read(filled, EVERY) == before
