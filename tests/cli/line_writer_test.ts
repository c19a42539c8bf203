import assert from "node:assert/strict";
import { LineWriter } from "../../cli/line_writer.ts";
import { TestScheduler } from "../support/scheduler.ts";

/** A stream whose reader takes what it is given only when it is let. */
class SlowStream {
  text = "";
  #taking = Promise.withResolvers<void>();

  async write(bytes: Uint8Array): Promise<number> {
    await this.#taking.promise;
    const taken = bytes.subarray(0, 7);
    this.text += new TextDecoder().decode(taken);
    return taken.length;
  }

  readOn(): void {
    this.#taking.resolve();
  }
}

Deno.test("LineWriter writes every line in order, whole, without making its caller wait", async () => {
  const stream = new SlowStream();
  const writer = new LineWriter(stream);
  const lines = Array.from({ length: 50 }, (_, index) => `line ${index}`);
  for (const line of lines) writer.write(line);
  assert.equal(stream.text, "");
  stream.readOn();
  await writer.flush();
  assert.equal(stream.text, lines.map((line) => `${line}\n`).join(""));
});

Deno.test("LineWriter drops and counts lines that do not fit while nobody reads", async () => {
  const stream = new SlowStream();
  const writer = new LineWriter(stream);
  // The stream has the first thousand at once, and ten thousand wait.
  for (let count = 0; count < 11_101; count++) writer.write("x");
  stream.readOn();
  await writer.flush();
  assert.match(stream.text, /^(x\n){11000}\(101 lines of the log were dropped here\)\n$/);
});

Deno.test("LineWriter outlives a reader that is gone", async () => {
  const writer = new LineWriter({ write: () => Promise.reject(new Deno.errors.BrokenPipe()) });
  writer.write("x");
  await writer.flush();
  writer.write("y");
  await writer.flush();
});

Deno.test("LineWriter writes lines that come together at once", async () => {
  const { promise, resolve } = Promise.withResolvers<string>();
  const writer = new LineWriter({
    write: (bytes) => {
      resolve(new TextDecoder().decode(bytes));
      return Promise.resolve(bytes.length);
    },
  });
  for (const line of ["one", "two", "three"]) writer.write(line);
  assert.equal(await promise, "one\ntwo\nthree\n");
  await writer.flush();
});

Deno.test("LineWriter does not gather more than a thousand lines", async () => {
  const writes: number[] = [];
  const stream = {
    write: (bytes: Uint8Array) => {
      writes.push(bytes.length);
      return Promise.resolve(bytes.length);
    },
  };
  const writer = new LineWriter(stream, new TestScheduler());
  for (let count = 0; count < 999; count++) writer.write("x");
  assert.deepEqual(writes, []);
  writer.write("x");
  assert.deepEqual(writes, [2000]);
  await writer.flush();
});

Deno.test("LineWriter makes lines when it writes them, in the order in which they came", async () => {
  const stream = new SlowStream();
  const writer = new LineWriter(stream);
  let made = 0;
  for (let line = 0; line < 9; line++) {
    writer.write(line % 2 === 0 ? `${line}` : () => `${line} ${made++}`);
  }
  assert.equal(made, 0);
  stream.readOn();
  await writer.flush();
  assert.equal(stream.text, "0\n1 0\n2\n3 1\n4\n5 2\n6\n7 3\n8\n");
});

Deno.test("LineWriter writes lines that come during a write after it, and flush waits for them", async () => {
  const stream = new SlowStream();
  const writer = new LineWriter(stream);
  writer.write("one");
  const flushed = writer.flush();
  writer.write("two");
  stream.readOn();
  await flushed;
  assert.equal(stream.text, "one\ntwo\n");
});

Deno.test("LineWriter gathers longer while lines keep coming, but never for an urgent line", async () => {
  const time = new TestScheduler();
  const writes: number[] = [];
  const stream = {
    write: (bytes: Uint8Array) => {
      writes.push(time.now());
      return Promise.resolve(bytes.length);
    },
  };
  const writer = new LineWriter(stream, time);
  const startedAt = time.now();
  const write = async (isUrgent = false) => {
    writer.write("x", isUrgent);
    time.advance(10);
    await new Promise((resolve) => setTimeout(resolve));
  };
  for (let line = 0; line < 400; line++) await write();
  const pauses = writes.slice(1).map((at, index) => at - (writes[index] ?? 0));
  assert.equal(writes[0], startedAt + 20);
  assert.ok((pauses[0] ?? 0) <= 40, `${pauses}`);
  assert.equal(Math.max(...pauses), 1000);
  const count = writes.length;
  await write();
  await write(true);
  await write();
  assert.equal(writes.length, count + 1, "the urgent line waits for 20 ms");
  time.advance(2000);
  await writer.flush();
  writer.write("x");
  time.advance(20);
  assert.ok(time.now() - (writes.at(-1) ?? 0) < 20, "a line after a quiet time");
});
