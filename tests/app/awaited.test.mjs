// How the browser asks for what a page awaits (shared/awaited.js): it asks until something has arrived, once at a time.

import assert from "node:assert/strict";
import test from "node:test";
import { Awaited } from "../../app/components/shared/awaited.js";

// A server that gives its answers in turn, and none after the last one until the request is aborted.
function serve(...answers) {
  const asked = [];
  globalThis.fetch = (address, { signal }) => {
    asked.push(address);
    const answer = answers.shift();
    if (answer) return Promise.resolve({ status: answer });
    return new Promise((_, failed) => signal.addEventListener("abort", () => failed(new Error("aborted"))));
  };
  return asked;
}

const turns = () => new Promise((done) => setTimeout(done, 20));

test("the page runs again once, when an answer says that something has arrived", async () => {
  const asked = serve(202, 202, 200);
  let runs = 0;
  new Awaited().follow({ address: "/awaited/a", after: 0 }, () => runs++);
  await turns();
  assert.deepEqual([asked.length, runs], [3, 1]);
});

test("a new page asks when it is painted and the browser rests, and after a while if it is hidden", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const awaited = new Awaited();
  const waiting = { frame: [], rest: [] };
  globalThis.requestAnimationFrame = (done) => waiting.frame.push(done);
  globalThis.requestIdleCallback = (done) => waiting.rest.push(done);
  t.after(() => delete globalThis.requestAnimationFrame && delete globalThis.requestIdleCallback);
  const step = async (act) => {
    act();
    for (let i = 0; i < 10; i++) await Promise.resolve();
  };
  const asked = serve();
  awaited.follow({ address: "/awaited/a", after: 400 }, () => assert.fail());
  for (const kind of ["frame", "frame", "rest"]) {
    assert.deepEqual(asked, []);
    await step(() => waiting[kind].shift()());
  }
  assert.deepEqual(asked, ["/awaited/a"]);
  awaited.follow({ address: "/awaited/b", after: 400 }, () => assert.fail());
  await step(() => t.mock.timers.tick(399));
  assert.deepEqual(asked, ["/awaited/a"]);
  await step(() => t.mock.timers.tick(1));
  assert.deepEqual(asked, ["/awaited/a", "/awaited/b"]);
  awaited.close();
});

test("where another server answers, the page runs from time to time", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const asked = serve(204);
  let runs = 0;
  new Awaited().follow({ address: "/awaited/a", after: 0 }, () => runs++);
  const pass = async (ms) => {
    t.mock.timers.tick(ms);
    for (let i = 0; i < 10; i++) await Promise.resolve();
  };
  await pass(0);
  assert.deepEqual([asked.length, runs], [1, 0]);
  await pass(2000);
  assert.deepEqual([asked.length, runs], [1, 1]);
});

test("the same address is asked once, another one in its place, and nothing when the list is closed", async () => {
  const asked = serve();
  const awaited = new Awaited();
  const signals = [];
  for (const address of ["/awaited/a", "/awaited/a", "/awaited/b"]) {
    awaited.follow({ address, after: 0 }, () => assert.fail());
    signals.push(awaited.ends.signal);
    await turns();
  }
  assert.deepEqual(asked, ["/awaited/a", "/awaited/b"]);
  assert.deepEqual([signals[0].aborted, signals[2].aborted], [true, false]);
  awaited.follow({ address: "", after: 0 }, () => assert.fail());
  assert.ok(signals[2].aborted);
});
