import os
from pathlib import Path

import pytest
from tests.releases.a_data_set import ADataSet, with_every_decision

from sickbay.contract.errors import BadInput, Refused


def with_one(data_set: ADataSet) -> Path:
    data_set.add("train/cat/1.jpg", content=b"sixteen bytes ok")
    data_set.scan()
    return data_set.root / "train/cat/1.jpg"


def refused(data_set: ADataSet) -> str:
    with pytest.raises(Refused) as caught:
        data_set.make()
    assert data_set.left_over() == []
    return caught.value.sentence


def test_an_edit_of_the_same_size_that_keeps_the_time_is_found(data_set: ADataSet) -> None:
    place = with_one(data_set)
    before = place.stat()
    place.write_bytes(b"sixteen bytes no")
    os.utime(place, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert refused(data_set) == (
        "Files that changed since the scan: 1 ('train/cat/1.jpg' changed). "
        "No release was made: scan again."
    )


def test_a_file_that_was_only_touched_is_hashed_and_passes(data_set: ADataSet) -> None:
    place = with_one(data_set)
    os.utime(place)
    assert data_set.make().checked_on_disk


def test_a_file_that_was_copied_anew_is_hashed_and_passes(data_set: ADataSet) -> None:
    place = with_one(data_set)
    content = place.read_bytes()
    place.unlink()
    place.write_bytes(content)
    assert data_set.make().counts.kept == 1


def test_a_file_that_is_not_there_any_more_is_named(data_set: ADataSet) -> None:
    with_one(data_set).unlink()
    assert "'train/cat/1.jpg' missing" in refused(data_set)


def test_a_file_that_became_longer_is_named(data_set: ADataSet) -> None:
    with with_one(data_set).open("ab") as file:
        file.write(b"!")
    assert "'train/cat/1.jpg' changed" in refused(data_set)


def test_a_link_out_of_the_data_set_does_not_pass_for_the_file(
    data_set: ADataSet, tmp_path: Path
) -> None:
    place = with_one(data_set)
    place.rename(tmp_path / "outside.jpg")
    place.symlink_to(tmp_path / "outside.jpg")
    assert "'train/cat/1.jpg' cannot be read" in refused(data_set)


def test_a_link_that_stays_inside_is_followed_to_its_content(data_set: ADataSet) -> None:
    place = with_one(data_set)
    place.rename(data_set.root / "moved.jpg")
    place.symlink_to("../../moved.jpg")
    assert data_set.make().counts.kept == 1


def test_two_files_that_swapped_names_are_both_named(data_set: ADataSet) -> None:
    data_set.add("a.jpg", content=b"this is a")
    data_set.add("b.jpg", content=b"this is b")
    data_set.scan()
    (data_set.root / "a.jpg").rename(data_set.root / "c.jpg")
    (data_set.root / "b.jpg").rename(data_set.root / "a.jpg")
    (data_set.root / "c.jpg").rename(data_set.root / "b.jpg")
    assert "2 ('a.jpg' changed; 'b.jpg' changed)" in refused(data_set)


def test_twenty_changed_files_are_named_and_all_are_counted(data_set: ADataSet) -> None:
    for number in range(23):
        data_set.add(f"{number:02}.jpg")
    data_set.scan()
    for number in range(23):
        (data_set.root / f"{number:02}.jpg").unlink()
    sentence = refused(data_set)
    assert sentence.startswith("Files that changed since the scan: 23 ('00.jpg' missing; ")
    assert "'19.jpg' missing and 3 more)" in sentence


def test_files_that_are_left_out_may_change(data_set: ADataSet) -> None:
    with_every_decision(data_set)
    (data_set.root / "train/cat/2.jpg").unlink()
    (data_set.root / "train/dog/5.jpg").write_bytes(b"held and changed")
    assert data_set.make().checked_on_disk


def test_the_original_of_a_repaired_sample_must_still_be_what_was_decided_on(
    data_set: ADataSet,
) -> None:
    with_every_decision(data_set)
    (data_set.root / "train/dog/3.jpg").write_bytes(b"fixed in the meantime")
    assert "'train/dog/3.jpg' changed" in refused(data_set)


def test_without_a_root_the_recorded_hashes_are_used_and_the_release_says_so(
    data_set: ADataSet,
) -> None:
    data_set.rooted = False
    with_one(data_set).unlink()
    made = data_set.make()
    assert not made.checked_on_disk
    assert b'"checked_on_disk":false' in (data_set.folder(made) / "release.json").read_bytes()


def test_a_root_given_by_hand_is_checked_by_content(data_set: ADataSet, tmp_path: Path) -> None:
    with_one(data_set)
    moved = tmp_path / "moved"
    data_set.root.rename(moved)
    with pytest.raises(Refused, match=r"is not there\. Mount it, or say with --root"):
        data_set.make()
    assert data_set.make(root=moved).checked_on_disk


def test_a_root_given_by_hand_must_be_a_folder(data_set: ADataSet, tmp_path: Path) -> None:
    with_one(data_set)
    with pytest.raises(BadInput, match="check --root"):
        data_set.make(root=tmp_path / "nowhere")
