import assert from "node:assert/strict";
import { startServer, TestAccounts } from "./support/server.ts";

Deno.test("a line over the limit is answered 417 and the connection lives", async () => {
  await using server = startServer({ limits: { strangerRate: null, lineBytes: 512 } });
  const bob = await server.client("bob", "message-tags");
  const fits = `PRIVMSG bob :${"x".repeat(400)}`;
  bob.send(fits, `PING ${"x".repeat(505)}`, `PING ${"x".repeat(506)}`);
  bob.send(`@+a=${"x".repeat(4091)} PING t`, `@+a=${"x".repeat(4092)} PING t`);
  const commands = (await bob.syncMessages()).map(({ command }) => command);
  assert.deepEqual(commands, ["PRIVMSG", "PONG", "417", "PONG", "417"]);
});

Deno.test("a message that would not fit one line with its source is refused", async () => {
  await using server = startServer({ limits: { strangerRate: null, lineBytes: 512 } });
  const bob = await server.client("bob");
  bob.send(`PRIVMSG bob :${"x".repeat(497)}`);
  assert.deepEqual(await bob.sync(), ["417 bob Input line was too long"]);
});

Deno.test("by default a line has 8192 bytes", async () => {
  await using server = startServer();
  const bob = await server.client("bob", "message-tags");
  bob.send(`PRIVMSG bob :${"x".repeat(8100)}`, `PING ${"x".repeat(8186)}`);
  const messages = await bob.syncMessages();
  assert.deepEqual(messages.map(({ command }) => command), ["PRIVMSG", "417"]);
  assert.equal(messages[0]?.params[1]?.length, 8100);
});

Deno.test("16 KiB without a line break overrun the receive queue", async () => {
  await using server = startServer();
  for (const ending of ["", "\r\n"]) {
    const bob = await server.client("bob");
    bob.sendRaw("PRIVMSG bob :" + "x".repeat(16 * 1024) + ending);
    assert.deepEqual(await bob.untilClosed(), ["ERROR Closing link: bob (Excess Flood)"]);
  }
  assert.equal(server.server.stats().floodCuts, 2);
});

Deno.test("text that is not UTF-8 is refused, with its label", async () => {
  await using server = startServer();
  const conn = await Deno.connect({ hostname: "127.0.0.1", port: server.port });
  const bytes = new TextEncoder().encode(
    "CAP REQ :labeled-response batch\r\nNICK b\r\nUSER b 0 * :b\r\nCAP END\r\n@label=7 PING \xff\r\nQUIT\r\n",
  );
  const at = bytes.lastIndexOf(0xc3);
  bytes.copyWithin(at, at + 1);
  await conn.write(bytes.subarray(0, bytes.length - 1));
  const text = await new Response(conn.readable).text();
  assert.match(text, /@label=7 :irc\.test FAIL PING INVALID_UTF8 :[^\r]+\r\n/);
});

Deno.test("a flood waits in order, and is cut when too much waits", async () => {
  const limits = { strangerRate: { perSecond: 200, burst: 10 } };
  await using server = startServer({ limits });
  const patient = await server.client("patient");
  for (let count = 0; count < 30; count++) patient.send(`PRIVMSG patient :${count}`);
  const texts = (await patient.syncMessages()).map(({ params }) => params[1]);
  assert.deepEqual(texts, Array.from({ length: 30 }, (_, count) => String(count)));

  await using strict = startServer({ limits: { strangerRate: { perSecond: 0.001, burst: 3 } } });
  const eager = await strict.client("eager");
  for (let count = 0; count < 200; count++) eager.send(`PRIVMSG eager :${"x".repeat(100)}`);
  assert.equal((await eager.untilClosed()).at(-1), "ERROR Closing link: eager (Excess Flood)");
});

Deno.test("accounts have their own rate, and clients' automatic queries are cheap", async () => {
  await using server = startServer({
    accounts: new TestAccounts({ alice: "secret" }),
    limits: {
      strangerRate: { perSecond: 1000, burst: 20 },
      accountRate: { perSecond: 0.001, burst: 20 },
    },
  });
  const alice = await server.member("alice", "secret");
  for (let count = 0; count < 50; count++) alice.send("WHO alice %n", "PONG x");
  assert.equal((await alice.sync()).filter((line) => line === "354 alice alice").length, 50);
});

