import assert from "node:assert/strict";
import { pack, unpack } from "../../../../services/engines/fossil/workers/parcel.ts";
import {
  entriesIn,
  parseJson,
  requireBounded,
} from "../../../../services/kernel/validation/mod.ts";
import { cpuTimeOf } from "../../../support/cpu_time.ts";

/** Texts that `JSON.parse` puts in one place of its table: it takes seconds for them. */
const COLLIDING = Array.from({ length: 19_000 }, (_, index) => `${(index + 1) * 65_536}`);

Deno.test("texts of digits are parsed about as fast as other ones", () => {
  for (
    const text of [
      JSON.stringify(COLLIDING),
      JSON.stringify(COLLIDING.map((value) => ({ value }))),
      JSON.stringify(Object.fromEntries(COLLIDING.map((value, index) => [`a${index}`, value]))),
    ]
  ) {
    const taken = cpuTimeOf(() => parseJson(text));
    assert.ok(taken < 1000, `${taken} ms`);
  }
  const parcel = cpuTimeOf(() => assert.deepEqual(unpack(pack(COLLIDING).parcel), COLLIDING));
  assert.ok(parcel < 1000, `${parcel} ms`);
});

Deno.test("JSON means the same however many texts of digits it has", () => {
  const many = JSON.stringify(COLLIDING.slice(0, 40));
  const texts = [
    many,
    `{"__proto__": {"a": "65536"}, "many": ${many}}`,
    `{"65536" : "131072", "b": [["\\"65536", "65536\\"", "\\\\", "12345678901", "0123"]], "c": ${many}}`,
    `[${many}, "65536", null, {"d": {"e": "196608"}}, true, 1.5e3]`,
    '"65536"',
  ];
  for (const text of texts) assert.deepEqual(parseJson(text), JSON.parse(text));
  for (const wrong of [`${many}x`, many.slice(0, -1), many.slice(0, -2), `[${many}:1]`, ""]) {
    assert.throws(() => parseJson(wrong), SyntaxError);
  }
});

Deno.test("an object of JSON has at most 1,000 fields, a list may have more entries", () => {
  const fields = (count: number) =>
    JSON.stringify([Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i}`, i]))]);
  assert.deepEqual([entriesIn(fields(1000)), entriesIn(fields(1001))], [1001, null]);
  assert.throws(() => requireBounded(fields(1001)), /more than 1000 fields/);
  assert.equal(entriesIn(JSON.stringify(Array(100_000).fill({ a: 1, b: 2 }))), 300_000);
});
