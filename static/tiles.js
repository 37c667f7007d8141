// The grid: one tab stop, arrows inside, ticks, and how a tile shows what became of it.

const NAMES = { held: "Held", clean: "Clean", approved: "Approved", repaired: "Repaired", excluded: "Excluded" };
const grid = document.getElementById("grid");

export const tiles = grid ? [...grid.children] : [];
let place = 0;
let anchor = 0;

const box = (tile) => tile.querySelector(".pick input");
const link = (tile) => tile.querySelector("a");

export function current() {
  return tiles[place];
}

export function tileOf(id) {
  return tiles.find((tile) => tile.dataset.id === String(id));
}

export function goTo(index, { focus = true } = {}) {
  if (!tiles.length) return;
  const next = Math.max(0, Math.min(index, tiles.length - 1));
  for (const tile of [tiles[place], tiles[next]]) link(tile).tabIndex = -1;
  link(tiles[place]).removeAttribute("aria-current");
  place = next;
  link(tiles[place]).tabIndex = 0;
  link(tiles[place]).setAttribute("aria-current", "true");
  if (focus) {
    link(tiles[place]).focus({ preventScroll: true });
    tiles[place].scrollIntoView({ block: "nearest" });
  }
}

export function step(by) {
  goTo(place + by);
}

export function columns() {
  const top = tiles[0].offsetTop;
  const below = tiles.findIndex((tile) => tile.offsetTop !== top);
  return below === -1 ? tiles.length : below;
}

export function nextOpen() {
  const after = tiles.slice(place).find((tile) => !tile.classList.contains("gone"));
  const before = tiles.findLast((tile) => !tile.classList.contains("gone"));
  const found = after ?? before;
  if (found) goTo(tiles.indexOf(found));
}

export function ticked() {
  return tiles.filter((tile) => box(tile)?.checked);
}

export function tick(tile, on) {
  const input = box(tile);
  if (!input) return;
  input.checked = on && !tile.classList.contains("gone");
  tile.classList.toggle("on", input.checked);
}

export function toggle(tile) {
  tick(tile, !box(tile)?.checked);
  anchor = tiles.indexOf(tile);
}

export function tickRange(tile) {
  const to = tiles.indexOf(tile);
  const [first, last] = [Math.min(anchor, to), Math.max(anchor, to)];
  for (const one of tiles.slice(first, last + 1)) tick(one, true);
}

export function tickAll(on) {
  for (const tile of tiles) tick(tile, on);
}

function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("class", "i");
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
  use.setAttribute("href", `/static/icons.svg#i-${name}`);
  svg.append(use);
  return svg;
}

function label(tile, ...parts) {
  tile.querySelector(".pic .said")?.remove();
  if (!parts.length) return;
  const said = document.createElement("span");
  said.className = "said";
  said.append(...parts);
  tile.querySelector(".pic").append(said);
}

export function showWaiting(tile, words) {
  tile.setAttribute("aria-busy", "true");
  label(tile, words);
}

export function showNotSaved(tile) {
  tile.removeAttribute("aria-busy");
  label(tile, "Not saved");
}

// What the server acknowledged, and nothing else, changes how a tile stands.
export function showState(state, { by = "", gone = true } = {}) {
  const tile = tileOf(state.id);
  if (!tile) return;
  tile.removeAttribute("aria-busy");
  tile.dataset.version = state.version;
  tile.dataset.status = state.status;
  const input = box(tile);
  if (input) input.value = `${state.id}:${state.version}`;
  tile.classList.toggle("gone", gone);
  tick(tile, false);
  if (input) input.disabled = gone;
  const status = document.createElement("span");
  status.className = `st is-${state.status}`;
  status.append(icon(state.status), `${NAMES[state.status]} ${by}`.trim());
  if (gone) label(tile, status);
  else label(tile);
}

export function prepare(changed) {
  if (!grid) return;
  for (const tile of tiles) {
    link(tile).tabIndex = -1;
    if (box(tile)) box(tile).tabIndex = -1;
    tick(tile, false);
  }
  const named = tiles.findIndex((tile) => `#${tile.id}` === location.hash);
  goTo(Math.max(0, named), { focus: false });
  // The browser itself goes to the fragment, and lets go of the focus, once the page is loaded.
  if (named !== -1) addEventListener("load", () => setTimeout(() => goTo(named)));
  grid.addEventListener("click", (event) => {
    const tile = event.target.closest(".tile");
    if (!tile) return;
    if (event.target.matches("input")) {
      if (event.shiftKey) tickRange(tile);
      else anchor = tiles.indexOf(tile);
      tile.classList.toggle("on", event.target.checked);
      goTo(tiles.indexOf(tile), { focus: false });
      changed();
    } else if (event.shiftKey) {
      event.preventDefault();
      tickRange(tile);
      changed();
    }
  });
}
