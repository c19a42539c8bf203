import assert from "node:assert/strict";
import { TestClient } from "./support/client.ts";
import { startServer, type TestServer } from "./support/server.ts";

const SUPPORT = new URL("support/", import.meta.url);

Deno.test("sts sends plain clients to TLS, and tells TLS clients how long to stay with it", async () => {
  await using server = startServer({ sts: { durationSeconds: 3600, port: null } });
  const early = await server.dial();
  assert.deepEqual(await told(early), []);
  const { port, client } = await overTls(server);
  assert.deepEqual(await told(early), [`sts=port=${port}`]);
  assert.deepEqual(await told(client), ["sts=duration=3600"]);
  await client.close();

  early.send("CAP REQ :sts", "CAP REQ :multi-prefix sts", "CAP LIST");
  assert.deepEqual(await early.sync(), [
    "CAP * NAK sts",
    "CAP * NAK multi-prefix sts",
    "CAP * LIST cap-notify",
  ]);
  const inside = await server.internal("inside");
  assert.deepEqual(await told(inside), []);
});

Deno.test("sts names the port that clients see from outside", async () => {
  await using server = startServer({ sts: { durationSeconds: 0, port: 6697 } });
  assert.deepEqual(await told(await server.dial()), ["sts=port=6697"]);
  const old = await server.dial();
  old.send("CAP LS");
  const [list] = await old.sync();
  assert.doesNotMatch(list ?? "", /\bsts\b/);
});

Deno.test("sts is offered only if it is configured", async () => {
  await using server = startServer();
  const { client } = await overTls(server);
  assert.deepEqual(await told(client), []);
  assert.deepEqual(await told(await server.dial()), []);
  await client.close();
});

async function told(client: TestClient): Promise<string[]> {
  return (await client.offered()).filter((name) => name.startsWith("sts"));
}

async function overTls({ server }: TestServer): Promise<{ port: number; client: TestClient }> {
  const [cert, key] = await Promise.all([
    Deno.readTextFile(new URL("localhost.crt", SUPPORT)),
    Deno.readTextFile(new URL("localhost.key", SUPPORT)),
  ]);
  const { port } = server.listen({ hostname: "127.0.0.1", port: 0, tls: { cert, key } });
  const conn = await Deno.connectTls({ hostname: "localhost", port, caCerts: [cert] });
  return { port, client: TestClient.overConnection(conn) };
}
