import assert from "node:assert/strict";
import { BodyReader } from "../../http/mod.ts";
import { TooLarge } from "../../services/kernel/errors.ts";
import { until, within } from "../support/until.ts";
import { sendRaw, startHttpServer } from "./support.ts";
import { withNodes } from "./two_nodes.ts";
import { THOROUGH } from "../support/level.ts";

/** A server that refuses every request without a look at its body. */
function startRefusingServer() {
  return startHttpServer(() => new Response("refused", { status: 409 }));
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

Deno.test("a client that is still sending its body gets the refusal", async () => {
  await using server = startRefusingServer();
  using client = await Deno.connect(server);
  const send = async (text: string) => {
    const bytes = encoder.encode(text);
    for (let sent = 0; sent < bytes.length;) sent += await client.write(bytes.subarray(sent));
  };
  const receive = async (pattern: RegExp) => {
    const bytes = new Uint8Array(65_536);
    for (let text = ""; !pattern.test(text);) {
      const count = await within(client.read(bytes), () => `${pattern}`);
      assert.ok(count !== null, text);
      text += decoder.decode(bytes.subarray(0, count));
    }
  };
  const request = "PUT / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n";
  const part = `8000\r\n${"x".repeat(0x8000)}\r\n`;
  await send(request);
  for (let parts = 0; parts < 6; parts++) {
    await send(part);
    await new Promise((resolve) => setTimeout(resolve));
  }
  await send("0\r\n\r\n");
  await receive(/^HTTP\/1\.1 409 .*refused$/s);
  await send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  await receive(/^HTTP\/1\.1 409 /);
});

/** How much a client can send before a server closes its connection, at most: more is an error. */
const MOST = 64 * 1024 * 1024;

/** What the buffers of the kernels of client and server may hold, beside what the server reads. */
const BUFFERS = 16 * 1024 * 1024;

/** Sends a request whose body has no end. Returns how much of it was sent, and the answer. */
async function sendEndlessly(port: number, head: string) {
  using client = await Deno.connect({ port });
  const send = async (bytes: Uint8Array) => {
    for (let sent = 0; sent < bytes.length;) sent += await client.write(bytes.subarray(sent));
  };
  let answer = "";
  const reading = (async () => {
    const bytes = new Uint8Array(65_536);
    for (;;) {
      const count = await client.read(bytes).catch(() => null);
      if (count === null) return;
      answer += decoder.decode(bytes.subarray(0, count));
    }
  })();
  await send(encoder.encode(head));
  const text = "x".repeat(0x8000);
  const part = encoder.encode(head.includes("chunked") ? `8000\r\n${text}\r\n` : text);
  let sent = 0;
  try {
    for (; sent < MOST; sent += part.length) await send(part);
  } catch {
    // The server has closed the connection.
  }
  if (sent < MOST) await reading;
  return { sent, answer };
}

const FRAMINGS = ["Transfer-Encoding: chunked", `Content-Length: ${10 * MOST}`];

/** Requests whose body has no end, with the status of the answer. */
const ENDLESS = FRAMINGS.flatMap((framing) =>
  [
    [`PUT /unread HTTP/1.1\r\nHost: localhost\r\n${framing}\r\n\r\n`, 409],
    [`POST /limited HTTP/1.1\r\nHost: localhost\r\n${framing}\r\n\r\n`, 413],
    [`POST /abandoned HTTP/1.1\r\nHost: localhost\r\n${framing}\r\n\r\n`, 409],
    [`POST /cancelled HTTP/1.1\r\nHost: localhost\r\n${framing}\r\n\r\n`, 409],
    [`GET / HTTP/1.1\r\nHost: localhost\r\n${framing}\r\n\r\n`, 400],
    [`PUT ?x HTTP/1.1\r\nHost: localhost\r\n${framing}\r\n\r\n`, 400],
    [`PUT / HTTP/1.1\r\nHost: a/b\r\n${framing}\r\n\r\n`, 400],
  ] as const
);

Deno.test("a client without a credential cannot have an endless body read", THOROUGH, async () => {
  const bodies = new BodyReader({ maxBytes: 1024 * 1024, stallMilliseconds: 60_000 });
  await using server = startHttpServer(async (request) => {
    const { pathname } = new URL(request.url);
    if (pathname === "/abandoned") await request.body?.getReader().read();
    if (pathname === "/cancelled") await request.body?.cancel();
    if (pathname !== "/limited") return new Response("refused", { status: 409 });
    await assert.rejects(bodies.read(request), TooLarge);
    return new Response("too large", { status: 413 });
  });
  // The server waits for each to stop, all at a time.
  await Promise.all(ENDLESS.map(async ([head, status]) => {
    const { sent, answer } = await sendEndlessly(server.port, head);
    assert.ok(sent < BUFFERS, `${sent} bytes after ${head}`);
    assert.match(answer, new RegExp(`^HTTP/1\\.1 ${status} `), head);
  }));
});

Deno.test("a body of GET whose length is not declared is refused with an answer", async () => {
  await using server = startHttpServer(() => new Response("answered"));
  const ask = async (text: string) => await sendRaw(server, text);
  const head = "HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n";
  const chunked = `${head}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`;
  const error = '{"error":"GET takes no body of this length; leave it out"}';
  for (let count = 0; count < 20; count++) {
    const answer = await ask(`GET / ${chunked}`);
    assert.match(answer, /^HTTP\/1\.1 400 /);
    assert.ok(answer.endsWith(error), answer);
    assert.match(await ask(`HEAD / ${chunked}`), /^HTTP\/1\.1 400 /);
  }
  assert.match(await ask(`GET / ${head}Content-Length: 5\r\n\r\nhello`), /\r\n\r\nanswered$/);
});

Deno.test(
  "an endless body is not read either if another node answers the request",
  THOROUGH,
  () =>
    withNodes(
      () => new Response("refused", { status: 409 }),
      async ({ front, seen }) => {
        for (const framing of FRAMINGS) {
          const head = `POST /far HTTP/1.1\r\nHost: localhost\r\n${framing}\r\n\r\n`;
          const { sent, answer } = await sendEndlessly(front.port, head);
          assert.ok(sent < 2 * BUFFERS, `${sent} bytes after ${head}`);
          assert.match(answer, /^HTTP\/1\.1 409 /, head);
        }
        assert.equal(seen.far.length, FRAMINGS.length);
      },
    ),
);

Deno.test("a long body that is read to its end leaves the connection open", async () => {
  const lengths: number[] = [];
  await using server = startHttpServer(async (request) => {
    let length = 0;
    for await (const part of request.body ?? []) length += part.byteLength;
    lengths.push(length);
    return new Response("read");
  });
  using client = await Deno.connect(server);
  const send = async (text: string) => {
    const bytes = encoder.encode(text);
    for (let sent = 0; sent < bytes.length;) sent += await client.write(bytes.subarray(sent));
  };
  const text = "x".repeat(400_000);
  const head = "POST / HTTP/1.1\r\nHost: localhost\r\n";
  for (let count = 0; count < 3; count++) {
    await send(`${head}Content-Length: ${text.length}\r\n\r\n${text}`);
    await send(`${head}Transfer-Encoding: chunked\r\n\r\n61a80\r\n${text}\r\n0\r\n\r\n`);
  }
  await until(() => lengths.length === 6);
  assert.deepEqual(lengths, Array.from({ length: 6 }, () => text.length));
});
