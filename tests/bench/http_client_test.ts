import assert from "node:assert/strict";
import { HttpClient } from "../../bench/client/mod.ts";

const LONG = "0123456789".repeat(20_000);

/** Answers `/text`, `/pieces` (chunked) and `/empty` as the path says, and echoes a POST. */
async function handle(request: Request): Promise<Response> {
  const { pathname } = new URL(request.url);
  if (request.method === "POST") {
    return new Response(`${request.headers.get("authorization")} ${await request.text()}`);
  }
  if (pathname === "/text") return new Response(LONG);
  if (pathname === "/pieces") return new Response(ReadableStream.from(pieces()));
  return new Response(null, { status: 204 });
}

function* pieces(): Generator<Uint8Array> {
  for (const text of ["one\n", LONG, "\r\n0\r\n\r\n", "end"]) yield new TextEncoder().encode(text);
}

Deno.test("one connection reads answers of every framing, one after the other", async () => {
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, handle);
  const { hostname, port } = server.addr;
  using client = await HttpClient.open({ hostname, port });
  const get = (path: string) => client.ask(HttpClient.format({ method: "GET", path }), true);
  for (let round = 0; round < 3; round++) {
    assert.deepEqual(await get("/text"), { status: 200, text: LONG });
    assert.deepEqual(await get("/empty"), { status: 204, text: "" });
    assert.deepEqual(await get("/pieces"), {
      status: 200,
      text: [...pieces()].map(decode).join(""),
    });
  }
  const post = HttpClient.format({ method: "POST", path: "/", token: "t", body: { text: "ä" } });
  assert.deepEqual(await client.ask(post, true), { status: 200, text: 'Bearer t {"text":"ä"}' });
  assert.deepEqual(await client.ask(post), { status: 200, text: "" });
});

Deno.test("a request fails if the server closes the connection", async () => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { hostname, port } = listener.addr;
  using client = await HttpClient.open({ hostname, port });
  const answer = client.ask(HttpClient.format({ method: "GET", path: "/" }));
  await assert.rejects(client.ask(""), /has a request already/);
  (await listener.accept()).close();
  await assert.rejects(answer, /ended before the answer/);
  await assert.rejects(client.ask(""), /closed/);
});

function decode(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
