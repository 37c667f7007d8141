// The status line: what happened last, with Undo, and with "Try again" where it was not saved.
// Names are put in as text nodes inside <bdi>, never as markup.

const line = document.getElementById("said");
const undo = document.getElementById("undo");
const again = document.getElementById("again");
const KEPT = "sickbay.said";
let retry = null;

function isolated(text) {
  const bdi = document.createElement("bdi");
  bdi.textContent = text;
  return bdi;
}

function tail(path) {
  return path.split("/").slice(-2).join("/");
}

export function say(said) {
  const parts = [said.words];
  if (said.path) parts.push(" ", isolated(tail(said.path)));
  if (said.because) parts.push(`: ${said.because}`);
  line.replaceChildren(...parts, ".");
  line.classList.remove("failed");
  offerAgain(null);
}

export function sayFailed(what, error, act) {
  line.replaceChildren(`Not saved: ${what}. ${error.message}`);
  line.classList.add("failed");
  offerAgain(error.again ? act : null);
}

export function sayPlain(sentence) {
  line.replaceChildren(sentence);
  line.classList.remove("failed");
}

export function offerUndo(batch) {
  undo.hidden = !batch;
  undo.elements.batch.value = batch ?? "";
}

function offerAgain(act) {
  retry = act;
  again.hidden = act === null;
}

again.addEventListener("click", () => retry?.());

// What is said just before the page changes is said on the next one.
export function keepSaid(said) {
  sessionStorage.setItem(KEPT, JSON.stringify(said));
}

export function sayKept() {
  const kept = sessionStorage.getItem(KEPT);
  sessionStorage.removeItem(KEPT);
  if (kept) say(JSON.parse(kept));
  return kept !== null;
}

export { undo };
