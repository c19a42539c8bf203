import assert from "node:assert/strict";
import { shortValue } from "../../mcp/short_values.ts";

const NOW = Date.parse("2026-11-20T12:00:00Z");
const HASH = "0123456789abcdef".repeat(4);

Deno.test("hashes have twelve digits where a field names an artifact, and nothing else is cut", () => {
  for (const field of ["uuid", "checkin", "base", "tip", "ticket", "merged_as"]) {
    assert.equal(shortValue(field, HASH, NOW), "0123456789ab");
    assert.equal(shortValue(field, HASH.slice(0, 40), NOW), "0123456789ab");
    for (const other of ["trunk", HASH.slice(0, 39), `${HASH}0`, null, 7]) {
      assert.equal(shortValue(field, other, NOW), other);
    }
  }
  assert.deepEqual(shortValue("parents", [HASH, "x"], NOW), ["0123456789ab", "x"]);
  for (const field of ["content", "path", "body", "files"]) {
    assert.equal(shortValue(field, HASH, NOW), HASH);
  }
});

Deno.test("times say how long ago they are, or in how long", () => {
  const times = [
    ["2026-11-20T12:00:00.000Z", "0 s ago"],
    ["2026-11-20T11:59:01Z", "59 s ago"],
    ["2026-11-20T11:57:00.000Z", "3 min ago"],
    ["2026-11-20T14:30:00.000Z", "in 2 h"],
    ["2026-11-18T11:00:00.000Z", "2 d ago"],
    ["2026-10-01T11:00:00.000Z", "2026-10-01"],
    ["2027-10-01T11:00:00.000Z", "2027-10-01"],
    ["yesterday", "yesterday"],
  ] as const;
  for (const field of ["created_at", "last_modified", "timestamp"]) {
    for (const [time, said] of times) assert.equal(shortValue(field, time, NOW), said);
  }
  assert.equal(shortValue("body", times[0][0], NOW), times[0][0]);
});
