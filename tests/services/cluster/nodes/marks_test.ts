import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { Unavailable } from "../../../../services/kernel/errors.ts";
import { Mac } from "../../../../services/cluster/nodes/marks.ts";
import {
  type Mark,
  type MarkedRequest,
  Marks,
  type RefusedMark,
  type Verified,
} from "../../../../services/cluster/nodes/mod.ts";
import type { NodeRecord } from "../../../../services/kernel/nodes.ts";
import { marksOf, nodeRecord } from "../../../http/two_nodes.ts";

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

function clockedMarks(
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
  const [near, far] = [clockedMarks("near"), clockedMarks("far")];
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
  const [near, far] = [
    clockedMarks("near", { clock }),
    clockedMarks("far", { clock, remembered: 500 }),
  ];
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
    const near = clockedMarks("near", { clock: () => NOW + ahead });
    const far = clockedMarks("far", { remembered: 500 });
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
  const near = clockedMarks("near");
  assert.equal(read(clockedMarks("other"), signed(near)), "misdirected");
  const after = clockedMarks("far", { startedAt: 2 });
  const header = signed(near);
  assert.ok(holds(clockedMarks("far"), header));
  assert.equal(read(after, header), "restarted");
  assert.ok(holds(after, signed(near, node("far", 2))));
});

Deno.test("a sender may start again, also with a clock that went back", () => {
  const far = clockedMarks("far");
  for (const ahead of [0, 30_000, -30_000]) {
    const near = clockedMarks("near", { clock: () => NOW + ahead });
    const header = signed(near);
    assert.ok(holds(far, header));
    assert.equal(read(far, header), "repeated");
  }
});

Deno.test("a mark holds for its method, target and credential, and for no other", () => {
  const [near, far] = [clockedMarks("near"), clockedMarks("far")];
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
  const far = clockedMarks("far");
  const header = signed(clockedMarks("near"));
  const [payload = "", code = ""] = header.split(".");
  const changed = btoa(atob(payload).replace("192.0.2.1", "192.0.2.2"));
  const none = [
    ...["", ".", "x", payload, `${payload}.`, `.${code}`, `${changed}.${code}`],
    ...[
      `${payload}.${code.slice(1)}`,
      `${payload}.${code.replace(/^./, "x")}`,
      "x".repeat(300_000),
    ],
    signed(clockedMarks("near", { key: "another key" })),
  ];
  for (const text of none) assert.equal(read(far, text), null, text.slice(0, 100));
  assert.ok(holds(far, header));
});

Deno.test("nodes with a new key understand each other, and those with the old one do not", () => {
  const key = "another key";
  const [near, far] = [clockedMarks("near"), clockedMarks("far")];
  const [nextNear, nextFar] = [clockedMarks("near", { key }), clockedMarks("far", { key })];
  assert.equal(read(nextFar, signed(near)), null);
  assert.equal(read(far, signed(nextNear)), null);
  assert.ok(holds(nextFar, signed(nextNear)));
});

Deno.test("as many senders as nodes may have sent, and those of long ago make room", () => {
  let now = NOW;
  const clock = () => now;
  const far = clockedMarks("far", { clock });
  for (let count = 0; count < 64; count++) {
    assert.ok(holds(far, signed(clockedMarks(`n${count}`, { clock }))));
  }
  assert.equal(read(far, signed(clockedMarks("more", { clock }))), "repeated");
  now += 3 * MINUTE;
  assert.ok(holds(far, signed(clockedMarks("more", { clock }))));
});

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

const REQUEST: MarkedRequest = { method: "POST", target: "/x", headers: new Headers() };

type Bytes = Uint8Array<ArrayBuffer>;

/** A signer and a verifier of the body of one request. */
function pair() {
  const content = { kind: "internal", address: "", requestId: "", secure: false } as const;
  const { header, body } = marksOf("front").sign(content, nodeRecord("far"), REQUEST);
  const verified = marksOf("far").read(header, REQUEST);
  assert.ok(verified !== null && typeof verified === "object");
  return { signer: body, verifier: verified.body };
}

function bytesOf(length: number): Bytes {
  return new Uint8Array(length).map((_, index) => index * 7 + (index >> 8));
}

