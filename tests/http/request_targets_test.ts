import assert from "node:assert/strict";
import { startHttpServer } from "./support.ts";

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
