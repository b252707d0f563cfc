// How often a component is made and closed, if Streamlit ends a call late (shared/mounted.js).

import assert from "node:assert/strict";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";

const { mountedOnce } = await import(pathToFileURL(join(process.env.HEDGE_SCRIPTS, "shared/mounted.js")));

class Shown {
  static made = 0;
  closed = 0;

  constructor() {
    Shown.made++;
  }

  close() {
    this.closed++;
  }
}

const mount = (place) => mountedOnce(place, () => new Shown());
const onThePage = () => ({ isConnected: true });

test("a component is made once for all calls in a place, and closed when it is taken away", () => {
  const place = onThePage();
  const before = Shown.made;
  const first = mount(place);
  const second = mount(place);
  assert.equal(Shown.made, before + 1);
  assert.equal(first.shown, second.shown);
  assert.deepEqual([first.isFirst, second.isFirst], [true, false]);
  place.isConnected = false;
  second.end();
  first.end();
  assert.equal(first.shown.closed, 1);
});

test("the end of a call that was overtaken closes nothing, after the next call or before it", () => {
  for (const late of [true, false]) {
    const place = onThePage();
    const overtaken = mount(place);
    if (!late) overtaken.end();
    const current = mount(place);
    if (late) overtaken.end();
    assert.equal(current.shown, overtaken.shown);
    assert.equal(current.shown.closed, 0);
  }
});

test("a component that was taken away is made anew if its place comes back", () => {
  const place = onThePage();
  const first = mount(place);
  place.isConnected = false;
  first.end();
  place.isConnected = true;
  const again = mount(place);
  assert.notEqual(again.shown, first.shown);
  assert.equal(again.isFirst, true);
});

test("two places have a component each", () => {
  assert.notEqual(mount(onThePage()).shown, mount(onThePage()).shown);
});

test("something without a close can end", () => {
  const { end } = mountedOnce({ isConnected: false }, () => ({}));
  end();
});
