/** Answers that clients do not read. */
import assert from "node:assert/strict";
import { TooMany } from "../../../../services/kernel/errors.ts";
import { Deliveries, type Delivery } from "../../../../services/work/sync/deliveries.ts";
import { TestScheduler } from "../../../support/scheduler.ts";

const MEGABYTE = 1024 * 1024;

function refuses(deliveries: Deliveries, caller: string): boolean {
  try {
    deliveries.require(caller);
    return false;
  } catch (error) {
    assert.ok(error instanceof TooMany);
    return true;
  }
}

function streamOf(delivery: Delivery): ReadableStream<Uint8Array> {
  assert.ok(delivery instanceof ReadableStream);
  return delivery;
}

Deno.test("an answer arrives whole, whatever its length", async () => {
  const deliveries = new Deliveries(new TestScheduler());
  for (const length of [0, 1, 64 * 1024, 64 * 1024 + 1, 3 * MEGABYTE + 7]) {
    const body = new Uint8Array(length).map((_, index) => index % 251);
    const delivered = new Response(deliveries.deliver("one", body) as BodyInit);
    assert.deepEqual(new Uint8Array(await delivered.arrayBuffer()), body);
  }
  assert.equal(refuses(deliveries, "one"), false);
});

Deno.test("a caller that reads nothing gets no more answers, and others do", async () => {
  const deliveries = new Deliveries(new TestScheduler());
  const unread: Delivery[] = [];
  while (!refuses(deliveries, "one")) {
    unread.push(deliveries.deliver("one", new Uint8Array(5 * MEGABYTE)));
    assert.ok(unread.length < 10);
  }
  assert.equal(refuses(deliveries, "two"), false);
  const [first, second] = unread.map(streamOf);
  await first?.cancel();
  assert.equal(refuses(deliveries, "one"), false);
  deliveries.deliver("one", new Uint8Array(5 * MEGABYTE));
  assert.equal(refuses(deliveries, "one"), true);
  await new Response(second as BodyInit).arrayBuffer();
  assert.equal(refuses(deliveries, "one"), false);
});

Deno.test("all callers together leave a bounded amount unread", () => {
  const deliveries = new Deliveries(new TestScheduler());
  let callers = 0;
  for (; !refuses(deliveries, `caller ${callers}`); callers++) {
    deliveries.deliver(`caller ${callers}`, new Uint8Array(20 * MEGABYTE));
    assert.ok(callers < 20);
  }
  assert.equal(refuses(deliveries, "somebody else"), true);
});

Deno.test("an answer ends once nothing of it is read for five minutes", async () => {
  const clock = new TestScheduler();
  const deliveries = new Deliveries(clock);
  const slow = streamOf(deliveries.deliver("one", new Uint8Array(20 * MEGABYTE))).getReader();
  const idle = streamOf(deliveries.deliver("one", new Uint8Array(5 * MEGABYTE)));
  assert.equal(refuses(deliveries, "one"), true);
  for (let reads = 0; reads < 3; reads++) {
    clock.advance(250_000);
    assert.equal((await slow.read()).done, false);
  }
  await assert.rejects(idle.getReader().read(), /did not read its answer in time/);
  assert.equal(refuses(deliveries, "one"), false);
});
