import assert from "node:assert/strict";
import fc from "fast-check";
import { z } from "zod";
import { textSchema } from "../../../services/validation/mod.ts";

Deno.test("textSchema() documents the pattern that it enforces", () => {
  const schema = textSchema(0, 100);
  const { pattern = "" } = z.toJSONSchema(schema) as { pattern?: string };
  const characters = fc.oneof(
    fc.integer({ min: 0, max: 0xff }).map((code) => String.fromCharCode(code)),
    fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
  );
  for (const flags of ["", "u"]) {
    const documented = new RegExp(pattern, flags);
    fc.assert(
      fc.property(fc.array(characters, { maxLength: 5 }), (parts) => {
        const text = parts.join("");
        assert.equal(documented.test(text), schema.safeParse(text).success);
      }),
    );
  }
});
