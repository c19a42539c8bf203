import assert from "node:assert/strict";
import { Ledger } from "../../bench/client/mod.ts";

/** A receiver that gets these pieces one after the other, as a connection gives them to it. */
function receive(ledger: Ledger, receiver: number, pieces: readonly string[]): void {
  const consumer = ledger.consumer(receiver);
  let rest = new Uint8Array();
  for (const piece of pieces) {
    const bytes = new Uint8Array([...rest, ...new TextEncoder().encode(piece)]);
    rest = bytes.subarray(consumer(bytes, bytes.length));
  }
}

Deno.test("messages count as delivered when every receiver gets each sender's in order", async () => {
  const ledger = new Ledger({ receivers: 2, senders: 2, messagesPerSender: 2 });
  const stamps = [ledger.stamp(0), ledger.stamp(0), ledger.stamp(1), ledger.stamp(1)];
  const [first = "", second = "", third = "", fourth = ""] = stamps;
  receive(ledger, 0, [`data: one${first}\n\ndata: two${third}\n\n`, second + fourth]);
  const complete = ledger.reached(8);
  receive(ledger, 1, [third + fourth + first, second]);
  await complete;
  assert.equal(ledger.delivered, 8);
  assert.equal(ledger.latencies.length, 8);
  assert.ok(ledger.latencies.every((milliseconds) => milliseconds >= 0));
});

Deno.test("a stamp is read wherever it is split", async () => {
  const text = "before|00000000between|00000001after";
  for (let cut = 0; cut <= text.length; cut++) {
    const ledger = new Ledger({ receivers: 1, senders: 1, messagesPerSender: 2 });
    ledger.stamp(0);
    ledger.stamp(0);
    receive(ledger, 0, [text.slice(0, cut), text.slice(cut)]);
    await ledger.reached(2);
    assert.equal(ledger.delivered, 2, `cut at ${cut}`);
  }
});

Deno.test("a message out of order fails the measurement", async () => {
  const ledger = new Ledger({ receivers: 1, senders: 1, messagesPerSender: 2 });
  const [first, second] = [ledger.stamp(0), ledger.stamp(0)];
  receive(ledger, 0, [second + first]);
  await assert.rejects(ledger.reached(2), {
    message: "Receiver 0 got message 1 of sender 0 where 0 was due",
  });
});

Deno.test("a repeated message fails current and later waits", async () => {
  const ledger = new Ledger({ receivers: 1, senders: 1, messagesPerSender: 2 });
  const stamp = ledger.stamp(0);
  ledger.stamp(0);
  const failed = assert.rejects(ledger.reached(2), /got message 0 of sender 0 where 1 was due/);
  receive(ledger, 0, [stamp, stamp]);
  await failed;
  await assert.rejects(ledger.reached(1));
});

Deno.test("a sender that the ledger does not know fails the measurement", async () => {
  const ledger = new Ledger({ receivers: 2, senders: 1, messagesPerSender: 1 });
  ledger.stamp(0);
  receive(ledger, 0, ["|01000000"]);
  await assert.rejects(ledger.reached(1), /sender 1/);
});

Deno.test("more senders or messages than a stamp can tell are refused", () => {
  const sizes = { receivers: 1, senders: 1, messagesPerSender: 1 };
  assert.throws(() => new Ledger({ ...sizes, senders: 101 }), RangeError);
  assert.throws(() => new Ledger({ ...sizes, messagesPerSender: 1_000_001 }), RangeError);
});
