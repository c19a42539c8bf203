import assert from "node:assert/strict";
import http2 from "node:http2";
import { randomTargets } from "../support/odd_targets.ts";
import { withNodes, type World } from "./two_nodes.ts";

const encoder = new TextEncoder();

/** Sends a request as bytes, and returns the answer. */
async function send(
  { hostname, port }: World["front"],
  target: string,
  headers = "Host: localhost",
): Promise<string> {
  using client = await Deno.connect({ hostname, port });
  await client.write(
    encoder.encode(`GET ${target} HTTP/1.1\r\n${headers}\r\nConnection: close\r\n\r\n`),
  );
  return await new Response(client.readable).text();
}

const ODD = [
  ...["/far/../here", "/far/./x", "/far/%2e%2e/here", "/far/.%2E/here", "/far/..", "/far/."],
  ...["/far//x", "//far", "/far%2Fx", "/far\\..\\here", "/far?", "/far??", "/far?a#b", "/far#b"],
  ...['/far/"<x>"', "/far/{x}|^`", "/far?q='\"<>\\..", "/far/é", "/far/%zz%2", "/far/%c3%28;x=1"],
  `/far/${"x".repeat(20_000)}`,
  `/far?q=${'"'.repeat(20_000)}`,
];

Deno.test("a request arrives at another node with its target byte for byte", async () => {
  const asked: string[] = [];
  await withNodes(
    ({ url }) => new Response(url),
    async (world) => {
      const targets = [...ODD, ...randomTargets(300, ["far", "v1"])];
      for (const target of targets) {
        const alone = await send(world.far, target);
        const [, status] = / (\d{3}) /.exec(alone) ?? [];
        const forwarded = await send(world.front, target);
        assert.match(forwarded, new RegExp(`^HTTP/1\\.1 ${status} `), target);
        if (status !== "200") continue;
        assert.ok(forwarded.endsWith(`\r\n\r\nhttp://localhost${target}`), target);
        assert.equal(asked.at(-1), target);
        assert.ok(world.seen.far.at(-1)?.mark, target);
      }
      assert.deepEqual(world.seen.front, []);
    },
    {
      isFar({ url }, self) {
        if (self === "front") asked.push(url.slice("http://localhost".length));
        return self === "front";
      },
    },
  );
});

Deno.test("a forwarded request names the host that its client used", () =>
  withNodes(
    ({ url }) => new Response(url),
    async ({ front }) => {
      const absolute = await send(front, "http://one.example:81/far?x");
      assert.ok(absolute.endsWith("\r\n\r\nhttp://one.example:81/far?x"), absolute);
      const client = http2.connect(`http://127.0.0.1:${front.port}`);
      try {
        const answer = client.request({ ":path": "/far", ":authority": "two.example" });
        let text = "";
        for await (const part of answer) text += part;
        assert.equal(text, "http://two.example/far");
      } finally {
        client.close();
      }
    },
    { isFar: (_request, self) => self === "front" },
  ));
