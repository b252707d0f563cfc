// The golden values that tests/app/golden.py wrote (HEDGE_GOLDEN names the file).
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gunzipSync } from "node:zlib";

const path = process.env.HEDGE_GOLDEN;
export const golden = JSON.parse(readFileSync(path, "utf8"));

const bytes = gunzipSync(readFileSync(join(dirname(path), golden.numbers)));
const all = new Float64Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));

// The array that begins at a place and has some length.
export const numbers = ([at, length]) => all.subarray(at, at + length);
