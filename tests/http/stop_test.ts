import assert from "node:assert/strict";
import { RawConnection } from "../support/raw_connection.ts";
import { startHttpServer } from "./support.ts";

/** Sends a request, and resolves when the handler has it. */
async function begin(server: ReturnType<typeof startHttpServer>, begun: Promise<void>) {
  const connection = await RawConnection.open(`http://${server.hostname}:${server.port}`);
  await connection.send("GET / HTTP/1.1\r\nHost: muster.test\r\n\r\n");
  await begun;
  return connection;
}

Deno.test("a server that stops lets a running request finish, and closes its connection", async () => {
  const begun = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<Response>();
  await using server = startHttpServer(() => {
    begun.resolve();
    return answer.promise;
  });
  using connection = await begin(server, begun.promise);
  const stopped = server.stop();
  answer.resolve(new Response("done"));
  await stopped;
  assert.match(await connection.untilClosed(), /^HTTP\/1\.1 200 [^]*done$/);
});

Deno.test("a server that stops cuts off a request that does not finish", async () => {
  const begun = Promise.withResolvers<void>();
  await using server = startHttpServer(() => {
    begun.resolve();
    return new Promise<Response>(() => {});
  }, { graceMilliseconds: 50 });
  using connection = await begin(server, begun.promise);
  await server.stop();
  assert.equal(await connection.untilClosed(), "");
});
