import hashlib
import json
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import rfc8785
from sqlalchemy import func, select
from tests.releases.a_data_set import ADataSet, tree_digest, with_every_decision

from sickbay.contract.errors import NotFound, Refused
from sickbay.contract.manifest import FILES
from sickbay.database import Database
from sickbay.database.schema import open_database
from sickbay.quarantine.data_sets import register
from sickbay.quarantine.tables import Action
from sickbay.releases.tables import Release


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_release_lists_what_to_train_on_with_the_replacement_in_place(
    data_set: ADataSet,
) -> None:
    with_every_decision(data_set)
    manifest = rows(data_set.folder(data_set.make()) / "manifest.jsonl")
    original = hashlib.sha256(b"content of train/dog/3.jpg").hexdigest()
    assert manifest[1] == {
        "encodingFormat": "image/png",
        "file_name": "train/dog/3.jpg",
        "id": hashlib.sha256(b"train/dog/3.jpg").hexdigest()[:32],
        "label": 1,
        "label_name": "dog",
        "sha256": hashlib.sha256(b"better").hexdigest(),
        "size": 6,
        "source_sha256": original,
        "split": "train",
        "status": "repaired",
    }
    assert [(row["file_name"], row["status"]) for row in manifest] == [
        ("train/cat/1.jpg", "clean"),
        ("train/dog/3.jpg", "repaired"),
        ("train/dog/4.jpg", "approved"),
    ]


def test_a_release_says_of_every_other_sample_why_it_is_not_there(data_set: ADataSet) -> None:
    with_every_decision(data_set)
    quarantine = rows(data_set.folder(data_set.make()) / "quarantine.jsonl")
    assert [(row["file_name"], row["decision"], row["reason"]) for row in quarantine] == [
        ("train/cat/2.jpg", "exclude", "damaged"),
        ("train/dog/3.jpg", "repair", ""),
        ("train/dog/4.jpg", "approve", ""),
        ("train/dog/5.jpg", "pending", ""),
    ]
    assert quarantine[2]["codes"] == ["image.exif-rotated", "image.truncated"]
    assert quarantine[1]["replacement_sha256"] == hashlib.sha256(b"better").hexdigest()
    assert {row["first_seen"] for row in quarantine} == {"scan"}


def test_the_id_is_the_digest_of_version_json_and_covers_every_file(data_set: ADataSet) -> None:
    with_every_decision(data_set)
    made = data_set.make()
    files = contents(data_set.folder(made))
    version = json.loads(files["version.json"])
    assert made.digest == hashlib.sha256(files["version.json"]).hexdigest()
    assert sorted(files) == sorted(FILES)
    assert version["dirHash"] == hashlib.sha256(files["SHA256SUMS"]).hexdigest()
    assert version["counts"] == {
        "bytes": 58,
        "excluded": 1,
        "kept": 3,
        "pending": 1,
        "repaired": 1,
    }
    for entry in version["files"]:
        assert entry["sha256"] == hashlib.sha256(files[entry["name"]]).hexdigest()
        assert entry["size"] == len(files[entry["name"]])


def test_every_line_is_what_rfc_8785_prescribes(data_set: ADataSet) -> None:
    data_set.add("train/cat/ein „Bild“ \u2028 😀 é.jpg", "image.truncated", label='a"\\\x7f/😀')
    with_every_decision(data_set)
    for name, content in contents(data_set.folder(data_set.make())).items():
        for line in content.splitlines(keepends=True) if name.endswith(("json", "jsonl")) else ():
            assert line == rfc8785.dumps(json.loads(line)) + b"\n"


