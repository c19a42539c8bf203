import assert from "node:assert/strict";
import fc from "fast-check";
import {
  EventFrames,
  EventStreams,
  jsonLine,
  jsonLineText,
  type StreamSink,
} from "../../routes/event_streams.ts";
import { type EndedListener, OPERATOR } from "../../services/people/identity/mod.ts";
import { TestMetrics } from "../support/metrics.ts";
import { TestScheduler } from "../support/scheduler.ts";

interface Item {
  readonly text: string;
}

/** How a source passes its items on: to each stream, or once to all streams. */
const WAYS = ["to each", "to all"] as const;

type Way = typeof WAYS[number];

/** Tests both ways, which cannot be told apart from outside. */
function testBoth(name: string, test: (way: Way) => Promise<void>): void {
  for (const way of WAYS) Deno.test(`${name}, ${way}`, () => test(way));
}

/** Streams whose items a test sends. */
function newStreams(way: Way) {
  const ended: EndedListener[] = [];
  const identity = {
    onEnded(listener: EndedListener) {
      ended.push(listener);
      return () => {};
    },
    notePresence() {},
  };
  const sinks: StreamSink<Item>[] = [];
  const groups = new Set<Pick<StreamSink<Item>, "message">>();
  const source = {};
  const cuts: number[] = [];
  const scheduler = new TestScheduler();
  let leave = () => {};
  const draining = { onLeave: (listener: () => void) => void (leave = listener) };
  const streams = new EventStreams({
    max: 1000,
    identity,
    scheduler,
    metrics: new TestMetrics(),
    draining,
  });
  const frames = new EventFrames<Item>(({ text }) => `data: ${text}`);
  return {
    cuts,
    scheduler,
    leave: () => leave(),
    async open() {
      const reader = (await streams.open<Item>({ principal: OPERATOR, address: null }, {
        frames,
        follow(sink) {
          const number = sinks.push(sink) - 1;
          groups.add(way === "to each" ? sink : sink.join(source));
          return { close() {}, cut: () => cuts.push(number) > 0 };
        },
      })).getReader();
      return reader;
    },
    /** Sends to every stream. */
    send(text: string) {
      const item = { text };
      for (const group of groups) group.message(item);
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
        listener({ accountId: "", tokenId: null, isEverything: false, covers: () => true });
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

testBoth("events of one turn go to all waiting readers as the same chunk", async (way) => {
  const streams = newStreams(way);
  const readers = [await streams.open(), await streams.open()];
  const reads = readers.map((reader) => reader.read());
  for (const text of ["a", "b", "c"]) streams.send(text);
  const [first, second] = await Promise.all(reads);
  assert.equal(textOf(first ?? {}), "data: a\n\ndata: b\n\ndata: c\n\n");
  assert.equal(first?.value, second?.value);
  for (const reader of readers) await reader.cancel();
});

testBoth("readers with different paces get everything once and in order", async (way) => {
  const streams = newStreams(way);
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

testBoth("a waiting reader gets the last messages before the end of its stream", async (way) => {
  for (const end of ["finish", "endCredentials"] as const) {
    const streams = newStreams(way);
    const reader = await streams.open();
    const reading = reader.read();
    streams.send("last words");
    streams[end]();
    assert.equal(textOf(await reading), "data: last words\n\n", end);
    assert.equal((await reader.read()).done, true, end);
  }
});

testBoth("a waiting reader is not behind, however much comes in one turn", async (way) => {
  const streams = newStreams(way);
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

testBoth("readers beyond the number of one turn are all served", async (way) => {
  const streams = newStreams(way);
  const readers = [];
  for (let count = 0; count < 120; count++) readers.push(await streams.open());
  const reads = readers.map((reader) => reader.read());
  streams.send("to all");
  for (const read of reads) assert.equal(textOf(await read), "data: to all\n\n");
  for (const reader of readers) await reader.cancel();
});

testBoth(
  "while many readers wait for the next round, events are joined, and nothing waits forever",
  async (way) => {
    const streams = newStreams(way);
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
  },
);

testBoth("the pause is longer after a round with many events, and ends", async (way) => {
  const streams = newStreams(way);
  const readers: Awaited<ReturnType<typeof streams.open>>[] = [];
  for (let count = 0; count < 120; count++) readers.push(await streams.open());
  const readAll = () => Promise.all(readers.map((reader) => reader.read()));
  const many = readAll();
  for (const text of ["1", "2", "3", "4"]) streams.send(text);
  await Promise.resolve();
  streams.scheduler.advance(10);
  await many;

  const next = readAll();
  let isThere = false;
  next.then(() => isThere = true);
  streams.send("5");
  await turnOfEventLoop();
  streams.scheduler.advance(59);
  await turnOfEventLoop();
  assert.equal(isThere, false);
  streams.scheduler.advance(1);
  for (const read of await next) assert.equal(textOf(read), "data: 5\n\n");
  for (const reader of readers) await reader.cancel();
});

testBoth("a few readers do not wait for a round of many others", async (way) => {
  const streams = newStreams(way);
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

const steps = fc.array(
  fc.oneof(
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("open" as const) }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant("send" as const), size: fc.nat(2) }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant("read" as const), which: fc.nat() }) },
  ),
  { maxLength: 40 },
);

/** Lengths of texts; two of the longest do not fit into a chunk. */
const LENGTHS = [1, 1000, 50_000];

testBoth("readers that come and read at any time get everything since then", async (way) => {
  await fc.assert(
    fc.asyncProperty(steps, async (todo) => {
      const streams = newStreams(way);
      const readers: { read(): Promise<string>; cancel(): Promise<void>; due: string }[] = [];
      let count = 0;
      const send = (size: number) => {
        const text = `${count++}`.padEnd(LENGTHS[size] ?? 1, "x");
        for (const reader of readers) reader.due += `data: ${text}\n\n`;
        streams.send(text);
      };
      for (const step of todo) {
        const reader = step.kind === "read" ? readers[step.which % readers.length] : undefined;
        if (step.kind === "open") {
          const opened = await streams.open();
          readers.push({
            read: async () => textOf(await opened.read()),
            cancel: () => opened.cancel(),
            due: "",
          });
        } else if (step.kind === "send") send(step.size);
        else if (reader !== undefined && reader.due !== "") {
          const text = await reader.read();
          assert.equal(reader.due.slice(0, text.length), text);
          reader.due = reader.due.slice(text.length);
        }
      }
      for (const reader of readers) {
        let text = "";
        while (text.length < reader.due.length) text += await reader.read();
        assert.equal(text, reader.due);
        await reader.cancel();
      }
    }),
    { numRuns: 50 },
  );
});

testBoth(
  "readers of a drained node leave a few at a time, with all that came before",
  async (way) => {
    const streams = newStreams(way);
    const readers = [];
    for (let reader = 0; reader < 120; reader++) readers.push(await streams.open());
    streams.send("last");
    streams.leave();
    const ended = new Set<number>();
    const texts = readers.map(async (reader, index) => {
      const text = textOf(await reader.read());
      assert.ok((await reader.read()).done);
      ended.add(index);
      return text;
    });
    await turnOfEventLoop();
    assert.equal(ended.size, 50);
    streams.scheduler.advance(500);
    await turnOfEventLoop();
    assert.equal(ended.size, 100);
    const late = await streams.open();
    streams.scheduler.advance(500);
    assert.deepEqual(new Set(await Promise.all(texts)), new Set(["data: last\n\n"]));
    streams.send("more");
    assert.match(textOf(await late.read()), /more/, "who comes later stays");
    await late.cancel();
  },
);

Deno.test("jsonLineText() writes what jsonLine() writes", () => {
  const texts = [
    "",
    "plain ~ text",
    'a "word"',
    "back\\slash",
    "\x7f",
    "\x85",
    "\u2028é",
    "\ud800",
  ];
  for (const text of texts) assert.equal(jsonLineText(text), jsonLine(text));
});
