import assert from "node:assert/strict";
import { type MarkedRequest, Marks, type NodeRecord } from "../../../services/nodes/mod.ts";

const KEY = "0123456789abcdef".repeat(4);
const NOW = Date.parse("2026-11-26T12:00:00Z");

const CONTENT = {
  kind: "forwarded",
  address: "192.0.2.1",
  requestId: "id",
  secure: false,
} as const;

function node(name: string, startedAt = 1): NodeRecord {
  return { name, url: `http://${name}.example`, version: "1", startedAt, drainedAt: null };
}

function marksOf(name: string, { startedAt = 1, now = NOW } = {}): Marks {
  return new Marks({ key: KEY, self: node(name, startedAt), clock: () => now });
}

function request(part: Partial<MarkedRequest> = {}): MarkedRequest {
  return { method: "GET", target: "/here", headers: new Headers(), ...part };
}

Deno.test("a mark holds once", () => {
  const [near, far] = [marksOf("near"), marksOf("far")];
  const first = near.sign(CONTENT, node("far"), request());
  const second = near.sign(CONTENT, node("far"), request());
  for (const text of [second, first]) {
    const mark = far.read(text, request());
    assert.ok(mark !== null && typeof mark === "object");
    assert.equal(mark.from, "near");
  }
  for (const text of [first, second]) assert.equal(far.read(text, request()), "repeated");
});

Deno.test("marks may come in any order, and far apart, but none twice", () => {
  const [near, far] = [marksOf("near"), marksOf("far")];
  const texts = Array.from({ length: 300 }, () => near.sign(CONTENT, node("far"), request()));
  const order = texts.map((_, index) => (index * 7919) % texts.length);
  for (const index of order) assert.equal(typeof far.read(texts[index] ?? "", request()), "object");
  for (const text of texts) assert.equal(far.read(text, request()), "repeated");
});

Deno.test("a mark from before the last restart of its receiver does not hold", () => {
  const [near, before, after] = [marksOf("near"), marksOf("far"), marksOf("far", { startedAt: 2 })];
  const text = near.sign(CONTENT, node("far"), request());
  assert.equal(typeof before.read(text, request()), "object");
  assert.equal(after.read(text, request()), "restarted");
  const next = near.sign(CONTENT, node("far", 2), request());
  assert.equal(typeof after.read(next, request()), "object");
});

Deno.test("a sender that started again counts from the beginning, also if its clock went back", () => {
  const far = marksOf("far");
  for (const startedAt of [5, 6, 4]) {
    const near = marksOf("near", { startedAt });
    const text = near.sign(CONTENT, node("far"), request());
    assert.equal(typeof far.read(text, request()), "object", String(startedAt));
    assert.equal(far.read(text, request()), "repeated");
  }
});

Deno.test("a mark holds with the credential that it was made with, and with no other", () => {
  const [near, far] = [marksOf("near"), marksOf("far")];
  const of = (headers: Record<string, string>) => request({ headers: new Headers(headers) });
  const own = { authorization: "Bearer one", cookie: "a=1" };
  const text = near.sign(CONTENT, node("far"), of(own));
  const others = [
    {},
    { authorization: "Bearer two", cookie: "a=1" },
    { authorization: "Bearer one", cookie: "a=2" },
    { authorization: "Bearer one a=1" },
  ];
  for (const other of others) assert.equal(far.read(text, of(other)), null);
  assert.equal(typeof far.read(text, of(own)), "object");
});
