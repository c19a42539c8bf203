import assert from "node:assert/strict";
import { EventFrames, EventStreams, type StreamSink } from "../../routes/event_streams.ts";
import { type EndedListener, OPERATOR } from "../../services/identity/mod.ts";
import { TestMetrics } from "../support/metrics.ts";
import { TestScheduler } from "../support/scheduler.ts";

interface Item {
  readonly text: string;
}

/** Streams whose items a test sends. */
function newStreams() {
  const ended: EndedListener[] = [];
  const identity = {
    onEnded(listener: EndedListener) {
      ended.push(listener);
      return () => {};
    },
    notePresence() {},
  };
  const sinks: StreamSink<Item>[] = [];
  const cuts: number[] = [];
  const scheduler = new TestScheduler();
  const streams = new EventStreams({ max: 1000, identity, scheduler, metrics: new TestMetrics() });
  const frames = new EventFrames<Item>(({ text }) => `data: ${text}`);
  return {
    cuts,
    scheduler,
    async open() {
      const reader = (await streams.open<Item>(OPERATOR, {
        frames,
        follow(sink) {
          const number = sinks.push(sink) - 1;
          return { close() {}, cut: () => cuts.push(number) > 0 };
        },
      })).getReader();
      return reader;
    },
    /** Sends to every stream. */
    send(text: string) {
      const item = { text };
      for (const sink of sinks) sink.message(item);
    },
    /** Sends to the stream that was opened last. */
    sendToLast(text: string) {
      sinks.at(-1)?.message({ text });
    },
    finish() {
      for (const sink of sinks) sink.end();
    },
    endCredentials() {
      for (const listener of ended) {
        listener({ accountId: "", tokenId: null, covers: () => true });
      }
    },
  };
}

function turnOfEventLoop(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}

function textOf({ value }: { readonly value?: Uint8Array | undefined }): string {
  return new TextDecoder().decode(value);
}

Deno.test("events of one turn go to all waiting readers as the same chunk", async () => {
  const streams = newStreams();
  const readers = [await streams.open(), await streams.open()];
  const reads = readers.map((reader) => reader.read());
  for (const text of ["a", "b", "c"]) streams.send(text);
  const [first, second] = await Promise.all(reads);
  assert.equal(textOf(first ?? {}), "data: a\n\ndata: b\n\ndata: c\n\n");
  assert.equal(first?.value, second?.value);
  for (const reader of readers) await reader.cancel();
});

Deno.test("readers with different paces get everything once and in order", async () => {
  const streams = newStreams();
  const [quick, late] = [await streams.open(), await streams.open()];
  const seen = { quick: "", late: "" };
  const reading = quick.read();
  streams.send("1");
  streams.send("2");
  seen.quick += textOf(await reading);
  streams.send("3");
  for (const [name, reader] of [["quick", quick], ["late", late]] as const) {
    while (!seen[name].includes("3")) seen[name] += textOf(await reader.read());
    await reader.cancel();
  }
  assert.equal(seen.quick, "data: 1\n\ndata: 2\n\ndata: 3\n\n");
  assert.equal(seen.late, seen.quick);
});

Deno.test("a waiting reader gets the last messages before the end of its stream", async () => {
  for (const end of ["finish", "endCredentials"] as const) {
    const streams = newStreams();
    const reader = await streams.open();
    const reading = reader.read();
    streams.send("last words");
    streams[end]();
    assert.equal(textOf(await reading), "data: last words\n\n", end);
    assert.equal((await reader.read()).done, true, end);
  }
});

Deno.test("a waiting reader is not behind, however much comes in one turn", async () => {
  const streams = newStreams();
  const [waiting, away] = [await streams.open(), await streams.open()];
  const reading = waiting.read();
  for (let number = 0; number <= 1000; number++) streams.send(String(number));
  assert.deepEqual(streams.cuts, [1]);
  let text = textOf(await reading);
  while (!text.includes("data: 1000\n")) text += textOf(await waiting.read());
  assert.equal(text.match(/data: /g)?.length, 1001);
  assert.equal((await away.read()).done, true);
  await waiting.cancel();
});

Deno.test("readers beyond the number of one turn are all served", async () => {
  const streams = newStreams();
  const readers = [];
  for (let count = 0; count < 120; count++) readers.push(await streams.open());
  const reads = readers.map((reader) => reader.read());
  streams.send("to all");
  for (const read of reads) assert.equal(textOf(await read), "data: to all\n\n");
  for (const reader of readers) await reader.cancel();
});

Deno.test("while many readers wait for the next round, events are joined, and nothing waits forever", async () => {
  const streams = newStreams();
  const { scheduler } = streams;
  const readers: Awaited<ReturnType<typeof streams.open>>[] = [];
  for (let count = 0; count < 120; count++) readers.push(await streams.open());
  const all = () => Promise.all(readers.map(async (reader) => textOf(await reader.read())));
  const first = all();
  streams.send("1");
  // Let the round begin, and take 10 ms.
  await Promise.resolve();
  scheduler.advance(10);
  assert.deepEqual(new Set(await first), new Set(["data: 1\n\n"]));

  const second = all();
  let isThere = false;
  second.then(() => isThere = true);
  streams.send("2");
  await turnOfEventLoop();
  scheduler.advance(29);
  streams.send("3");
  await turnOfEventLoop();
  assert.equal(isThere, false);
  scheduler.advance(1);
  assert.deepEqual(new Set(await second), new Set(["data: 2\n\ndata: 3\n\n"]));
  for (const reader of readers) await reader.cancel();
  assert.equal(scheduler.pending, 0);
});

Deno.test("a few readers do not wait for a round of many others", async () => {
  const streams = newStreams();
  const many = [];
  for (let count = 0; count < 120; count++) many.push(await streams.open());
  const reads = many.map((reader) => reader.read());
  streams.send("to all");
  await Promise.resolve();
  streams.scheduler.advance(10);
  await Promise.all(reads);
  const again = many.map((reader) => reader.read());
  streams.send("again");
  const other = await streams.open();
  const alone = other.read();
  streams.sendToLast("to one");
  assert.equal(textOf(await alone), "data: to one\n\n");
  await other.cancel();
  streams.scheduler.advance(30);
  for (const read of again) assert.equal(textOf(await read), "data: again\n\n");
  for (const reader of many) await reader.cancel();
});
