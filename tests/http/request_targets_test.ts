import assert from "node:assert/strict";
import { sendRaw, startHttpServer } from "./support.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

Deno.test("each request's own Host and target are checked, whatever came before", async () => {
  await using server = startHttpServer(({ url }) => new Response(url));
  const valid = ["localhost", "127.0.0.1:80", "[::1]:8080", "localhost", "localhost:80"];
  const invalid = ["localhost/v1", "localhost?", "local host", "user@localhost", "localhost:80/"];
  const places = [...valid, ...invalid, ...valid];
  for (const host of places.flatMap((host) => [host, host])) {
    using client = await Deno.connect(server);
    await client.write(
      encoder.encode(`GET /path HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`),
    );
    const answer = await new Response(client.readable).text();
    if (valid.includes(host)) assert.ok(answer.endsWith(`\r\n\r\nhttp://${host}/path`), answer);
    else assert.match(answer, /^HTTP\/1\.1 400 /, host);
  }
  using client = await Deno.connect(server);
  await client.write(encoder.encode("GET http://a:b/ HTTP/1.1\r\nHost: localhost\r\n\r\n"));
  const bytes = new Uint8Array(4096);
  const answer = decoder.decode(bytes.subarray(0, await client.read(bytes) ?? 0));
  assert.match(answer, /^HTTP\/1\.1 400 /);
});

Deno.test("a request with any method, target and body reaches the handler as it came", async () => {
  await using server = startHttpServer(async (request) => {
    const { method, url } = request;
    return Response.json([method, url, await request.text()]);
  });
  const framing = "Transfer-Encoding: chunked\r\nConnection: close";
  for (const method of ["get", "Head", "TRACE", "TRACK", "post", "PUT", "QUERY"]) {
    const answer = await sendRaw(
      server,
      `${method} /a/../b HTTP/1.1\r\nHost: localhost\r\n${framing}\r\n\r\n2\r\nhi\r\n0\r\n\r\n`,
    );
    assert.ok(
      answer.endsWith(`\r\n\r\n["${method}","http://localhost/a/../b","hi"]`),
      `${method}: ${answer}`,
    );
  }
});
