import assert from "node:assert/strict";
import { startProgram } from "../support/program.ts";
import { RawConnection } from "../support/raw_connection.ts";

const WRONG = [
  "GET a b HTTP/1.1\r\nHost: localhost",
  "GET http://[::1/ HTTP/1.1\r\nHost: localhost",
  "GET http://[::1/healthz HTTP/1.1",
  "GET http://a%20b/healthz HTTP/1.1\r\nHost: localhost",
  "GET http://a:b/healthz HTTP/1.1\r\nHost: localhost",
  "GET healthz HTTP/1.1\r\nHost: localhost",
  "GET /\xff HTTP/1.1\r\nHost: localhost",
  "GET mailto:x HTTP/1.1\r\nHost: localhost",
  ...[
    ...["a b", "[::1", "999.999.999.999", "localhost:99999", "<script>", "\xff", "a\tb"],
    ...["a/v1/status", "a?b", "a#b", "a@b", "a:b:c", "[", "]"],
  ].map((host) => `GET /healthz HTTP/1.1\r\nHost: ${host}`),
  "GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b",
];

/** Well-formed requests, with the status on the port of MCP, where names of others are refused. */
const RIGHT = [
  ["GET /healthz HTTP/1.0", 404],
  ["GET /healthz HTTP/1.1\r\nHost: localhost", 404],
  ["GET /healthz HTTP/1.1\r\nHost: [::1]:8080", 404],
  ["GET /healthz HTTP/1.1\r\nHost: xn--bcher-kva.example", 403],
  ["GET http://elsewhere.example/healthz HTTP/1.1\r\nHost: localhost", 403],
] as const;

Deno.test("an odd Host or request target is answered 400, never 500", async () => {
  await using program = await startProgram();
  for (const url of [program.api, program.mcp]) {
    for (const request of WRONG) {
      using client = await RawConnection.open(url);
      await client.send(`${request}\r\nConnection: close\r\n\r\n`);
      assert.match(await client.untilClosed(), /^HTTP\/1\.1 400 /, request);
    }
    for (const [request, statusOfMcp] of RIGHT) {
      using client = await RawConnection.open(url);
      await client.send(`${request}\r\nConnection: close\r\n\r\n`);
      const status = url === program.api ? 200 : statusOfMcp;
      assert.match(await client.untilClosed(), new RegExp(`^HTTP/1\\.[01] ${status} `), request);
    }
  }
  assert.ok(program.log.every((line) => !/failed on a bug/.test(line)));
});
