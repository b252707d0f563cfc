// The lab's answer in words: what the fixed threshold and the adaptive sets cover after the change, and who notices it.

import { plainAlpha } from "../shared/dom.js";
import { counted, percent } from "../shared/formatting.js";

// The answer and a second sentence. `after` is { fixed, adaptive }, the shares that their sets cover after the change, or
// of the whole stream without one; NaN if no question comes then. `band` is [low, high], the range in which chance alone
// leaves the fixed threshold's share. `n` questions calibrate, `alarm` is the question at which the capital reaches 20,
// from 0, or -1, and `second` is the name of the second kind of question, or empty without a change.
export function streamAnswer({ alpha, n, isFull, after, band, alarm, change, second }) {
  const noticed = noticedText(alarm, change, second !== "");
  if (isFull) {
    const calibrated = `With ${counted(n, "calibration question", "calibration questions")}`;
    return [`${calibrated}, alpha ${plainAlpha(alpha)} is too small: every set holds every option.`, noticed];
  }
  const { fixed, adaptive } = after;
  if (Number.isNaN(fixed))
    return ["No question comes after the change, so nothing can be said about it.", alarm < 0 ? "" : noticed];
  const promised = percent(1 - alpha / 1000, alpha % 10 ? 1 : 0);
  const [low, high] = band;
  const [shown, other] = [fixed, adaptive].map((share) => percent(share, 1));
  const covers = `${second ? `After the change to ${second}` : "Without a change"}, the fixed threshold covers`;
  const headline =
    fixed < low
      ? `${covers} only ${shown} instead of the promised ${promised}.`
      : fixed > high
        ? `${covers} ${shown}, more than the promised ${promised}.`
        : `${covers} ${shown}: chance alone explains the difference from the promised ${promised}.`;
  return [headline, `The adaptive one covers ${other}. ${noticed}`];
}

function noticedText(alarm, change, changes) {
  if (alarm < 0)
    return changes
      ? "The betting test does not notice the change, which does not show that nothing has changed."
      : "The betting test raises no alarm.";
  const late = alarm + 1 - change;
  if (changes && late > 0)
    return `The betting test notices the change after ${counted(late, "question", "questions")}.`;
  const early = `The betting test raises a false alarm after ${counted(alarm + 1, "question", "questions")}`;
  return changes
    ? `${early}, before the change, so it can't say when the change came.`
    : `${early}, though nothing changed.`;
}
