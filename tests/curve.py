"""The chart of a run as a reader's hand meets it: where a step is drawn, and a click there."""

from playwright.sync_api import Page, expect

DOUBLE = 500
"""Milliseconds within which the chart takes two clicks, wherever they are, for a double one."""
_PLACE = """() => {
    const main = Bokeh.documents.at(-1).get_model_by_name("main");
    const frame = Bokeh.index.find_one_by_id(main.id).frame.bbox;
    return [main.x_range.start, main.x_range.end, frame.left, frame.width];
}"""


def drawn(page: Page, kind: str = "step linear") -> None:
    """Wait until the page's keys work and a figure of that kind is there, with its data."""
    expect(page.locator("html[data-ready]")).to_be_attached()
    expect(page.locator(f'#plot[data-kind="{kind}"]')).to_be_attached()


def click_at(page: Page, step: int, beside: int = 0) -> None:
    """Click on the chart where a step is drawn, or some pixels beside it."""
    page.evaluate("scrollTo(0, 0)")
    page.wait_for_timeout(DOUBLE)
    start, end, left, width = page.evaluate(_PLACE)
    box = page.locator("#plot").bounding_box()
    assert box is not None
    share = (step - start) / (end - start)
    page.mouse.click(box["x"] + left + share * width + beside, box["y"] + 150)
