import assert from "node:assert/strict";
import fc from "fast-check";
import { parseProxyHeader } from "../../../../services/engines/irc/transport/proxy_protocol.ts";
import { TestClient } from "./support/client.ts";
import { startServer, type TestServer } from "./support/server.ts";
import { within } from "../../../support/until.ts";

const encoder = new TextEncoder();
const PROXIES = ["127.0.0.1"];
const SIGNATURE = [13, 10, 13, 10, 0, 13, 10, 81, 85, 73, 84, 10];

/** A header of version 2 that tells of a client over IPv4, with some bytes of extensions. */
function binary(address: readonly number[], extension: readonly number[] = []): Uint8Array {
  const length = 12 + extension.length;
  const rest = [127, 0, 0, 1, 0x12, 0x34, 0x1a, 0x0b];
  const head = [...SIGNATURE, 0x21, 0x11, length >> 8, length & 255];
  return Uint8Array.from([...head, ...address, ...rest, ...extension]);
}

function text(line: string): Uint8Array {
  return encoder.encode(`${line}\r\n`);
}

const ipv4 = fc.ipV4();
const port = fc.nat({ max: 65_535 });
const header = fc.oneof(
  fc.tuple(ipv4, ipv4, port, port).map(([source, target, from, to]) => ({
    bytes: text(`PROXY TCP4 ${source} ${target} ${from} ${to}`),
    address: source as string | null,
  })),
  fc.constant({
    bytes: text("PROXY TCP6 ::FFFF:192.0.2.1 ::1 1 2"),
    address: "192.0.2.1" as string | null,
  }),
  fc.tuple(fc.ipV6().filter((one) => !/ffff:/i.test(one)), fc.ipV6(), port, port).map((
    [source, target, from, to],
  ) => ({
    bytes: text(`PROXY TCP6 ${source} ${target} ${from} ${to}`),
    address: new URL(`http://[${source}]/`).hostname.slice(1, -1) as string | null,
  })),
  fc.constantFrom("", " ffff:f...f:ffff ffff:f...f:ffff 65535 65535").map((rest) => ({
    bytes: text(`PROXY UNKNOWN${rest}`),
    address: null,
  })),
  fc.tuple(
    fc.array(fc.nat({ max: 255 }), { minLength: 4, maxLength: 4 }),
    fc.array(fc.nat({ max: 255 }), { maxLength: 40 }),
  ).map(([address, extension]) => ({
    bytes: binary(address, extension),
    address: address.join("."),
  })),
);

Deno.test("a header is read whole from any pieces, and nothing after it", () => {
  fc.assert(
    fc.property(header, fc.uint8Array({ maxLength: 20 }), ({ bytes, address }, rest) => {
      for (let length = 0; length < bytes.length; length++) {
        assert.equal(parseProxyHeader(bytes.subarray(0, length)).kind, "partial", String(length));
      }
      assert.deepEqual(parseProxyHeader(Uint8Array.from([...bytes, ...rest])), {
        kind: "complete",
        length: bytes.length,
        address,
      });
    }),
  );
});

Deno.test("other input is refused in time, and nothing throws", () => {
  const damaged = fc.tuple(header, fc.array(fc.tuple(fc.nat(), fc.nat({ max: 255 })))).map(
    ([{ bytes }, changes]) => {
      for (const [at, value] of changes) bytes[at % bytes.length] = value;
      return bytes;
    },
  );
  fc.assert(
    fc.property(fc.oneof(damaged, fc.uint8Array({ maxLength: 200 })), (bytes) => {
      const read = parseProxyHeader(bytes);
      if (read.kind !== "complete") return;
      assert.ok(read.length <= bytes.length);
      if (read.address !== null) assert.match(read.address, /^[0-9a-f:.]+$/);
    }),
    { numRuns: 1000 },
  );
  for (
    const line of [
      ...["PROXY TCP4 1.2.3.4 1.2.3.4 1", "PROXY TCP4 1.2.3.256 1.2.3.4 1 1", "PROXY TCP4 1.2.3.4"],
      ...["PROXY TCP4 ::1 ::1 1 1", "PROXY TCP6 1.2.3.4 ::1 1 1", "PROXY TCP6 ::x ::1 1 1"],
      ...["PROXY TCP4 01.2.3.4 1.2.3.4 1 1", "PROXY TCP4 1.2.3.4 1.2.3.4 1 65536", "PROXY "],
      ...["proxy TCP4 1.2.3.4 1.2.3.4 1 1", "PROXY TCP4  1.2.3.4 1.2.3.4 1 1", "NICK a"],
      ...["PROXY TCP4 1.2.3.4 1.2.3.4 1 1 ", `PROXY UNKNOWN ${"x".repeat(107)}`],
    ]
  ) {
    assert.equal(parseProxyHeader(text(line)).kind, "malformed", line);
  }
  assert.equal(parseProxyHeader(encoder.encode("PROXY ".padEnd(107, "x"))).kind, "malformed");
  const long = Uint8Array.from([...SIGNATURE, 0x21, 0x11, 0xff, 0xff]);
  assert.equal(parseProxyHeader(long).kind, "malformed");
});

