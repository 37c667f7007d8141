"""Scans that arrive over HTTP."""

import base64
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from fastapi.testclient import TestClient
from tests.pictures import encoded, picture
from tests.quarantine.factories import a_record, a_summary

from sickbay.accounts.tables import Role, Scope
from sickbay.contract.batch import content_digest, pack
from sickbay.contract.finding import Depth, SampleRecord, ScanRecord, SummaryRecord, to_line
from sickbay.contract.policy import Policy
from sickbay.quarantine import data_sets
from sickbay.quarantine.tables import Sample
from sickbay.web.site import Site

SCANS = "/api/v1/scans"
HEADER = to_line(ScanRecord("pets", "imagefolder", ("cat", "dog")))
RECORDS = (a_record("a.jpg"), a_record("b.jpg", "image.truncated"), a_record("c.jpg"))
A_THUMBNAIL = encoded(picture(1, (256, 192)), "WEBP")


@pytest.fixture
def scanner(program: Callable[[Scope], TestClient]) -> TestClient:
    return program(Scope.SCAN)


def body(records: Sequence[SampleRecord], thumbnail: bytes | None = None) -> bytes:
    return b"".join(pack(one, thumbnail if one.held else None) for one in records)


def begun(scanner: TestClient) -> str:
    answer = scanner.post(SCANS, content=HEADER)
    assert answer.status_code == 201
    return f"{SCANS}/{answer.json()['key']}"


def finished(scanner: TestClient, scan: str, summary: SummaryRecord) -> Any:
    return scanner.post(f"{scan}/finish", content=to_line(summary))


def test_a_scan_is_in_force_once_it_is_finished(site: Site, scanner: TestClient) -> None:
    scan = begun(scanner)
    for number, record in enumerate(RECORDS):
        answer = scanner.put(f"{scan}/batches/{number}", content=body([record]))
        assert answer.json() == {"next_batch": number + 1}
    assert _samples(site) == 0, "nothing shows before the end"
    answer = finished(scanner, scan, a_summary(RECORDS))
    assert answer.status_code == 200
    assert _samples(site) == 3
    assert scanner.get(scan).json()["state"] == "finished"


def test_the_same_batch_again_is_free_and_another_content_is_not(scanner: TestClient) -> None:
    scan = begun(scanner)
    for _ in range(3):
        answer = scanner.put(f"{scan}/batches/0", content=body(RECORDS))
        assert answer.json() == {"next_batch": 1}
    other = scanner.put(f"{scan}/batches/0", content=body(RECORDS[:1]))
    assert other.status_code == 409


def test_a_gap_names_the_batch_that_is_expected(scanner: TestClient) -> None:
    scan = begun(scanner)
    answer = scanner.put(f"{scan}/batches/5", content=body(RECORDS))
    assert answer.status_code == 409
    assert "takes batch 0 next" in answer.json()["error"]
    assert scanner.get(scan).json()["next_batch"] == 0


def test_finishing_again_tells_the_same(scanner: TestClient) -> None:
    scan = begun(scanner)
    scanner.put(f"{scan}/batches/0", content=body(RECORDS))
    first, second = (finished(scanner, scan, a_summary(RECORDS)) for _ in range(2))
    assert first.json() == second.json()


def test_a_summary_that_counts_otherwise_puts_nothing_in_force(
    site: Site, scanner: TestClient
) -> None:
    scan = begun(scanner)
    scanner.put(f"{scan}/batches/0", content=body(RECORDS[:2]))
    answer = finished(scanner, scan, a_summary(RECORDS))
    assert answer.status_code == 409
    assert _samples(site) == 0


def test_an_abandoned_scan_takes_nothing_more(scanner: TestClient) -> None:
    scan = begun(scanner)
    assert scanner.delete(scan).status_code == 204
    assert scanner.put(f"{scan}/batches/0", content=body(RECORDS)).status_code == 409


def test_a_token_sets_no_folder_for_the_server_to_read(site: Site, scanner: TestClient) -> None:
    extended = HEADER.replace(b'"kind"', b'"root":"/etc","kind"')
    assert scanner.post(SCANS, content=extended).status_code == 422
    begun(scanner)
    with site.database.reading() as session:
        assert data_sets.find(session, "pets").root is None


def test_a_thumbnail_is_encoded_anew_before_anybody_sees_it(
    site: Site, scanner: TestClient, visitor: Callable[[Role], TestClient]
) -> None:
    hidden = A_THUMBNAIL + b"<script>canary</script>"
    _sent_whole(scanner, hidden)
    answer = visitor(Role.VIEWER).get(f"/datasets/pets/samples/{_held(site)}/thumbnail")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "image/webp"
    assert answer.content[:4] == b"RIFF"
    assert b"canary" not in answer.content


