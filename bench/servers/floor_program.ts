/**
 * The least that a server on this runtime can do. One port answers HTTP: GET of `/stream` with a
 * stream of events, any other GET with the same JSON, and POST with 204, after it has passed the text
 * on to the streams. The other one passes lines on to the connections that ask for a stream there,
 * as any client of HTTP does. Writes both ports to standard output.
 */
const encoder = new TextEncoder();

const BODY = encoder.encode(JSON.stringify({
  status: "ok",
  uptime: "1m0s",
  agents: 0,
  started: "2026-01-01T00:00:00.000Z",
}));

const HEADERS = { "content-type": "application/json" };

const STREAM_HEAD = encoder.encode("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n");

/** The first letter of `GET`; no line of the senders begins with it. */
const G = 0x47;

const streams = new Set<ReadableStreamDefaultController<Uint8Array>>();

function openStream(): Response {
  let own: ReadableStreamDefaultController<Uint8Array>;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      own = controller;
      streams.add(controller);
    },
    cancel: () => void streams.delete(own),
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
  if (request.method === "GET") {
    return request.url.endsWith("/stream")
      ? openStream()
      : new Response(BODY, { headers: HEADERS });
  }
  const { text } = await request.json();
  const event = encoder.encode(`data: ${text}\n\n`);
  for (const controller of streams) controller.enqueue(event);
  return new Response(null, { status: 204 });
});

const readers = new Set<Deno.TcpConn>();

async function relay(conn: Deno.TcpConn): Promise<void> {
  conn.setNoDelay(true);
  const buffer = new Uint8Array(2048);
  for (let count = await conn.read(buffer); count !== null; count = await conn.read(buffer)) {
    if (buffer[0] === G) {
      readers.add(conn);
      await conn.write(STREAM_HEAD);
    } else {
      const lines = buffer.slice(0, count);
      for (const reader of readers) await reader.write(lines);
    }
  }
  readers.delete(conn);
}

const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
Deno.stdout.writeSync(encoder.encode(`${server.addr.port} ${listener.addr.port}`));
for await (const conn of listener) relay(conn).catch(() => {});
