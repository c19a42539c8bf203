import assert from "node:assert/strict";
import fc from "fast-check";
import { readAuthorization } from "../../http/mod.ts";

/** The token that the grammar of the header has, however it is written. */
function tokenIn(header: string): string | null {
  return /^bearer +(\S+) *$/i.exec(header)?.[1] ?? null;
}

const header = fc.tuple(
  fc.constantFrom("Bearer", "bearer", "BEARER", "Bearer:", "Bear", ""),
  fc.constantFrom(" ", "  ", "", "\t"),
  fc.oneof(
    fc.stringMatching(/^[\w.~+/=-]{1,80}$/),
    fc.string({ unit: fc.constantFrom("a", " ", "\t", "\x7f", "\xa0", "\xe9", "\ufeff", "=") }),
  ),
  fc.constantFrom("", " ", "  ", " x"),
).map((parts) => parts.join(""));

Deno.test("a bearer token is read alike, however its header is written", () => {
  fc.assert(
    fc.property(header, (header) => {
      const credential = readAuthorization(header);
      const token = credential?.kind === "bearer" ? credential.token : null;
      assert.equal(token, tokenIn(header));
    }),
    { numRuns: 2000 },
  );
  assert.equal(readAuthorization("Bearer "), null);
  assert.equal(readAuthorization(undefined), null);
});
