// Tables from files have every bit of Python's, and a component waits for them (shared/table_files.js).

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { readTable, withTables } from "../../app/components/shared/table_files.js";

globalThis.location = { origin: "http://127.0.0.1" };
const folder = process.env.HEDGE_TABLES;
const content = (name) => Uint8Array.from(readFileSync(`${folder}/${name}`)).buffer;
const hex = (array) => Buffer.from(array.buffer, array.byteOffset, array.byteLength).toString("hex");

test("every number has the same bits, and every text the same letters", () => {
  for (const { name, rows, columns } of JSON.parse(readFileSync(`${folder}/expected.json`, "utf8"))) {
    const table = readTable(content(name));
    assert.equal(table.numRows, rows);
    for (const [column, { kind, values }] of Object.entries(columns)) {
      const read = table.getChild(column);
      assert.equal(read.length, rows);
      if (kind === "text") {
        assert.deepEqual(read.toArray(), values);
        assert.deepEqual(
          values.map((_, i) => read.get(i)),
          values,
        );
      } else {
        assert.equal(hex(read.toArray()), values);
        if (rows) assert.equal(read.get(0), read.toArray()[0]);
      }
    }
    assert.equal(table.getChild("no such column"), null);
  }
});

function component() {
  const shown = [];
  const parentElement = { isConnected: true };
  const mount = withTables(({ data }) => {
    shown.push(data);
    return () => shown.push("end");
  });
  return { mount: (call) => mount({ parentElement, ...call }), parentElement, shown };
}

function server(answers) {
  const asked = [];
  globalThis.fetch = async (url) => {
    asked.push(url.pathname);
    const name = answers[url.pathname];
    return { ok: Boolean(name), status: 404, arrayBuffer: async () => content(name) };
  };
  return asked;
}

const waited = () => new Promise((resolve) => setTimeout(resolve, 0));
const data = (path) => ({ rows: { table_file: path }, n: 1 });

test("a component is shown once its table is there, and the next time at once", async () => {
  const asked = server({ "/tables/a": "numbers" });
  const { mount, shown } = component();
  const end = mount({ data: data("/tables/a") });
  assert.deepEqual(shown, []);
  await waited();
  assert.equal(shown[0].rows.numRows, 5);
  assert.equal(shown[0].n, 1);
  end();
  assert.equal(shown[1], "end");
  mount({ data: data("/tables/a") });
  assert.equal(shown[2].rows.numRows, 5);
  assert.deepEqual(asked, ["/tables/a"]);
});

test("a call that ends before its table is there shows nothing", async () => {
  server({ "/tables/b": "numbers" });
  const { mount, shown } = component();
  mount({ data: data("/tables/b") })();
  await waited();
  assert.deepEqual(shown, []);
});

test("without its file, a component asks Python for the table", async () => {
  server({});
  const { mount, shown } = component();
  const sent = [];
  mount({ data: data("/tables/c"), setTriggerValue: (...values) => sent.push(values) });
  await waited();
  assert.deepEqual(sent, [["tables", "missing"]]);
  assert.deepEqual(shown, []);
});

test("a table that comes late does not replace what a later call shows", async () => {
  server({ "/tables/d": "numbers", "/tables/e": "numbers" });
  const { mount, shown } = component();
  mount({ data: data("/tables/d") });
  await waited();
  mount({ data: { ...data("/tables/e"), n: 2 } });
  mount({ data: { ...data("/tables/d"), n: 3 } });
  await waited();
  assert.deepEqual(
    shown.map(({ n }) => n),
    [1, 3],
  );
});

test("a call waits on for its table after one that was shown has ended", async () => {
  server({ "/tables/f": "numbers" });
  const { mount, shown } = component();
  mount({ data: data("/tables/f") });
  mount({ data: { n: 2 } })();
  await waited();
  assert.deepEqual(
    shown.map((each) => each.n ?? each),
    [2, "end", 1],
  );
});

test("nothing is shown in a place that has left the page", async () => {
  server({ "/tables/g": "numbers" });
  const { mount, parentElement, shown } = component();
  mount({ data: data("/tables/g") });
  parentElement.isConnected = false;
  await waited();
  assert.deepEqual(shown, []);
});
