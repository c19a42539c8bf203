import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
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

function basic(text: string): string {
  return `Basic ${Buffer.from(text).toString("base64")}`;
}

Deno.test("a name and a password are read as UTF-8, and a token as it is", () => {
  const pairs = [["coder", "secret"], ["jörg", "pässwort €"], ["a", "b:c:"], ["", ""]];
  for (const [name = "", password = ""] of pairs) {
    const read = readAuthorization(basic(`${name}:${password}`));
    assert.deepEqual(read, { kind: "basic", name, password });
  }
  assert.deepEqual(readAuthorization("bearer  a:b "), { kind: "bearer", token: "a:b" });
});

Deno.test("what is no credential is none", () => {
  const latin1 = `Basic ${btoa("j\xf6rg:secret")}`;
  const none = [undefined, "", "Basic", "Basic !", "Digest x", basic("no colon"), latin1];
  for (const header of none) assert.equal(readAuthorization(header), null, header);
});
