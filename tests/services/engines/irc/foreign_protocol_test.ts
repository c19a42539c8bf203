import assert from "node:assert/strict";
import { connect } from "node:net";
import { startServer, type TestServer } from "./support/server.ts";

const REGISTRATION = "NICK evil\r\nUSER evil 0 * :Evil\r\nJOIN #c\r\nPRIVMSG #c :hello\r\n";

const METHODS = ["GET", "POST", "PUT", "HEAD", "OPTIONS", "CONNECT", "DELETE", "PATCH", "TRACE"];

/** What browsers and other programs send to a port that speaks another protocol than they think. */
const FOREIGN: readonly (string | Uint8Array)[] = [
  ...[...METHODS, "get", "NICK", "USER", "CAP", "JOIN", "QUERY", "PROPFIND"].map((method) =>
    `${method} / HTTP/1.1\r\nHost: 127.0.0.1:6667\r\nContent-Length: 99\r\n\r\n${REGISTRATION}`
  ),
  `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${REGISTRATION}`,
  `GET /${"x".repeat(12_000)} HTTP/1.1\r\n\r\n${REGISTRATION}`,
  `POST /\u00e9 HTTP/1.1\r\n\r\n${REGISTRATION}`,
  `GET /\r\n${REGISTRATION}`,
  `\r\n\r\nPOST / HTTP/1.1\r\n\r\n${REGISTRATION}`,
  `Host: 127.0.0.1\r\n${REGISTRATION}`,
  `CAP LS\r\nContent-Type: text/plain\r\n${REGISTRATION}`,
  `EHLO evil.example\r\n${REGISTRATION}`,
  `SSH-2.0-client\r\n${REGISTRATION}`,
  `<policy-file-request/>\0\r\n${REGISTRATION}`,
  `{"a": 1}\n${REGISTRATION}`,
  Uint8Array.of(0x16, 0x03, 0x01, 0x02, 0x00, 0x01),
  // A STUN request over TCP, whose user name holds lines of IRC.
  new TextEncoder().encode(`\0\x01\0\x40\x21\x12\xa4\x42\r\n${REGISTRATION}`),
];

/** Sends bytes in pieces of a length; resolves with what the server said before it closed. */
function speak(server: TestServer, bytes: Uint8Array, piece: number): Promise<string> {
  return new Promise((resolve) => {
    let heard = "";
    const socket = connect(server.port, "127.0.0.1", () => {
      socket.setNoDelay(true);
      let at = 0;
      const next = () => {
        if (at >= bytes.length || socket.destroyed) return;
        const part = bytes.subarray(at, at + piece);
        at += piece;
        socket.write(part, () => setImmediate(next));
      };
      next();
    });
    socket.setEncoding("utf-8");
    socket.on("data", (text) => heard += text);
    socket.on("error", () => {});
    socket.on("close", () => resolve(heard));
  });
}

Deno.test("what speaks another protocol is disconnected, and nothing of it is run", async () => {
  await using server = startServer();
  const watcher = await server.dial();
  await watcher.register("ann");
  watcher.send("JOIN #c");
  await watcher.sync();
  for (const said of FOREIGN) {
    const bytes = typeof said === "string" ? new TextEncoder().encode(said) : said;
    for (const piece of bytes.length < 500 ? [bytes.length, 3] : [bytes.length]) {
      const heard = await speak(server, bytes, piece);
      const shown = `${JSON.stringify(String(said).slice(0, 60))} in ${piece}: ${heard}`;
      assert.doesNotMatch(heard, / (001|JOIN|433) /, shown);
    }
  }
  assert.deepEqual(await watcher.sync(), []);
});

Deno.test("words of other protocols in the lines of a client change nothing", async () => {
  await using server = startServer();
  const client = await server.dial();
  client.send("", "USER ann 0 * :Host: I speak HTTP/1.1", "NICK ann");
  await client.until("422");
  client.send("GET / HTTP/1.1", "Host: x", "PING x");
  assert.equal((await client.sync()).length > 0, true);
});
