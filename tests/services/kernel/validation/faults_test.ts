import assert from "node:assert/strict";
import { z } from "zod";
import { describeIssue } from "../../../../services/kernel/validation/mod.ts";

/** A schema, a value that it refuses, and the sentence. */
const REFUSALS: readonly (readonly [z.ZodType, unknown, string])[] = [
  [z.object({ a: z.string() }), {}, '"a" is required'],
  [z.object({ a: z.string() }), [], "The body must be a JSON object"],
  [z.object({ a: z.string() }), undefined, "The body must be a JSON object"],
  [z.object({ a: z.string() }), { a: null }, '"a" must be a string'],
  [z.object({ a: z.int() }), { a: 1.5 }, '"a" must be a whole number'],
  [z.object({ a: z.number() }), { a: Infinity }, '"a" must be a number'],
  [z.object({ a: z.int().min(3) }), { a: 2 }, '"a" must be at least 3'],
  [z.object({ a: z.number().positive() }), { a: 0 }, '"a" must be more than 0'],
  [z.object({ a: z.string().min(1) }), { a: "" }, '"a" must not be empty'],
  [z.object({ a: z.string().max(2) }), { a: "abc" }, '"a" must have at most 2 characters'],
  [z.object({ a: z.array(z.int()).max(1) }), { a: [1, 2] }, '"a" must have at most 1 entry'],
  [z.object({ a: z.array(z.int()) }), { a: ["x"] }, '"a[0]" must be a number'],
  [
    z.object({ a: z.array(z.object({ b: z.int() })) }),
    { a: [{ b: 1 }, { b: "x" }] },
    '"a[1].b" must be a number',
  ],
  [z.object({ a: z.enum(["x", "y"]) }), { a: "z" }, '"a" must be "x" or "y"'],
  [z.object({ a: z.literal(2) }), { a: 3 }, '"a" must be 2'],
  [z.object({ a: z.boolean() }), { a: "true" }, '"a" must be true or false'],
  [z.strictObject({}), { a: 1 }, '"a" is not a field that this takes'],
  [
    z.object({ a: z.union([z.string(), z.int()]) }),
    { a: [] },
    '"a" must be a string or a number',
  ],
  [
    z.object({ a: z.union([z.string(), z.array(z.object({ b: z.string() }))]) }),
    { a: [{ b: 1 }] },
    '"a[0].b" must be a string',
  ],
  [z.record(z.string().max(1), z.string()), { ab: "" }, '"ab" must have at most 1 character'],
  [z.object({ a: z.never({ error: "is not taken" }) }), { a: null }, '"a" is not taken'],
  [z.object({ a: z.string({ error: "must be a name" }) }), { a: 1 }, '"a" must be a name'],
  [z.object({ a: z.email() }), { a: "x" }, '"a" is not valid'],
  [z.object({ a: z.int().multipleOf(5) }), { a: 3 }, '"a" must be a multiple of 5'],
];

Deno.test("describeIssue() describes every refusal without the library's words", () => {
  for (const [schema, value, sentence] of REFUSALS) {
    const [issue] = schema.safeParse(value).error?.issues ?? [];
    assert.ok(issue !== undefined, sentence);
    assert.equal(describeIssue(issue), sentence);
  }
});
