import assert from "node:assert/strict";
import { MalformedAnswer } from "../../../../services/nodes/connections/answer_head.ts";
import { Connection } from "../../../../services/nodes/connections/connection.ts";
import { until } from "../../../support/until.ts";

const encoder = new TextEncoder();

/** A connection whose other end has sent parts, each of which one read takes. */
class SentConn implements Deno.Conn {
  readonly localAddr: Deno.Addr = { transport: "tcp", hostname: "127.0.0.1", port: 1 };
  readonly remoteAddr: Deno.Addr = { transport: "tcp", hostname: "127.0.0.1", port: 2 };
  readonly readable = new ReadableStream<Uint8Array<ArrayBuffer>>();
  readonly writable = new WritableStream<Uint8Array<ArrayBufferLike>>();
  /** How many parts have been read. */
  reads = 0;
  readonly #parts: readonly Uint8Array[];
  readonly #closed = Promise.withResolvers<null>();

  constructor(parts: readonly string[]) {
    this.#parts = parts.map((part) => encoder.encode(part));
  }

  read(buffer: Uint8Array): Promise<number | null> {
    const part = this.#parts[this.reads];
    if (part === undefined) return this.#closed.promise;
    this.reads++;
    buffer.set(part);
    return Promise.resolve(part.length);
  }

  write(bytes: Uint8Array): Promise<number> {
    return Promise.resolve(bytes.length);
  }

  close(): void {
    this.#closed.resolve(null);
  }

  closeWrite(): Promise<void> {
    return Promise.resolve();
  }

  ref(): void {}

  unref(): void {}

  [Symbol.dispose](): void {
    this.close();
  }
}

Deno.test("a long answer is read no faster than its reader takes it", async () => {
  const chunks = Array.from({ length: 100 }, (_, index) => `5\r\n${10_000 + index}\r\n`);
  const head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
  const conn = new SentConn([head, ...chunks, "0\r\n\r\n"]);
  let isIdle = false;
  const connection = new Connection({ conn, onIdle: () => isIdle = true, onClosed() {} });
  const { body } = await connection.exchange("GET", encoder.encode("GET / HTTP/1.1\r\n\r\n"));
  assert.ok(body instanceof ReadableStream);
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (let taken = 1; taken <= 100; taken++) {
    const { value, done } = await reader.read();
    assert.equal(done, false);
    text += value;
    // A reader that ran ahead would read all parts in this turn: the test's connection has them.
    await new Promise((resolve) => setTimeout(resolve));
    assert.ok(conn.reads <= taken + 3, `${conn.reads} parts were read for ${taken}`);
  }
  assert.equal((await reader.read()).done, true);
  assert.equal(text, chunks.map((chunk) => chunk.slice(3, 8)).join(""));
  await until(() => isIdle);
  connection.close();
});

Deno.test("a node may send a few interim answers, and not ever more of them", async () => {
  const interim = "HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n";
  const answer = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
  const ask = (parts: readonly string[]) =>
    new Connection({ conn: new SentConn(parts), onIdle() {}, onClosed() {} })
      .exchange("GET", encoder.encode("GET / HTTP/1.1\r\n\r\n"));
  assert.equal((await ask([interim.repeat(10), answer])).status, 200);
  await assert.rejects(ask(Array.from({ length: 100 }, () => interim)), MalformedAnswer);
});
