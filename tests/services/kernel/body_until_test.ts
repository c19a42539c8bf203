import assert from "node:assert/strict";
import { bodyUntil } from "../../../services/kernel/body_until.ts";
import { collectGarbage } from "../../support/garbage.ts";
import { within } from "../../support/until.ts";

type Bytes = ReadableStream<Uint8Array<ArrayBuffer>>;

/** Asks a server whose answer begins and stalls; the test gets its body. */
async function withStalled(
  run: (ask: (signal: AbortSignal) => Promise<Bytes>, left: Promise<void>) => Promise<void>,
): Promise<void> {
  const left = Promise.withResolvers<void>();
  const closing = new AbortController();
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, signal: closing.signal, onListen: () => {} },
    () => {
      const body = new ReadableStream({
        start: (controller) => controller.enqueue(new TextEncoder().encode("begin")),
        cancel: () => left.resolve(),
      });
      return new Response(body);
    },
  );
  const ask = async (signal: AbortSignal) => {
    const { body } = await fetch(`http://127.0.0.1:${server.addr.port}`, { signal });
    return bodyUntil(body ?? assert.fail(), signal);
  };
  try {
    await run(ask, left.promise);
  } finally {
    closing.abort();
    await server.finished;
  }
}

Deno.test("a signal ends a body that stalls, also after memory was collected", () =>
  withStalled(async (ask, left) => {
    const abort = new AbortController();
    const reader = (await ask(AbortSignal.any([abort.signal]))).getReader();
    assert.equal(new TextDecoder().decode((await reader.read()).value), "begin");
    const stalled = assert.rejects(reader.read(), /enough/);
    await collectGarbage();
    abort.abort(new Error("enough"));
    await within(stalled, () => "The end of the read");
    await within(left, () => "The end of the connection");
  }));

Deno.test("a reader that leaves ends a body, and a signal that has aborted begins none", () =>
  withStalled(async (ask, left) => {
    const abort = new AbortController();
    await (await ask(abort.signal)).cancel();
    await within(left, () => "The end of the connection");
    abort.abort(new Error("enough"));
    const aborted = bodyUntil(new Response("text").body ?? assert.fail(), abort.signal);
    await assert.rejects(aborted.getReader().read(), /enough/);
  }));

Deno.test("a body that ends or breaks does so until then", async () => {
  const { signal } = new AbortController();
  const whole = bodyUntil(new Response("text").body ?? assert.fail(), signal);
  assert.equal(await new Response(whole).text(), "text");
  const broken = new ReadableStream({
    start: (controller) => controller.error(new Error("broken")),
  });
  await assert.rejects(bodyUntil(broken, signal).getReader().read(), /broken/);
});
