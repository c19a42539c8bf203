import assert from "node:assert/strict";
import {
  type Mark,
  type MarkedRequest,
  Marks,
  type NodeRecord,
  type RefusedMark,
} from "../../../services/nodes/mod.ts";

const KEY = "0123456789abcdef".repeat(4);
const NOW = Date.parse("2026-11-26T12:00:00Z");
const MINUTE = 60_000;

const CONTENT = {
  kind: "forwarded",
  address: "192.0.2.1",
  requestId: "id",
  secure: false,
} as const;

interface NodeOptions {
  readonly startedAt?: number;
  readonly key?: string;
  readonly clock?: () => number;
  readonly remembered?: number;
}

function node(name: string, startedAt = 1): NodeRecord {
  return { name, url: `http://${name}.example`, version: "1", startedAt, drainedAt: null };
}

function marksOf(
  name: string,
  { startedAt = 1, key = KEY, clock = () => NOW, ...bounds }: NodeOptions = {},
): Marks {
  return new Marks({ key, self: node(name, startedAt), clock, ...bounds });
}

function request(part: Partial<MarkedRequest> = {}): MarkedRequest {
  return { method: "GET", target: "/here", headers: new Headers(), ...part };
}

/** The header of a request from one node to another. */
function signed(from: Marks, to = node("far"), asked = request()): string {
  return from.sign(CONTENT, to, asked).header;
}

/** What a node makes of a header. */
function read(at: Marks, header: string, asked = request()): Mark | RefusedMark | null {
  const found = at.read(header, asked);
  return found === null || typeof found === "string" ? found : found.mark;
}

function holds(at: Marks, header: string, asked = request()): boolean {
  return typeof (read(at, header, asked) ?? "") === "object";
}

Deno.test("a mark says what its sender did, and holds once", () => {
  const [near, far] = [marksOf("near"), marksOf("far")];
  for (const kept of [undefined, false, true]) {
    const content = { ...CONTENT, target: "/a/../b", kept };
    const { header } = near.sign(content, node("far"), request());
    const mark = read(far, header);
    assert.ok(mark !== null && typeof mark === "object");
    const { from, to, time, address, target } = mark;
    assert.deepEqual([from, to, time], ["near", "far", NOW]);
    assert.deepEqual([address, target, mark.kept], ["192.0.2.1", "/a/../b", kept]);
    assert.equal(read(far, header), "repeated");
  }
});

Deno.test("marks may come in any order, but none twice, however many there are", () => {
  let now = NOW;
  const clock = () => now;
  const [near, far] = [marksOf("near", { clock }), marksOf("far", { clock, remembered: 500 })];
  const headers: string[] = [];
  for (let count = 0; count < 3000; count++) {
    // Thirty in a second.
    now = NOW + 30 * count;
    headers.push(signed(near));
    // Each tenth one is overtaken by a hundred others.
    const at = count % 10 === 0 ? count - 100 : count;
    if (at >= 0) assert.ok(holds(far, headers[at] ?? ""), String(at));
  }
  for (let at = 0; at < headers.length - 100; at += 97) {
    const repeated = read(far, headers[at] ?? "");
    assert.equal(repeated, now - NOW - 30 * at > MINUTE ? "stale" : "repeated", String(at));
  }
});

Deno.test("clocks may differ by a minute, also while many requests come", () => {
  for (const ahead of [-90_000, -MINUTE, -1, 0, 1, MINUTE, 90_000]) {
    const near = marksOf("near", { clock: () => NOW + ahead });
    const far = marksOf("far", { remembered: 500 });
    for (let count = 0; count < 1100; count++) {
      const mark = read(far, signed(near));
      if (typeof mark !== "object" || mark === null) {
        // The clock stands still here: nothing tells a new mark from one of those forgotten.
        assert.equal(mark, Math.abs(ahead) > MINUTE ? "stale" : "repeated");
        assert.ok(Math.abs(ahead) > MINUTE || count > 1000, String(count));
        break;
      }
    }
  }
});

Deno.test("a mark for another node, or for one before its restart, does not hold", () => {
  const near = marksOf("near");
  assert.equal(read(marksOf("other"), signed(near)), "misdirected");
  const after = marksOf("far", { startedAt: 2 });
  const header = signed(near);
  assert.ok(holds(marksOf("far"), header));
  assert.equal(read(after, header), "restarted");
  assert.ok(holds(after, signed(near, node("far", 2))));
});

Deno.test("a sender may start again, also with a clock that went back", () => {
  const far = marksOf("far");
  for (const ahead of [0, 30_000, -30_000]) {
    const near = marksOf("near", { clock: () => NOW + ahead });
    const header = signed(near);
    assert.ok(holds(far, header));
    assert.equal(read(far, header), "repeated");
  }
});

Deno.test("a mark holds for its method, target and credential, and for no other", () => {
  const [near, far] = [marksOf("near"), marksOf("far")];
  const of = (headers: Record<string, string>) => request({ headers: new Headers(headers) });
  const own = of({ authorization: "Bearer one", cookie: "a=1" });
  const header = signed(near, node("far"), own);
  const others = [
    of({}),
    of({ authorization: "Bearer two", cookie: "a=1" }),
    of({ authorization: "Bearer one", cookie: "a=2" }),
    of({ authorization: "Bearer one a=1" }),
    { ...own, method: "POST" },
    { ...own, target: "/here?" },
    { ...own, target: "/her" },
    { ...own, method: "GET\n/here", target: "" },
  ];
  for (const other of others) assert.equal(read(far, header, other), null);
  assert.ok(holds(far, header, own));
});

Deno.test("who does not know the key of the nodes makes no mark, and changes none", () => {
  const far = marksOf("far");
  const header = signed(marksOf("near"));
  const [payload = "", code = ""] = header.split(".");
  const changed = btoa(atob(payload).replace("192.0.2.1", "192.0.2.2"));
  const none = [
    ...["", ".", "x", payload, `${payload}.`, `.${code}`, `${changed}.${code}`],
    ...[
      `${payload}.${code.slice(1)}`,
      `${payload}.${code.replace(/^./, "x")}`,
      "x".repeat(300_000),
    ],
    signed(marksOf("near", { key: "another key" })),
  ];
  for (const text of none) assert.equal(read(far, text), null, text.slice(0, 100));
  assert.ok(holds(far, header));
});

Deno.test("nodes with a new key understand each other, and those with the old one do not", () => {
  const key = "another key";
  const [near, far] = [marksOf("near"), marksOf("far")];
  const [nextNear, nextFar] = [marksOf("near", { key }), marksOf("far", { key })];
  assert.equal(read(nextFar, signed(near)), null);
  assert.equal(read(far, signed(nextNear)), null);
  assert.ok(holds(nextFar, signed(nextNear)));
});

Deno.test("as many senders as nodes may have sent, and those of long ago make room", () => {
  let now = NOW;
  const clock = () => now;
  const far = marksOf("far", { clock });
  for (let count = 0; count < 64; count++) {
    assert.ok(holds(far, signed(marksOf(`n${count}`, { clock }))));
  }
  assert.equal(read(far, signed(marksOf("more", { clock }))), "repeated");
  now += 3 * MINUTE;
  assert.ok(holds(far, signed(marksOf("more", { clock }))));
});
