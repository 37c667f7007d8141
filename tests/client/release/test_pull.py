import fcntl
import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.client.release.forging import forge, renamed
from tests.releases.a_data_set import ADataSet, tree_digest

from sickbay.client.destination import STAGING
from sickbay.client.pull import Pulled, pull
from sickbay.client.release_source import StoredRelease
from sickbay.client.verify import Fault, Problem, verify
from sickbay.contract.errors import BadInput, Busy, NotFound, Refused, SickbayError
from sickbay.contract.manifest import FILES
from sickbay.quarantine.tables import Action

KEPT = ["train/cat/1.jpg", "train/dog/3.jpg", "train/dog/4.jpg"]


class Pulling:
    """Pulls into one destination and keeps what was told."""

    def __init__(self, data_set: ADataSet, to: Path) -> None:
        self.data_set = data_set
        self.to = to
        self.told: list[Problem] = []

    def __call__(self, source: StoredRelease, *, delete_extra: bool = False) -> Pulled:
        self.told = []
        return pull(
            source,
            data_set="animals",
            to=self.to,
            root=self.data_set.root,
            delete_extra=delete_extra,
            tell=self.told.append,
        )

    def files(self) -> list[str]:
        found = [path for path in self.to.rglob("*") if not path.is_dir()]
        return sorted(str(path.relative_to(self.to)) for path in found)

    def next_release(self) -> StoredRelease:
        made = self.data_set.make()
        return StoredRelease(self.data_set.folder(made), self.data_set.blobs.path, made.digest)


@pytest.fixture
def pulled(data_set: ADataSet, tmp_path: Path) -> Pulling:
    return Pulling(data_set, tmp_path / "pulled")


def sums(folder: Path, name: str) -> int:
    check = ["sha256sum", "--check", "--strict", "--quiet", name]
    return subprocess.run(check, cwd=folder, check=False).returncode


def test_a_pull_lays_out_exactly_what_was_released_and_sha256sum_agrees(
    pulled: Pulling, source: StoredRelease
) -> None:
    done = pulled(source)
    assert pulled.files() == sorted([*KEPT, *FILES])
    assert (pulled.to / "train/dog/3.jpg").read_bytes() == b"better"
    assert (done.files, done.replaced, done.problems, pulled.told) == (3, 1, 0, [])
    assert sums(pulled.to, "SHA256SUMS") == sums(pulled.to, "METADATA-SHA256SUMS") == 0


def test_the_root_is_byte_identical_and_shares_no_file_with_the_copy(
    pulled: Pulling, source: StoredRelease
) -> None:
    before = tree_digest(pulled.data_set.root)
    pulled(source)
    for name in KEPT:
        place = pulled.to / name
        assert place.stat().st_nlink == 1
        place.write_bytes(b"edited by a trainer")
    assert tree_digest(pulled.data_set.root) == before


def test_links_inside_the_root_become_regular_files(pulled: Pulling, data_set: ADataSet) -> None:
    (data_set.root / "train/cat/1.jpg").rename(data_set.root / "moved.jpg")
    (data_set.root / "train/cat/1.jpg").symlink_to("../../moved.jpg")
    pulled(pulled.next_release())
    place = pulled.to / "train/cat/1.jpg"
    assert place.is_file()
    assert not place.is_symlink()


def test_a_second_pull_keeps_what_is_right_and_mends_what_is_not(
    pulled: Pulling, source: StoredRelease
) -> None:
    pulled(source)
    (pulled.to / KEPT[0]).write_bytes(b"x" * 26)
    (pulled.to / KEPT[1]).unlink()
    done = pulled(source)
    assert (done.kept, done.copied + done.cloned, done.replaced) == (1, 1, 1)
    assert list(verify(source.folder, pulled.to)) == []


def test_a_hard_link_to_an_original_is_replaced_by_a_copy(
    pulled: Pulling, source: StoredRelease, data_set: ADataSet
) -> None:
    pulled(source)
    place = pulled.to / KEPT[0]
    place.unlink()
    os.link(data_set.root / KEPT[0], place)
    pulled(source)
    assert place.stat().st_ino != (data_set.root / KEPT[0]).stat().st_ino


def test_a_link_in_a_sample_s_place_is_replaced_and_its_target_left_alone(
    pulled: Pulling, source: StoredRelease, tmp_path: Path
) -> None:
    pulled(source)
    (tmp_path / "precious").write_bytes(b"precious")
    place = pulled.to / KEPT[0]
    place.unlink()
    place.symlink_to(tmp_path / "precious")
    pulled(source)
    assert not place.is_symlink()
    assert (tmp_path / "precious").read_bytes() == b"precious"


def test_a_folder_that_is_a_link_into_the_root_is_refused(
    pulled: Pulling, source: StoredRelease, data_set: ADataSet
) -> None:
    pulled(source)
    shutil.rmtree(pulled.to / "train")
    (pulled.to / "train").symlink_to(data_set.root / "train")
    (pulled.data_set.root / KEPT[0]).write_bytes(b"changed below the root")
    before = tree_digest(data_set.root)
    with pytest.raises(Refused, match="lies a file or a link"):
        pulled(source)
    assert tree_digest(data_set.root) == before


