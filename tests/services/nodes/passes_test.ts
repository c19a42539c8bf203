import assert from "node:assert/strict";
import { type MarkedRequest, Marks, type NodeRecord } from "../../../services/nodes/mod.ts";

const KEY = "0123456789abcdef".repeat(4);

const CONTENT = { address: "2001:db8::1", requestId: "id", secure: true, kept: true } as const;

const REQUEST: MarkedRequest = { method: "GET", target: "/here", headers: new Headers() };

function node(name: string, startedAt = 1): NodeRecord {
  return { name, url: `http://${name}.example`, version: "1", startedAt, drainedAt: null };
}

const NOW = Date.parse("2026-11-26T12:00:59.999Z");

function marksOf(name: string, { startedAt = 1, key = KEY, now = NOW } = {}): Marks {
  return new Marks({ key, self: node(name, startedAt), clock: () => now });
}

Deno.test("a pass says what a mark does of a client's request, and opens one", () => {
  const [near, far] = [marksOf("near"), marksOf("far")];
  for (const secure of [false, true]) {
    for (const kept of [false, true]) {
      const content = { ...CONTENT, secure, kept };
      const text = near.pass(content, node("far"));
      const mark = far.read(text, REQUEST);
      assert.ok(mark !== null && typeof mark === "object");
      const { kind, from, to, address, requestId } = mark;
      assert.deepEqual([kind, from, to], ["forwarded", "near", "far"]);
      assert.deepEqual({ address, requestId, secure: mark.secure, kept: mark.kept }, content);
      assert.equal(far.read(text, REQUEST), "repeated");
    }
  }
});

Deno.test("passes and signed marks may come in any order, and far apart, but none twice", () => {
  const [near, far] = [marksOf("near"), marksOf("far")];
  const texts = Array.from(
    { length: 3000 },
    (_, index) =>
      index % 7 === 0
        ? near.sign({ ...CONTENT, kind: "forwarded" }, node("far"), REQUEST)
        : near.pass(CONTENT, node("far")),
  );
  const order = texts.map((_, index) => (index * 7919) % texts.length);
  for (const index of order) assert.equal(typeof far.read(texts[index] ?? "", REQUEST), "object");
  for (const text of texts) assert.equal(far.read(text, REQUEST), "repeated");
});

Deno.test("each sender, receiver and start has tokens of its own", () => {
  const tokens = new Set<string>();
  const ways = [["near", 1, "far", 1], ["near", 2, "far", 1], ["near", 1, "far", 2]] as const;
  for (const [from, fromStarted, to, toStarted] of [...ways, ["far", 1, "near", 1]] as const) {
    const marks = marksOf(from, { startedAt: fromStarted });
    for (let count = 0; count < 100; count++) {
      tokens.add(marks.pass(CONTENT, node(to, toStarted)).split(" ")[7] ?? "");
    }
  }
  assert.equal(tokens.size, 400);
});

Deno.test("a pass for another node, or for one before its restart, does not hold", () => {
  const near = marksOf("near");
  assert.equal(marksOf("other").read(near.pass(CONTENT, node("far")), REQUEST), "misdirected");
  const again = marksOf("far", { startedAt: 2 });
  assert.equal(again.read(near.pass(CONTENT, node("far")), REQUEST), "restarted");
  assert.equal(typeof again.read(near.pass(CONTENT, node("far", 2)), REQUEST), "object");
});

Deno.test("a pass holds for a minute at least, and not for three", () => {
  for (const late of [-180_000, -60_000, -1, 0, 1, 60_000, 180_000]) {
    const text = marksOf("near").pass(CONTENT, node("far"));
    const mark = marksOf("far", { now: NOW + late }).read(text, REQUEST);
    assert.equal(typeof mark === "object" ? "holds" : mark, late ** 2 > 1e10 ? "stale" : "holds");
  }
});

Deno.test("who does not know the secret of the nodes makes no pass", () => {
  const far = marksOf("far");
  const stranger = marksOf("near", { key: "another key" });
  for (let count = 0; count < 1000; count++) {
    assert.equal(far.read(stranger.pass(CONTENT, node("far")), REQUEST), null);
  }
  const text = marksOf("near").pass(CONTENT, node("far"));
  const parts = text.split(" ");
  const changed = (at: number, part: string) => parts.with(at, part).join(" ");
  const [number, token = ""] = parts.slice(6);
  const none = [
    ...[changed(1, "third"), changed(2, "2"), changed(3, "near"), changed(4, "2")],
    ...[changed(5, "2"), changed(6, "2"), changed(6, "0"), changed(6, "9".repeat(15))],
    ...[changed(6, `0${number} `), changed(7, ""), changed(7, token.slice(1))],
    ...[changed(7, token.replace(/^./, "x")), changed(8, "4"), `${text} more`],
    ...["pass", "pass ", `PASS${text.slice(4)}`, ` ${text}`, text.replace(" ", ".")],
  ];
  for (const other of none) assert.equal(far.read(other, REQUEST), null, other);
  assert.equal(typeof far.read(text, REQUEST), "object");
});
