import assert from "node:assert/strict";
import type { Bans, WebSocketListenOptions } from "../../../../services/engines/irc/mod.ts";
import { startServer, type TestServer } from "./support/server.ts";
import { within } from "../../../support/until.ts";

const KEY = btoa("sixteen bytes!!!");
const PAGE = "https://chat.example";

Deno.test("each side's preferred subprotocol carries one line per message", async () => {
  await using server = startServer();
  const url = listen(server);
  const plain = await server.client("plain");
  const cases: [string[], string, boolean][] = [
    [["text.ircv3.net"], "text.ircv3.net", false],
    [["binary.ircv3.net", "text.ircv3.net"], "binary.ircv3.net", true],
    [["other.example", "text.ircv3.net", "binary.ircv3.net"], "text.ircv3.net", false],
    [[], "", false],
  ];
  for (const [index, [offered, expected, binary]] of cases.entries()) {
    await using web = await WebClient.open(url, offered);
    assert.equal(web.protocol, expected);
    web.send(`NICK web${index}`, `USER web 0 * :Web`);
    await web.until(/ 422 /);
    web.send("PRIVMSG plain :gr\u00fc\u00dfe\r\n");
    await web.sync();
    assert.deepEqual(await plain.sync(), [`web${index} PRIVMSG plain gr\u00fc\u00dfe`]);
    plain.send(`PRIVMSG web${index} :hi`, `NOTICE web${index} :there`);
    await plain.sync();
    const lines = await web.sync();
    assert.deepEqual(lines.map((line) => line.replace(/^\S+ /, "")), [
      `PRIVMSG web${index} :hi`,
      `NOTICE web${index} :there`,
    ]);
    assert.equal(web.binary, binary);
  }
});

Deno.test("web pages connect only from configured origins", async () => {
  await using server = startServer();
  const url = listen(server, { origins: [PAGE] });
  assert.equal(await handshake(url, "https://evil.example"), 403);
  assert.equal(await handshake(url, PAGE), 101);
  assert.equal(await handshake(url, null), 101);
  assert.equal(await handshake(url, null, ""), 400);
  const response = await fetch(url.replace("ws:", "http:"));
  await response.body?.cancel();
  assert.equal(response.status, 426);
});

Deno.test("the client has the address that the handshake names", async () => {
  await using server = startServer({ requireAccount: "auto" });
  const url = listen(server, {
    addressOf: (_peer, headers) => headers.get("x-told") ?? "192.0.2.7",
  });
  await using web = await WebClient.open(url, ["text.ircv3.net"]);
  web.send("NICK web", "USER web 0 * :Web");
  await web.until(/ACCOUNT_REQUIRED/);
  await web.untilClosed();
});

Deno.test("an oversized message ends its client, and a malformed one does not", async () => {
  await using server = startServer({ limits: { lineBytes: 512 } });
  const url = listen(server);
  const watcher = await server.client("watcher");
  await using web = await WebClient.open(url, ["text.ircv3.net"]);
  web.send("NICK web", "USER web 0 * :Web", "JOIN #c");
  await web.until(/ 366 /);
  watcher.send("JOIN #c");
  await watcher.sync();
  web.sendBytes(new Uint8Array([0x50, 0x49, 0xff]));
  await web.until(/INVALID_UTF8/);
  web.send(`PRIVMSG #c :${"x".repeat(600)}`);
  await web.until(/ 417 /);
  web.send("x".repeat(20_000));
  await web.untilClosed();
  assert.deepEqual(await watcher.until("QUIT").then((all) => all.at(-1)?.params), [
    "Message too long",
  ]);
});