def test_originals_that_changed_or_went_are_named_and_not_laid_out(
    pulled: Pulling, source: StoredRelease, data_set: ADataSet
) -> None:
    place = data_set.root / KEPT[0]
    before = place.stat()
    place.write_bytes(b"X" * before.st_size)
    os.utime(place, ns=(before.st_atime_ns, before.st_mtime_ns))
    (data_set.root / KEPT[2]).unlink()
    done = pulled(source)
    assert [(problem.fault, problem.file_name) for problem in pulled.told] == [
        (Fault.CHANGED, KEPT[0]),
        (Fault.MISSING, KEPT[2]),
    ]
    assert (done.problems, done.files) == (2, 1)
    assert pulled.files() == sorted([KEPT[1], *FILES])


def test_an_original_that_grows_without_end_is_not_copied_without_end(
    pulled: Pulling, source: StoredRelease, data_set: ADataSet
) -> None:
    place = data_set.root / KEPT[0]
    place.unlink()
    with place.open("wb") as sparse:
        sparse.truncate(1 << 40)
    pulled(source)
    assert pulled.told[0].file_name == KEPT[0]


def test_a_replacement_with_other_bytes_is_named(
    pulled: Pulling, source: StoredRelease, data_set: ADataSet
) -> None:
    blob = data_set.blobs.path(hashlib.sha256(b"better").hexdigest())
    blob.write_bytes(b"worse!")
    pulled(source)
    assert [(one.fault, one.file_name) for one in pulled.told] == [(Fault.CHANGED, KEPT[1])]
    blob.unlink()
    pulled(source)
    assert [(one.fault, one.file_name) for one in pulled.told] == [(Fault.MISSING, KEPT[1])]


def test_a_sample_left_out_since_is_named_in_an_older_tree_and_counts_as_a_problem(
    pulled: Pulling, source: StoredRelease, data_set: ADataSet
) -> None:
    pulled(source)
    data_set.decide(KEPT[0], Action.EXCLUDE, "private")
    done = pulled(pulled.next_release())
    assert [(one.fault, one.file_name, one.why) for one in pulled.told] == [
        (Fault.EXTRA, KEPT[0], "left out of the release: private")
    ]
    assert done.problems == 1
    assert (pulled.to / KEPT[0]).is_file()


def test_extra_files_are_deleted_only_when_that_is_asked_for(
    pulled: Pulling, source: StoredRelease, data_set: ADataSet, tmp_path: Path
) -> None:
    pulled(source)
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious/file").write_bytes(b"precious")
    (pulled.to / "deep/er").mkdir(parents=True)
    (pulled.to / "deep/er/notes.txt").write_bytes(b"")
    (pulled.to / "deep/link").symlink_to(tmp_path / "precious")
    data_set.decide(KEPT[0], Action.EXCLUDE, "private")
    release = pulled.next_release()
    assert pulled(release).problems == 3
    assert pulled(release, delete_extra=True).problems == 0
    assert pulled.files() == sorted([*KEPT[1:], *FILES])
    assert not (pulled.to / "train/cat").exists()
    assert not (pulled.to / "deep").exists()
    assert (tmp_path / "precious/file").read_bytes() == b"precious"


def test_a_folder_emptied_of_extra_files_is_made_again_for_listed_ones(
    pulled: Pulling, source: StoredRelease
) -> None:
    pulled(source)
    (pulled.to / "train/cat/1.jpg").rename(pulled.to / "train/cat/0.jpg")
    assert pulled(source, delete_extra=True).problems == 0
    assert list(verify(source.folder, pulled.to)) == []


def test_an_extra_file_in_the_way_of_a_folder_makes_room_for_it(
    pulled: Pulling, source: StoredRelease
) -> None:
    pulled(source)
    shutil.rmtree(pulled.to / "train")
    (pulled.to / "train").write_bytes(b"a file")
    assert pulled(source, delete_extra=True).problems == 0
    assert list(verify(source.folder, pulled.to)) == []


def test_a_destination_that_holds_something_else_is_refused(
    pulled: Pulling, source: StoredRelease
) -> None:
    pulled.to.mkdir()
    (pulled.to / "thesis.tex").write_bytes(b"years of work")
    with pytest.raises(Refused, match="is not empty and holds no earlier pull of animals"):
        pulled(source, delete_extra=True)
    assert pulled.files() == ["thesis.tex"]


def test_a_tree_of_another_data_set_is_refused(pulled: Pulling, source: StoredRelease) -> None:
    pulled(source)
    with pytest.raises(Refused, match="no earlier pull of plants"):
        pull(
            source,
            data_set="plants",
            to=pulled.to,
            root=pulled.data_set.root,
            tell=pulled.told.append,
        )


def test_a_release_of_another_data_set_is_refused(pulled: Pulling, source: StoredRelease) -> None:
    with pytest.raises(NotFound, match="a release of 'animals', not of 'plants'"):
        pull(
            source,
            data_set="plants",
            to=pulled.to,
            root=pulled.data_set.root,
            tell=pulled.told.append,
        )