Deno.test("a client behind a proxy has its own address on every port, and others cannot claim one", async () => {
  const folder = new URL("./support/", import.meta.url);
  const [cert, key] = await Promise.all([
    Deno.readTextFile(new URL("localhost.crt", folder)),
    Deno.readTextFile(new URL("localhost.key", folder)),
  ]);
  await using server = startServer();
  const place = { hostname: "127.0.0.1", port: 0, proxies: PROXIES };
  const tls = { cert, key };
  const ports = {
    tcp: server.server.listen(place).port,
    tls: server.server.listen({ ...place, tls }).port,
    webSocket: server.server.listenWebSocket({ ...place, origins: [] }).port,
    webSocketTls: server.server.listenWebSocket({ ...place, origins: [], tls }).port,
  };

  await using plain = await behindProxy(ports.tcp, text("PROXY TCP4 192.0.2.1 127.0.0.1 1 2"));
  await plain.client.register("plain");
  await using own = await behindProxy(ports.tcp, text("PROXY UNKNOWN"));
  await own.client.register("own");
  assert.deepEqual(addresses(server), { plain: "192.0.2.1", own: "127.0.0.1" });

  const secured = await connectBehind(ports.tls, binary([192, 0, 2, 2], [1, 2, 3]));
  const overTls = TestClient.overConnection(
    await Deno.startTls(secured, { hostname: "localhost", caCerts: [cert] }),
  );
  await overTls.register("secured");
  assert.equal(addresses(server)["secured"], "192.0.2.2");

  for (
    const [name, header] of [["webSocket", "192.0.2.3"], ["webSocketTls", "192.0.2.4"]] as const
  ) {
    let conn: Deno.Conn = await connectBehind(
      ports[name],
      text(`PROXY TCP4 ${header} 127.0.0.1 1 2`),
    );
    if (name === "webSocketTls") {
      conn = await Deno.startTls(conn as Deno.TcpConn, { hostname: "localhost", caCerts: [cert] });
    }
    await write(
      conn,
      encoder.encode(
        "GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" +
          `Sec-WebSocket-Key: ${btoa("sixteen bytes!!!")}\r\nSec-WebSocket-Version: 13\r\n\r\n`,
      ),
    );
    const lines = [`NICK ${name}`, "USER u 0 * :u"];
    const frames = lines.flatMap((
      line,
    ) => [0x81, 0x80 | line.length, 0, 0, 0, 0, ...encoder.encode(line)]);
    await write(conn, Uint8Array.from(frames));
    await readUntil(conn, ` 422 ${name}`);
    assert.equal(addresses(server)[name], header);
    conn.close();
  }

  for (const said of ["NICK a", "PROXY TCP4 1.2.3.4\r\n", "PROXY TCP4 x y 1 2\r\n"]) {
    const conn = await connectBehind(ports.tcp, text(said));
    assert.equal(await conn.read(new Uint8Array(10)).catch(() => null), null, said);
    conn.close();
  }
  const liar = await server.dial();
  liar.send("PROXY TCP4 192.0.2.9 127.0.0.1 1 2");
  await liar.register("liar");
  assert.equal(addresses(server)["liar"], "127.0.0.1");
  await overTls.close();
  // The program closes the server when it is to end, and again at the end.
  await server.server.close();
});

function addresses(server: TestServer): Record<string, string> {
  return Object.fromEntries(server.server.clients().map(({ nick, address }) => [nick, address]));
}

async function behindProxy(port: number, header: Uint8Array) {
  const client = TestClient.overConnection(await connectBehind(port, header));
  return { client, [Symbol.asyncDispose]: () => client.close() };
}

/** Connects as the proxy does, and writes its header byte by byte. */
async function connectBehind(port: number, header: Uint8Array): Promise<Deno.TcpConn> {
  const conn = await Deno.connect({ hostname: "127.0.0.1", port });
  conn.setNoDelay(true);
  for (const byte of header) await write(conn, Uint8Array.of(byte));
  return conn;
}

async function write(conn: Deno.Conn, bytes: Uint8Array): Promise<void> {
  try {
    for (let sent = 0; sent < bytes.length;) sent += await conn.write(bytes.subarray(sent));
  } catch {
    // A header that makes no sense ends the connection before it is over.
  }
}

async function readUntil(conn: Deno.Conn, expected: string): Promise<void> {
  const decoder = new TextDecoder();
  const buffer = new Uint8Array(4096);
  for (let received = ""; !received.includes(expected);) {
    const count = await within(conn.read(buffer), () => `"${expected}"`);
    if (count === null) throw new Error(`"${expected}" did not come: ${received}`);
    received += decoder.decode(buffer.subarray(0, count));
  }
}