Deno.test("a client that does not read is closed at its send queue's bound, and delays nobody", async () => {
  const megabyte = 1024 * 1024;
  await using server = startServer({ limits: { strangerRate: null, sendQueueBytes: megabyte } });
  const sleeper = await Deno.connect({ hostname: "127.0.0.1", port: server.port });
  await sleeper.write(new TextEncoder().encode("NICK sleeper\r\nUSER s 0 * :s\r\nJOIN #c\r\n"));
  const sender = await server.client("sender");
  const reader = await server.client("reader", "message-tags");
  for (const client of [sender, reader]) {
    client.send("JOIN #c");
    await client.sync();
  }
  const text = "x".repeat(8000);
  let sent = 0;
  let quit: string | undefined;
  while (quit === undefined && sent < 10_000) {
    sender.send(`PRIVMSG #c :${text}`);
    sent++;
    await sender.sync();
    const seen = await reader.sync();
    assert.ok(seen.includes(`sender PRIVMSG #c ${text}`), "the other reader has each at once");
    quit = seen.find((line) => line.includes("QUIT"));
  }
  sleeper.close();
  assert.equal(quit, "sleeper QUIT SendQ exceeded");
  assert.equal(server.server.stats().sendQueueCuts, 1);
  assert.ok(sent * 8000 > megabyte);
});

Deno.test("a long answer does not overrun the asker's send queue", async () => {
  const limits = { strangerRate: null, sendQueueBytes: 256 * 1024 };
  await using server = startServer({ limits });
  const maker = await server.internal("maker", { privileged: true });
  for (let batch = 0; batch < 100; batch++) {
    const names = Array.from({ length: 50 }, (_, index) => `#${batch}-${index}-${"x".repeat(60)}`);
    maker.send(`JOIN ${names.join(",")}`);
    await maker.sync();
  }
  const bob = await server.client("bob");
  bob.send("LIST", "LIST");
  const listed = (await bob.sync()).filter((line) => line.startsWith("322"));
  assert.equal(listed.length, 10_000);
});

Deno.test("the total of connections is bounded", async () => {
  const accounts = new TestAccounts({ a: "pw", b: "pw", c: "pw" });
  await using server = startServer({ accounts, limits: { connections: 2 } });
  const first = await server.member("a", "pw");
  await server.member("b", "pw");
  const third = await server.dial();
  assert.deepEqual(await third.untilClosed(), ["ERROR Too many connections"]);
  first.send("QUIT");
  await first.untilClosed();
  await server.member("c", "pw");
  assert.equal(server.server.stats().refused.connections, 1);
});

Deno.test("the oldest unregistered connection makes room, and a guest never does", async () => {
  await using server = startServer({ limits: { connections: 4 } });
  const guest = await server.client("guest");
  const unborn = await server.dial();
  unborn.send("NICK unborn");
  await unborn.sync();
  const others = [await server.dial(), await server.dial(), await server.dial()];
  const gone = ["ERROR Closing link: * (Too many connections)"];
  assert.deepEqual(await unborn.untilClosed(), gone);
  await others[1]?.register("second", "");
  await server.dial();
  assert.deepEqual(await others[0]?.untilClosed(), gone);
  await guest.sync();
  await others[1]?.sync();
  assert.equal(server.server.stats().displaced, 2);
});

Deno.test("connections that are about to close are not counted again", async () => {
  await using server = startServer({ limits: { connections: 6 } });
  const clients = [await server.dial(), await server.dial(), await server.dial()];
  for (const [index, client] of clients.entries()) {
    client.send(`NICK n${index}`);
    await client.sync();
  }
  server.server.reconfigure({ limits: { connections: 2 } });
  server.server.reconfigure({ limits: { connections: 2 } });
  await clients[0]?.untilClosed();
  for (const client of clients.slice(1)) await client.sync();
  assert.equal(server.server.stats().displaced, 1);
});

Deno.test("guests leave a quarter of the connections to accounts", async () => {
  const accounts = new TestAccounts({ worker: "pw" });
  await using server = startServer({ accounts, limits: { connections: 4 } });
  for (const nick of ["a", "b", "c"]) await server.client(nick);
  const fourth = await server.dial();
  fourth.send("NICK d", "USER d 0 * :d");
  const reason = "There are too many guests; log in to an account with SASL";
  assert.deepEqual(await fourth.untilClosed(), [
    `FAIL * ACCOUNT_REQUIRED ${reason}`,
    `ERROR Closing link: * (${reason})`,
  ]);
  await server.member("worker", "pw");
});

Deno.test("a client that registers too late is closed, and a silent one is pinged and closed", async () => {
  let now = 1_000_000;
  const limits = { registrationSeconds: 30, pingSeconds: 90 };
  await using server = startServer({ clock: () => now, limits });
  const silent = await server.client("silent");
  const unborn = await server.dial();
  unborn.send("NICK unborn");
  await unborn.sync();
  now += 31_000;
  assert.deepEqual(await unborn.untilClosed(), ["ERROR Closing link: * (Registration timed out)"]);
  now += 60_000;
  await silent.until("PING");
  silent.send("PONG x");
  await silent.sync();
  now += 91_000;
  await silent.until("PING");
  now += 91_000;
  assert.deepEqual(await silent.untilClosed(), [
    "ERROR Closing link: silent (Ping timeout: 90 seconds)",
  ]);
});
