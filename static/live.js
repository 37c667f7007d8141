// What is new, as it happens: a stream while the tab is seen, polling where a stream fails.

const FIRST_WORD = 6000; // a stream says something at once; one that does not is held back somewhere
const POLL = 2000;
const LONGEST = 30_000;
const STREAM_AGAIN = 120_000;

export class Live {
  // `news(found)` gets what is new; `shown(state, due)` is "live", "polling", "trying" or "paused".
  constructor(run, { news, shown }) {
    this.base = `/runs/${run}`;
    this.news = news;
    this.shown = shown;
    this.last = null;
    this.failures = 0;
    this.streamAfter = 0;
    addEventListener("visibilitychange", () => (document.hidden ? this.stop("paused") : this.start()));
    addEventListener("pagehide", () => this.stop("paused"));
    addEventListener("pageshow", (event) => event.persisted && this.start());
    if (!document.hidden) this.start();
  }

  start() {
    this.stop();
    if (Date.now() >= this.streamAfter && "EventSource" in window) this.stream();
    else this.poll();
  }

  stop(state) {
    this.source?.close();
    this.source = null;
    clearTimeout(this.timer);
    this.asking?.abort();
    if (state) this.shown(state);
  }

  tryNow() {
    this.streamAfter = 0;
    this.start();
  }

  address(end) {
    return this.last === null ? this.base + end : `${this.base}${end}?after=${this.last}`;
  }

  stream() {
    const source = new EventSource(this.address("/live"));
    this.source = source;
    this.timer = setTimeout(() => this.giveUp(), FIRST_WORD);
    source.addEventListener("message", (event) => {
      clearTimeout(this.timer);
      this.failures = 0;
      this.shown("live");
      this.take(JSON.parse(event.data));
    });
    source.addEventListener("error", () => {
      if (source === this.source && (source.readyState === EventSource.CLOSED || ++this.failures > 1)) this.giveUp();
    });
  }

  giveUp() {
    this.stop();
    this.failures = 0;
    this.streamAfter = Date.now() + STREAM_AGAIN;
    this.poll();
  }

  async poll() {
    this.asking = new AbortController();
    const { signal } = this.asking;
    try {
      const answer = await fetch(this.address("/changes"), { signal, headers: { Accept: "application/json" } });
      if (!answer.ok) throw new Error(answer.status);
      this.failures = 0;
      this.shown("polling");
      this.take(await answer.json());
      this.timer = setTimeout(() => this.start(), POLL);
    } catch {
      if (signal.aborted) return;
      this.failures += 1;
      const wait = Math.min(LONGEST, 500 * 2 ** this.failures);
      this.streamAfter = 0;
      this.shown("trying", Date.now() + wait);
      this.timer = setTimeout(() => this.poll(), wait);
    }
  }

  take(found) {
    const first = this.last === null;
    this.last = found.last;
    if (first || found.everything || found.kinds.length) this.news(found, first);
  }
}
