import assert from "node:assert/strict";
import { IrcServer } from "../../../../services/engines/irc/mod.ts";
import { TestClient } from "./support/client.ts";
import { startServer, TestAccounts } from "./support/server.ts";

const SUPPORT = `${import.meta.dirname}/support`;

Deno.test("a client in memory talks to clients on the network", async () => {
  await using server = startServer();
  const inside = await server.internal("inside", {}, "server-time message-tags");
  const outside = await server.client("outside");
  inside.send("JOIN #c");
  await inside.sync();
  outside.send("JOIN #c", "PRIVMSG #c :hello", `PRIVMSG inside :${"x".repeat(7000)}`);
  await outside.sync();
  const [join, message, long] = await inside.syncMessages();
  assert.deepEqual([join?.command, message?.params], ["JOIN", ["#c", "hello"]]);
  assert.match(message?.tags.get("msgid") ?? "", /^[0-9a-z]+-[0-9a-z]+$/);
  assert.equal(long?.params[1]?.length, 7000);
});

Deno.test("a privileged client joins and speaks everywhere, and nobody can remove it", async () => {
  await using server = startServer({
    limits: { strangerRate: { perSecond: 1000, burst: 400 }, channelsPerClient: 1 },
  });
  const op = await server.client("op");
  op.send("JOIN #c", "MODE #c +ikmlb key 1 *!*@*");
  await op.sync();
  const bridge = await server.internal("reserved", { account: "bridge", privileged: true });
  bridge.send("JOIN #c", "JOIN #d", "PRIVMSG #c :in", "PART #c", "PRIVMSG #c :out", "JOIN #c");
  bridge.send("MODE #c -b *!*@*", "KICK #c op", "TOPIC #c :mine");
  await bridge.sync();
  const seen = await op.sync();
  for (
    const line of [
      "reserved PRIVMSG #c in",
      "reserved PRIVMSG #c out",
      "reserved KICK #c op reserved",
    ]
  ) {
    assert.ok(seen.includes(line), line);
  }
  const other = await server.client("other");
  other.send("JOIN #d");
  await other.sync();
  bridge.send("MODE #d +o other");
  await bridge.sync();
  other.send("KICK #d reserved", "NICK reserved");
  assert.deepEqual((await other.sync()).slice(-2), [
    "482 other #d This client belongs to the server and cannot be kicked",
    "433 other reserved Nickname is reserved for the account that owns it",
  ]);
});

Deno.test("MemoryConnection delivers asynchronously and in order, and keeps lines until somebody listens", async () => {
  await using server = startServer();
  const connection = server.server.connect();
  assert.throws(() => connection.send("NICK a\r\nQUIT"), TypeError);
  connection.send("NICK inside");
  connection.send("USER i 0 * :i");
  let during = false;
  const client = TestClient.inMemory(connection);
  connection.send("PING x");
  during = true;
  await client.until("422");
  assert.ok(during && !connection.closed);
  connection.close();
  assert.ok(connection.closed);
  connection.send("PING y");
  assert.deepEqual((await client.untilClosed()).filter((line) => line.includes("y")), []);
  assert.equal(server.server.stats().clients, 0);
});

Deno.test("a memory client that throws or does not listen harms nobody", async () => {
  const errors: string[] = [];
  const log = {
    debug() {},
    info() {},
    warn() {},
    error: (message: string) => errors.push(message),
  };
  await using server = startServer({ log, limits: { strangerRate: null, sendQueueBytes: 20_000 } });
  const thrower = server.server.connect();
  thrower.onLine = () => {
    throw new Error("broken client");
  };
  thrower.send("PING x");
  const deaf = server.server.connect();
  deaf.send("NICK deaf");
  deaf.send("USER d 0 * :d");
  const bob = await server.client("bob");
  for (let count = 0; count < 5; count++) bob.send(`PRIVMSG deaf :${"x".repeat(5000)}`);
  assert.ok((await bob.sync()).includes("401 bob deaf No such nick"));
  assert.ok(deaf.closed);
  assert.deepEqual(errors, ["IRC memory client failed"]);
});

