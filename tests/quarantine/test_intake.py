import hashlib
from collections.abc import Sequence

import pytest
from sqlalchemy import func, select
from tests.quarantine.factories import (
    NAME,
    a_record,
    a_summary,
    scanned,
    sent,
    status_of,
    the_data_set,
    the_sample,
)

from sickbay.contract.errors import BadInput, Conflict, NotFound, Refused
from sickbay.contract.finding import (
    FileRecord,
    Finding,
    Record,
    ScanRecord,
    SummaryRecord,
    to_line,
)
from sickbay.contract.paths import SamplePath
from sickbay.database import Database
from sickbay.quarantine import data_sets, intake
from sickbay.quarantine.intake import Batch, Ticket
from sickbay.quarantine.tables import ScanBatch, ScanState, Status

HEADER = ScanRecord(NAME, "imagefolder", ("stop",))


def begun(database: Database) -> Ticket:
    return database.writing(lambda session: intake.begin(session, HEADER, "me"))


def packed(*records: Record) -> Batch:
    lines = [to_line(record) for record in records]
    return intake.check(lines, {}, hashlib.sha256(b"".join(lines)).hexdigest())


def received(database: Database, key: str, number: int, batch: Batch) -> int:
    return database.writing(lambda session: intake.receive(session, key, number, batch))


def stored_batches(database: Database) -> int:
    with database.reading() as session:
        return session.scalar(select(func.count()).select_from(ScanBatch)) or 0


def finished(database: Database, key: str, summary: SummaryRecord) -> int:
    scan: int = database.writing(lambda session: intake.finish(session, key, summary))["scan"]
    return scan


def test_an_upload_goes_on_where_it_was_cut_off(database: Database) -> None:
    records = [a_record("a.jpg"), a_record("b.jpg", "file.empty")]
    ticket = begun(database)
    assert received(database, ticket.key, 0, packed(records[0])) == 1

    with database.reading() as session:
        resumed = intake.progress(session, ticket.key)
    assert resumed == Ticket(ticket.key, 1, 1, ScanState.RECEIVING)

    received(database, ticket.key, resumed.next_batch, packed(records[1]))
    finished(database, ticket.key, a_summary(records))
    assert status_of(database, "b.jpg") is Status.HELD


def test_the_same_batch_again_is_free(database: Database) -> None:
    key = begun(database).key
    batch = packed(a_record("a.jpg"))

    assert [received(database, key, 0, batch) for _ in range(3)] == [1, 1, 1]
    assert stored_batches(database) == 1


def test_another_batch_under_a_used_number_is_a_conflict(database: Database) -> None:
    key = begun(database).key
    received(database, key, 0, packed(a_record("a.jpg")))

    with pytest.raises(Conflict, match="other content"):
        received(database, key, 0, packed(a_record("b.jpg")))


def test_a_gap_is_refused_and_the_sentence_names_the_number_to_send(database: Database) -> None:
    key = begun(database).key

    with pytest.raises(Refused, match="takes batch 0 next, not 1"):
        received(database, key, 1, packed(a_record("a.jpg")))


def test_paths_ascend_across_batches(database: Database) -> None:
    key = begun(database).key
    received(database, key, 0, packed(a_record("b.jpg")))

    for path in ("a.jpg", "b.jpg"):
        with pytest.raises(Refused, match="does not come after"):
            received(database, key, 1, packed(a_record(path)))


@pytest.mark.parametrize(
    ("records", "words"),
    [
        ([], "no records"),
        ([a_record("b.jpg"), a_record("a.jpg")], "not in ascending order"),
        ([a_record("a.jpg"), a_record("a.jpg")], "not in ascending order"),
        ([HEADER], "neither a sample nor a file"),
    ],
)
def test_a_batch_that_is_none_is_bad_input(records: Sequence[Record], words: str) -> None:
    with pytest.raises(BadInput, match=words):
        packed(*records)


