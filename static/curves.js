// From buckets to what is drawn: paths through every extreme, bands, smoothed curves, marks.
// Nothing here leaves out a bucket, and nothing is averaged without its range beside it.

const middle = (curve, i) => ((curve.began[i] + curve.ended[i]) / 2) * 1000;

// Where something of bucket `i` lies: at its own step, or, over time, in the middle of the bucket.
function at(curve, i, name, byTime) {
  return byTime ? middle(curve, i) : curve[name][i];
}

// One rank has at most one point a step: then the line itself goes through every extreme.
export function isSingle(curve, width) {
  return curve.n.every((n, i) => n + curve.nan[i] + curve.pos_inf[i] + curve.neg_inf[i] <= width);
}

function pushed(out, x, y, log) {
  if (log && y <= 0) {
    out.xs.push(NaN);
    out.ys.push(NaN);
    return;
  }
  out.xs.push(x);
  out.ys.push(y);
}

// First, low and high in their order, last: whatever a bucket held, its line reaches it.
export function extremes(curve, byTime, log) {
  const out = { xs: [], ys: [] };
  for (let i = 0; i < curve.step.length; i += 1) {
    if (curve.low[i] === null) {
      out.xs.push(NaN);
      out.ys.push(NaN);
      continue;
    }
    const pair = curve.low_step[i] <= curve.high_step[i] ? ["low", "high"] : ["high", "low"];
    for (const name of curve.n[i] === 1 ? ["first"] : ["first", ...pair, "last"]) {
      pushed(out, at(curve, i, `${name}_step`, byTime), curve[name][i], log);
    }
  }
  return out;
}

export function means(curve, byTime, log) {
  const out = { xs: [], ys: [] };
  for (let i = 0; i < curve.step.length; i += 1) {
    const x = byTime ? middle(curve, i) : curve.step[i];
    if (curve.mean[i] === null) pushed(out, NaN, NaN, false);
    else pushed(out, x, curve.mean[i], log);
  }
  return out;
}

// An average that forgets by half every `half` steps (or milliseconds), whatever the buckets.
export function smoothed(curve, byTime, log, half) {
  const out = { xs: [], ys: [] };
  let value = null;
  let before = null;
  for (let i = 0; i < curve.step.length; i += 1) {
    const x = byTime ? middle(curve, i) : curve.step[i];
    if (curve.mean[i] === null) continue;
    const share = value === null ? 1 : 1 - 2 ** (-Math.max(0, x - before) / half);
    value = value === null ? curve.mean[i] : value + share * (curve.mean[i] - value);
    before = x;
    pushed(out, x, value, log);
  }
  return out;
}

// Polygons between low and high, one for each stretch without a gap.
export function bands(curve, byTime, log) {
  const found = [];
  let up = [];
  let down = [];
  const close = () => {
    if (up.length) found.push({ xs: [...up, ...down.toReversed()].map((p) => p[0]), ys: [...up, ...down.toReversed()].map((p) => p[1]) });
    up = [];
    down = [];
  };
  for (let i = 0; i < curve.step.length; i += 1) {
    const high = curve.high[i];
    if (high === null || (log && high <= 0)) {
      close();
      continue;
    }
    const low = log && curve.low[i] <= 0 ? high : curve.low[i];
    const from = byTime ? middle(curve, i) : curve.step[i];
    const to = byTime ? from : (curve.last_step[i] ?? from);
    up.push([from, high], [to, high]);
    down.push([from, low], [to, low]);
  }
  close();
  return found;
}

// Where points are not finite, and on a logarithmic axis not above zero; with their counts.
export function oddities(curve, byTime, log) {
  const found = { nan: [], inf: [], neg: [], below: [] };
  const counts = { nan: 0, inf: 0, neg: 0, below: 0 };
  for (let i = 0; i < curve.step.length; i += 1) {
    for (const [name, column] of [["nan", "nan"], ["inf", "pos_inf"], ["neg", "neg_inf"]]) {
      if (!curve[column][i]) continue;
      counts[name] += curve[column][i];
      found[name].push(byTime ? middle(curve, i) : curve.odd_step[i]);
    }
    if (log && curve.low[i] !== null && curve.low[i] <= 0) {
      counts.below += curve.high[i] <= 0 ? curve.n[i] : 1;
      found.below.push(at(curve, i, "low_step", byTime));
    }
  }
  return { found, counts };
}

// Lowest and highest value between two places, above zero where the axis is logarithmic.
export function reach(curve, byTime, log, [start, end]) {
  let low = Infinity;
  let high = -Infinity;
  for (let i = 0; i < curve.step.length; i += 1) {
    if (curve.low[i] === null) continue;
    const from = byTime ? curve.began[i] * 1000 : curve.step[i];
    const to = byTime ? curve.ended[i] * 1000 : curve.last_step[i];
    if (to < start || from > end) continue;
    for (const value of [curve.low[i], curve.high[i], curve.mean[i]]) {
      if (log && value <= 0) continue;
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
  }
  return [low, high];
}

export function indexAt(curve, x, byTime) {
  let low = 0;
  let high = curve.step.length - 1;
  while (low < high) {
    const half = (low + high + 1) >> 1;
    const from = byTime ? curve.began[half] * 1000 : curve.step[half];
    if (from <= x) low = half;
    else high = half - 1;
  }
  return low;
}

// One bucket, as it is told to the reader.
export function bucketAt(curve, x, byTime) {
  const i = indexAt(curve, x, byTime);
  return {
    attempt: curve.attempt,
    rank: curve.rank,
    step: curve.step[i],
    last: Math.max(curve.last_step[i] ?? curve.step[i], curve.step[i]),
    peak: curve.high_step[i] ?? curve.odd_step[i] ?? curve.step[i], // what of it meets the eye
    mean: curve.mean[i],
    low: curve.low[i],
    high: curve.high[i],
    odd: { NaN: curve.nan[i], "+Inf": curve.pos_inf[i], "−Inf": curve.neg_inf[i] },
  };
}

// The range of an axis: the values', with room above and below, within what a float can hold.
export function room(low, high, log, [above, below]) {
  if (!(low <= high)) return log ? [0.1, 1] : [0, 1];
  if (log) {
    const [from, to] = [Math.log10(low), Math.log10(high)];
    const span = Math.max(to - from, 0.1);
    return [10 ** Math.max(-320, from - below * span), 10 ** Math.min(308, to + above * span)];
  }
  const span = Math.max(high - low, Math.abs(high) * 1e-6, 1e-12);
  if (!Number.isFinite(span)) return [-8e307, 8e307];
  return [Math.max(-8e307, low - below * span), Math.min(8e307, high + above * span)];
}

// When an attempt was at a step, in milliseconds.
export function timeOf(curve, step) {
  return curve.step.length ? middle(curve, indexAt(curve, step, false)) : NaN;
}

// What came since, in place of the buckets from the first that it touches.
export function joined(curve, tail) {
  const first = tail.step[0];
  const keep = first === undefined ? curve.step.length : curve.step.findIndex((step) => step >= first);
  const cut = keep === -1 ? curve.step.length : keep;
  const made = { attempt: curve.attempt, rank: curve.rank };
  for (const name of Object.keys(curve)) {
    if (Array.isArray(curve[name])) made[name] = [...curve[name].slice(0, cut), ...tail[name]];
  }
  return made;
}

export function numeral(value) {
  if (value === null || value === undefined) return "–";
  if (Number.isInteger(value) && Math.abs(value) < 1e6) return value.toLocaleString("en");
  return Number(value.toPrecision(4)).toString().replace("-", "−");
}
