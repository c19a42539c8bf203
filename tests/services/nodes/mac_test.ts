import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { Mac } from "../../../services/nodes/mac.ts";

Deno.test("a code is that of HMAC with SHA-256", () => {
  const texts = ["", "a", "é\n𝄞", "\ud800", "\0\x7f\x80", "x".repeat(5000)];
  for (const key of ["k", "0123456789abcdef".repeat(4), "\0\x7f", "~".repeat(63)]) {
    const mac = new Mac(key);
    for (const text of [...texts, ...texts]) {
      assert.equal(mac.of(text), createHmac("sha256", key).update(text).digest("hex"));
    }
  }
  const random = new Mac("key");
  for (let round = 0; round < 500; round++) {
    const text = crypto.randomUUID();
    assert.equal(random.of(text), createHmac("sha256", "key").update(text).digest("hex"));
  }
});

Deno.test("a key that a block does not hold as it is, is refused", () => {
  for (const key of ["", "x".repeat(65), "é"]) assert.throws(() => new Mac(key), RangeError);
});