BETWEEN = ["x-1.jpg", "x.jpg", "x.jpg-1"]
"""Paths that sort after ``x`` and before ``x/…``."""


@pytest.mark.parametrize(
    "paths",
    [
        ["x", "x/y"],
        ["x", *BETWEEN, "x/y"],
        ["a", "a/b/c.jpg", "b"],
        ["d/a.jpg", "d/a.jpg/b.jpg"],
        [b"\xff", b"\xff-", b"\xff/1"],
    ],
)
@pytest.mark.parametrize("size", [1, 2, 100])
def test_a_scan_whose_sample_is_a_folder_of_another_is_bad_input(
    database: Database, paths: Sequence[str | bytes], size: int
) -> None:
    scanned(database, [a_record("before.jpg")])
    records = [a_record(path) for path in paths]

    with pytest.raises(BadInput, match="a folder of another"):
        scanned(database, records, size=size)

    assert status_of(database, "before.jpg") is Status.CLEAN
    with database.reading() as session:
        assert data_sets.card(session, the_data_set(database).id).samples == 1


def test_names_that_only_begin_alike_are_no_folders_of_one_another(database: Database) -> None:
    paths = ["x", *BETWEEN, "x0", "xx", "y/x", "y/x-", "y/xx/z", "y/x.jpg"]
    scanned(database, [a_record(path) for path in paths], size=2)
    with database.reading() as session:
        assert data_sets.card(session, the_data_set(database).id).samples == len(paths)


def test_what_travels_beside_a_record_belongs_to_one() -> None:
    lines = [to_line(a_record("a.jpg"))]
    for extras in ({"ff": {"stat": "1:2:3"}}, {b"a.jpg".hex(): {"owner": "root"}}):
        with pytest.raises(BadInput):
            intake.check(lines, extras, "0" * 64)


def test_a_line_that_is_no_record_is_refused_before_anything_is_stored() -> None:
    with pytest.raises(BadInput):
        intake.check([b'{"kind":"sample","path":NaN}'], {}, "0" * 64)


def test_nothing_of_a_scan_that_dies_half_way_shows(database: Database) -> None:
    scanned(database, [a_record("a.jpg"), a_record("b.jpg", "file.empty")])

    database.writing(
        lambda session: sent(session, [a_record("a.jpg", "file.empty"), a_record("c.jpg")])
    )

    assert status_of(database, "a.jpg") is Status.CLEAN
    assert status_of(database, "b.jpg") is Status.HELD
    with database.reading() as session:
        card = data_sets.card(session, the_data_set(database).id)
    assert card.samples == 2
    assert card.scan is not None
    assert card.scan.number == 1


@pytest.mark.parametrize(
    "summary",
    [
        SummaryRecord(found=3, clean=2, held=1, skipped=0),
        SummaryRecord(found=2, clean=2, held=0, skipped=0),
        SummaryRecord(found=1, clean=0, held=1, skipped=0),
    ],
)
def test_a_summary_that_counts_other_totals_is_refused(
    database: Database, summary: SummaryRecord
) -> None:
    records = [a_record("a.jpg"), a_record("b.jpg", "file.empty")]
    key = database.writing(lambda session: sent(session, records))

    with pytest.raises(Refused, match="were received"):
        finished(database, key, summary)

    assert finished(database, key, a_summary(records)) == 1


def test_skipped_samples_may_have_records_or_none(database: Database) -> None:
    records = [a_record("a.jpg"), a_record("b.heic", "image.unsupported")]
    key = database.writing(lambda session: sent(session, records))

    finished(database, key, SummaryRecord(found=3, clean=1, held=0, skipped=2))

    assert status_of(database, "b.heic") is Status.CLEAN


def test_finishing_again_tells_the_same_result(database: Database) -> None:
    records = [a_record("a.jpg"), a_record("b.jpg", "file.empty")]
    key = database.writing(lambda session: sent(session, records))

    results = [
        database.writing(lambda session: dict(intake.finish(session, key, a_summary(records))))
        for _ in range(2)
    ]

    assert results[0] == results[1]
    assert results[0]["new"] == 2
    assert the_sample(database, "b.jpg").version == 2


