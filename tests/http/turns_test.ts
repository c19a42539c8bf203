import assert from "node:assert/strict";
import http2 from "node:http2";
import type { RequestConnection } from "../../http/mod.ts";
import { OPERATOR } from "../../services/people/identity/mod.ts";
import { until, within } from "../support/until.ts";
import { startHttpServer } from "./support.ts";

/** Most requests that are answered at a time on the connection of a stranger. */
const AT_ONCE = 32;

/** A server that answers nothing until it is told, and what it was asked. */
function startHoldingServer(isExempt = false, perAddress: number | null = null) {
  const asked: { readonly path: string; readonly connection: RequestConnection }[] = [];
  const hold = Promise.withResolvers<void>();
  const server = startHttpServer(
    async ({ url }, connection) => {
      asked.push({ path: new URL(url).pathname, connection });
      await hold.promise;
      return new Response("done");
    },
    { isExempt, perAddress },
  );
  return { server, asked, hold };
}

/** Sends requests on one connection, and resolves when the server has had all of them. */
async function sendTogether(port: number, count: number) {
  const client = http2.connect(`http://127.0.0.1:${port}`);
  const streams = Array.from({ length: count }, (_, at) => {
    const stream = client.request({ ":path": `/${at}` });
    stream.on("error", () => {});
    return stream;
  });
  // The server answers a ping after it has read what came before.
  await within(new Promise((resolve) => client.ping(resolve)), () => "a ping is answered");
  return { client, streams };
}

async function textOf(stream: AsyncIterable<unknown>): Promise<string> {
  let text = "";
  for await (const part of stream) text += part;
  return text;
}

Deno.test("requests of a stranger on one connection are answered a few at a time", async () => {
  const { server, asked, hold } = startHoldingServer();
  await using _server = server;
  const { client, streams } = await sendTogether(server.port, 100);
  try {
    await until(() => asked.length >= AT_ONCE);
    await within(new Promise((resolve) => client.ping(resolve)), () => "a ping is answered");
    assert.equal(asked.length, AT_ONCE);
    hold.resolve();
    const texts = await within(Promise.all(streams.map(textOf)), () => "all are answered");
    assert.deepEqual(texts, streams.map(() => "done"));
    assert.deepEqual(asked.map(({ path }) => path), streams.map((_, at) => `/${at}`));
  } finally {
    client.destroy();
  }
});

Deno.test("once a connection is kept, all of its requests are answered together", async () => {
  const { server, asked, hold } = startHoldingServer();
  await using _server = server;
  const { client } = await sendTogether(server.port, 100);
  try {
    await until(() => asked.length >= AT_ONCE);
    asked[0]?.connection.trust(OPERATOR);
    await until(() => asked.length === 100);
  } finally {
    client.destroy();
    hold.resolve();
  }
});

Deno.test("a proxy's requests are answered together, because they are of many clients", async () => {
  const { server, asked, hold } = startHoldingServer(true);
  await using _server = server;
  const { client } = await sendTogether(server.port, 100);
  try {
    await until(() => asked.length === 100);
  } finally {
    client.destroy();
    hold.resolve();
  }
});

Deno.test("a request whose connection ends before its turn is not answered", async () => {
  const { server, asked, hold } = startHoldingServer();
  await using _server = server;
  const { client } = await sendTogether(server.port, 100);
  await until(() => asked.length >= AT_ONCE);
  const before = server.connections();
  client.destroy();
  await until(() => server.connections() < before);
  hold.resolve();
  const response = await fetch(`http://127.0.0.1:${server.port}/next`);
  assert.equal(await response.text(), "done");
  assert.deepEqual(asked.slice(AT_ONCE).map(({ path }) => path), ["/next"]);
});

Deno.test("strangers at one address have a bounded number of requests, on all connections", async () => {
  const { server, asked, hold } = startHoldingServer(false, 10);
  await using _server = server;
  const first = await sendTogether(server.port, 20);
  const second = await sendTogether(server.port, 20);
  await until(() => asked.length === 40);
  const third = http2.connect(`http://127.0.0.1:${server.port}`);
  third.on("error", () => {});
  third.request({ ":path": "/one" }).on("error", () => {});
  await within(new Promise((resolve) => third.once("close", resolve)), () => "it is closed");
  assert.equal(server.closed().address, 1);

  // A connection that has shown a credential does not count, nor does one that has ended.
  asked[0]?.connection.trust(OPERATOR);
  second.client.destroy();
  await until(() => server.connections() === 1);
  const { client, streams } = await sendTogether(server.port, 40);
  hold.resolve();
  const texts = await within(Promise.all(streams.map(textOf)), () => "all are answered");
  assert.deepEqual(texts, streams.map(() => "done"));
  client.destroy();
  first.client.destroy();
});
