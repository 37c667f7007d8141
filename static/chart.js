// The chart: what is in view, fetched as buckets; the strip below, which is always the whole run.

import * as curves from "./curves.js";
import { Figure, onTheme, token } from "./figure.js";

const BUCKETS = 1000;
const ALL_BUCKETS = 32_000; // of all ranks together, where each has a curve; none is left out, they are wider
const FEWEST = 64;
const SETTLE = 120;
const MOST_CURVES = 8;
const POINTER = 8; // pixels beside a mark that still mean it
const FINGER = 22;
const MARKED = ["fail", "spike", "nan", "pinf", "ninf"]; // where several lie on one another, the first
const MAIN_ROOM = [0.14, 0.2]; // share of the values' range left free above and below, for marks
const STRIP_ROOM = [0.12, 0.2];

const setRange = (range, [start, end]) => (range.start !== start || range.end !== end) && range.setv({ start, end });

export class Chart {
  constructor(host, { run, attempt, attempts, bokeh }) {
    Object.assign(this, { host, run, attempt, attempts, release: bokeh });
    this.choice = { series: "", among: 1, ranks: "mean", smooth: 0, by: "step", log: false, older: true, with: "" };
    this.view = null; // null: the whole run, and its end as it grows
    this.whole = [];
    this.near = null;
    this.marks = [];
    this.asked = 0;
    this.waiting = [];
    this.stale = false;
    this.turn = Promise.resolve(); // one choice after the other
    this.kind = "";
    onTheme(() => this.figure && (this.figure.paint(), this.draw()));
  }

  get byTime() { return this.choice.by === "time"; }

  // Take another choice of what is drawn; a figure of another kind only where it must be one.
  async show(choice) {
    if (choice.by !== this.choice.by) this.view = null;
    this.choice = { ...this.choice, ...choice };
    this.turn = this.turn.catch(() => {}).then(() => this.apply());
    await this.turn;
  }

  async apply() {
    const kind = `${this.choice.by} ${this.choice.log ? "log" : "linear"}`;
    if (kind !== this.kind) await this.change(kind);
    await this.load();
  }

  async change(kind) {
    const [by, log] = kind.split(" ");
    delete this.host.dataset.kind;
    this.figure?.close();
    this.figure = null;
    this.figure = await Figure.load(this.host, this.release, by, log);
    this.kind = kind;
    document.documentElement.dataset.chart = "";
    const shown = this.figure.range("main-x");
    shown.change.connect(() => this.moved(shown));
    this.figure.main.on_event("mousemove", (event) => this.pointed?.(this.told(event.x)));
    this.figure.main.on_event("tap", (event) => this.tap(event.x));
    this.figure.main.on_event("mouseleave", () => this.pointed?.(null));
    this.figure.main.on_event("doubletap", () => this.go(null));
    if (matchMedia("(pointer: coarse)").matches) this.figure.main.toolbar.active_drag = null;
  }

  targets() {
    const own = { run: this.run, attempts: this.choice.older ? this.attempts : [this.attempt] };
    return this.choice.with ? [own, { run: this.choice.with, attempts: [] }] : [own];
  }

  async fetch({ run, attempts }, range = {}) {
    const mean = this.choice.ranks === "mean";
    const buckets = mean ? BUCKETS : Math.max(FEWEST, Math.min(BUCKETS, Math.floor(ALL_BUCKETS / this.choice.among)));
    const query = new URLSearchParams({ series: this.choice.series, by: this.choice.by, buckets, mean, ...range });
    for (const number of attempts) query.append("attempt", number);
    const answer = await fetch(`/api/v1/runs/${run}/chart?${query}`);
    if (!answer.ok) throw new Error("The curve could not be loaded.");
    const found = await answer.json();
    return { ...found, run };
  }

  async load() {
    const turn = ++this.asked;
    const found = await Promise.all(this.targets().map((target) => this.fetch(target)));
    if (turn !== this.asked) return;
    this.whole = found;
    this.near = null;
    this.draw();
    if (this.view) await this.zoomed();
  }

  // Finer buckets of what is in view, and a little to each side, so that moving shows no gap.
  async zoomed() {
    if (!this.view) return;
    const turn = ++this.asked;
    const [start, end] = this.view;
    const room = (end - start) / 2;
    const scale = this.byTime ? 1000 : 1;
    const range = { since: (start - room) / scale, until: (end + room) / scale };
    const found = await Promise.all(this.targets().map((target) => this.fetch(target, range)));
    if (turn !== this.asked) return;
    this.near = found;
    this.draw();
  }

