import assert from "node:assert/strict";
import fc from "fast-check";
import {
  diffPatch,
  type Json,
  type JsonObject,
  mergePatch,
  pathsOf,
} from "../../../services/policies/merge.ts";

const keys = fc.constantFrom("a", "b", "c", "__proto__", "constructor", "toString", "");

/** Documents and patches over few keys, so that they often meet. */
const { patch, document } = fc.letrec<{ value: Json; patch: JsonObject; document: JsonObject }>(
  (tie) => {
    const leaf = fc.oneof(fc.boolean(), fc.integer(), fc.string(), fc.array(fc.jsonValue()));
    const objectOf = (values: fc.Arbitrary<unknown>) =>
      fc.array(fc.tuple(keys, values), { maxLength: 4 })
        .map((entries) => JSON.parse(JSON.stringify(Object.fromEntries(entries))));
    return {
      value: fc.oneof({ depthSize: "small" }, leaf as fc.Arbitrary<Json>, tie("document")),
      document: objectOf(tie("value")).map((object) => mergePatch({}, object) as JsonObject),
      patch: objectOf(
        fc.oneof({ depthSize: "small" }, fc.constant(null), leaf, tie("patch")),
      ),
    };
  },
);

Deno.test("mergePatch() gives the results of RFC 7396's examples", () => {
  const examples: readonly (readonly [Json, Json, Json])[] = [
    [{ a: "b" }, { a: "c" }, { a: "c" }],
    [{ a: "b" }, { b: "c" }, { a: "b", b: "c" }],
    [{ a: "b" }, { a: null }, {}],
    [{ a: "b", b: "c" }, { a: null }, { b: "c" }],
    [{ a: ["b"] }, { a: "c" }, { a: "c" }],
    [{ a: "c" }, { a: ["b"] }, { a: ["b"] }],
    [{ a: { b: "c" } }, { a: { b: "d", c: null } }, { a: { b: "d" } }],
    [{ a: [{ b: "c" }] }, { a: [1] }, { a: [1] }],
    [["a", "b"], ["c", "d"], ["c", "d"]],
    [{ a: "b" }, ["c"], ["c"]],
    [{ a: "foo" }, null, null],
    [{ a: "foo" }, "bar", "bar"],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [[1, 2], { a: "b", c: null }, { a: "b" }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ];
  for (const [target, change, expected] of examples) {
    assert.deepEqual(mergePatch(target, change), expected);
  }
});

Deno.test("mergePatch() obeys its laws and does not change its arguments", () => {
  fc.assert(fc.property(document, patch, (target, change) => {
    const before = JSON.stringify([target, change]);
    const merged = mergePatch(target, change);
    assert.deepEqual(mergePatch(target, {}), target, "an empty patch changes nothing");
    assert.deepEqual(mergePatch(merged, change), merged, "the second time changes nothing");
    assert.deepEqual(mergePatch(target, target), target, "a document merges into itself");
    assert.ok(holdsNoNull(merged), "null removes, and is never kept");
    for (const [key, value] of Object.entries(target)) {
      if (Object.hasOwn(change, key)) continue;
      assert.deepEqual((merged as JsonObject)[key], value, "what is not named stays");
    }
    assert.equal(JSON.stringify([target, change]), before);
    assert.equal(Object.getPrototypeOf(merged), Object.prototype);
    assert.deepEqual(Object.keys(Object.prototype), [], "nothing reaches other objects");
  }));
});

Deno.test("diffPatch() turns one document into the other, and is empty if they are equal", () => {
  fc.assert(fc.property(document, document, (from, to) => {
    const difference = diffPatch(from, to);
    assert.deepEqual(mergePatch(from, difference), to);
    assert.equal(
      pathsOf(difference).length === 0,
      JSON.stringify(sorted(from)) === JSON.stringify(sorted(to)),
    );
    assert.deepEqual(diffPatch(from, from), {});
  }));
});

Deno.test("pathsOf() names the fields that a patch changes", () => {
  const change = {
    oracle: { backend: "main", enabled: null },
    warden: null,
    herald: { routes: {} },
  };
  assert.deepEqual(pathsOf(change), [
    "oracle.backend",
    "oracle.enabled",
    "warden",
    "herald.routes",
  ]);
});

function holdsNoNull(value: Json | undefined): boolean {
  if (typeof value !== "object" || value === null) return value !== null;
  return Array.isArray(value) || Object.values(value).every(holdsNoNull);
}

function sorted(value: Json): Json {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  const entries = Object.entries(value).map(([key, nested]) => [key, sorted(nested)] as const);
  return Object.fromEntries(entries.sort(([one], [other]) => one < other ? -1 : 1));
}
