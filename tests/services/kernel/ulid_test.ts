import assert from "node:assert/strict";
import { decodeTime, isValid } from "ulid";
import { newUlid } from "../../../services/kernel/ulid.ts";

Deno.test("newUlid() gives ids of the time that differ in their random part", () => {
  const now = Date.parse("2026-11-20T12:00:00.123Z");
  const ids = Array.from({ length: 1000 }, () => newUlid(now));
  for (const id of ids) {
    assert.ok(isValid(id), id);
    assert.equal(decodeTime(id), now);
  }
  assert.equal(new Set(ids).size, ids.length);
  for (let place = 10; place < 26; place++) {
    const characters = new Set(ids.map((id) => id[place]));
    assert.equal(characters.size, 32, `character ${place} takes every value`);
  }
});
