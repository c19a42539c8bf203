import assert from "node:assert/strict";
import fc from "fast-check";
import { Window } from "../../../services/messages/window.ts";

/** What a test does to a window and to an array. */
const step = fc.oneof(
  { weight: 5, arbitrary: fc.constant("push" as const) },
  { weight: 4, arbitrary: fc.constant("shift" as const) },
  fc.record({ index: fc.nat(60), count: fc.nat(5) }),
);

Deno.test("a window has what an array has", () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 100, maxLength: 300, size: "max" }), (steps) => {
      const window = new Window<{ readonly number: number }>();
      const array: { readonly number: number }[] = [];
      for (const [number, step] of steps.entries()) {
        if (step === "push") {
          window.push({ number });
          array.push({ number });
        } else if (step === "shift") {
          assert.deepEqual(window.shift(), array.shift());
        } else {
          const { index, count } = step;
          assert.deepEqual(window.slice(index), array.slice(index));
          assert.deepEqual(window.slice(index, index + count), array.slice(index, index + count));
          assert.deepEqual(window.remove(index, count), array.splice(index, count));
        }
        assert.equal(window.length, array.length);
        assert.deepEqual(window.last, array.at(-1));
        assert.deepEqual(window.at(0), array[0]);
        assert.deepEqual(window.slice(0), array);
      }
    }),
  );
});
