// The samples of a step under the chart: fetched when a point, a spike or a failure is chosen.

import { send } from "./send.js";

export class Strip {
  constructor(host, run) {
    this.host = host;
    this.run = run;
    this.asked = null;
    host.addEventListener("submit", (event) => this.decide(event));
  }

  async open(step, attempt, rank = null) {
    this.asked = { step, attempt, ...(rank === null ? {} : { rank }) };
    const asked = this.asked;
    const fresh = await this.fetch(asked).catch(() => null);
    if (asked !== this.asked) return; // another point was chosen meanwhile
    if (fresh) this.host.replaceChildren(fresh);
    else this.say("The samples of this step cannot be fetched now. Choose it again.");
  }

  async fetch(asked) {
    const answer = await fetch(`/runs/${this.run}/samples?${new URLSearchParams(asked)}`, { headers: { Accept: "text/html" } });
    if (!answer.ok) return null;
    const found = new DOMParser().parseFromString(await answer.text(), "text/html");
    return found.getElementById("strip");
  }

  async decide(event) {
    event.preventDefault();
    const button = event.submitter;
    const fields = new URLSearchParams(new FormData(event.target));
    fields.set(button.name, button.value);
    const path = button.closest("[data-path]").dataset.path;
    this.say(`Saving: ${button.dataset.words}…`);
    try {
      await send(event.target.getAttribute("action"), fields);
    } catch (error) {
      this.say(`Not saved: ${button.dataset.words}, ${path}. ${error.message}`);
      return;
    }
    await this.open(this.asked.step, this.asked.attempt, this.asked.rank ?? null);
    this.say(`${button.dataset.words}: ${path}.`);
    document.getElementById("strip-title")?.focus();
  }

  say(words) {
    const line = document.getElementById("strip-said");
    if (line) line.textContent = words;
    else this.host.textContent = words;
  }
}
