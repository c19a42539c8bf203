import assert from "node:assert/strict";
import type { Connect, LineConnection } from "../../../../services/chat/bridge/mod.ts";
import { connectTcp } from "../../../../services/chat/irc_network/mod.ts";
import { makeCertificate } from "../../../support/certificate.ts";
import { peer } from "../../../support/peers.ts";
import { TestScheduler } from "../../../support/scheduler.ts";
import { withFolder } from "../../../support/temporary.ts";
import { within } from "../../../support/until.ts";

/** A server that takes one connection and leaves the rest to the test. */
class Listener implements AsyncDisposable {
  readonly scheduler = new TestScheduler();
  readonly #listener: Deno.TcpListener | Deno.TlsListener;
  readonly #accepted: Promise<Deno.Conn>;
  #socket: Deno.Conn | null = null;

  constructor(tls?: { cert: string; key: string }) {
    const address = { hostname: "127.0.0.1", port: 0 };
    this.#listener = tls === undefined
      ? Deno.listen(address)
      : Deno.listenTls({ ...address, ...tls });
    this.#accepted = this.#listener.accept().then((socket) => this.#socket = socket);
    this.#accepted.catch(() => {});
  }

  connect(tls: Parameters<typeof connectTcp>[0]["tls"] = null): Connect {
    const { hostname, port } = this.#listener.addr as Deno.NetAddr;
    return connectTcp({ hostname, port, tls, scheduler: this.scheduler });
  }

  async send(text: string): Promise<void> {
    let bytes = new TextEncoder().encode(text);
    const socket = await this.#accepted;
    while (bytes.length > 0) bytes = bytes.subarray(await socket.write(bytes));
  }

  /** Reads until a text has come. */
  async expect(text: string): Promise<void> {
    const socket = await this.#accepted;
    const chunk = new Uint8Array(4096);
    for (let heard = ""; !heard.includes(text);) {
      const count = await within(socket.read(chunk), () => `"${text}"`);
      assert.ok(count !== null, `the connection ended after ${JSON.stringify(heard)}`);
      heard += new TextDecoder().decode(chunk.subarray(0, count));
    }
  }

  hangUp(): void {
    this.#socket?.close();
    this.#socket = null;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.hangUp();
    this.#listener.close();
    await this.#accepted.catch(() => {});
  }
}

/** What a connection tells, as it comes. */
class Heard {
  readonly lines: string[] = [];
  readonly closed: Promise<string>;
  #wake: () => void = () => {};

  constructor(connection: LineConnection) {
    const { promise, resolve } = Promise.withResolvers<string>();
    this.closed = promise;
    connection.onClose = resolve;
    connection.onLine = (line) => {
      this.lines.push(line);
      this.#wake();
    };
  }

  async line(count: number): Promise<string> {
    while (this.lines.length < count) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      await within(promise, () => `Line ${count}`);
    }
    return this.lines[count - 1] ?? "";
  }
}

Deno.test("connectTcp() carries lines both ways, in any pieces", async () => {
  await using server = new Listener();
  const connection = await server.connect()();
  const heard = new Heard(connection);
  for (const piece of ["one\r", "\ntwo\n\r\n", "thr", "ee ü😀\r\n"]) await server.send(piece);
  await heard.line(3);
  assert.deepEqual(heard.lines, ["one", "two", "three ü😀"]);
  for (let count = 0; count < 1000; count++) connection.send(`line ${count} äöü`);
  await server.expect("line 999 äöü\r\n");
  server.hangUp();
  await heard.closed;
  assert.equal(connection.closed, true);
  connection.send("into nothing");
  assert.equal(server.scheduler.pending, 0);
});

Deno.test("connectTcp() ends a connection with an endless line", async () => {
  await using server = new Listener();
  const heard = new Heard(await server.connect()());
  await server.send("x".repeat(70_000)).catch(() => {});
  assert.match(await heard.closed, /too long/);
  assert.deepEqual(heard.lines, []);
});

Deno.test("connectTcp() pings a silent server, then leaves it", async () => {
  await using server = new Listener();
  const connection = await server.connect()();
  const heard = new Heard(connection);
  server.scheduler.advance(60_000);
  await server.expect("PING :silence\r\n");
  await server.send(":irc PONG irc :silence\r\n");
  await heard.line(1);
  server.scheduler.advance(60_000);
  await server.expect("PING :silence\r\n");
  assert.equal(connection.closed, false);
  server.scheduler.advance(30_000);
  assert.match(await heard.closed, /silent/);
});

Deno.test("connectTcp() ends a connection whose server does not read", async () => {
  await using server = new Listener();
  const connection = await server.connect()();
  const heard = new Heard(connection);
  const line = "x".repeat(500);
  for (let count = 0; count < 100_000 && !connection.closed; count++) connection.send(line);
  assert.match(await heard.closed, /does not read/);
});

Deno.test("connectTcp() rejects if nobody listens", async () => {
  const server = new Listener();
  const connect = server.connect();
  await server[Symbol.asyncDispose]();
  await assert.rejects(Promise.resolve(connect()));
});

Deno.test({
  name: "connectTcp() over TLS trusts the given authority for the given name",
  ...peer("openssl"),
  fn: () =>
    withFolder(async (folder) => {
      const certificate = await makeCertificate(folder);
      const caCerts = [certificate.cert];
      for (const tls of [{ caCerts }, { caCerts, serverName: "localhost" }]) {
        await using server = new Listener(certificate);
        const connection = await server.connect(tls)();
        const heard = new Heard(connection);
        connection.send("NICK bridge");
        await server.expect("NICK bridge\r\n");
        await server.send(":irc 001 bridge :Welcome\r\n");
        assert.equal(await heard.line(1), ":irc 001 bridge :Welcome");
        connection.close();
        await heard.closed;
      }
      const refusals = [
        { tls: {}, reason: /no authority that muster trusts: .* irc\.tls\.ca$/ },
        {
          tls: { caCerts, serverName: "irc.example.org" },
          reason: /not for "irc\.example\.org": .* irc\.tls\.server_name$/,
        },
      ];
      for (const { tls, reason } of refusals) {
        await using server = new Listener(certificate);
        const refused = Promise.resolve(server.connect(tls)());
        const handshake = server.expect("nothing").catch(() => {});
        await assert.rejects(refused, reason);
        await handshake;
      }
    }),
});
