// Words over and under the chart: what the curves are where the reader points, which is which.

import { numeral } from "./curves.js";

const main = document.getElementById("main");
const tools = document.getElementById("tools");
const readout = document.getElementById("readout");
const HINT = readout?.textContent.trim();
const MOST_NAMES = 12;

function named(one) {
  if (one.other) return tools.elements.with.selectedOptions[0].textContent;
  const rank = one.rank === null ? "" : `rank ${one.rank}`;
  const attempt = main.dataset.attempts.includes(" ") ? `attempt ${one.attempt}` : "";
  return [attempt, rank].filter(Boolean).join(", ");
}

function swatch(colour, dashed) {
  const mark = document.createElement("span");
  mark.className = dashed ? "swatch dashed" : "swatch";
  mark.style.color = colour;
  return mark;
}

function valueOf(one) {
  const odd = Object.entries(one.odd).filter(([, n]) => n).map(([word, n]) => (n > 1 ? `${n.toLocaleString("en")} ${word}` : word));
  const parts = one.mean === null ? [] : [one.low === one.high ? numeral(one.mean) : `${numeral(one.mean)} (${numeral(one.low)} to ${numeral(one.high)})`];
  return [...parts, ...odd].join(", ");
}

export function say(found) {
  if (!found?.length) {
    const hint = document.createElement("span");
    hint.className = "dim";
    hint.textContent = HINT;
    readout.replaceChildren(hint);
    return;
  }
  const [first] = found;
  const steps = first.step === first.last ? first.step.toLocaleString("en") : `${first.step.toLocaleString("en")}–${first.last.toLocaleString("en")}`;
  const parts = found.flatMap((one) => {
    const text = document.createElement("span");
    text.append(swatch(one.colour), [named(one), valueOf(one)].filter(Boolean).join(": "));
    return [" ", text];
  });
  const where = document.createElement("b");
  where.textContent = `Step ${steps}`;
  readout.replaceChildren(where, ...parts);
}

export function describe({ counts, view, extent, whole, legend }, byTime) {
  for (const name of ["nan", "inf", "neg"]) main.querySelector(`[data-count=${name}]`).textContent = counts[name].toLocaleString("en");
  const below = document.getElementById("below");
  below.hidden = !counts.below;
  below.textContent = `at the lower edge: at least ${counts.below.toLocaleString("en")} values of zero or less`;
  const words = (x) => (byTime ? new Date(x).toISOString().slice(0, 19).replace("T", " ") : Math.round(x).toLocaleString("en"));
  document.getElementById("extent").textContent = whole ? "whole run" : `${words(view[0])} to ${words(view[1])} of ${words(extent[1])}`;
  showLegend(legend);
}

function showLegend(legend) {
  const some = legend.length > 1 ? legend.slice(0, MOST_NAMES) : [];
  const parts = some.map((one) => {
    const item = document.createElement("span");
    item.append(swatch(one.colour, one.older), named(one));
    return item;
  });
  if (legend.length > MOST_NAMES) parts.push(`and ${legend.length - MOST_NAMES} more`);
  document.getElementById("legend").replaceChildren(...parts);
}
