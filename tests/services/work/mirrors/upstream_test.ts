import assert from "node:assert/strict";
import { Unavailable } from "../../../../services/kernel/errors.ts";
import { Upstream } from "../../../../services/work/mirrors/fossil.ts";

Deno.test("a mirror fetches nothing while the disk is nearly full", async () => {
  const upstream = new Upstream({
    remote: { url: new URL("http://127.0.0.1:1/demo"), credentials: null },
    client: { post: () => assert.fail() },
    folder: "/nowhere",
    space: {
      require() {
        throw new Unavailable("nearly full");
      },
    },
    maxBytes: 1000,
    signal: new AbortController().signal,
  });
  await assert.rejects(upstream.ask([], null), new Unavailable("nearly full"));
});