Deno.test("a client that connects too often or from a banned address is refused at once", async () => {
  const ban = { mask: "203.0.113.9", reason: "go away", setBy: "op", setAt: 0, expiresAt: null };
  const bans: Bans = {
    find: () => null,
    findByAddress: (address) => address === ban.mask ? ban : null,
    all: () => [ban],
    add: () => Promise.resolve(null),
    remove: () => Promise.resolve(null),
  };
  await using server = startServer({ bans, limits: { connectsPerMinute: 1 } });
  const addresses = ["192.0.2.7", "192.0.2.7", "203.0.113.9"].values();
  const url = listen(server, { addressOf: () => addresses.next().value ?? "" });
  await using first = await WebClient.open(url, ["text.ircv3.net"]);
  first.send("NICK web", "USER web 0 * :Web");
  await first.until(/ACCOUNT_REQUIRED| 422 /);
  await using second = await WebClient.open(url, ["text.ircv3.net"]);
  await second.until(/ERROR :Your address connects too often/);
  await using banned = await WebClient.open(url, ["text.ircv3.net"]);
  await banned.until(/ 465 \* :You are banned: go away/);
  await banned.until(/ERROR :You are banned: go away/);
  assert.deepEqual(server.server.stats().refused, { connections: 0, address: 0, rate: 1, ban: 1 });
});

Deno.test("limits on connections hold for WebSockets", async () => {
  await using server = startServer({ limits: { connections: 1 } });
  const url = listen(server);
  await using first = await WebClient.open(url, ["text.ircv3.net"]);
  first.send("NICK web", "USER web 0 * :Web");
  await first.until(/ 422 /);
  await using second = await WebClient.open(url, ["text.ircv3.net"]);
  await second.until(/ERROR :Too many connections/);
  await second.untilClosed();
  assert.equal(server.server.stats().refused.connections, 1);
});

function listen(server: TestServer, options: Partial<WebSocketListenOptions> = {}): string {
  const { hostname, port } = server.server.listenWebSocket({
    hostname: "127.0.0.1",
    port: 0,
    origins: [],
    ...options,
  });
  return `ws://${hostname}:${port}/`;
}

/** Status of a handshake that names this origin. */
async function handshake(url: string, origin: string | null, key = KEY): Promise<number> {
  const { host, hostname, port } = new URL(url);
  using conn = await Deno.connect({ hostname, port: Number(port) });
  const headers = [
    "GET / HTTP/1.1",
    `Host: ${host}`,
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    ...key === "" ? [] : [`Sec-WebSocket-Key: ${key}`],
    ...origin === null ? [] : [`Origin: ${origin}`],
  ];
  await conn.write(new TextEncoder().encode(`${headers.join("\r\n")}\r\n\r\n`));
  const buffer = new Uint8Array(1024);
  const count = await conn.read(buffer) ?? 0;
  return Number(new TextDecoder().decode(buffer.subarray(0, count)).split(" ")[1]);
}

/** A client over WebSocket that can wait for lines. */
class WebClient implements AsyncDisposable {
  /** Whether the last message of the server was binary. */
  binary = false;
  readonly #socket: WebSocket;
  readonly #closed: Promise<unknown>;
  readonly #lines: string[] = [];
  #ended = false;
  #wake: (() => void) | null = null;
  #syncs = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.binaryType = "arraybuffer";
    socket.onmessage = ({ data }: MessageEvent<string | ArrayBuffer>) => {
      this.binary = typeof data !== "string";
      this.#lines.push(typeof data === "string" ? data : new TextDecoder().decode(data));
      this.#wake?.();
    };
    this.#closed = new Promise((resolve) => {
      socket.onclose = () => {
        this.#ended = true;
        this.#wake?.();
        resolve(null);
      };
    });
  }

  static async open(url: string, protocols: string[]): Promise<WebClient> {
    const socket = new WebSocket(url, protocols);
    const client = new WebClient(socket);
    await new Promise((resolve, reject) => {
      socket.onopen = resolve;
      socket.onerror = reject;
    });
    socket.onerror = null;
    return client;
  }

  get protocol(): string {
    return this.#socket.protocol;
  }

  send(...lines: string[]): void {
    for (const line of lines) this.#socket.send(line);
  }

  sendBytes(bytes: Uint8Array<ArrayBuffer>): void {
    this.#socket.send(bytes);
  }

  /** Every line up to and with the first that matches. */
  async until(pattern: RegExp): Promise<string[]> {
    const lines: string[] = [];
    for (;;) {
      const line = this.#lines.shift();
      if (line === undefined) {
        assert.ok(!this.#ended, `closed before ${pattern}: ${lines.join(" | ")}`);
        const { promise, resolve } = Promise.withResolvers<void>();
        this.#wake = resolve;
        await within(promise, () => `A line like ${pattern}`);
        continue;
      }
      lines.push(line);
      if (pattern.test(line)) return lines;
    }
  }

  async sync(): Promise<string[]> {
    const token = `sync-${++this.#syncs}`;
    this.send(`PING ${token}`);
    return (await this.until(new RegExp(` PONG .*${token}`))).slice(0, -1);
  }

  async untilClosed(): Promise<void> {
    await this.#closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#socket.close();
    await this.#closed;
  }
}

