import assert from "node:assert/strict";
import fc from "fast-check";
import { BodyReader } from "../../http/mod.ts";
import { Invalid, TooLarge, TooSlow } from "../../services/kernel/errors.ts";
import { anyCharacter } from "../support/any_character.ts";

const encoder = new TextEncoder();

/** A request whose body has these parts; with `stalls`, it does not end after them. */
function requestOf(parts: readonly string[], { stalls = false, declared = true } = {}): Request {
  const length = parts.join("").length + (stalls ? 1 : 0);
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const part of parts) controller.enqueue(encoder.encode(part));
      if (!stalls) controller.close();
    },
  });
  const headers = declared ? { "Content-Length": String(length) } : {};
  return new Request("http://localhost/", { method: "POST", body, headers });
}

/** Keeps the event loop running, as a server's listener does. */
function keepRunning(): Disposable {
  const timer = setInterval(() => {}, 1000);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

Deno.test("a body is read whole, with or without a declared length", async () => {
  const reader = new BodyReader({ maxBytes: 100_000, stallMilliseconds: 60_000 });
  for (const declared of [true, false]) {
    for (const text of ["", "short", "x".repeat(100_000)]) {
      const half = Math.floor(text.length / 2);
      const parts = [text.slice(0, half), text.slice(half)].filter((part) => part !== "");
      assert.equal(await reader.read(requestOf(parts, { declared })), text);
    }
  }
  assert.equal(await reader.read(new Request("http://localhost/", { method: "DELETE" })), "");
});

Deno.test("a body of any length and characters is decoded as UTF-8, without its byte order mark", async () => {
  const reader = new BodyReader({ maxBytes: 100_000, stallMilliseconds: 60_000 });
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const body = fc.oneof(
    fc.uint8Array({ max: 0x7f, maxLength: 600 }),
    fc.uint8Array({ min: 0x70, max: 0x90, maxLength: 4 }),
    fc.string({ unit: anyCharacter, maxLength: 600 }).map((text) => encoder.encode(text)),
    fc.string({ maxLength: 600 }).map((text) => encoder.encode(`\ufeff${text}`)),
    fc.nat(10).map((more) => new Uint8Array(507 + more).fill(0x61)),
  );
  await fc.assert(
    fc.asyncProperty(body, async (bytes) => {
      const headers = { "Content-Length": String(bytes.length) };
      const request = new Request("http://localhost/", {
        method: "POST",
        body: new Uint8Array(bytes),
        headers,
      });
      let text: string;
      try {
        text = decoder.decode(bytes);
      } catch {
        return await assert.rejects(reader.read(request), Invalid);
      }
      assert.equal(await reader.read(request), text);
    }),
    { numRuns: 300 },
  );
});

Deno.test("each stalled body is given up, and no other", async () => {
  using _running = keepRunning();
  const reader = new BodyReader({ maxBytes: 1000, stallMilliseconds: 1 });
  for (const declared of [true, false, true]) {
    const stalled = [1, 2, 3].map(() =>
      assert.rejects(reader.read(requestOf(["beginning"], { stalls: true, declared })), TooSlow)
    );
    assert.equal(await reader.read(requestOf(["whole"], { declared })), "whole");
    await Promise.all(stalled);
  }
});

Deno.test("a body that is too long or incomplete is refused", async () => {
  const reader = new BodyReader({ maxBytes: 10, stallMilliseconds: 60_000 });
  for (const declared of [true, false]) {
    await assert.rejects(reader.read(requestOf(["eleven byte"], { declared })), TooLarge);
  }
  for (const headers of [{ "Content-Length": "5" }, {}]) {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.error(new TypeError("The client is gone")),
    });
    const request = new Request("http://localhost/", { method: "POST", body, headers });
    await assert.rejects(reader.read(request), Invalid);
  }
});
