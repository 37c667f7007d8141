"""Pages of runs, as a browser without scripts gets them."""

import math
import re
from html.parser import HTMLParser

import pytest
from tests import scanned
from tests.runs.sending import NOON, Trainer, failure, points
from tests.web.pages.desk import PAGE, Desk, text_of

from sickbay.contract.blame import Sample
from sickbay.contract.event import Alert, Ending, FailureKind, Finish, Heartbeat, Level
from sickbay.contract.fields import MAX_COUNT

HOSTILE = f"night {scanned.CANARY} run"


def _broken_run(desk: Desk, name: str = "signs") -> Trainer:
    """A run with a spike, points that are not finite, a failure and a message."""
    trainer = Trainer(desk.database, name=name, dataset=scanned.NAME)
    values = [1.0 + 0.01 * (step % 7) for step in range(200)]
    values[120] = 9.0
    values[150:153] = [math.nan] * 3
    values[160], values[170] = math.inf, -math.inf
    trainer.log(points("train/loss", range(200), values), points("lr", [0, 1], [0.1, 0.2]))
    sample = Sample(scanned.LEAK[0], None, None, None, 1.5)
    trainer.log(failure(step=180, samples=(sample,), traceback="Traceback <b>here</b>"))
    trainer.log(Alert("Look <i>here</i>", "second line", Level.WARN, 190))
    return trainer


def _page(desk: Desk, path: str) -> str:
    answer = desk.client.get(path, headers=PAGE)
    assert answer.status_code == 200, answer.text
    return text_of(answer)


def test_without_runs_the_list_shows_the_lines_to_add_to_a_script(desk: Desk) -> None:
    said = _page(desk, "/runs")
    assert "import sickbay.trainer as sickbay" in said
    assert 'run.log({"train/loss": loss}, step=step)' in said
    assert "SICKBAY_URL=http://127.0.0.1:8765" in said


def test_the_list_tells_state_value_curve_release_and_failures(desk: Desk) -> None:
    _broken_run(desk)
    answer = desk.client.get("/runs", headers=PAGE)
    said = text_of(answer)
    assert re.search(r"signs .*Live .*train/loss .*199 .*just now .*pets .* 1 ", said)
    assert '<svg class="spark"' in answer.text
    assert "1 live" in said


def test_the_list_pages_by_key_and_filters(desk: Desk) -> None:
    for number in range(53):
        Trainer(desk.database, name=f"run {number:02}")
    first = desk.client.get("/runs", headers=PAGE).text
    assert first.count('<th scope="row">') == 50
    older = re.search(r'href="(/runs\?after=\d+)"', first)
    assert older is not None
    said = _page(desk, older[1])
    assert "run 02" in said
    assert "run 03" not in said
    assert "run 41" in _page(desk, "/runs?text=41")
    assert "No run matches." in _page(desk, "/runs?state=dead")


def test_a_run_tells_all_that_happened_newest_first(desk: Desk) -> None:
    trainer = _broken_run(desk)
    said = _page(desk, f"/runs/{trainer.run}")
    told = said.partition("What happened")[2].partition("Failure groups")[0]
    wanted = ("Look <i>here</i>", "A sample could not be loaded", "3 points", "rank 0")
    places = [
        told.index(words) for words in ("170 \u2212Inf", "160 +Inf", "150 NaN", "120 Spike to 9")
    ]
    assert places == sorted(places)
    for words in wanted:
        assert words in told


def test_a_failure_group_says_what_it_is_and_what_to_do(desk: Desk) -> None:
    trainer = _broken_run(desk)
    answer = desk.client.get(f"/runs/{trainer.run}", headers=PAGE)
    said = text_of(answer)
    for words in (
        "Data, loading failed",
        "Usual sign",
        "Look at",
        "What to do",
        "OSError: it broke",
    ):
        assert words in said
    link = re.search(rf'href="(/datasets/{scanned.NAME}/samples/\d+)">train/cats/leak', answer.text)
    assert link is not None
    assert desk.client.get(link[1], headers=PAGE).status_code == 200


def test_every_failure_of_a_group_has_a_page(desk: Desk) -> None:
    trainer = _broken_run(desk)
    for step in range(60):
        trainer.log(failure(step=step))
    href = f"/runs/{trainer.run}/groups/1"
    first = desk.client.get(href, headers=PAGE)
    assert first.text.count("it broke") > 50
    after = re.search(r'href="(\?after=\d+)"', first.text)
    assert after is not None
    assert "it broke" in _page(desk, href + after[1])
    other = Trainer(desk.database, name="another")
    assert desk.client.get(f"/runs/{other.run}/groups/1").status_code == 404


def test_names_of_runs_series_and_settings_are_text(desk: Desk) -> None:
    trainer = _broken_run(desk, HOSTILE)
    trainer.log(points(scanned.CANARY, [1, 2], [1.0, 2.0]), failure(scanned.CANARY, step=3))
    for path in ("/runs", f"/runs/{trainer.run}", f"/runs/{trainer.run}/groups/2", desk.base):
        answer = desk.client.get(path, headers=PAGE)
        assert "<img src=x" not in answer.text
        assert "onerror=alert(1)" in text_of(answer)


