from tests.releases.a_data_set import ADataSet

from sickbay.quarantine.tables import Action


def test_twenty_colliding_names_are_told_and_all_are_counted(data_set: ADataSet) -> None:
    for number in range(11):
        for name in (f"{number:02}a.jpg", f"{number:02}A.jpg"):
            data_set.add(name, "file.name-collision")
    data_set.scan()
    collide, _ = data_set.make().warnings
    assert "told apart: 22 ('00A.jpg', '00a.jpg', " in collide
    assert collide.endswith("'09A.jpg', '09a.jpg' and 2 more).")


def test_samples_that_are_left_out_warn_of_nothing(data_set: ADataSet) -> None:
    for name in ("a.jpg", "A.jpg"):
        data_set.add(name, "file.name-collision")
    data_set.scan()
    for name in ("a.jpg", "A.jpg"):
        data_set.decide(name, Action.EXCLUDE)
    assert data_set.make().warnings == ()