  // What came since: of the newest attempt only the end is fetched. What could not be fetched is
  // not forgotten: then all is, with the next news.
  async grow(spans) {
    this.waiting.push(...spans.filter((span) => span.series === this.choice.series && span.attempt === this.attempt));
    if (this.growing) return;
    this.growing = true;
    try {
      while (this.waiting.length) {
        const first = Math.min(...this.waiting.splice(0).map((span) => span.first));
        const all = this.stale || this.byTime || !this.whole.length;
        this.stale = true;
        await (all ? this.load() : this.extend(first));
        if (this.view && this.view[1] >= this.extent()[1]) await this.zoomed();
        this.stale = false;
      }
    } finally {
      this.growing = false;
    }
  }

  async extend(first) {
    const own = this.whole[0];
    const known = own.curves.filter((curve) => curve.attempt === this.attempt);
    const starts = known.map((curve) => curve.step[curves.indexAt(curve, first, false)] ?? first);
    const since = Math.min(first, ...starts);
    const turn = this.asked;
    const tail = await this.fetch({ run: this.run, attempts: [this.attempt] }, { since });
    if (turn !== this.asked) return;
    if (known.some((curve) => curve.step.length > 3 * BUCKETS)) {
      await this.load();
      return;
    }
    for (const more of tail.curves) {
      const at = own.curves.findIndex((one) => one.attempt === more.attempt && one.rank === more.rank);
      if (at < 0) own.curves.push(more);
      else own.curves[at] = curves.joined(own.curves[at], more);
    }
    this.draw();
  }

  extent() {
    let [start, end] = [Infinity, -Infinity];
    for (const curve of this.whole.flatMap((found) => found.curves)) {
      if (!curve.step.length) continue;
      const last = curve.step.length - 1;
      start = Math.min(start, this.byTime ? curve.began[0] * 1000 : curve.step[0]);
      end = Math.max(end, this.byTime ? Math.max(...curve.ended) * 1000 : (curve.last_step[last] ?? curve.step[last]), this.byTime ? 0 : curve.step[last]);
    }
    return start <= end ? [start, Math.max(end, start + 1)] : [0, 1];
  }

  go(view) {
    const [first, last] = this.extent();
    if (view) {
      const span = Math.min(last - first, Math.max(this.byTime ? 10 : 2, view[1] - view[0]));
      const start = Math.max(first - span * 0.02, Math.min(view[0], last - span));
      view = span >= last - first ? null : [start, start + span];
    }
    this.view = view;
    this.draw();
    if (view) this.zoomed();
  }

  moveBy(share) {
    const [start, end] = this.view ?? this.extent();
    this.go([start + share * (end - start), end + share * (end - start)]);
  }

  zoomBy(factor) {
    const [start, end] = this.view ?? this.extent();
    const half = ((end - start) * factor) / 2;
    this.go([(start + end) / 2 - half, (start + end) / 2 + half]);
  }

