// What a page awaits: the browser holds one request for it (app/serving/awaited.py), and has the page run again when the
// answer says that something has arrived.

const ARRIVED = 200;
const ASK_AGAIN = 202;
const RETRY_MS = 1000;
const ELSEWHERE_MS = 2000;

const pause = (ms) => new Promise((done) => setTimeout(done, ms));
const frame = () => new Promise(requestAnimationFrame);
const rest = () => new Promise(globalThis.requestIdleCallback ?? (() => {}));

// Once the browser has painted the page and rests; a hidden page is not painted, and Safari does not say that it rests.
async function painted() {
  await frame();
  await frame();
  await rest();
}

async function arrival(address, { after, signal }) {
  if (after) await Promise.race([pause(after), painted()]);
  while (!signal.aborted) {
    try {
      const { status } = await fetch(address, { signal, cache: "no-store" });
      if (status === ARRIVED) return true;
      if (status !== ASK_AGAIN) {
        await pause(ELSEWHERE_MS); // another server answers behind this address: the page runs to look for itself
        return true;
      }
    } catch {
      await pause(RETRY_MS); // the connection was lost
    }
  }
  return false;
}

export class Awaited {
  // Asks at `address` ("": nothing is awaited), at first when the page is painted, or after some milliseconds. Earlier
  // requests end.
  follow({ address, after }, arrived) {
    this.arrived = arrived;
    if (address === this.address) return;
    this.close();
    if (!address) return;
    this.address = address;
    this.ends = new AbortController();
    const { signal } = this.ends;
    arrival(address, { after, signal }).then((is) => is && !signal.aborted && this.arrived());
  }

  close() {
    this.ends?.abort();
    this.address = "";
  }
}