Deno.test("WebSockets work over TLS, and a new certificate keeps connections open", async () => {
  const folder = new URL("./support/", import.meta.url);
  const [cert, key] = await Promise.all([
    Deno.readTextFile(new URL("localhost.crt", folder)),
    Deno.readTextFile(new URL("localhost.key", folder)),
  ]);
  await using server = startServer();
  const address = { hostname: "127.0.0.1", port: 0, origins: [], tls: { cert, key } };
  const { port } = server.server.listenWebSocket(address);
  using first = await openSecure(port, cert);
  await first.until("101 Switching Protocols");
  await first.send("NICK first", "USER u 0 * :r");
  await first.until(" 422 first");
  server.server.renewCertificate({ cert, key });
  using second = await openSecure(port, cert);
  await second.until("101 Switching Protocols");
  await second.send("NICK second", "USER u 0 * :r", "PRIVMSG first :still there");
  await first.until("PRIVMSG first :still there");
  const { transports } = server.server.stats();
  assert.deepEqual([...transports].find(([kind]) => kind === "websocket"), ["websocket", 2]);
  assert.throws(() => server.server.renewCertificate({ cert: "none", key }));
  await first.send("PING :1");
  await first.until("PONG irc.test :1");
});

/** How often a client may have to connect again while a listener takes the place of another. */
const CONNECTS = 20;

async function connectSecure(port: number, cert: string): Promise<Deno.TlsConn> {
  const options = { hostname: "localhost", port, caCerts: [cert] };
  for (let connect = 1; connect < CONNECTS; connect++) {
    try {
      return await Deno.connectTls(options);
    } catch (error) {
      if (!(error instanceof Deno.errors.ConnectionReset)) throw error;
    }
  }
  return await Deno.connectTls(options);
}

/** A WebSocket of a client that trusts one certificate, by hand: the platform's trusts what it has. */
async function openSecure(port: number, cert: string) {
  const conn = await connectSecure(port, cert);
  const encoder = new TextEncoder();
  const decoder = new TextDecoder();
  let received = "";
  async function write(bytes: Uint8Array): Promise<void> {
    for (let sent = 0; sent < bytes.length;) sent += await conn.write(bytes.subarray(sent));
  }
  await write(encoder.encode(
    `GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
      `Sec-WebSocket-Key: ${KEY}\r\nSec-WebSocket-Version: 13\r\n\r\n`,
  ));
  return {
    /** Sends lines of less than 126 bytes, each in a frame with a mask of zeros. */
    async send(...lines: string[]): Promise<void> {
      const frames = lines.flatMap((line) => {
        return [0x81, 0x80 | line.length, 0, 0, 0, 0, ...encoder.encode(line)];
      });
      await write(Uint8Array.from(frames));
    },
    /** Reads until a text has come. */
    async until(text: string): Promise<void> {
      const buffer = new Uint8Array(4096);
      while (!received.includes(text)) {
        const count = await within(conn.read(buffer), () => `"${text}"`);
        if (count === null) throw new Error(`"${text}" did not come: ${received}`);
        received += decoder.decode(buffer.subarray(0, count));
      }
    },
    [Symbol.dispose]: () => conn.close(),
  };
}
