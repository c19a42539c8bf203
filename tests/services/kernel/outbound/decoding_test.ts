import assert from "node:assert/strict";
import {
  type BodyLength,
  decoderOf,
  MalformedAnswer,
  readAnswerHead,
} from "../../../../services/kernel/outbound/answer.ts";

const encoder = new TextEncoder();

/** A number from 0 below a bound. */
function below(bound: number): number {
  const [number = 0] = crypto.getRandomValues(new Uint32Array(1));
  return number % bound;
}

function randomBytes(length: number): Uint8Array<ArrayBuffer> {
  return crypto.getRandomValues(new Uint8Array(length));
}

function join(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  return new Uint8Array(parts.flatMap((part) => [...part]));
}

/** Cuts bytes into pieces at random places. */
function cut(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer>[] {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  for (let at = 0; at < bytes.length;) {
    const length = 1 + below(Math.min(40, bytes.length - at));
    pieces.push(bytes.slice(at, at + length));
    at += length;
  }
  return pieces;
}

/** A body in chunks of random sizes, with extensions and trailers. */
function chunked(body: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const parts: Uint8Array[] = [];
  for (const chunk of cut(body)) {
    const size = below(2) === 0 ? chunk.length.toString(16) : `0${chunk.length.toString(16)}`;
    const extension = below(4) === 0 ? ";name=value" : "";
    parts.push(encoder.encode(`${size.toUpperCase()}${extension}\r\n`), chunk);
    parts.push(encoder.encode("\r\n"));
  }
  parts.push(encoder.encode(below(3) === 0 ? "0\r\nX-Trailer: 1\r\n\r\n" : "0\r\n\r\n"));
  return join(parts);
}

/** What a decoder makes of pieces. */
function decode(length: BodyLength, pieces: readonly Uint8Array<ArrayBuffer>[]) {
  const decoder = decoderOf(length);
  const parts = pieces.flatMap((piece) => decoder.decode(piece));
  return { body: join(parts), isDone: decoder.isDone };
}

function head(text: string) {
  return readAnswerHead(encoder.encode(text));
}

Deno.test("a body is what was sent, however it is cut", () => {
  for (let round = 0; round < 300; round++) {
    const body = randomBytes(below(400));
    const inChunks = cut(chunked(body));
    assert.deepEqual(decode({ kind: "chunked" }, inChunks), { body, isDone: true });
    const counted = decode({ kind: "bytes", bytes: body.length }, cut(body));
    assert.deepEqual(counted, { body, isDone: true });
    assert.deepEqual(decode({ kind: "rest" }, cut(body)), { body, isDone: false });
  }
});

Deno.test("a body that is cut off has not ended", () => {
  for (let round = 0; round < 100; round++) {
    const whole = chunked(randomBytes(1 + below(100)));
    const decoder = decoderOf({ kind: "chunked" });
    decoder.decode(whole.slice(0, below(whole.length)));
    assert.equal(decoder.isDone, false);
    assert.throws(() => decoder.end(), MalformedAnswer);
  }
  const counted = decoderOf({ kind: "bytes", bytes: 2 });
  counted.decode(randomBytes(1));
  assert.throws(() => counted.end(), MalformedAnswer);
  const rest = decoderOf({ kind: "rest" });
  rest.end();
  assert.ok(rest.isDone);
});

Deno.test("a body with a framing of its own is refused", () => {
  const malformed = [
    ...["x\r\n", "\r\n", "-1\r\n", "1\n", "1\r\nab\r\n", "1\r\na\n", "0x1\r\n", "1 1\r\n"],
    ...["0\r\n\r\nmore", "fffffffffffff\r\n", "9".repeat(10_000)],
  ];
  for (const text of malformed) {
    const bytes = encoder.encode(text);
    assert.throws(() => decode({ kind: "chunked" }, [bytes]), MalformedAnswer, text);
  }
  assert.throws(() => decode({ kind: "bytes", bytes: 1 }, [randomBytes(2)]), MalformedAnswer);
});

Deno.test("garbage is refused or not done, and nothing else", () => {
  for (let round = 0; round < 500; round++) {
    const bytes = randomBytes(below(200));
    try {
      const read = readAnswerHead(bytes);
      assert.equal(read, null);
      decode({ kind: "chunked" }, cut(bytes));
    } catch (error) {
      assert.ok(error instanceof MalformedAnswer);
    }
  }
});

Deno.test("the head of an answer says what follows", () => {
  assert.equal(head("HTTP/1.1 200 OK\r\nx: 1\r\n"), null);
  const read = head("HTTP/1.1 200 OK\r\nSet-Cookie: a\r\nSet-Cookie:b  \r\nETag: \xe9\r\n\r\nrest");
  assert.deepEqual(read?.headers.slice(0, 2), [["set-cookie", "a"], ["set-cookie", "b"]]);
  const lengths: [string, BodyLength["kind"]][] = [
    ["HTTP/1.1 200 OK\r\ncontent-length: 5", "bytes"],
    ["HTTP/1.1 200 OK\r\ncontent-length: 5\r\nContent-Length: 5", "bytes"],
    ["HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked", "chunked"],
    ["HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\nconnection: te, Close", "chunked"],
    ["HTTP/1.1 204 No Content", "none"],
    ["HTTP/1.1 304", "none"],
    ["HTTP/1.1 200 ", "rest"],
    ["HTTP/1.0 200 OK\r\ncontent-length: 5", "bytes"],
  ];
  for (const [text, kind] of lengths) {
    const found = head(`${text}\r\n\r\n`);
    assert.equal(found?.body.kind, kind, text);
    assert.equal(found?.length, text.length + 4);
  }
});

Deno.test("a head that two programs may read differently is refused", () => {
  const malformed = [
    ...["HTTP/2 200 OK", "HTTP/1.1 20 OK", "ICY 200 OK", "HTTP/1.1 200 OK\r\nno header"],
    ...["HTTP/1.1 200 OK\r\ncontent-length : 1", "HTTP/1.1 200 OK\r\n folded: 1"],
    ...["HTTP/1.1 200 OK\r\n: value", "HTTP/1.1 200 OK\r\ncontent-length: -1"],
    ...["HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2"],
    ...["HTTP/1.1 200 OK\r\ncontent-length: 1, 1", "HTTP/1.1 200 OK\r\ncontent-length: 0x1"],
    ...["HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked"],
    ...["HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked"],
  ];
  for (const text of malformed) {
    assert.throws(() => head(`${text}\r\n\r\n`), MalformedAnswer, text);
  }
  assert.throws(() => head("x".repeat(300_000)), MalformedAnswer);
});

Deno.test("a status is a number from 100 to 599", () => {
  for (const status of ["000", "099", "600", "999"]) {
    assert.throws(() => head(`HTTP/1.1 ${status} X\r\n\r\n`), MalformedAnswer);
  }
  assert.equal(head("HTTP/1.1 599 X\r\n\r\n")?.status, 599);
});