def test_sha256sum_itself_accepts_both_lists(data_set: ADataSet) -> None:
    data_set.add("train/cat/100% sure.jpg")
    data_set.add("train/cat/-rf *.jpg")
    data_set.add("*star.jpg")
    data_set.add("-dash.jpg", content=b"")
    data_set.scan()
    folder = data_set.folder(data_set.make())
    for sums, where in (("SHA256SUMS", data_set.root), ("METADATA-SHA256SUMS", folder)):
        check = ["sha256sum", "--check", "--strict", "--quiet", str(folder / sums)]
        assert subprocess.run(check, cwd=where, check=False).returncode == 0


def approve_then_change_mind(data_set: ADataSet) -> None:
    data_set.decide("train/dog/5.jpg", Action.APPROVE)
    data_set.decide("train/dog/5.jpg", Action.REOPEN)


def undo_and_redo(data_set: ADataSet) -> None:
    batch = data_set.decide("train/cat/1.jpg", Action.EXCLUDE, "private")
    data_set.undo(batch)
    reopened = data_set.decide("train/cat/2.jpg", Action.REOPEN, "other")
    data_set.undo(reopened)


def decide_again(data_set: ADataSet) -> None:
    data_set.decide("train/cat/2.jpg", Action.REOPEN)
    data_set.decide("train/cat/2.jpg", Action.APPROVE, "off-topic")
    data_set.decide("train/cat/2.jpg", Action.REOPEN)
    data_set.decide("train/cat/2.jpg", Action.EXCLUDE, "damaged", by="bert")


@pytest.mark.parametrize("detour", [approve_then_change_mind, undo_and_redo, decide_again])
def test_the_same_decisions_reached_another_way_on_another_database_give_the_same_bytes(
    data_set: ADataSet, tmp_path: Path, migrated: Path, detour: Callable[[ADataSet], None]
) -> None:
    with_every_decision(data_set)
    first = contents(data_set.folder(data_set.make(by="anna")))
    state = tmp_path / "elsewhere"
    state.mkdir()
    (state / "sickbay.db").write_bytes(migrated.read_bytes())
    database = open_database(state / "sickbay.db")
    other = ADataSet(database, state, tmp_path / "moved" / "root")
    other.add("unrelated.jpg", "image.truncated")
    other.scan()
    other.records.clear()
    for path in ("dog/5", "dog/4", "dog/3", "cat/2", "cat/1"):
        codes = {"dog/3": ["image.damaged"], "cat/1": []}.get(path, ["image.truncated"])
        codes += ["image.exif-rotated"] if path == "dog/4" else []
        other.add(f"train/{path}.jpg", *codes, label=path[:3])
    other.scan()
    other.decide("train/dog/4.jpg", Action.APPROVE, by="bert")
    other.repair("train/dog/3.jpg", b"better", by="carl")
    other.decide("train/cat/2.jpg", Action.EXCLUDE, "damaged", by="dora")
    detour(other)
    second = contents(other.folder(other.make(by="bert")))
    database.close()
    outside = {"release.json", "METADATA-SHA256SUMS"}
    assert {name: first[name] for name in first.keys() - outside} == {
        name: second[name] for name in second.keys() - outside
    }
    assert first["release.json"] != second["release.json"]


def test_making_the_same_release_again_gives_back_the_one_that_is_there(
    data_set: ADataSet, database: Database
) -> None:
    with_every_decision(data_set)
    first = data_set.make()
    before = contents(data_set.folder(first))
    again = data_set.make(by="bert")
    assert (again.digest, first.already_there, again.already_there) == (first.digest, False, True)
    assert contents(data_set.folder(first)) == before
    with database.reading() as session:
        assert session.scalar(select(func.count()).select_from(Release)) == 1


def test_a_release_names_the_one_before_it(data_set: ADataSet) -> None:
    with_every_decision(data_set)
    first = data_set.make()
    data_set.decide("train/dog/5.jpg", Action.EXCLUDE, "damaged")
    second = data_set.make()
    told = json.loads((data_set.folder(second) / "release.json").read_bytes())
    assert second.digest != first.digest
    assert (told["parent"], told["id"], told["created_by"]) == (
        first.digest,
        second.digest,
        "anna",
    )


