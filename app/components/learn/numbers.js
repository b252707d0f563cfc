// Numbers as the lessons' texts write them.

import { shareInterval } from "../shared/coverage_distributions.js";
import { percent } from "../shared/formatting.js";

export const whole = (count) => count.toLocaleString("en");
export const share = (value) => percent(value, 1);
export const points = (error) => (100 * error).toFixed(1);
export const shareSpan = (hits, n) => shareInterval(hits, n).map(share).join(" to ");
export const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
