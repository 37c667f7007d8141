// One run: its chart, the list of what happened, and both as they go on.

import { Chart } from "./chart.js";
import { numeral } from "./curves.js";
import { events, marks, showChosen } from "./happened.js";
import { onKeys } from "./keys.js";
import { Live } from "./live.js";
import { describe, say } from "./readout.js";
import { Strip } from "./strip.js";

const main = document.getElementById("main");
const tools = document.getElementById("tools");
const feed = document.getElementById("feed");
const KEPT = ["series", "ranks", "smooth", "by", "with"];
const AT_LEAST = 1500;
const NOW_AND_THEN = 15_000;

const chart = tools && new Chart(document.getElementById("plot"), {
  run: main.dataset.run,
  attempt: Number(main.dataset.attempt),
  attempts: main.dataset.attempts.split(" ").map(Number),
  bokeh: main.dataset.bokeh,
});

const strip = new Strip(document.getElementById("samples"), main.dataset.run, { opened: () => remember() });

// ---------- the list: marks of the chart, and a cursor on it ----------
function askedOf({ step, attempt, rank }) {
  return { step, attempt, ...(rank === undefined ? {} : { rank }) }; // as text: steps may be 64 bits
}

function choose(one, { focus = false } = {}) {
  showChosen(one);
  if (!one) return;
  const part = one.dataset.opens && document.getElementById(one.dataset.opens.slice(1));
  if (part instanceof HTMLDetailsElement) part.open = true;
  if (one.dataset.step === undefined) return;
  chart?.cursor(Number(one.dataset.step), Number(one.dataset.attempt));
  strip.open(askedOf(one.dataset), { focus });
}

function go(by) {
  const all = events();
  const at = all.findIndex((one) => one.hasAttribute("aria-current"));
  choose(all[Math.max(0, Math.min(all.length - 1, at + by))]);
}

main.addEventListener("click", (event) => {
  const one = event.target.closest("#happened a");
  if (!one || event.ctrlKey || event.metaKey || event.shiftKey) return;
  if (one.dataset.step !== undefined) event.preventDefault();
  choose(one, { focus: event.detail === 0 }); // by its key the focus goes along, by a click it stays
});

// ---------- tools ----------
function choice() {
  const { series, ranks, smooth, by, log, older, with: other } = tools.elements;
  return {
    series: series.value,
    among: Number(series.selectedOptions[0].dataset.ranks),
    ranks: ranks.value,
    smooth: Number(smooth.value),
    by: by.value,
    log: log.checked,
    older: older?.checked ?? false,
    with: other?.value ?? "",
  };
}

function remember() {
  const query = new URLSearchParams(strip.asked ?? {});
  if (!chart) {
    history.replaceState(null, "", `?${query}${location.hash}`);
    return;
  }
  for (const name of KEPT) {
    const field = tools.elements[name];
    if (field && field.value !== field.options[0].value) query.set(name, field.value);
  }
  query.set("series", tools.elements.series.value);
  if (tools.elements.log.checked) query.set("log", "on");
  history.replaceState(null, "", `?${query}${location.hash}`);
}

function recall() {
  const query = new URLSearchParams(location.search);
  for (const name of KEPT.slice(1)) {
    const field = tools.elements[name];
    if (field && [...field.options].some((option) => option.value === query.get(name))) field.value = query.get(name);
  }
  tools.elements.log.checked = query.has("log");
}

async function changed(event) {
  remember();
  if (event?.target.name === "series") {
    const { words, csv } = event.target.selectedOptions[0].dataset;
    document.getElementById("plot").setAttribute("aria-label", words);
    document.getElementById("csv").textContent = csv;
    document.getElementById("csv").href = `/api/v1/runs/${main.dataset.run}/points.csv?${new URLSearchParams({ series: tools.elements.series.value })}`;
    refresh();
  }
  await shown();
}

