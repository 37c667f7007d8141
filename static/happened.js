// The list of what happened: the chart's marks in words, and the one that is chosen.

export const events = () => [...document.querySelectorAll("#happened a")];

export function marks() {
  return events().filter((one) => one.dataset.step !== undefined).map((one) => ({
    icon: one.dataset.icon,
    attempt: Number(one.dataset.attempt),
    step: Number(one.dataset.step),
    value: one.dataset.value === undefined ? NaN : Number(one.dataset.value),
    leads: one.dataset.rank !== undefined, // to the samples of a rank
    event: one,
  }));
}

export function showChosen(one) {
  for (const other of events()) other.removeAttribute("aria-current");
  if (!one) return;
  one.setAttribute("aria-current", "true");
  reveal(one, one.closest(".events"));
}

// Only the list moves, not the page.
function reveal(one, list) {
  const top = one.offsetTop - list.offsetTop;
  const below = top + one.offsetHeight - list.clientHeight;
  list.scrollTop = Math.min(top, Math.max(below, list.scrollTop));
  list.scrollLeft = one.offsetLeft - list.offsetLeft;
}