def test_a_relabel_alone_gives_another_release_of_the_same_tree(data_set: ADataSet) -> None:
    with_every_decision(data_set)
    first = data_set.make()
    data_set.falsify("train/cat/1.jpg", label="dog")
    second = data_set.make()
    versions = [
        json.loads((data_set.folder(made) / "version.json").read_bytes())
        for made in (first, second)
    ]
    assert first.digest != second.digest
    assert versions[0]["dirHash"] == versions[1]["dirHash"]


def test_a_release_that_requires_decisions_is_refused_while_some_are_missing(
    data_set: ADataSet,
) -> None:
    with_every_decision(data_set)
    with pytest.raises(Refused, match=r"^Held samples of animals without a decision: 1\."):
        data_set.make(require_decided=True)
    assert data_set.left_over() == []
    data_set.decide("train/dog/5.jpg", Action.EXCLUDE)
    assert data_set.make(require_decided=True).counts.pending == 0


def test_a_data_set_that_nobody_knows_or_scanned_has_nothing_to_release(
    data_set: ADataSet, database: Database
) -> None:
    with pytest.raises(NotFound):
        data_set.make()
    database.writing(lambda session: register(session, name="animals", layout="imagefolder"))
    with pytest.raises(Refused, match="has not been scanned yet"):
        data_set.make()


def test_a_sample_that_is_gone_is_no_part_of_a_release(data_set: ADataSet) -> None:
    data_set.add("a.jpg")
    data_set.add("b.jpg", "image.truncated")
    data_set.scan()
    data_set.records.pop(b"b.jpg")
    data_set.scan()
    made = data_set.make()
    assert (made.counts.samples, made.counts.pending) == (1, 0)
    assert (data_set.folder(made) / "quarantine.jsonl").read_bytes() == b""


def test_a_name_that_no_manifest_can_hold_is_shown_in_the_quarantine(data_set: ADataSet) -> None:
    data_set.add(b"caf\xe9.jpg", "file.unsafe-path")
    data_set.add("line\nbreak.jpg", "file.unsafe-path")
    data_set.scan()
    data_set.decide("line\nbreak.jpg", Action.EXCLUDE, "other")
    quarantine = rows(data_set.folder(data_set.make()) / "quarantine.jsonl")
    assert [(row["file_name"], row["id"]) for row in quarantine] == [
        ("caf\\xe9.jpg", hashlib.sha256(b"caf\xe9.jpg").hexdigest()[:32]),
        ("line\nbreak.jpg", hashlib.sha256(b"line\nbreak.jpg").hexdigest()[:32]),
    ]


@pytest.mark.parametrize("name", ["SHA256SUMS", "Manifest.JSONL", "version.json/a.jpg"])
def test_a_sample_named_like_a_file_of_the_release_itself_is_refused(
    data_set: ADataSet, name: str
) -> None:
    data_set.add(name)
    data_set.scan()
    with pytest.raises(Refused, match="named like a file of the release itself"):
        data_set.make()


def test_a_clean_sample_with_a_name_that_no_manifest_can_hold_is_refused(
    data_set: ADataSet,
) -> None:
    data_set.add("back\\slash.jpg")
    data_set.scan()
    with pytest.raises(Refused, match="backslash"):
        data_set.make()


def test_a_sample_whose_content_was_never_read_is_refused(data_set: ADataSet) -> None:
    data_set.add("a.jpg")
    data_set.scan()
    data_set.falsify("a.jpg", sha256=None, stat=None)
    with pytest.raises(Refused, match=r"'a\.jpg' is to be trained on, but its content"):
        data_set.make()


def test_a_lost_replacement_is_refused(data_set: ADataSet) -> None:
    with_every_decision(data_set)
    data_set.blobs.path(hashlib.sha256(b"better").hexdigest()).unlink()
    with pytest.raises(Refused, match=r"replacement for 'train/dog/3\.jpg' is not in the state"):
        data_set.make()
    assert data_set.left_over() == []


