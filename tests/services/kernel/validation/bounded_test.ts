import assert from "node:assert/strict";
import { z } from "zod";
import { suggest } from "../../../../services/kernel/suggest.ts";
import { requireBounded } from "../../../../services/kernel/validation/mod.ts";
import { bounded, showLengths } from "../../../../services/kernel/validation/schemas.ts";
import { cpuTimeOf } from "../../../support/cpu_time.ts";

const schema = bounded(z.object({
  name: z.string().optional(),
  path: z.string().nullish(),
  own: z.string().max(3).optional(),
  list: z.array(z.union([z.string(), z.strictObject({ a: z.string() })])).optional(),
  record: z.record(z.string().max(3), z.string()).optional(),
  piped: z.string().transform((text) => text.length).optional(),
}));

function faults(value: unknown): string[] {
  return schema.safeParse(value).error?.issues.map(({ message }) => message) ?? [];
}

Deno.test("bounded() gives each text and list a length, by the name of its field", () => {
  const fits = {
    name: "a".repeat(200),
    path: "a".repeat(4096),
    own: "abc",
    piped: "a".repeat(200),
  };
  assert.deepEqual(faults(fits), []);
  assert.deepEqual(faults({ name: "a".repeat(201) }), ["must have at most 200 characters"]);
  assert.deepEqual(faults({ path: "a".repeat(4097) }), ["must have at most 4096 characters"]);
  assert.deepEqual(faults({ piped: "a".repeat(201) }), ["must have at most 200 characters"]);
  assert.equal(faults({ own: "abcd" }).length, 1);
  assert.equal(faults({ list: ["a".repeat(201)] }).length, 1);
});

Deno.test("what has too many entries is refused before each of them is judged", () => {
  const many = Array(100_000).fill(1);
  const record = Object.fromEntries(many.map((one, index) => [`key${index}`, one]));
  faults({ list: many.slice(0, 100), record: { a: "b" } });
  const time = cpuTimeOf(() => {
    assert.equal(faults({ list: many }).length, 1);
    assert.deepEqual(faults({ record }), ["must have at most 1000 entries"]);
  });
  assert.ok(time < 100, `${time} ms`);
});

Deno.test("showLengths() tells what bounded() enforces", () => {
  const shape = z.object({ name: z.string(), paths: z.array(z.string()), own: z.string().max(3) });
  const document = z.toJSONSchema(shape);
  showLengths(document);
  assert.deepEqual(document.properties, {
    name: { type: "string", maxLength: 200 },
    paths: { type: "array", maxItems: 1000, items: { type: "string", maxLength: 200 } },
    own: { type: "string", maxLength: 3 },
  });
});

Deno.test("JSON is refused for its depth and the number of its entries, not for texts", () => {
  requireBounded(JSON.stringify(Array(20_000).fill(1)));
  requireBounded(JSON.stringify(",".repeat(100_000)));
  requireBounded("[".repeat(100) + "]".repeat(100));
  assert.throws(() => requireBounded(JSON.stringify(Array(20_001).fill(1))), /20000 entries/);
  assert.throws(() => requireBounded("[".repeat(101) + "]".repeat(101)), /100 levels/);
  // An array is an entry of the one around it, also where no comma tells.
  const nested = (count: number) => `[${Array(count).fill('[{"a":[1]}]').join(",")}]`;
  requireBounded(nested(5000));
  assert.throws(() => requireBounded(nested(5001)), /20000 entries/);
});

Deno.test("suggest() compares no names of very different lengths", () => {
  const names = ["description", "title"];
  assert.equal(suggest("titel", names), "title");
  assert.ok(cpuTimeOf(() => assert.equal(suggest("a".repeat(900_000), names), null)) < 100);
});
