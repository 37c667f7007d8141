"""The chart as Bokeh draws it: one figure for each kind, the same for every run.

A figure holds no data. The page fetches buckets apart, from the run's ``/chart``, and puts them
into the sources named here; colours and fonts come from the page's own tokens. Bokeh takes a
second to load, so only the route that answers with a figure imports this module.
"""

import json
from functools import lru_cache
from typing import Any, Literal

from bokeh.embed import json_item
from bokeh.layouts import column
from bokeh.models import (
    BasicTicker,
    BoxZoomTool,
    ColumnDataSource,
    CrosshairTool,
    LinearScale,
    NumeralTickFormatter,
    PanTool,
    Range,
    Range1d,
    RangeTool,
    WheelZoomTool,
)
from bokeh.plotting import figure as new_figure

Across = Literal["step", "time"]
Up = Literal["linear", "log"]

HEIGHT, STRIP_HEIGHT = 320, 60
"""Pixels."""
ROWS = {"nan": 0.965, "inf": 0.91, "failure": 0.035, "neg": 0.09, "below": 0.145}
"""Where marks stand in the frame, from its lower edge (0) to its upper (1): not finite above and
below, failures on the step axis; ``below`` is what a logarithmic axis has no place for."""
_MARKERS = {
    "nan": "square",
    "inf": "triangle",
    "neg": "inverted_triangle",
    "failure": "x",
    "below": "dash",
}
_CURVES = (("raw", 1, 0.45, "solid"), ("older", 1.25, 1, "dashed"), ("lines", 1.75, 1, "solid"))
"""Name, width, opacity and dash of lines, the uppermost last."""


@lru_cache(maxsize=4)
def figure(across: Across, up: Up) -> bytes:
    """Return the figure of one kind as JSON, for ``Bokeh.embed.embed_item``.

    Its sources, by name: ``bands``, ``raw``, ``older`` and ``lines`` (columns ``xs``, ``ys``,
    ``color``), the marks of :data:`ROWS` (``x``), ``spike`` (``x``, ``y``), ``cursor`` (``x``);
    those of the strip below have ``all-`` before them.
    """
    main = _main(across, up)
    strip = _strip(across, up, main.x_range)
    return json.dumps(json_item(column(main, strip, sizing_mode="stretch_width"))).encode()


def _main(across: Across, up: Up) -> Any:
    """Return the plot of what is in view: dragging zooms, Ctrl and the wheel zoom as well."""
    plot = _plot("main", across, up, HEIGHT)
    zoom = BoxZoomTool(dimensions="width", name="zoom")
    wheel = WheelZoomTool(dimensions="width", modifiers={"ctrl": True}, name="wheel")
    pan = PanTool(dimensions="width", name="pan")
    plot.add_tools(zoom, pan, wheel, CrosshairTool(dimensions="height", name="crosshair"))
    plot.toolbar.active_drag = zoom
    plot.toolbar.active_scroll = wheel
    _curves(plot, "")
    _marks(plot, "", 9)
    spikes = _source("spike", "x", "y")
    plot.scatter("x", "y", source=spikes, size=14, line_width=2, fill_alpha=0, name="spike")
    plot.vspan("x", source=_source("cursor", "x"), line_width=1.25, name="cursor")
    return plot


def _strip(across: Across, up: Up, shown: Range) -> Any:
    """Return the plot of the whole run, with the window that is in view."""
    plot = _plot("strip", across, up, STRIP_HEIGHT)
    plot.xaxis.visible = plot.yaxis.visible = False
    plot.ygrid.visible = False
    _curves(plot, "all-")
    _marks(plot, "all-", 6)
    spikes = _source("all-spike", "x", "y")
    plot.scatter("x", "y", source=spikes, size=7, line_width=1.5, fill_alpha=0, name="all-spike")
    plot.add_tools(RangeTool(x_range=shown, name="window"))
    return plot


def _plot(name: str, across: Across, up: Up, height: int) -> Any:
    plot = new_figure(
        name=name,
        height=height,
        sizing_mode="stretch_width",
        x_range=Range1d(start=0, end=1, name=f"{name}-x"),
        y_range=Range1d(start=0.1, end=1, name=f"{name}-y"),
        x_axis_type="datetime" if across == "time" else "linear",
        y_axis_type=up,
        background_fill_color=None,
        border_fill_color=None,
        toolbar_location=None,
        tools="",
        min_border_left=52,
        min_border_right=12,
    )
    if across == "step":
        plot.xaxis.formatter = NumeralTickFormatter(format="0,0")
        plot.xaxis.ticker = BasicTicker(min_interval=1)
    plot.extra_y_ranges = {"frame": Range1d(start=0, end=1)}
    plot.extra_y_scales = {"frame": LinearScale()}
    return plot


def _curves(plot: Any, prefix: str) -> None:
    """Add bands, what is raw beside a smoothed curve, older attempts, and the curves."""
    bands = _source(f"{prefix}bands", "xs", "ys", "color")
    plot.patches(
        "xs",
        "ys",
        source=bands,
        color="color",
        fill_alpha=0.16,
        line_alpha=0.5,
        name=f"{prefix}bands",
    )
    for name, width, alpha, dash in _CURVES:
        source = _source(prefix + name, "xs", "ys", "color")
        plot.multi_line(
            "xs",
            "ys",
            source=source,
            line_color="color",
            line_width=width,
            line_alpha=alpha,
            line_dash=dash,
            name=prefix + name,
        )


def _marks(plot: Any, prefix: str, size: int) -> None:
    """Add what stands at the frame's edges, whatever the curves' own range is."""
    failures = _source(f"{prefix}failure", "x")
    plot.vspan("x", source=failures, line_dash="dotted", name=f"{prefix}failure-line")
    for name, height in ROWS.items():
        lined = _MARKERS[name] in {"x", "dash"}
        plot.scatter(
            "x",
            height,
            source=failures if name == "failure" else _source(prefix + name, "x"),
            marker=_MARKERS[name],
            size=size,
            line_width=2 if lined else 0,
            y_range_name="frame",
            name=prefix + name,
        )


def _source(name: str, *columns: str) -> ColumnDataSource:
    return ColumnDataSource({column: [] for column in columns}, name=f"{name}-data")
