// What is shown and closed, however Streamlit orders the calls of a component and their ends (shared/mounted.js).

import assert from "node:assert/strict";
import test from "node:test";
import { mounted } from "../../app/components/shared/mounted.js";

class Shown {
  closed = 0;
  data = [];

  close() {
    this.closed++;
  }
}

function component() {
  const made = [];
  const mount = mounted(
    () => made[made.push(new Shown()) - 1],
    (shown, { data }) => shown.data.push(data),
  );
  return { made, mount };
}

const onThePage = () => ({ isConnected: true });

test("a component is made once for all calls in a place, and closed once when it is taken away", () => {
  const { made, mount } = component();
  const parentElement = onThePage();
  const ends = ["first", "second"].map((data) => mount({ parentElement, data }));
  assert.equal(made.length, 1);
  assert.deepEqual(made[0].data, ["first", "second"]);
  parentElement.isConnected = false;
  for (const end of ends) end();
  assert.equal(made[0].closed, 1);
});

test("an earlier call that comes and ends before the later one closes nothing", () => {
  const { made, mount } = component();
  const parentElement = onThePage();
  mount({ parentElement, data: "earlier" })();
  mount({ parentElement, data: "later" });
  assert.equal(made.length, 1);
  assert.equal(made[0].closed, 0);
  assert.equal(made[0].data.at(-1), "later");
});

test("an earlier call that ends after the later one has come changes nothing", () => {
  const { made, mount } = component();
  const parentElement = onThePage();
  const end = mount({ parentElement, data: "earlier" });
  mount({ parentElement, data: "later" });
  end();
  assert.deepEqual(made[0].data, ["earlier", "later"]);
});

test("an earlier call that comes after the later one gives way to it when it ends", () => {
  const { made, mount } = component();
  const parentElement = onThePage();
  mount({ parentElement, data: "later" });
  mount({ parentElement, data: "earlier" })();
  assert.equal(made[0].data.at(-1), "later");
});

test("two earlier calls that come after the later one give way to it, whichever ends first", () => {
  for (const order of [
    [0, 1],
    [1, 0],
  ]) {
    const { made, mount } = component();
    const parentElement = onThePage();
    mount({ parentElement, data: "last" });
    const ends = ["first", "second"].map((data) => mount({ parentElement, data }));
    for (const i of order) ends[i]();
    assert.equal(made[0].data.at(-1), "last");
  }
});

test("a component that was taken away is made again if its place comes back", () => {
  const { made, mount } = component();
  const parentElement = onThePage();
  const end = mount({ parentElement, data: 1 });
  parentElement.isConnected = false;
  end();
  parentElement.isConnected = true;
  mount({ parentElement, data: 2 });
  assert.deepEqual(
    made.map(({ closed, data }) => [closed, data]),
    [
      [1, [1]],
      [0, [2]],
    ],
  );
});

test("two places have a component each, and one without a close can end", () => {
  const { made, mount } = component();
  mount({ parentElement: onThePage(), data: 1 });
  mount({ parentElement: onThePage(), data: 2 });
  assert.equal(made.length, 2);
  mounted(
    () => ({}),
    () => {},
  )({ parentElement: { isConnected: false } })();
});
