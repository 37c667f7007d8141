// Keys that work on every page, and how pages add their own. No key fires while somebody types
// or composes, and nothing that the browser owns is taken but what a page asks for by name.

const TEXT = new Set(["text", "search", "email", "url", "password", "number", "tel", "date"]);

export function typing(event) {
  if (event.isComposing || event.keyCode === 229) return true;
  const at = event.target;
  if (!(at instanceof Element)) return false;
  if (at.isContentEditable || at.matches("textarea, select")) return true;
  return at.matches("input") && TEXT.has(at.type);
}

// A control does on Enter and Space what it says; its own key comes first.
function isOwn(event) {
  if (event.key !== "Enter" && event.key !== " ") return false;
  return event.target instanceof Element && event.target.closest("button, summary, select, .own-keys") !== null;
}

function nameOf(event) {
  const ctrl = event.ctrlKey || event.metaKey ? "ctrl+" : "";
  return ctrl + (event.key.length === 1 ? event.key.toLowerCase() : event.key);
}

// `acts` maps a key ("a", "Enter", "ctrl+z") to a function; true from it means "not mine".
export function onKeys(acts) {
  addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.altKey || typing(event) || isOwn(event)) return;
    const name = nameOf(event);
    if (!Object.hasOwn(acts, name)) return;
    if (event.repeat && !name.startsWith("Arrow") && name !== "j" && name !== "k") return;
    if (acts[name](event) !== true) event.preventDefault();
  });
}

onKeys({
  "/": () => document.getElementById("find")?.focus() ?? undefined,
  "?": () => document.getElementById("keys").togglePopover(),
});

document.getElementById("find")?.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !event.isComposing) event.target.blur();
});

// An open menu closes when the reader goes elsewhere.
addEventListener("click", (event) => {
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    if (!menu.contains(event.target)) menu.open = false;
  }
});

for (const button of document.querySelectorAll("[data-copy]")) {
  button.hidden = !navigator.clipboard;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
    button.querySelector("span").textContent = button.dataset.done;
  });
}