@pytest.mark.parametrize(
    "data",
    [
        b"<html><script>canary</script>",
        encoded(picture(1, (257, 1)), "WEBP"),
        encoded(picture(1, (1, 257)), "WEBP", lossless=True),
        encoded(picture(1, (64, 48)), "PNG"),
        A_THUMBNAIL[:100],
        A_THUMBNAIL[:24] + b"\xff\xff\xff\xff" + A_THUMBNAIL[28:],
    ],
    ids=["markup", "wide", "tall", "png", "cut", "16,383 pixels stated"],
)
def test_a_thumbnail_that_is_none_is_dropped_and_the_scan_goes_on(
    site: Site, scanner: TestClient, visitor: Callable[[Role], TestClient], data: bytes
) -> None:
    _sent_whole(scanner, data)
    answer = visitor(Role.VIEWER).get(f"/datasets/pets/samples/{_held(site)}/thumbnail")
    assert answer.status_code == 404


@pytest.mark.parametrize(
    "line",
    [
        b'{"kind":"thumbnail","of":"zz","data":"AAAA"}',
        b'{"kind":"thumbnail","of":"62","data":"AAA"}',
        b'{"kind":"thumbnail","of":"62","data":""}',
        b'{"kind":"thumbnail","of":"62","data":"' + base64.b64encode(b"x" * 65537) + b'"}',
        b'{"kind":"thumbnail","data":"AAAA","of":"62"}',
        b'{"kind":"thumbnail","of":"ffff","data":"' + base64.b64encode(A_THUMBNAIL) + b'"}',
        b'{"kind":"scan"}',
        b"[]",
        to_line(a_record("a.jpg")).rstrip(),
    ],
    ids=range(9),
)
def test_a_line_that_does_not_belong_refuses_the_batch(scanner: TestClient, line: bytes) -> None:
    scan = begun(scanner)
    answer = scanner.put(f"{scan}/batches/0", content=body(RECORDS) + line + b"\n")
    assert answer.status_code == 422
    assert scanner.get(scan).json()["next_batch"] == 0


def test_an_unknown_scan_is_not_found(scanner: TestClient) -> None:
    scan = f"{SCANS}/{'0' * 32}"
    assert scanner.get(scan).status_code == 404
    assert scanner.put(f"{scan}/batches/0", content=body(RECORDS)).status_code == 404
    assert finished(scanner, scan, a_summary(RECORDS)).status_code == 404


def _sent_whole(scanner: TestClient, thumbnail: bytes) -> None:
    scan = begun(scanner)
    sent = scanner.put(f"{scan}/batches/0", content=body(RECORDS, thumbnail))
    assert sent.status_code == 200
    assert finished(scanner, scan, a_summary(RECORDS)).status_code == 200


def _samples(site: Site) -> int:
    with site.database.reading() as session:
        return session.query(Sample).count()


def _held(site: Site) -> int:
    with site.database.reading() as session:
        return session.query(Sample).filter(Sample.path == "b.jpg").one().id


def test_a_batch_that_says_what_is_known_is_repeated_by_its_content(
    site: Site, scanner: TestClient
) -> None:
    first = begun(scanner)
    scanner.put(f"{first}/batches/0", content=body(RECORDS))
    finished(scanner, first, a_summary(RECORDS))
    answer = scanner.post(SCANS, content=HEADER).json()
    content = content_digest([to_line(record) for record in RECORDS], {})
    assert answer["known"] == [content]

    again = f"{SCANS}/{answer['key']}"
    assert scanner.put(f"{again}/repeats/0", json={"content": content}).json() == {"next_batch": 1}
    assert finished(scanner, again, a_summary(RECORDS)).status_code == 200
    assert _samples(site) == 3


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ({"content": "0" * 64}, 404),
        ({"content": "0" * 65}, 422),
        ({"content": 3}, 422),
        ({}, 422),
        ({"content": "0" * 64, "more": 1}, 422),
        ([], 422),
    ],
)
def test_what_is_no_repeat_is_refused(scanner: TestClient, said: Any, status: int) -> None:
    assert scanner.put(f"{begun(scanner)}/repeats/0", json=said).status_code == status


def test_a_header_may_be_longer_than_other_bodies_but_its_policy_is_a_known_one(
    scanner: TestClient,
) -> None:
    names = tuple(f"class number {number}" for number in range(30_000))
    policy = Policy(classes=names).to_json()
    header = ScanRecord("pets", "imagefolder", names, policy, Depth.STRUCTURE)
    assert scanner.post(SCANS, content=to_line(header)).status_code == 201
    odd = replace(header, classes=(), policy={"min_size": 3})
    refused = scanner.post(SCANS, content=to_line(odd))
    assert refused.status_code == 422
    assert "no key 'min_size'" in refused.text