class _Inline(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = dict(attrs)
        inline = [name for name in names if name == "style" or name.startswith("on")]
        if inline or tag == "style" or (tag == "script" and "src" not in names):
            self.found.append(self.get_starttag_text() or tag)


def test_only_pages_with_a_chart_may_style_inline_and_none_does_by_itself(desk: Desk) -> None:
    trainer = _broken_run(desk)
    for path, loose in (("/runs", False), (f"/runs/{trainer.run}", True)):
        answer = desk.client.get(path, headers=PAGE)
        policy = answer.headers["content-security-policy"]
        assert ("'unsafe-inline'" in policy) is loose
        assert "script-src 'self';" in policy
        assert "unsafe-eval" not in policy
        parser = _Inline()
        parser.feed(answer.text)
        assert parser.found == []


def test_every_attempt_keeps_its_curve_and_its_settings(desk: Desk) -> None:
    Trainer(desk.database, launch="first").log(points("loss", [1, 2], [1.0, 2.0]))
    second = Trainer(desk.database, launch="second")
    second.log(points("loss", [1, 2], [3.0, 4.0]))
    answer = desk.client.get(f"/runs/{second.run}", headers=PAGE)
    assert 'data-attempts="2 1"' in answer.text
    assert re.search(r'class="ghost" d="M', answer.text)
    assert "Launch first" in text_of(answer)


def test_a_run_that_ended_or_lost_points_says_so(desk: Desk) -> None:
    trainer = _broken_run(desk)
    trainer.log(Heartbeat(200, {"queue": 7}))
    assert "Lost on the way 7 points" in _page(desk, f"/runs/{trainer.run}")
    trainer.log(Finish(Ending.FAILED, 200, {"queue": 7}))
    said = _page(desk, f"/runs/{trainer.run}")
    assert "signs Failed" in said
    assert "Attempt 1 failed" in said


def test_a_run_without_points_waits_for_them(desk: Desk) -> None:
    trainer = Trainer(desk.database, name="fresh")
    assert "No points yet." in _page(desk, f"/runs/{trainer.run}")


def test_values_at_the_ends_of_floats_and_clocks_do_no_harm(desk: Desk) -> None:
    trainer = Trainer(desk.database, name="far")
    most = 1.7976931348623157e308
    times = [0.0, 4e9, NOON, NOON]
    trainer.log(points("loss", [0, 1, 2, 2**53], [most, -most, 5e-324, 0.0], times))
    answer = desk.client.get(f"/runs/{trainer.run}", headers=PAGE)
    assert answer.status_code == 200
    assert "nan" not in "".join(re.findall(r' d="([^"]*)"', answer.text))


def test_numbers_at_the_ends_of_64_bits_do_no_harm(desk: Desk) -> None:
    most = (1 << 63) - 1
    ranks = [Trainer(desk.database, name="far", rank=n, seq=(1 << 62) - 9) for n in range(3)]
    for trainer in ranks:
        trainer.log(points("loss", [-most - 1, most], [1.0, math.nan], [NOON, NOON]))
        trainer.log(Heartbeat(MAX_COUNT, {"queue": MAX_COUNT, "spool": MAX_COUNT}))
    ranks[0].log(failure("", what=FailureKind.LOSS_SPIKE, exception_type="", step=most))
    run = f"/runs/{ranks[0].run}"
    for path in ("/runs", run, f"{run}/groups/1", desk.base):
        _page(desk, path)


def test_the_overview_names_what_runs_and_what_broke(desk: Desk) -> None:
    trainer = _broken_run(desk)
    spike = failure("", what=FailureKind.LOSS_SPIKE, exception_type="", step=120)
    trainer.log(spike)
    said = _page(desk, desk.base)
    assert "Running" in said
    assert "Loss spike" in said.partition("Broken in training")[2]


def test_a_series_is_chosen_by_the_address(desk: Desk) -> None:
    trainer = _broken_run(desk)
    answer = desk.client.get(f"/runs/{trainer.run}?series=lr", headers=PAGE)
    assert re.search(r'<option value="lr"[^>]*selected', answer.text)
    assert "2 points as CSV" in text_of(answer)


@pytest.mark.parametrize("kind", ["step-linear", "step-log", "time-linear", "time-log"])
def test_a_figure_holds_no_data_and_is_the_same_for_every_run(desk: Desk, kind: str) -> None:
    release = _release(desk)
    answer = desk.client.get(f"/runs/figures/{release}/{kind}.json")
    assert answer.json()["doc"]["roots"]
    assert answer.text == desk.client.get(f"/runs/figures/{release}/{kind}.json").text


def test_bokeh_comes_from_the_installed_package_and_nothing_else_does(desk: Desk) -> None:
    release = _release(desk)
    answer = desk.client.get(f"/static/bokeh/{release}/bokeh.min.js")
    assert answer.headers["content-type"].startswith("text/javascript")
    assert "immutable" in answer.headers["cache-control"]
    for path in (f"{release}/bokeh.js", "1.0.0/bokeh.min.js", f"{release}/../__init__.py"):
        assert desk.client.get(f"/static/bokeh/{path}").status_code == 404


def _release(desk: Desk) -> str:
    trainer = Trainer(desk.database, name="for its figure")
    trainer.log(points("loss", [1], [1.0]))
    page = desk.client.get(f"/runs/{trainer.run}", headers=PAGE).text
    found = re.search(r'data-bokeh="([^"]+)"', page)
    assert found is not None
    return found[1]


def test_points_that_are_not_finite_name_their_ranks(desk: Desk) -> None:
    ranks = [Trainer(desk.database, name="ranks", rank=rank) for rank in range(3)]
    for rank, trainer in enumerate(ranks):
        values = [math.nan if step == 8 or (rank == 1 and step == 4) else 1.0 for step in range(10)]
        trainer.log(points("loss", range(10), values))
    said = _page(desk, f"/runs/{ranks[0].run}")
    assert "4 NaN on rank 1" in said
    assert "8 NaN on all ranks" in said
