// Large tables come as files that the browser keeps (app/serving/table_files.py): in the data of a component stands
// their address. Tables that were read last stay in memory, because a component is called for each change.

const KINDS = {
  float64: Float64Array,
  float32: Float32Array,
  int64: BigInt64Array,
  int32: Int32Array,
  int16: Int16Array,
  int8: Int8Array,
  uint64: BigUint64Array,
  uint32: Uint32Array,
  uint16: Uint16Array,
  uint8: Uint8Array,
};
const KEPT = 8;
const tables = new Map();

// The part of an Arrow table that components read.
export function readTable(buffer) {
  const bytes = new Uint8Array(buffer);
  const decoder = new TextDecoder();
  let at = 4 + new DataView(buffer).getUint32(0, true);
  const { rows, columns } = JSON.parse(decoder.decode(bytes.subarray(4, at)));

  function numbers(Kind, rises) {
    const size = Kind.BYTES_PER_ELEMENT;
    const own = new Uint8Array(rows * size);
    for (let place = 0; place < size; place++) for (let i = 0; i < rows; i++) own[i * size + place] = bytes[at++];
    const array = new Kind(own.buffer);
    if (rises) for (let i = 1; i < rows; i++) array[i] += array[i - 1];
    return array;
  }

  function texts(length) {
    const ends = numbers(Uint32Array, true);
    const own = bytes.subarray(at, (at += length));
    const get = (i) => decoder.decode(own.subarray(i ? ends[i - 1] : 0, ends[i]));
    return { get, length: rows, toArray: () => Array.from({ length: rows }, (_, i) => get(i)) };
  }

  const read = {};
  for (const [name, kind, rises, length] of columns) {
    if (kind === "text") read[name] = texts(length);
    else {
      const array = numbers(KINDS[kind], rises);
      read[name] = { get: (i) => array[i], length: rows, toArray: () => array };
    }
  }
  return { numRows: rows, getChild: (name) => read[name] ?? null };
}

async function load(file) {
  const answer = await fetch(new URL(file, location.origin));
  if (!answer.ok) throw new Error(`${answer.status} for ${file}`);
  const table = readTable(await answer.arrayBuffer());
  tables.set(file, table);
  if (tables.size > KEPT) tables.delete(tables.keys().next().value);
  return table;
}

let calls = 0;
const shownCalls = new WeakMap(); // the number of the call that each place shows

// What Streamlit calls: `mount`, once the tables of its data are there. Streamlit does not end a call when the next one
// comes, so a call does nothing if a later one is shown by then, or if it has left the page. If a table can't be loaded,
// Python sends the tables themselves.
export const withTables = (mount) => (call) => {
  const place = call.parentElement;
  const number = ++calls;
  const files = Object.entries(call.data ?? {}).filter(([, value]) => value?.table_file);
  let end = null;
  let ended = false;
  const isOver = () => ended || !place.isConnected || number < shownCalls.get(place);
  const start = (read) => {
    shownCalls.set(place, number);
    const loaded = Object.fromEntries(files.map(([name], i) => [name, read[i]]));
    end = mount(files.length ? { ...call, data: { ...call.data, ...loaded } } : call);
  };
  const known = files.map(([, { table_file }]) => tables.get(table_file));
  if (known.every(Boolean)) start(known);
  else
    Promise.all(files.map(([, { table_file }], i) => known[i] ?? load(table_file))).then(
      (read) => isOver() || start(read),
      () => isOver() || call.setTriggerValue("tables", "missing"),
    );
  return () => {
    ended = true;
    if (shownCalls.get(place) === number) shownCalls.delete(place);
    end?.();
  };
};