  // Bokeh moved the range: by a drag, the wheel, or the strip's window.
  moved(shown) {
    if (this.setting) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      const { start, end } = shown;
      const [first, last] = this.extent();
      this.view = start <= first && end >= last ? null : [start, end];
      this.draw();
      this.zoomed();
    }, SETTLE);
  }

  colourOf(index, curve) {
    if (index > 0) return token(`--c${index % 6}`);
    if (curve.attempt !== this.attempt) return token("--ink-2");
    return token(curve.rank === null ? "--c0" : `--c${curve.rank % 6}`);
  }

  draw() {
    if (!this.figure) return;
    const extent = this.extent();
    const pad = (extent[1] - extent[0]) * 0.01;
    const all = [extent[0] - pad, extent[1] + pad];
    const view = this.view ?? all;
    this.setting = true;
    setRange(this.figure.range("main-x"), view);
    setRange(this.figure.range("strip-x"), all);
    this.setting = false;
    const counts = this.put("all-", this.whole, all);
    this.put("", this.near ?? this.whole, view);
    this.host.dataset.kind = this.kind;
    this.drawn?.({ counts, view, extent, whole: this.view === null, legend: this.legend() });
  }

  put(prefix, found, view) {
    const { log } = this.choice;
    const lines = { bands: [], raw: [], older: [], lines: [] };
    const odd = { nan: [], inf: [], neg: [], below: [] };
    const counts = { nan: 0, inf: 0, neg: 0, below: 0 };
    let [low, high] = [Infinity, -Infinity];
    found.forEach((one, index) => {
      for (const curve of one.curves) {
        this.trace(lines, one, curve, this.colourOf(index, curve));
        const here = curves.oddities(curve, this.byTime, log);
        for (const name of Object.keys(odd)) odd[name].push(...here.found[name]);
        for (const name of Object.keys(counts)) counts[name] += here.counts[name];
        const [from, to] = curves.reach(curve, this.byTime, log, view);
        low = Math.min(low, from);
        high = Math.max(high, to);
      }
    });
    for (const [name, rows] of Object.entries(lines)) {
      this.figure.put(prefix + name, { xs: rows.map((row) => row.xs), ys: rows.map((row) => row.ys), color: rows.map((row) => row.color) });
    }
    for (const [name, xs] of Object.entries(odd)) this.figure.put(prefix + name, { x: xs });
    this.putMarks(prefix);
    setRange(this.figure.range(prefix ? "strip-y" : "main-y"), curves.room(low, high, log, prefix ? STRIP_ROOM : MAIN_ROOM));
    return counts;
  }

  trace(lines, { width }, curve, color) {
    const { log, smooth } = this.choice;
    const add = (name, path) => lines[name].push({ ...path, color });
    const single = curve.rank !== null || curves.isSingle(curve, width);
    if (!single) for (const band of curves.bands(curve, this.byTime, log)) add("bands", band);
    if (curve.attempt !== this.attempt && color === token("--ink-2")) {
      add("older", single ? curves.extremes(curve, this.byTime, log) : curves.means(curve, this.byTime, log));
    } else if (smooth) {
      const [start, end] = this.extent();
      add("raw", curves.extremes(curve, this.byTime, log));
      add("lines", curves.smoothed(curve, this.byTime, log, smooth * (end - start)));
    } else {
      add("lines", single ? curves.extremes(curve, this.byTime, log) : curves.means(curve, this.byTime, log));
    }
  }

  // Failures and spikes come from the list beside the chart: both tell the same. One beyond the
  // last point stands at the frame's edge; a spike without a height of its own stands below.
  putMarks(prefix) {
    const [start, end] = this.extent();
    const shown = this.marks.filter((mark) => this.choice.older || mark.attempt === this.attempt);
    const placed = shown.map((mark) => ({ ...mark, x: Math.max(start, Math.min(end, this.place(mark))) })).filter((mark) => Number.isFinite(mark.x));
    const isRing = (mark) => mark.icon === "spike" && Number.isFinite(mark.value) && !(this.choice.log && mark.value <= 0);
    const rings = placed.filter(isRing);
    const crosses = placed.filter((mark) => mark.icon === "fail" || (mark.icon === "spike" && !isRing(mark)));
    this.figure.put(`${prefix}failure`, { x: crosses.map((mark) => mark.x) });
    this.figure.put(`${prefix}spike`, { x: rings.map((mark) => mark.x), y: rings.map((mark) => mark.value) });
  }

  place({ attempt, step }) {
    if (!this.byTime) return step;
    const curve = this.whole[0]?.curves.find((one) => one.attempt === attempt);
    return curve ? curves.timeOf(curve, step) : NaN;
  }

  cursor(step, attempt) {
    const x = this.place({ step, attempt });
    this.figure?.put("cursor", { x: Number.isFinite(x) ? [x] : [] });
    if (this.view && (x < this.view[0] || x > this.view[1])) {
      const half = (this.view[1] - this.view[0]) / 2;
      this.go([x - half, x + half]);
    }
  }

  // A mark under the finger is meant before the curve beside it.
  tap(x) {
    const told = this.told(x);
    this.pointed?.(told);
    const own = told.find((one) => !one.other);
    const mark = this.markAt(x);
    if (mark || own) this.tapped?.(mark, own && { ...own, step: own.peak });
  }

  markAt(x) {
    const { start, end } = this.figure.range("main-x");
    const reach = ((end - start) / this.host.clientWidth) * (matchMedia("(pointer: coarse)").matches ? FINGER : POINTER);
    const near = (mark) => Math.abs(this.place(mark) - x);
    const shown = this.marks.filter((mark) => MARKED.includes(mark.icon) && near(mark) <= reach && (this.choice.older || mark.attempt === this.attempt));
    return shown.sort((a, b) => near(a) - near(b) || b.leads - a.leads || MARKED.indexOf(a.icon) - MARKED.indexOf(b.icon))[0];
  }

  // What the curves are at a place, in words.
  told(x) {
    const found = (this.near ?? this.whole).flatMap((one, index) => one.curves.map((curve) => ({ one, index, curve })));
    return found.filter(({ curve }) => curve.step.length).slice(0, MOST_CURVES).map(({ index, curve }) => ({
      ...curves.bucketAt(curve, x, this.byTime),
      colour: this.colourOf(index, curve),
      other: index > 0,
    }));
  }

  legend() {
    return this.whole.flatMap((one, index) => one.curves.map((curve) => ({
      colour: this.colourOf(index, curve),
      other: index > 0,
      older: index === 0 && curve.attempt !== this.attempt,
      attempt: curve.attempt,
      rank: curve.rank,
    })));
  }
}
