// Reviewing in the grid: keys, selection, decisions that are shown only once they are saved.

import { onKeys } from "./keys.js";
import { keepSaid, offerUndo, say, sayFailed, sayKept, sayPlain, undo } from "./said.js";
import { goOn, send } from "./send.js";
import * as tiles from "./tiles.js";

const root = document.getElementById("queue");
const bulk = document.getElementById("bulk");
const ask = document.getElementById("ask");
const WORDS = { approve: "Keep as is", exclude: "Leave out", reopen: "Reopen" };
const allowed = new Set([...(bulk?.querySelectorAll("[name=action]") ?? [])].map((button) => button.value));

function countSelected() {
  const number = tiles.ticked().length;
  if (bulk) document.getElementById("selected").textContent = `${number.toLocaleString("en")} selected`;
}

function fieldsFor(action, chosen) {
  const fields = new URLSearchParams({
    action,
    query: root.dataset.query,
    reason: bulk.elements.reason.value,
    note: bulk.elements.note.value,
  });
  for (const tile of chosen) fields.append("pick", `${tile.dataset.id}:${tile.dataset.version}`);
  return fields;
}

function chosenTiles() {
  const ticked = tiles.ticked();
  if (ticked.length) return ticked;
  const here = tiles.current();
  return here && !here.classList.contains("gone") ? [here] : [];
}

async function decide(action) {
  if (!bulk || !allowed.has(action)) return;
  const chosen = chosenTiles().filter((tile) => !tile.hasAttribute("aria-busy"));
  if (chosen.length) await carryOut(action, chosen, fieldsFor(action, chosen));
}

async function carryOut(action, chosen, fields) {
  for (const tile of chosen) tiles.showWaiting(tile, `Saving: ${WORDS[action]}`);
  try {
    const done = await send(bulk.getAttribute("action"), fields);
    for (const state of done.samples) tiles.showState(state, { by: "by you" });
    acknowledged(done);
    bulk.elements.note.value = "";
    bulk.elements.reason.value = "";
    tiles.nextOpen();
  } catch (error) {
    for (const tile of chosen) tiles.showNotSaved(tile);
    for (const state of error.body?.samples ?? []) showPresent(state, chosen);
    sayFailed(WORDS[action], error, () => carryOut(action, chosen, fields));
  }
  countSelected();
}

// After a conflict: a tile that is not as this page showed it shows how it stands now.
function showPresent(state, chosen) {
  const tile = chosen.find((one) => one.dataset.id === String(state.id));
  if (tile && Number(tile.dataset.version) !== state.version) tiles.showState(state, { by: "meanwhile" });
}

function acknowledged(done) {
  say(done.said);
  offerUndo(done.undo);
  const held = document.getElementById("held-count");
  if (held) held.textContent = done.held.toLocaleString("en");
}

async function takeBack() {
  const batch = undo.elements.batch.value;
  if (!batch) return;
  try {
    const done = await send(undo.getAttribute("action"), new URLSearchParams(new FormData(undo)));
    for (const state of done.samples) tiles.showState(state, { gone: false });
    acknowledged(done);
    const back = done.samples.map((state) => tiles.tileOf(state.id)).find(Boolean);
    if (back) tiles.goTo(tiles.tiles.indexOf(back));
    else {
      keepSaid(done.said);
      goOn(done.next);
    }
  } catch (error) {
    sayFailed("Undo", error, takeBack);
  }
  countSelected();
}

function askForAll() {
  if (!ask) return;
  if (Number(ask.elements.all.value) <= tiles.tiles.length) {
    tiles.tickAll(true);
    countSelected();
    return;
  }
  ask.hidden = false;
  document.getElementById("ask-title").focus();
}

function closeAsk() {
  ask.hidden = true;
  tiles.step(0);
}

async function decideAll(action) {
  const fields = new URLSearchParams(new FormData(ask));
  fields.set("action", action);
  sayPlain(`Saving: ${WORDS[action]} ${Number(ask.elements.all.value).toLocaleString("en")}…`);
  try {
    const done = await send(ask.getAttribute("action"), fields);
    goOn(done.next);
  } catch (error) {
    sayFailed(`${WORDS[action]} all`, error, () => decideAll(action));
  }
}

function escape() {
  if (ask && !ask.hidden) return closeAsk();
  if (!tiles.ticked().length) return true;
  tiles.tickAll(false);
  return countSelected();
}

function pickReason(event) {
  if (!bulk) return;
  const option = bulk.elements.reason.options[Number(event.key)];
  if (!option) return;
  bulk.elements.reason.value = option.value;
  sayPlain(`Reason: ${option.textContent.trim()}`);
}

function replaceFile() {
  const chosen = chosenTiles();
  if (chosen.length > 1) sayPlain("Replace file works on one sample at a time. Open it, then press R.");
  else if (chosen.length && bulk) location.assign(`${chosen[0].querySelector("a").href}#replace`);
}

const move = (by) => () => (tiles.tiles.length ? tiles.step(by()) : true);
onKeys({
  j: move(() => 1),
  k: move(() => -1),
  ArrowRight: move(() => 1),
  ArrowLeft: move(() => -1),
  ArrowDown: move(() => tiles.columns()),
  ArrowUp: move(() => -tiles.columns()),
  Enter: () => (tiles.current() ? tiles.current().querySelector("a").click() : true),
  " ": () => {
    if (!tiles.current()) return true;
    tiles.toggle(tiles.current());
    return countSelected();
  },
  Escape: escape,
  a: () => decide("approve"),
  x: () => decide("exclude"),
  o: () => decide("reopen"),
  r: replaceFile,
  u: takeBack,
  "ctrl+z": takeBack,
  "ctrl+a": () => (tiles.tiles.length && bulk ? askForAll() : true),
  ...Object.fromEntries([..."123456789"].map((digit) => [digit, pickReason])),
});

bulk?.addEventListener("submit", (event) => {
  event.preventDefault();
  decide(event.submitter.value);
});
bulk?.addEventListener("reset", () => {
  tiles.tickAll(false);
  countSelected();
});
document.getElementById("select-all")?.addEventListener("click", (event) => {
  event.preventDefault();
  askForAll();
});
ask?.addEventListener("submit", (event) => {
  event.preventDefault();
  decideAll(event.submitter.value);
});
document.getElementById("ask-cancel")?.addEventListener("click", (event) => {
  event.preventDefault();
  closeAsk();
});
undo.addEventListener("submit", (event) => {
  event.preventDefault();
  takeBack();
});

tiles.prepare(countSelected);
sayKept();
countSelected();
document.documentElement.dataset.ready = ""; // from here on keys work
