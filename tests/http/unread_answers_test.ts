import assert from "node:assert/strict";
import { PacedBody } from "../../http/connection.ts";
import { RawConnection } from "../support/raw_connection.ts";
import { until } from "../support/until.ts";
import { startHttpServer } from "./support.ts";

/** More than the buffers between a server and a client hold. */
const LARGE = 32 * 1024 * 1024;

const REQUEST = "GET / HTTP/1.1\r\nHost: muster.test\r\n\r\n";

type Server = ReturnType<typeof startHttpServer>;

/** Sends a request, and reads nothing of the answer until it is told to. */
async function ask(server: Server): Promise<RawConnection> {
  const connection = await RawConnection.open(`http://${server.hostname}:${server.port}`);
  await connection.send(REQUEST);
  return connection;
}

function zeros(bytes: number): ReadableStream<Uint8Array<ArrayBuffer>> {
  let left = bytes;
  return new ReadableStream({
    pull(controller) {
      const part = new Uint8Array(Math.min(left, 100_000));
      left -= part.length;
      controller.enqueue(part);
      if (left === 0) controller.close();
    },
  }, { highWaterMark: 0 });
}

Deno.test("an answer of which the client takes nothing is cut", async () => {
  const { promise: cancelled, resolve: onCancelled } = Promise.withResolvers<void>();
  const endless = new ReadableStream({
    pull: (controller) => controller.enqueue(new Uint8Array(100_000)),
    cancel: () => onCancelled(),
  });
  await using server = startHttpServer(() => new Response(endless), { answerMilliseconds: 40 });
  using _client = await ask(server);
  await cancelled;
  await until(() => server.connections() === 0);
  assert.equal(server.closed().unread, 1);
});

Deno.test("a client waits as long as it must for an answer that is not there yet", async () => {
  const source = Promise.withResolvers<void>();
  const begun = new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      await source.promise;
      controller.enqueue(new TextEncoder().encode("at last"));
      controller.close();
    },
  });
  let count = 0;
  const answers = [begun, zeros(LARGE)];
  await using server = startHttpServer(
    () => new Response(answers[count++]),
    { answerMilliseconds: 40 },
  );
  using waiting = await ask(server);
  await until(() => count === 1);
  using _stalled = await ask(server);
  await until(() => server.closed().unread === 1);
  source.resolve();
  assert.match(await waiting.until(/at last/), /^HTTP\/1\.1 200/);
});

Deno.test("the end of a long answer may be read later than the next request is due", async () => {
  const body = new Uint8Array(LARGE).fill(65);
  await using server = startHttpServer(
    (request) =>
      request.headers.has("short")
        ? new Response("short")
        : new Response(body, { headers: { "Content-Length": String(LARGE), Connection: "close" } }),
    {
      idleMilliseconds: 40,
    },
  );
  const client = await fetch(`http://${server.hostname}:${server.port}`);
  assert.equal(client.headers.get("content-length"), String(LARGE));
  await (await fetch(`http://${server.hostname}:${server.port}`, { headers: { short: "" } }))
    .text();
  await until(() => server.closed().idle === 1);
  assert.equal((await client.bytes()).length, LARGE);
});

Deno.test("a body goes to the runtime in parts, and tells how long one has been there", async () => {
  const clock = { now: 1 };
  const paced = new PacedBody(new Response(new Uint8Array(150_000)).body!, clock);
  const reader = paced.stream.getReader();
  const sizes: number[] = [];
  for (clock.now = 2; clock.now < 5; clock.now++) {
    sizes.push((await reader.read()).value?.length ?? 0);
    assert.equal(paced.heldSince, clock.now);
  }
  assert.deepEqual(sizes, [65_536, 65_536, 18_928]);
  assert.equal((await reader.read()).done, true);
  // Until the runtime reports that it has passed on the last part.
  assert.equal(paced.heldSince, 5);
});

Deno.test("a long answer arrives whole, from chunks that share a buffer or have their own", async () => {
  const whole = new Uint8Array(LARGE).map((_, index) => index % 251);
  const chunkLength = 100_000;
  await using server = startHttpServer((request) => {
    let at = 0;
    const isShared = request.headers.has("shared");
    const body = new ReadableStream({
      pull(controller) {
        const end = Math.min(at + chunkLength, LARGE);
        controller.enqueue(isShared ? whole.subarray(at, end) : whole.slice(at, end));
        at = end;
        if (at === LARGE) controller.close();
      },
    });
    return new Response(body, { headers: { "Content-Length": String(LARGE) } });
  });
  for (const headers of [{ shared: "" }, {}, { shared: "" }]) {
    const answer = await fetch(`http://${server.hostname}:${server.port}`, { headers });
    assert.deepEqual(await answer.bytes(), whole);
  }
});
