import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { readAuthorization } from "../../http/mod.ts";

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
