import assert from "node:assert/strict";
import { LineWriter } from "../../cli/line_writer.ts";

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
  for (let count = 0; count < 10_101; count++) writer.write("x");
  stream.readOn();
  await writer.flush();
  assert.match(stream.text, /^(x\n){10000}\(101 lines of the log were dropped here\)\n$/);
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
