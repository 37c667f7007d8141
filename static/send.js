// One way to hand an act to the server. Whatever comes back that is not its acknowledgement is a
// NotSaved: the page keeps what was chosen and says so.

const PATIENCE_MS = 30_000;
const SLOWEST_BYTES_A_MS = 100; // of an upload that is waited for

export class NotSaved extends Error {
  constructor(sentence, { again = false, body = {} } = {}) {
    super(sentence);
    this.again = again; // whether the same act may pass later
    this.body = body;
  }
}

export async function send(address, fields) {
  const answer = await reach(address, fields);
  const body = await answer.json().catch(() => null);
  if (answer.ok && body) return body;
  throw refusal(answer.status, body ?? {});
}

async function reach(address, fields) {
  try {
    return await fetch(address, {
      method: "POST",
      body: fields,
      headers: { Accept: "application/json" },
      signal: AbortSignal.timeout(PATIENCE_MS + sizeOf(fields) / SLOWEST_BYTES_A_MS),
    });
  } catch {
    throw new NotSaved("The server does not answer.", { again: true });
  }
}

function sizeOf(fields) {
  return [...fields.values()].reduce((sum, value) => sum + (value.size ?? 0), 0);
}

function refusal(status, body) {
  if (status === 401) {
    return new NotSaved("You are logged out. Log in again in another tab.", { again: true });
  }
  const again = status >= 500 || status === 429;
  return new NotSaved(body.error ?? `The server answered ${status}.`, { again, body });
}

// Go where the server says the work goes on; the same page is loaded anew.
export function goOn(next) {
  const target = new URL(next, location);
  if (target.pathname + target.search !== location.pathname + location.search) {
    location.assign(target);
    return;
  }
  history.replaceState(null, "", target);
  location.reload();
}
