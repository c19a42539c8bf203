import assert from "node:assert/strict";
import { cutSignal, findServeConnection } from "../../http/runtime.ts";

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
  const served = findServeConnection()(
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
