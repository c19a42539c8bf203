import assert from "node:assert/strict";
import { z } from "zod";
import { KEEPS_EMPTY, lenientReader } from "../../mcp/lenient_arguments.ts";

const schema = z.strictObject({
  name: z.string().min(1),
  note: z.string().optional(),
  file: z.string().optional().meta(KEEPS_EMPTY),
  count: z.int().default(1),
  when: z.union([z.int(), z.iso.datetime()]).optional(),
  level: z.union([z.literal(1), z.literal(2)]).optional(),
  kind: z.enum(["a", "b"]).optional(),
  holder: z.string().nullable().optional(),
  changes: z.array(z.strictObject({
    path: z.string(),
    run: z.boolean().optional(),
    lines: z.object({ first: z.number().optional() }).optional(),
  })).default([]),
  free: z.looseObject({}).optional(),
});

const lenient = lenientReader(schema);

Deno.test("optional arguments are absent, null or empty, and numbers and booleans texts, at every depth", () => {
  const given = {
    name: "x",
    note: "",
    file: "",
    count: " 5 ",
    when: "60",
    level: "2",
    kind: "",
    holder: null,
    changes: [
      { path: "", run: "", lines: null },
      { path: "1", run: "True", lines: { first: "-1.5e1" } },
      { path: "p", run: null, lines: "" },
    ],
    free: { kept: null, empty: "", number: "5" },
  };
  assert.deepEqual(schema.parse(lenient(given)), {
    name: "x",
    file: "",
    count: 5,
    when: 60,
    level: 2,
    holder: null,
    changes: [{ path: "" }, { path: "1", run: true, lines: { first: -15 } }, { path: "p" }],
    free: { kept: null, empty: "", number: "5" },
  });
});

Deno.test("what a schema does not take reaches it as it came", () => {
  for (
    const count of ["", " ", "five", "0x10", "1".repeat(1000), "NaN", "Infinity", [], {}, true]
  ) {
    const read = lenient({ name: 1, count, more: null }) as Record<string, unknown>;
    assert.equal(read.name, 1);
    assert.equal(read.more, null);
    assert.deepEqual(read.count, count === "" ? undefined : count);
  }
  assert.equal(lenient("5"), "5");
  assert.deepEqual(lenient({ changes: "x" }), { changes: "x" });
  assert.deepEqual(lenient({ name: null }), {});
});

Deno.test("an array and an object may be the text of their JSON, at every depth", () => {
  const changes = [{ path: "p", run: true, lines: { first: 1 } }];
  const given = {
    name: '["x"]',
    changes: JSON.stringify([{ path: "p", run: "true", lines: '{"first":"1"}' }]),
    free: ' {"kept":"[1]"}',
  };
  assert.deepEqual(schema.parse(lenient(given)), {
    name: '["x"]',
    count: 1,
    changes,
    free: { kept: "[1]" },
  });
  const deep = "[".repeat(5000) + "]".repeat(5000);
  for (const text of ["[", "{]", '"a"', "1", "null", "[1", deep]) {
    const read = lenient({ changes: text, free: text }) as Record<string, unknown>;
    assert.deepEqual(read, { changes: text, free: text });
  }
});

Deno.test("texts of JSON that have too many entries together stay texts", () => {
  const texts = z.object({ lists: z.array(z.array(z.looseObject({}))), last: z.array(z.int()) });
  const readTexts = lenientReader(texts);
  // Each has 90 arrays and objects in less than 200 characters.
  const list = `[${'{"a":'.repeat(15)}${"[".repeat(74)}${"]".repeat(74)}${"}".repeat(15)}]`;
  const read = (count: number) => {
    const given = { lists: Array(count).fill(list), last: "[1,2]" };
    return readTexts(given) as { lists: unknown[]; last: unknown };
  };
  const few = read(220);
  assert.ok(few.lists.every(Array.isArray));
  assert.deepEqual(few.last, [1, 2]);
  const many = read(1000);
  assert.equal(many.lists.filter(Array.isArray).length, 222);
  assert.equal(many.lists.at(-1), list);
});
