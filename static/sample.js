// Reviewing one sample: a decision goes on to the next one only after the server has saved it.

import { onKeys } from "./keys.js";
import { keepSaid, sayFailed, sayKept, sayPlain, undo } from "./said.js";
import { goOn, send } from "./send.js";

const form = document.getElementById("decide");
const panel = document.getElementById("replace");
const problem = document.getElementById("problem");
const FOCUS = "sickbay.focus";

// After a decision the focus is on the next sample's heading, after undo on the one that came back.
if (sessionStorage.getItem(FOCUS)) document.getElementById("heading").focus();
sessionStorage.removeItem(FOCUS);
sayKept();
if (location.hash === "#replace") openPanel();

function goOnWithFocus(done) {
  sessionStorage.setItem(FOCUS, "1");
  goOn(done.next);
}

function working(on) {
  form.toggleAttribute("aria-busy", on);
  for (const button of form.querySelectorAll("button[name=action]")) button.disabled = on;
}

async function carryOut(what, address, fields) {
  working(true);
  problem.hidden = true;
  sayPlain(`Saving: ${what}…`);
  try {
    goOnWithFocus(await send(address, fields));
  } catch (error) {
    working(false);
    sayFailed(what, error, () => carryOut(what, address, fields));
    if (!error.again) showProblem(error);
  }
}

function line(...parts) {
  const made = document.createElement("p");
  made.append(...parts);
  return made;
}

function showProblem(error) {
  const title = document.createElement("b");
  title.textContent = `${error.body.title ?? "Not saved."} `;
  const lines = [line(title, error.message)];
  if (error.body.advice) lines.push(line(error.body.advice));
  if (error.body.kind === "warn") lines.push(line(presentState()));
  const text = document.createElement("div");
  text.className = "stack tight";
  text.append(...lines);
  problem.className = `notice is-${error.body.kind ?? "block"}`;
  problem.replaceChildren(text);
  problem.hidden = false;
}

function presentState() {
  const link = document.createElement("a");
  link.href = location.href;
  link.textContent = "Show how it stands now";
  link.addEventListener("click", (event) => {
    event.preventDefault();
    location.reload();
  });
  return link;
}

function decide(button) {
  const fields = new URLSearchParams(new FormData(form, null));
  fields.delete("file");
  fields.set("action", button.value);
  carryOut(button.dataset.words, form.getAttribute("action"), fields);
}

function replaceFile(button) {
  const problem = problemOf(form.elements.file.files[0], Number(form.elements.file.dataset.most));
  if (problem) {
    sayPlain(problem);
    form.elements.file.focus();
    return;
  }
  carryOut(button.dataset.words, button.formAction, new FormData(form));
}

// A server that has read enough closes the connection, which looks as if it did not answer.
function problemOf(file, most) {
  if (!file) return "Choose the new file first.";
  if (file.size > most) return `The file is larger than the ${most >> 20} MB allowed here. Choose another.`;
  return "";
}

function openPanel() {
  if (!panel) return;
  panel.classList.add("open");
  form.elements.file.focus();
}

function closePanel() {
  panel.classList.remove("open");
  form.elements.file.value = "";
  if (location.hash === "#replace") history.replaceState(null, "", location.pathname + location.search);
  document.getElementById("pick-file").focus();
}

async function takeBack() {
  if (!undo.elements.batch.value) return;
  try {
    const done = await send(undo.getAttribute("action"), new URLSearchParams(new FormData(undo)));
    keepSaid(done.said);
    goOnWithFocus(done);
  } catch (error) {
    sayFailed("Undo", error, takeBack);
  }
}

const press = (key) => () => form.querySelector(`[data-key="${key}"]:not([disabled])`)?.click();
const follow = (id) => () => document.getElementById(id)?.click();

function pickReason(event) {
  const input = form.querySelectorAll("[name=reason]")[Number(event.key) - 1];
  if (input) input.checked = !input.checked;
}

function escape() {
  if (panel && getComputedStyle(panel).display !== "none") closePanel();
  else document.getElementById("grid-link").click();
}

function fullSize() {
  const stage = document.getElementById("stage");
  if (stage.querySelector(".shot")) stage.classList.toggle("full");
}

// A reader who wants the bare picture wants it of the next sample too.
const boxes = document.getElementById("boxes");
const BOXES = "sickbay.boxes";

function showBoxes(on) {
  boxes.setAttribute("aria-pressed", String(on));
  document.querySelector(".outlines").toggleAttribute("hidden", !on);
}

function switchBoxes() {
  if (!boxes) return;
  const on = boxes.getAttribute("aria-pressed") !== "true";
  showBoxes(on);
  sessionStorage.setItem(BOXES, on ? "on" : "off");
}

if (boxes) {
  boxes.hidden = false;
  showBoxes(sessionStorage.getItem(BOXES) !== "off");
  boxes.addEventListener("click", switchBoxes);
}

onKeys({
  a: press("a"),
  x: press("x"),
  o: press("o"),
  h: press("h"),
  r: () => {
    if (!panel) return;
    openPanel();
    form.elements.file.click();
  },
  s: follow("skip"),
  j: follow("next"),
  k: follow("previous"),
  ArrowRight: follow("next"),
  ArrowLeft: follow("previous"),
  b: switchBoxes,
  z: fullSize,
  u: takeBack,
  "ctrl+z": takeBack,
  Escape: escape,
  ...Object.fromEntries([..."123456789"].map((digit) => [digit, pickReason])),
});

form.addEventListener("submit", (event) => {
  event.preventDefault();
  if (event.submitter?.id === "use-file") replaceFile(event.submitter);
  else if (event.submitter) decide(event.submitter);
});
document.getElementById("pick-file")?.addEventListener("click", (event) => {
  event.preventDefault();
  openPanel();
});
document.getElementById("no-file")?.addEventListener("click", (event) => {
  event.preventDefault();
  closePanel();
});
document.getElementById("file")?.addEventListener("change", () => document.getElementById("use-file").focus());
document.getElementById("note")?.addEventListener("keydown", (event) => {
  if (event.isComposing) return;
  if (event.key === "Escape" || event.key === "Enter") {
    event.preventDefault();
    event.stopPropagation();
    event.target.blur();
  }
});
document.getElementById("full-size")?.addEventListener("click", (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  fullSize();
});
undo.addEventListener("submit", (event) => {
  event.preventDefault();
  takeBack();
});
document.documentElement.dataset.ready = ""; // from here on keys work