async function shown() {
  try {
    await chart.show(choice());
  } catch (error) {
    document.getElementById("readout").textContent = `${error.message} The list beside it is complete.`;
  }
}

const VIEWS = {
  left: () => chart.moveBy(-0.5),
  right: () => chart.moveBy(0.5),
  in: () => chart.zoomBy(0.5),
  out: () => chart.zoomBy(2),
  all: () => chart.go(null),
};

async function save() {
  const link = document.createElement("a");
  const title = `${document.querySelector("h1").textContent.trim()}, ${tools.elements.series.value}`;
  link.href = URL.createObjectURL(await chart.figure.picture(title));
  link.download = `${title}.png`.replace(/[\\/:*?"<>|\u0000-\u001f]+/g, "_");
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

// ---------- what is new ----------
let lastSwap = Date.now();
let planned = null;

// The page as the server has it now; what the reader opened stays open.
async function refresh() {
  planned = null;
  lastSwap = Date.now();
  const fresh = await page().catch(() => null);
  if (!fresh) {
    plan(NOW_AND_THEN);
    return;
  }
  const { attempts } = fresh.getElementById("main").dataset;
  if ((!chart && fresh.getElementById("tools")) || attempts !== main.dataset.attempts) {
    location.reload();
    return;
  }
  for (const part of document.querySelectorAll("[data-swap]")) swap(part, fresh.getElementById(part.id));
  document.title = fresh.title;
  readAge();
  if (chart) chart.marks = marks();
  chart?.draw();
  await strip.refresh();
}

// The samples of the step that is open are fetched by themselves.
async function page() {
  const query = new URLSearchParams(location.search);
  query.delete("step");
  const answer = await fetch(`${location.pathname}?${query}`, { headers: { Accept: "text/html" } });
  if (!answer.ok) return null;
  const found = new DOMParser().parseFromString(await answer.text(), "text/html");
  return found.getElementById("main")?.dataset.run ? found : null;
}

function swap(old, fresh) {
  if (!fresh || old.isEqualNode(fresh)) return;
  const open = new Map([...old.querySelectorAll("details[id]")].map((one) => [one.id, one.open]));
  const current = old.querySelector("[aria-current]")?.textContent;
  const scrolled = old.querySelector(".events")?.scrollTop ?? 0;
  old.replaceChildren(...fresh.childNodes);
  for (const one of old.querySelectorAll("details[id]")) one.open = open.get(one.id) ?? one.open;
  for (const one of old.querySelectorAll("a")) if (current && one.textContent === current) one.setAttribute("aria-current", "true");
  if (scrolled) old.querySelector(".events").scrollTop = scrolled;
}

function plan(wait) {
  const due = Math.max(0, lastSwap + wait - Date.now());
  if (planned && planned.at <= Date.now() + due) return;
  clearTimeout(planned?.timer);
  planned = { at: Date.now() + due, timer: setTimeout(refresh, due) };
}

function news(found, first) {
  if (first) return;
  heardAt = Date.now() / 1000;
  if (found.everything) {
    chart?.load();
    refresh();
    return;
  }
  const more = found.kinds.some((kind) => kind !== "points");
  plan(more || !chart ? AT_LEAST : NOW_AND_THEN);
  chart?.grow(found.series).then(showLatest, () => {}); // what failed is fetched with the next news
}

function showLatest() {
  const curve = chart.whole[0]?.curves.find((one) => one.attempt === chart.attempt && one.step.length);
  const last = curve?.step.length - 1;
  const step = document.getElementById("last-step");
  if (!curve || !step) return;
  step.textContent = Math.max(curve.last_step[last] ?? 0, curve.step[last]).toLocaleString("en");
  const value = document.getElementById("last-value");
  if (value && value.dataset.series === chart.choice.series && chart.choice.ranks === "mean" && curve.last[last] !== null) value.textContent = numeral(curve.last[last]);
}

function ago(seconds) {
  if (seconds < 2) return "just now";
  if (seconds < 90) return `${Math.round(seconds)} s ago`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min ago`;
  return null;
}

// Ages are told from the server's clock: the page carries how long ago it was, not when.
let heardAt = 0;

function readAge() {
  heardAt = Date.now() / 1000 - Number(document.getElementById("age").dataset.ago);
}

setInterval(() => {
  const age = document.getElementById("age");
  const silence = Date.now() / 1000 - heardAt;
  const words = ago(silence);
  if (words && age.textContent !== words) age.textContent = words;
  const most = Number(age.dataset.until);
  if (most && silence > most && !document.hidden) plan(AT_LEAST); // nobody says that nobody speaks
  const left = Math.max(0, Math.ceil((Number(feed.dataset.due) - Date.now()) / 1000));
  countdown.textContent = left ? `in ${left} s` : "now";
}, 1000);

const countdown = document.createElement("span");
countdown.setAttribute("aria-hidden", "true");
const again = document.createElement("button");
again.type = "button";
again.className = "link";
again.textContent = "Try now";

const live = new Live(main.dataset.run, {
  news,
  shown(state, due) {
    if (state === "trying") {
      feed.dataset.since ??= new Date().toLocaleTimeString("en-GB");
      feed.dataset.due = due;
      if (feed.dataset.state !== state) feed.replaceChildren(`Not live since ${feed.dataset.since}; next try `, countdown, ". ", again);
    }
    if (feed.dataset.state === state) return;
    feed.dataset.state = state;
    if (state === "trying") return;
    delete feed.dataset.since;
    const words = {
      live: document.querySelector("#head[data-ended]") ? "" : "Following: new points show at once.",
      polling: "New points show every two seconds.",
      paused: "Paused while this tab is hidden.",
    };
    feed.replaceChildren(words[state]);
  },
});
again.addEventListener("click", () => live.tryNow());

readAge();
onKeys({
  n: () => go(1),
  p: () => go(-1),
  j: () => strip.move(1),
  k: () => strip.move(-1),
  ArrowRight: (event) => !event.target.closest?.("#samples") || strip.move(1),
  ArrowLeft: (event) => !event.target.closest?.("#samples") || strip.move(-1),
  Enter: (event) => event.target !== document.body || strip.enter(),
  u: () => strip.takeBack(),
  "ctrl+z": () => strip.takeBack(),
  ...Object.fromEntries([..."axoh"].map((key) => [key, () => strip.press(key)])),
});
const named = Object.fromEntries(new URLSearchParams(location.search));
if (document.getElementById("strip")) {
  strip.adopt(askedOf({ attempt: main.dataset.attempt, ...named }));
  if (location.hash === "#samples") document.getElementById("samples").scrollIntoView({ block: "nearest" });
}
if (chart) {
  recall();
  chart.marks = marks();
  chart.pointed = say;
  chart.tapped = (mark, { step, attempt, rank }) => {
    if (mark) {
      choose(mark.event);
      return;
    }
    showChosen(null);
    chart.cursor(step, attempt);
    strip.open({ step, attempt, ...(rank === null ? {} : { rank }) });
  };
  chart.drawn = (drawn) => describe(drawn, chart.byTime);
  tools.addEventListener("change", changed);
  tools.addEventListener("submit", (event) => event.preventDefault());
  document.getElementById("view").addEventListener("click", (event) => VIEWS[event.target.closest("[data-view]")?.dataset.view]?.());
  document.getElementById("save").addEventListener("click", save);
  await shown();
  if (strip.asked) chart.cursor(Number(strip.asked.step), Number(strip.asked.attempt));
}
const group = location.hash.startsWith("#group-") && document.getElementById(location.hash.slice(1));
if (group instanceof HTMLDetailsElement) {
  group.open = true;
  group.scrollIntoView();
}
document.documentElement.dataset.ready = "";