@pytest.mark.parametrize("to", [".", "train", "new/below", ".."])
def test_a_destination_and_a_root_that_lie_in_one_another_are_refused(
    data_set: ADataSet, source: StoredRelease, to: str
) -> None:
    before = tree_digest(data_set.root)
    pulling = Pulling(data_set, data_set.root / to)
    with pytest.raises(BadInput, match="lie in one another"):
        pulling(source)
    assert tree_digest(data_set.root) == before


def test_a_link_to_the_root_is_no_way_around_that(
    data_set: ADataSet, source: StoredRelease, tmp_path: Path
) -> None:
    (tmp_path / "alias").symlink_to(data_set.root)
    with pytest.raises(BadInput, match="lie in one another"):
        Pulling(data_set, tmp_path / "alias")(source)


def test_a_root_that_is_not_there_leaves_no_destination_behind(
    source: StoredRelease, tmp_path: Path
) -> None:
    with pytest.raises(BadInput, match="check --root"):
        pull(
            source,
            data_set="animals",
            to=tmp_path / "to",
            root=tmp_path / "nowhere",
            tell=print,
        )
    assert not (tmp_path / "to").exists()


def test_two_pulls_into_one_folder_do_not_run_at_once(
    pulled: Pulling, source: StoredRelease
) -> None:
    def again(_problem: Problem) -> None:
        with pytest.raises(Busy, match="Another pull is writing"):
            pulled(source)
        pulled.told.append(_problem)

    (pulled.data_set.root / KEPT[0]).unlink()
    pull(source, data_set="animals", to=pulled.to, root=pulled.data_set.root, tell=again)
    assert len(pulled.told) == 1


class CutOff(SickbayError):
    """The power went."""


def test_a_pull_that_was_cut_off_is_no_release_and_goes_on(
    pulled: Pulling, source: StoredRelease, data_set: ADataSet
) -> None:
    pulled(source)
    data_set.decide(KEPT[0], Action.EXCLUDE, "private")
    release = pulled.next_release()

    def cut_off(size: int, total: int) -> None:
        assert 0 < size <= total
        raise CutOff("The power went.")

    with pytest.raises(CutOff):
        pull(
            release,
            data_set="animals",
            to=pulled.to,
            root=data_set.root,
            tell=pulled.told.append,
            step=cut_off,
        )
    assert not any((pulled.to / name).exists() for name in FILES)
    pulled(release, delete_extra=True)
    assert list(verify(release.folder, pulled.to)) == []
    assert not (pulled.to / STAGING).exists()


@pytest.mark.parametrize(
    "name",
    ["../escaped.jpg", "/tmp/escaped.jpg", "C:/a.jpg", "a\nb.jpg", "SHA256SUMS", "a/../../b.jpg"],  # noqa: S108 (refused, never written)
)
def test_a_manifest_forged_by_the_server_writes_nowhere(
    pulled: Pulling, source: StoredRelease, name: str, tmp_path: Path
) -> None:
    digest = forge(source.folder, renamed(name))
    before = sorted(tmp_path.iterdir())
    with pytest.raises(BadInput):
        pulled(StoredRelease(source.folder, source.blob, digest))
    assert sorted(tmp_path.iterdir()) == sorted({*before, pulled.to})
    assert pulled.files() == sorted(f"{STAGING}/{name}" for name in [*FILES, "data-set"])


def test_a_forged_release_under_the_true_id_is_refused(
    pulled: Pulling, source: StoredRelease
) -> None:
    forge(source.folder, renamed("train/cat/0.jpg"))
    with pytest.raises(Refused, match="is that of release"):
        pulled(source)


def test_names_with_every_oddity_arrive_as_they_are(data_set: ADataSet, pulled: Pulling) -> None:
    names = [
        "-rf.jpg",
        "*.jpg",
        "100%.jpg",
        " a b .jpg",
        "e\u0301.jpg",
        "\u00e9.jpg",
        "A.jpg",
        "a.jpg",
    ]
    for name in names:
        data_set.add(name, content=name.encode())
    data_set.add("empty.jpg", content=b"")
    data_set.scan()
    pulled(pulled.next_release())
    for name in names:
        assert (pulled.to / name).read_bytes() == name.encode()
    assert sums(pulled.to, "SHA256SUMS") == 0


def test_a_file_in_the_way_of_a_folder_is_named(pulled: Pulling, source: StoredRelease) -> None:
    pulled(source)
    shutil.rmtree(pulled.to / "train")
    (pulled.to / "train").write_bytes(b"a file")
    with pytest.raises(Refused, match="Move it away"):
        pulled(source)


def test_copies_are_shared_where_the_file_system_can(
    pulled: Pulling, source: StoredRelease, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    def cloning(part: int, request: int, original: int) -> int:
        asked.append(request)
        os.write(part, os.pread(original, 1 << 20, 0))
        return 0

    monkeypatch.setattr(fcntl, "ioctl", cloning)
    done = pulled(source)
    assert (done.cloned, done.copied, asked) == (2, 0, [0x40049409] * 2)
    assert list(verify(source.folder, pulled.to)) == []
