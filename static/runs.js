// The list of runs, as it goes on: fetched anew every few seconds while it is seen.

const EVERY = 5000;

async function refresh() {
  if (document.hidden) return;
  const table = document.querySelector("#runs tbody");
  if (table?.contains(document.activeElement)) return;
  try {
    const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
    if (!answer.ok) return;
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    const rows = fresh.querySelector("#runs tbody");
    if (rows && table) table.replaceChildren(...rows.childNodes);
    else if (rows) location.reload();
  } catch {
    // The server does not answer now; the list stays as it was, with the times it was read at.
  }
}

setInterval(refresh, EVERY);
document.documentElement.dataset.ready = "";
