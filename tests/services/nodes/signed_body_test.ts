import assert from "node:assert/strict";
import { Unavailable } from "../../../services/errors.ts";
import { type MarkedRequest, type Verified } from "../../../services/nodes/mod.ts";
import { marksOf, nodeRecord } from "../../http/two_nodes.ts";

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
