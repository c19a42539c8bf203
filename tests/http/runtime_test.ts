import assert from "node:assert/strict";
import { chooseServeConnection, cutSignal, serveBehind } from "../../http/runtime.ts";
import { ownServer, startHttpServer } from "./support.ts";

/** The errors that nobody caught while something ran. */
async function uncaught(run: () => Promise<void> | void): Promise<unknown[]> {
  const errors: unknown[] = [];
  const take = (event: ErrorEvent) => {
    event.preventDefault();
    errors.push(event.error);
  };
  globalThis.addEventListener("error", take);
  try {
    await run();
  } finally {
    globalThis.removeEventListener("error", take);
  }
  return errors;
}

Deno.test("a connection is cut without an error while the runtime is closing it", async () => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  using client = await Deno.connect({ hostname: "127.0.0.1", port });
  const { promise: answer, resolve: send } = Promise.withResolvers<Response>();
  const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
  const cut = new AbortController();
  const served = ownServer()(
    await listener.accept(),
    cutSignal(cut.signal),
    () => {
      ask();
      return answer;
    },
    () => new Response(),
    () => {},
  );
  await client.write(new TextEncoder().encode("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
  await asked;
  const errors = await uncaught(async () => {
    const closed = served.shutdown();
    cut.abort();
    send(new Response("done"));
    await closed;
    await served.finished;
  });
  assert.deepEqual(errors, []);
});

Deno.test("any other error of the runtime's listener is not hidden", async () => {
  const bug = new Error("A bug");
  const cut = new AbortController();
  const errors = await uncaught(() => {
    cutSignal(cut.signal).addEventListener("abort", () => {
      throw bug;
    }, { once: true });
    cut.abort();
  });
  assert.deepEqual(errors, [bug]);
});

for (const [name, serve] of Object.entries({ own: ownServer(), behind: serveBehind })) {
  Deno.test(`a server answers, takes bodies and is cut off (${name})`, async () => {
    const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
    const { promise: never } = Promise.withResolvers<Response>();
    await using server = startHttpServer(async (request, { address }) => {
      if (request.method === "GET") {
        ask();
        return never;
      }
      const text = await request.text();
      return Response.json({ address, text, url: new URL(request.url).pathname });
    }, { serve, graceMilliseconds: 0 });
    const url = `http://${server.hostname}:${server.port}`;
    const body = "x".repeat(300_000);
    for (const path of ["/a", "/b"]) {
      const response = await fetch(url + path, { method: "POST", body });
      const answer = { address: "127.0.0.1", text: body, url: path };
      assert.deepEqual(await response.json(), answer);
    }
    const waiting = fetch(`${url}/waits`);
    await asked;
    await Promise.all([assert.rejects(waiting), server.stop()]);
  });
}

Deno.test("a runtime without a server for connections, or with another one, is served behind a socket", async () => {
  assert.deepEqual(await chooseServeConnection(), { serve: ownServer(), isOwn: true });
  assert.deepEqual(await chooseServeConnection(null), { serve: serveBehind, isOwn: false });
  const other = () => {
    throw new TypeError("Other parameters");
  };
  assert.deepEqual(await chooseServeConnection(other), { serve: serveBehind, isOwn: false });
});