Deno.test("disconnectAccount() closes every session of the account, and observers are told", async () => {
  const events: string[] = [];
  const accounts = new TestAccounts({ alice: "secret" });
  await using server = startServer({
    accounts,
    observer: {
      sessionStarted: ({ account, nick }) => events.push(`started ${account} ${nick}`),
      sessionEnded: ({ account, nick, reason }) =>
        events.push(`ended ${account} ${nick} ${reason}`),
      kicked: ({ actor, channel, nick }) => events.push(`kicked ${actor.nick} ${channel} ${nick}`),
      modeChanged: ({ actor, channel, changes }) =>
        events.push(`mode ${actor.account} ${channel} ${changes}`),
    },
  });
  const first = await server.member("alice", "secret");
  first.send("JOIN #c", "MODE #c +mk key", "KICK #c alice", "NICK alice2");
  await first.sync();
  const second = await server.member("alice", "secret");
  assert.ok(server.server.isOnline("ALICE"));
  assert.equal(server.server.disconnectAccount("Alice", "rotated"), 2);
  assert.ok(!server.server.isOnline("alice"));
  for (const [client, nick] of [[first, "alice2"], [second, "alice"]] as const) {
    assert.deepEqual(await client.untilClosed(), [`ERROR Closing link: ${nick} (rotated)`]);
  }
  assert.deepEqual(events, [
    "started alice alice",
    "mode alice #c +mk *",
    "kicked alice #c alice",
    "started alice alice",
    "ended alice alice2 rotated",
    "ended alice alice rotated",
  ]);
});

Deno.test("an observer that throws is reported and harms nobody", async () => {
  const errors: string[] = [];
  const log = {
    debug() {},
    info() {},
    warn() {},
    error: (message: string) => errors.push(message),
  };
  await using server = startServer({
    log,
    observer: {
      modeChanged: () => {
        throw new Error("broken observer");
      },
    },
  });
  const bob = await server.client("bob");
  bob.send("JOIN #c", "MODE #c +m");
  assert.ok((await bob.sync()).includes("bob MODE #c +m"));
  assert.deepEqual(errors, ["IRC observer failed"]);
});

Deno.test("TLS clients are served, and marked as secure", async () => {
  const [cert, key] = await Promise.all([
    Deno.readTextFile(`${SUPPORT}/localhost.crt`),
    Deno.readTextFile(`${SUPPORT}/localhost.key`),
  ]);
  await using server = startServer();
  const { port } = server.server.listen({ hostname: "127.0.0.1", port: 0, tls: { cert, key } });
  const options = { hostname: "localhost", port, caCerts: [cert] };
  const client = TestClient.overConnection(await Deno.connectTls(options));
  await client.register("bob");
  client.send("WHOIS bob");
  assert.ok((await client.sync()).includes("671 bob bob is using a secure connection"));
  const plain = await Deno.connect({ hostname: "127.0.0.1", port });
  await plain.write(new TextEncoder().encode("NICK eve\r\n\r\n"));
  await new Response(plain.readable).bytes().catch(() => {});
  await server.server.close();
  await client.close();
});

Deno.test("close() tells the clients, ends everything, and may be called again", async () => {
  const server = startServer();
  const bob = await server.client("bob");
  const inside = await server.internal("inside");
  await Promise.all([server.server.close("Going\r\ndown"), server.server.close()]);
  for (const [client, nick] of [[bob, "bob"], [inside, "inside"]] as const) {
    assert.equal((await client.untilClosed()).at(-1), `ERROR Closing link: ${nick} (Going  down)`);
  }
  assert.throws(() => server.server.listen({ hostname: "127.0.0.1", port: 0 }), TypeError);
  assert.throws(() => server.server.connect(), TypeError);
  await server[Symbol.asyncDispose]();
});

Deno.test("an address in use is the caller's error", async () => {
  await using server = startServer();
  const { port } = server;
  const second: IrcServer = startServer().server;
  assert.throws(() => second.listen({ hostname: "127.0.0.1", port }), Deno.errors.AddrInUse);
  await second.close();
});
