import assert from "node:assert/strict";
import { startHttpServer } from "./support.ts";

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
      const count = await client.read(bytes);
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

Deno.test("a client without a credential cannot have an endless body read", async () => {
  await using server = startRefusingServer();
  using client = await Deno.connect(server);
  await client.write(encoder.encode(
    "PUT / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n",
  ));
  const part = encoder.encode(`8000\r\n${"x".repeat(0x8000)}\r\n`);
  await assert.rejects(async () => {
    for (;;) await client.write(part);
  });
});