function streamOf(parts: readonly Bytes[]): ReadableStream<Bytes> {
  return ReadableStream.from(parts);
}

async function all(stream: ReadableStream<Bytes>): Promise<Bytes> {
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Cuts bytes into pieces of one length. */
function cut(bytes: Bytes, length: number): Bytes[] {
  const pieces: Bytes[] = [];
  for (let at = 0; at < bytes.length; at += length) pieces.push(bytes.slice(at, at + length));
  return pieces;
}

async function verifyStream(verifier: Verified["body"], signed: Bytes): Promise<Bytes> {
  return await all(verifier.stream(streamOf([signed])));
}

Deno.test("a body arrives as it was, whole or in pieces of any length", async () => {
  for (const length of [0, 1, 36, 65_536, 65_537, 200_000]) {
    const body = bytesOf(length);
    const whole = pair();
    assert.deepEqual(new Uint8Array(whole.verifier.whole(whole.signer.whole(body))), body);
    for (const piece of [1000, 65_536, 1_000_000]) {
      const { signer, verifier } = pair();
      const signed = await all(signer.stream(streamOf(cut(body, piece))));
      const arrived = await all(verifier.stream(streamOf(cut(signed, 977))));
      assert.deepEqual(arrived, body);
    }
  }
});

Deno.test("a body that was changed, cut off or continued is refused, and nothing of that is seen", async () => {
  const body = bytesOf(1000);
  const chunks = async (signer: ReturnType<typeof pair>["signer"]) => {
    const parts: Bytes[] = [];
    for await (const part of signer.stream(streamOf(cut(body, 300)))) parts.push(part);
    return parts;
  };
  const join = async (parts: readonly Bytes[]) => await all(streamOf(parts));
  const attacks: ((parts: Bytes[]) => Bytes[])[] = [
    (parts) => parts.slice(0, -1),
    (parts) => parts.slice(1),
    () => [],
    ([one, two, ...rest]) => [two ?? assert.fail(), one ?? assert.fail(), ...rest],
    ([one, ...rest]) => [one ?? assert.fail(), one ?? assert.fail(), ...rest],
    (parts) => [...parts, new Uint8Array(1)],
    (parts) => [...parts, ...parts],
    (parts) =>
      parts.map((part, at) => at === 1 ? part.map((byte, i) => i === 40 ? byte ^ 1 : byte) : part),
    (parts) =>
      parts.map((part, at) => at === 1 ? part.map((byte, i) => i === 10 ? byte ^ 1 : byte) : part),
    // The last one, in place of the first.
    (parts) => parts.slice(-1),
    // The first one, as if it were the last.
    (parts) => parts.slice(0, 1).map((part) => part.map((byte, i) => i === 0 ? byte | 0x80 : byte)),
    (parts) => [new Uint8Array([0x7f, 255, 255, 255, ...new Uint8Array(40)]), ...parts],
  ];
  for (const [index, attack] of attacks.entries()) {
    const streamed = pair();
    const changed = await join(attack(await chunks(streamed.signer)));
    await assert.rejects(verifyStream(streamed.verifier, changed), Unavailable, String(index));
    const whole = pair();
    const again = await join(attack(await chunks(whole.signer)));
    assert.throws(() => whole.verifier.whole(again), Unavailable, String(index));
  }
});

Deno.test("a body belongs to its request", () => {
  const [one, other] = [pair(), pair()];
  assert.throws(() => other.verifier.whole(one.signer.whole(bytesOf(10))), Unavailable);
});

Deno.test("small pieces cost no more than large ones", async () => {
  const { signer, verifier } = pair();
  const signed = signer.whole(bytesOf(300_000));
  assert.equal((await all(verifier.stream(streamOf(cut(signed, 3))))).length, 300_000);
});

Deno.test("who no longer reads a body ends it at its source", async () => {
  for (const verified of [false, true]) {
    let reason: unknown;
    const source = new ReadableStream<Bytes>({
      pull: (controller) => controller.enqueue(bytesOf(100)),
      cancel: (given) => {
        reason = given;
      },
    });
    const { signer, verifier } = pair();
    const signed = signer.stream(source);
    await (verified ? verifier.stream(signed) : signed).cancel("left");
    assert.equal(reason, "left");
  }
});
