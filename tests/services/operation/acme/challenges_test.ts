import assert from "node:assert/strict";
import { answerChallenges } from "../../../../services/operation/acme/mod.ts";
import { freePort } from "../../../support/free_port.ts";

const TOKEN = "LoqXcYV8q5ONbJQxbmR7SCTNo3tiAXDfowyjxAjEuX0";
const PATH = `/.well-known/acme-challenge/${TOKEN}`;

async function withChallenges(run: (port: number) => Promise<void>): Promise<void> {
  const port = freePort();
  const challenges = new Map([[TOKEN, `${TOKEN}.thumbprint`]]);
  await using _answering = answerChallenges({ hostname: "127.0.0.1", port }, challenges);
  await run(port);
}

Deno.test("a challenge is answered, and nothing else", () =>
  withChallenges(async (port) => {
    const url = `http://127.0.0.1:${port}`;
    const found = await fetch(url + PATH);
    assert.equal(found.status, 200);
    assert.equal(await found.text(), `${TOKEN}.thumbprint`);
    for (const path of [`${PATH}x`, "/", "/.well-known/acme-challenge/"]) {
      const missing = await fetch(url + path);
      assert.deepEqual([missing.status, await missing.text()], [
        404,
        "There is no such challenge\n",
      ]);
    }
  }));

Deno.test("a body without an end is not read", () =>
  withChallenges(async (port) => {
    using client = await Deno.connect({ hostname: "127.0.0.1", port });
    const head = `POST ${PATH} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n`;
    const chunk = `10000\r\n${"x".repeat(0x10000)}\r\n`;
    const sending = async () => {
      await client.write(new TextEncoder().encode(head));
      for (;;) await client.write(new TextEncoder().encode(chunk));
    };
    await assert.rejects(sending(), /reset|broken pipe/i);
  }));

Deno.test("headers without an end are not read either", () =>
  withChallenges(async (port) => {
    using client = await Deno.connect({ hostname: "127.0.0.1", port });
    const sending = async () => {
      await client.write(new TextEncoder().encode(`GET ${PATH} HTTP/1.1\r\n`));
      for (;;) await client.write(new TextEncoder().encode(`X-Long: ${"x".repeat(1000)}\r\n`));
    };
    await assert.rejects(sending(), /reset|broken pipe/i);
  }));
