/** Answers every request with the same JSON, and writes its port to standard output. */
const BODY = new TextEncoder().encode(JSON.stringify({
  status: "ok",
  uptime: "1m0s",
  agents: 0,
  started: "2026-01-01T00:00:00.000Z",
}));

const HEADERS = { "content-type": "application/json" };

Deno.serve({
  hostname: "127.0.0.1",
  port: 0,
  onListen: ({ port }) => Deno.stdout.writeSync(new TextEncoder().encode(String(port))),
}, () => new Response(BODY, { headers: HEADERS }));