def test_a_finished_scan_keeps_no_batches_and_takes_no_more(database: Database) -> None:
    records = [a_record("a.jpg")]
    key = database.writing(lambda session: sent(session, records))
    finished(database, key, a_summary(records))

    assert stored_batches(database) == 0
    with pytest.raises(Refused, match="is over"):
        received(database, key, 1, packed(a_record("b.jpg")))
    with pytest.raises(Refused, match="in force"):
        database.writing(lambda session: intake.abandon(session, key))


def test_a_newer_scan_that_finishes_ends_the_older_ones(database: Database) -> None:
    records = [a_record("a.jpg")]
    older = database.writing(lambda session: sent(session, records))
    elsewhere = database.writing(lambda session: sent(session, records, name="other"))
    scanned(database, records)

    with pytest.raises(Refused, match="is over"):
        finished(database, older, a_summary(records))
    assert finished(database, elsewhere, a_summary(records)) == 1


def test_an_older_scan_may_finish_before_a_newer_one(database: Database) -> None:
    records = [a_record("a.jpg")]
    older, newer = (database.writing(lambda session: sent(session, records)) for _ in range(2))

    assert finished(database, older, a_summary(records)) == 1
    assert finished(database, newer, a_summary(records)) == 2


def test_an_abandoned_scan_leaves_nothing_behind(database: Database) -> None:
    records = [a_record("a.jpg")]
    key = database.writing(lambda session: sent(session, records))

    database.writing(lambda session: intake.abandon(session, key))

    assert stored_batches(database) == 0
    with pytest.raises(Refused, match="is over"):
        finished(database, key, a_summary(records))


def test_an_unknown_key_is_not_found(database: Database) -> None:
    with database.reading() as session, pytest.raises(NotFound):
        intake.progress(session, "0" * 32)


def test_a_scan_cannot_make_a_data_set_of_an_odd_name(database: Database) -> None:
    with pytest.raises(BadInput):
        database.writing(
            lambda session: intake.begin(session, ScanRecord("../up", "imagefolder", ()), "me")
        )


def test_only_a_scan_that_knows_its_root_sets_it(database: Database) -> None:
    scanned(database, [a_record("a.jpg")], root="/pictures")
    scanned(database, [a_record("a.jpg")])

    assert the_data_set(database).root == "/pictures"


def test_an_empty_folder_does_not_empty_a_data_set(database: Database) -> None:
    scanned(database, [a_record("a.jpg")])

    with pytest.raises(Refused, match="is mounted"):
        scanned(database, [])

    assert not the_sample(database, "a.jpg").gone


def test_the_records_of_annotation_files_may_stand_between_samples(database: Database) -> None:
    fault = Finding.of("file.unreadable", "b.csv", "It cannot be read.")
    key = begun(database).key

    received(
        database,
        key,
        0,
        packed(a_record("a.jpg"), FileRecord(SamplePath(b"b.csv"), (fault,)), a_record("c.jpg")),
    )

    assert finished(database, key, SummaryRecord(found=2, clean=2, held=0, skipped=0)) == 1


def test_thumbnail_and_stat_reach_the_sample(database: Database) -> None:
    digest = "a" * 64
    beside = {b"a.jpg".hex(): {"thumbnail": digest, "stat": "1:2:3"}}
    scanned(database, [a_record("a.jpg", "file.empty")], extras=beside)
    assert (the_sample(database, "a.jpg").thumbnail, the_sample(database, "a.jpg").stat) == (
        digest,
        "1:2:3",
    )

    scanned(database, [a_record("a.jpg", "file.empty")])
    assert the_sample(database, "a.jpg").thumbnail == digest

    scanned(database, [a_record("a.jpg", "file.empty", content="new")])
    assert the_sample(database, "a.jpg").thumbnail is None
