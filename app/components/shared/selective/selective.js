// Answer or pass, as core/conformal/selective.py computes it, to the last bit: both use the same operations in the same
// order. That file says what each function means and why the promise holds. Nothing here touches the page.

const STEPS = 100;
const MARGIN = 4;
const BOUND_PARTS = 1000;
const NEGLIGIBLE = 1e-18;

// For 0 … n answers the most errors e with P(Bin(m, alpha) <= e) <= delta; -1 if even no error is too many.
export function criticalErrors(n, alpha, delta) {
  const most = new Int32Array(n + 1).fill(-1);
  let e = -1;
  let at = 1;
  let below = 1;
  for (let m = 1; m <= n; m++) {
    if (e < 0) {
      at = below = at * (1 - alpha);
      e = below <= delta ? 0 : -1;
    } else {
      below = below - alpha * at;
      at = ((at * m) / (m - e)) * (1 - alpha);
      const after = (((at * (m - e)) / (e + 1)) * alpha) / (1 - alpha);
      if (below + after <= delta) {
        e += 1;
        at = after;
        below = below + after;
      }
    }
    most[m] = e;
  }
  return most;
}

export function fewestAnswers(alpha, delta) {
  let m = 0;
  for (let law = 1; law > delta; law = law * (1 - alpha)) m++;
  return m;
}

// P(Bin(n, r) <= errors), summed from the most likely number outwards as shares of it.
function atMost(errors, n, r) {
  const mode = Math.min(Math.floor((n + 1) * r), n);
  let below = 0;
  let total = 0;
  let weight = 1;
  for (let k = mode; k >= 0 && weight > NEGLIGIBLE; k--) {
    total = total + weight;
    if (k <= errors) below = below + weight;
    weight = (((weight * k) / (n - k + 1)) * (1 - r)) / r;
  }
  weight = (((1 * (n - mode)) / (mode + 1)) * r) / (1 - r);
  for (let k = mode + 1; k <= n && weight > NEGLIGIBLE; k++) {
    total = total + weight;
    if (k <= errors) below = below + weight;
    weight = (((weight * (n - k)) / (k + 1)) * r) / (1 - r);
  }
  return below / total;
}

// The Clopper-Pearson upper bound of a share of errors at confidence 1 - delta; NaN for n = 0.
export function errorBound(errors, n, delta) {
  if (n === 0) return NaN;
  if (errors === n) return 1;
  let low = 0;
  let high = BOUND_PARTS;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (atMost(errors, n, middle / BOUND_PARTS) <= delta) high = middle;
    else low = middle;
  }
  return high / BOUND_PARTS;
}

// Thresholds for n calibration questions, from the falling confidences of others.
export function steps(falling, n, fewest) {
  const m = falling.length;
  if (!m || !n) return [];
  const enough = Math.min(MARGIN * fewest, Math.max(fewest, Math.floor(n / 2)));
  const thresholds = [];
  const add = (value) => value > 0 && value !== thresholds.at(-1) && thresholds.push(value);
  for (let i = Math.min(Math.floor((STEPS * enough + n - 1) / n), STEPS); i <= STEPS; i++)
    add(falling[Math.floor((i * m + STEPS - 1) / STEPS) - 1]);
  if (!(falling[m - 1] > 0)) {
    let last = m - 1;
    while (last >= 0 && !(falling[last] > 0)) last--;
    if (last >= 0) add(falling[last]);
  }
  return thresholds;
}

// Sort both sides once: `calibration` and `judged` have a list of columns { confidence, wrong }, one for each judge.
export function hold({ calibration, judged }) {
  const side = (columns) => ({
    n: columns[0].confidence.length,
    columns: columns.map(({ confidence, wrong }) => ({
      confidence,
      wrong,
      order: Int32Array.from(confidence.keys()).sort((a, b) => confidence[b] - confidence[a]),
    })),
  });
  return { calibration: side(calibration), judged: side(judged) };
}

// The questions that reach a judge, by falling confidence: their confidences and how many of the first ones are wrong.
function reaching({ confidence, wrong, order }, open) {
  const sure = new Float64Array(order.length);
  const wrongs = new Float64Array(order.length + 1);
  let n = 0;
  for (const row of order) {
    if (!open[row]) continue;
    sure[n] = confidence[row];
    wrongs[n + 1] = wrongs[n] + wrong[row];
    n++;
  }
  return { n, sure: sure.subarray(0, n), wrongs };
}

function close(open, confidence, threshold) {
  for (let row = 0; row < open.length; row++) if (confidence[row] >= threshold) open[row] = 0;
}

// The thresholds of all judges and what they then answer. alpha and delta are in thousandths.
export function selective({ calibration, judged }, alpha, delta) {
  const judges = judged.columns.length;
  const a = alpha / 1000;
  const d = delta / 1000 / judges;
  const limits = criticalErrors(calibration.n, a, d);
  const fewest = fewestAnswers(a, d);
  const own = new Uint8Array(calibration.n).fill(1);
  const others = new Uint8Array(judged.n).fill(1);
  const stages = [];
  for (let j = 0; j < judges; j++) {
    const fitted = reaching(calibration.columns[j], own);
    const tested = reaching(judged.columns[j], others);
    const sequence = steps(tested.sure, fitted.n, fewest);
    let threshold = null;
    let first = null;
    let count = 0;
    for (const step of sequence) {
      while (count < fitted.n && fitted.sure[count] >= step) count++;
      first ??= { threshold: step, answered: count, wrong: fitted.wrongs[count] };
      if (!(fitted.wrongs[count] <= limits[count])) break;
      threshold = step;
    }
    let answered = 0;
    if (threshold !== null) while (answered < tested.n && tested.sure[answered] >= threshold) answered++;
    let levels = 0;
    for (let i = 0; i < fitted.n; i++) if (!i || fitted.sure[i] !== fitted.sure[i - 1]) levels++;
    stages.push({
      threshold,
      n_calibration: fitted.n,
      fewest,
      first: first?.threshold ?? null,
      first_answered: first?.answered ?? 0,
      first_wrong: first?.wrong ?? 0,
      levels,
      reached: tested.n,
      answered,
      wrong: tested.wrongs[answered],
      base_error: tested.n ? tested.wrongs[tested.n] / tested.n : NaN,
    });
    if (threshold !== null) {
      close(own, calibration.columns[j].confidence, threshold);
      close(others, judged.columns[j].confidence, threshold);
    }
  }
  const answered = stages.reduce((sum, stage) => sum + stage.answered, 0);
  const wrong = stages.reduce((sum, stage) => sum + stage.wrong, 0);
  return {
    stages,
    n_calibration: calibration.n,
    n_judged: judged.n,
    answered,
    wrong,
    error_high: errorBound(wrong, answered, delta / 1000),
  };
}

// The smallest share that must be passed: (base error - alpha) / (1 - alpha), or 0.
export const leastPassed = (baseError, alpha) => Math.max(0, (baseError - alpha) / (1 - alpha));

// A judge alone: the share of the judged questions that it answers at each confidence, and how much of it is wrong.
export function riskCurve({ n, columns }, j) {
  const { sure, wrongs, n: count } = reaching(columns[j], new Uint8Array(n).fill(1));
  const points = [];
  for (let i = 1; i <= count && sure[i - 1] > 0; i++)
    if (i === count || sure[i] !== sure[i - 1]) points.push([i / n, wrongs[i] / i]);
  return points;
}