def test_names_that_collide_and_warnings_are_told_but_do_not_stop_a_release(
    data_set: ADataSet,
) -> None:
    for name in ("A.jpg", "a.jpg"):
        data_set.add(name, "file.name-collision")
    data_set.add("cafe\u0301.jpg")
    data_set.add("caf\u00e9.jpg")
    data_set.scan()
    made = data_set.make()
    names = [row["file_name"] for row in rows(data_set.folder(made) / "manifest.jsonl")]
    assert names == ["A.jpg", "a.jpg", "cafe\u0301.jpg", "caf\u00e9.jpg"]
    collide, warned = made.warnings
    assert collide.startswith("Names that collide where upper and lower case")
    assert collide.endswith("are not told apart: 2 ('A.jpg', 'a.jpg').")
    assert warned == "Kept samples with a warning: 2."
    told = json.loads((data_set.folder(made) / "release.json").read_bytes())
    assert told["warnings"] == list(made.warnings)


def test_an_empty_data_set_gives_an_empty_release(data_set: ADataSet) -> None:
    data_set.scan()
    made = data_set.make()
    files = contents(data_set.folder(made))
    assert (files["manifest.jsonl"], files["SHA256SUMS"]) == (b"", b"")
    assert json.loads(files["version.json"])["dirHash"] == hashlib.sha256(b"").hexdigest()


def test_the_data_root_is_byte_identical_before_and_after(data_set: ADataSet) -> None:
    with_every_decision(data_set)
    before = tree_digest(data_set.root)
    data_set.make()
    assert tree_digest(data_set.root) == before


@pytest.mark.parametrize("layout", ["csv", "jsonl", "text"])
def test_rows_of_a_file_are_refused_with_what_to_do_instead(
    data_set: ADataSet, layout: str
) -> None:
    data_set.layout = layout
    data_set.add("data.csv#row=000000002")
    data_set.scan()
    with pytest.raises(
        Refused, match=r"quarantine list \(JSONL or TSV\), which names file and row"
    ):
        data_set.make()
    assert data_set.left_over() == []


def test_files_that_a_list_names_are_released_whatever_they_are_called(data_set: ADataSet) -> None:
    data_set.layout = "csv"
    data_set.add("a#row=000000002.jpg")
    data_set.add("b.jpg")
    data_set.scan()
    assert data_set.make().counts.kept == 2


def test_a_picture_in_a_folder_may_have_the_name_of_a_row(data_set: ADataSet) -> None:
    data_set.add("a#row=000000002")
    data_set.scan()
    assert data_set.make().counts.kept == 1


def test_files_of_a_release_are_private_to_the_owner(data_set: ADataSet) -> None:
    with_every_decision(data_set)
    folder = data_set.folder(data_set.make())
    assert {path.stat().st_mode & 0o077 for path in (folder, *folder.iterdir())} == {0}


def test_ten_makings_at_once_give_one_release(data_set: ADataSet, database: Database) -> None:
    with_every_decision(data_set)
    with ThreadPoolExecutor(10) as pool:
        made = [future.result() for future in [pool.submit(data_set.make) for _ in range(10)]]
    assert len({one.digest for one in made}) == 1
    assert sum(not one.already_there for one in made) == 1
    with database.reading() as session:
        assert session.scalar(select(func.count()).select_from(Release)) == 1
    assert data_set.left_over() == [made[0].digest]


def test_files_that_were_lost_are_written_anew(data_set: ADataSet) -> None:
    with_every_decision(data_set)
    made = data_set.make()
    for path in data_set.folder(made).iterdir():
        path.unlink()
    data_set.folder(made).rmdir()
    assert data_set.make().digest == made.digest
    assert sorted(contents(data_set.folder(made))) == sorted(FILES)
