// The samples of a step under the chart: opened by a point, a mark, or an event of the list; then
// decided on as in the queue. What changed on the server changes here, and the reader's place stays.

import { send } from "./send.js";

const said = document.getElementById("said") && (await import("./said.js"));
const DECIDED = new Set(["approved", "repaired", "excluded"]);

export class Strip {
  constructor(host, run, { opened }) {
    this.host = host;
    this.run = run;
    this.opened = opened; // called when another step is asked for
    this.asked = null;
    this.known = ""; // what is shown, as the server sent it
    host.addEventListener("submit", (event) => {
      event.preventDefault();
      this.decide(event.target.closest(".tile"), event.submitter);
    });
    host.addEventListener("click", (event) => this.clicked(event));
    said?.undo.addEventListener("submit", (event) => {
      event.preventDefault();
      this.takeBack();
    });
  }

  get tiles() { return [...this.host.querySelectorAll(".tile")]; }

  get current() { return this.host.querySelector(".tile.here"); }

  // Take over what the page came with.
  adopt(asked) {
    this.asked = asked;
    this.goTo(0);
  }

  // Show the samples of a step; of the rank that failed there, where none is said.
  async open(asked, { focus = false } = {}) {
    this.asked = asked;
    this.opened(asked);
    const fresh = await this.fetch(asked);
    if (asked !== this.asked) return; // another point was chosen meanwhile
    if (!fresh) {
      this.host.replaceChildren("The samples of this step cannot be fetched now. Choose it again.");
      return;
    }
    this.show(fresh);
    this.goTo(0, { focus });
    this.host.scrollIntoView({ block: "nearest" });
  }

  // The same step as the server has it now. The place stays, or goes where it is told to.
  async refresh(place = this.current?.dataset.path) {
    const { asked } = this;
    if (!asked) return;
    const fresh = await this.fetch(asked);
    if (!fresh || asked !== this.asked || fresh.outerHTML === this.known) return;
    const focus = this.host.contains(document.activeElement);
    const left = this.host.querySelector(".strip-row")?.scrollLeft ?? 0;
    this.show(fresh);
    const row = this.host.querySelector(".strip-row");
    if (row) row.scrollLeft = left;
    this.goTo(Math.max(0, this.tiles.findIndex((tile) => tile.dataset.path === place)), { focus });
  }

  async fetch({ step, attempt, rank = null }) {
    const query = new URLSearchParams({ step, attempt, ...(rank === null ? {} : { rank }) });
    try {
      const answer = await fetch(`/runs/${this.run}/samples?${query}`, { headers: { Accept: "text/html" } });
      if (!answer.ok) return null;
      return new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("strip");
    } catch {
      return null;
    }
  }

  show(fresh) {
    this.known = fresh.outerHTML;
    this.host.replaceChildren(fresh);
  }

  // One tab stop: the place has it, with its buttons.
  goTo(index, { focus = false } = {}) {
    const { tiles } = this;
    const place = Math.max(0, Math.min(index, tiles.length - 1));
    tiles.forEach((tile, at) => {
      tile.classList.toggle("here", at === place);
      for (const part of tile.querySelectorAll("a, button")) part.tabIndex = at === place ? 0 : -1;
      tile.querySelector("a")?.toggleAttribute("aria-current", at === place);
    });
    const tile = tiles[place];
    tile?.scrollIntoView({ block: "nearest", inline: "nearest" });
    if (focus) (tile?.querySelector("a") ?? document.getElementById("strip-title")).focus({ preventScroll: true });
  }

  move(by) {
    const { tiles } = this;
    if (!tiles.length) return true;
    this.goTo(tiles.indexOf(this.current) + by, { focus: true });
    return false;
  }

  press(key) {
    const button = this.current?.querySelector(`[data-key="${key}"]`);
    if (!button) return true;
    this.decide(this.current, button);
    return false;
  }

  enter() {
    const link = this.current?.querySelector("a");
    if (!link) return true;
    link.click();
    return false;
  }

  clicked(event) {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    const other = event.target.closest("nav [data-step]");
    if (!other) return;
    event.preventDefault();
    const { step, attempt, rank } = other.dataset;
    this.open({ step, attempt, rank }, { focus: event.detail === 0 });
  }

  async decide(tile, button) {
    if (!said || tile.hasAttribute("aria-busy")) return;
    const form = button.form;
    const fields = new URLSearchParams(new FormData(form));
    fields.set("action", button.value);
    const { words } = button.dataset;
    this.goTo(this.tiles.indexOf(tile));
    tile.setAttribute("aria-busy", "true");
    said.sayPlain(`Saving: ${words}…`);
    try {
      this.acknowledged(await send(form.getAttribute("action"), fields));
      await this.refresh(this.following(tile));
    } catch (error) {
      tile.removeAttribute("aria-busy");
      said.sayFailed(words, error, () => this.decide(tile, button));
      await this.refresh(); // somebody was first, perhaps: then it shows how it stands
    }
  }

  // The next sample that nobody has decided on, else the one before; else the same.
  following(tile) {
    const { tiles } = this;
    const at = tiles.indexOf(tile);
    const open = (one) => one !== tile && one.dataset.id && !DECIDED.has(one.dataset.status);
    const next = tiles.slice(at).find(open) ?? tiles.slice(0, at).findLast(open) ?? tile;
    return next.dataset.path;
  }

  async takeBack() {
    if (!said?.undo.elements.batch.value) return;
    try {
      const done = await send(said.undo.getAttribute("action"), new URLSearchParams(new FormData(said.undo)));
      this.acknowledged(done);
      const back = this.tiles.find((tile) => done.samples.some((one) => String(one.id) === tile.dataset.id));
      await this.refresh(back?.dataset.path);
    } catch (error) {
      said.sayFailed("Undo", error, () => this.takeBack());
    }
  }

  acknowledged(done) {
    const { base } = this.host.querySelector("#strip")?.dataset ?? {};
    if (base) said.undo.action = `${base}/undo`;
    said.say(done.said);
    said.offerUndo(done.undo);
    const held = document.getElementById("held-count");
    if (held) held.textContent = done.held.toLocaleString("en");
  }
}
