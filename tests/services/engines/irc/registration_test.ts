import assert from "node:assert/strict";
import { startServer, TestAccounts } from "./support/server.ts";

const PASSWORDS = { alice: "secret", admin: "master" };

Deno.test("a client that sends NICK and USER is registered and greeted", async () => {
  await using server = startServer({ motd: "Be kind\nand brief" });
  const client = await server.dial();
  client.send("NICK bob", "USER bob 0 * :Bob");
  const messages = await client.until("376");
  const commands = messages.map(({ command }) => command);
  assert.deepEqual(commands.slice(0, 4), ["001", "002", "003", "004"]);
  const tokens = messages.filter(({ command }) => command === "005");
  for (const { params } of tokens) {
    assert.ok(params.length <= 15);
    assert.equal(params.at(-1), "are supported by this server");
  }
  const isupport = tokens.flatMap(({ params }) => params.slice(1, -1));
  for (
    const token of ["CASEMAPPING=ascii", "LINELEN=8192", "BOT=B", "NICKLEN=64", "UTF8ONLY", "WHOX"]
  ) {
    assert.ok(isupport.includes(token), token);
  }
  const motd = messages.filter(({ command }) => command === "372");
  assert.deepEqual(motd.map(({ params }) => params[1]), ["- Be kind", "- and brief"]);
});

Deno.test("CAP holds registration until END, and answers all or nothing", async () => {
  await using server = startServer();
  const client = await server.dial();
  const offered = await client.offered();
  assert.ok(["account-notify", "sasl=PLAIN"].every((name) => offered.includes(name)));
  client.send("NICK bob", "USER bob 0 * :Bob");
  client.send("CAP REQ :multi-prefix no-such-thing", "CAP LIST");
  client.send("CAP REQ :server-time -multi-prefix", "CAP LIST", "CAP WHAT");
  assert.deepEqual(await client.sync(), [
    "CAP * NAK multi-prefix no-such-thing",
    "CAP * LIST cap-notify",
    "CAP * ACK server-time -multi-prefix",
    "CAP * LIST server-time cap-notify",
    "410 * WHAT Invalid CAP command",
  ]);
  client.send("CAP END");
  const [welcome] = await client.until("001");
  assert.match(welcome?.tags.get("time") ?? "", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
});

Deno.test("the first line of CAP LS has the capabilities that clients need most", async () => {
  await using server = startServer();
  const client = await server.dial();
  client.send("CAP LS 302");
  const [first] = await client.syncMessages();
  assert.deepEqual(first?.params.slice(0, 3), ["*", "LS", "*"], "more lines follow");
  const names = first?.params[3]?.split(" ") ?? [];
  assert.deepEqual(names.slice(0, 4), [
    "sasl=PLAIN",
    "message-tags",
    "echo-message",
    "server-time",
  ]);
});

Deno.test("an unregistered client can only register", async () => {
  await using server = startServer();
  const client = await server.dial();
  client.send("JOIN #c", "PRIVMSG bob :hi", "NONSENSE", "NICK", "NICK 1bob", "USER bob 0 *");
  client.send("USER bob 0 * :", "PASS");
  assert.deepEqual(await client.sync(), [
    "451 * You have not registered",
    "451 * You have not registered",
    "451 * NONSENSE You have not registered",
    "431 * No nickname given",
    "432 * 1bob Erroneous nickname",
    "461 * USER Not enough parameters",
    "461 * USER Not enough parameters",
    "461 * PASS Not enough parameters",
  ]);
});

Deno.test("SASL PLAIN logs in, also in several pieces and after registration", async () => {
  const long = "p".repeat(600);
  const accounts = new TestAccounts({ ...PASSWORDS, long });
  await using server = startServer({ accounts });
  const client = await server.dial();
  client.send("CAP REQ :sasl", "NICK alice", "USER a 0 * :A");
  client.send("AUTHENTICATE EXTERNAL", "AUTHENTICATE plain", "AUTHENTICATE !!!");
  client.send("AUTHENTICATE PLAIN", "AUTHENTICATE *", "AUTHENTICATE PLAIN");
  client.send(`AUTHENTICATE ${"A".repeat(401)}`);
  client.logIn("alice", "wrong");
  client.logIn("Alice", "secret");
  assert.deepEqual(await client.sync(), [
    "CAP * ACK sasl",
    "908 * PLAIN are the available SASL mechanisms",
    "904 * SASL authentication failed",
    "AUTHENTICATE +",
    "904 * SASL authentication failed",
    "AUTHENTICATE +",
    "906 * SASL authentication aborted",
    "AUTHENTICATE +",
    "905 * SASL message too long",
    "AUTHENTICATE +",
    "904 * SASL authentication failed",
    "AUTHENTICATE +",
    "900 * * alice You are now logged in as alice",
    "903 * SASL authentication successful",
  ]);
  client.send("CAP END");
  await client.until("422");

  const payload = btoa(`\0long\0${long}`);
  client.send("AUTHENTICATE PLAIN");
  for (let at = 0; at <= payload.length; at += 400) {
    client.send(`AUTHENTICATE ${payload.slice(at, at + 400) || "+"}`);
  }
  assert.equal((await client.sync()).at(-1), "903 alice SASL authentication successful");
  assert.ok(server.server.isOnline("long") && !server.server.isOnline("alice"));
});

Deno.test("a login that cannot be checked explains why", async () => {
  await using server = startServer();
  const client = await server.dial();
  client.send("CAP REQ :sasl");
  server.accounts.outcome = { kind: "throttled", retryAfterSeconds: 60 };
  client.logIn("alice", "secret");
  await client.sync();
  server.accounts.outcome = { kind: "unavailable" };
  client.logIn("alice", "secret");
  assert.deepEqual(await client.sync(), [
    "AUTHENTICATE +",
    "904 * Logins are not possible at the moment",
  ]);
});

Deno.test("an account that is revoked while its password is checked stays out", async () => {
  const accounts = new TestAccounts(PASSWORDS);
  await using server = startServer({ accounts });
  const checked = Promise.withResolvers<void>();
  const waiting = Promise.withResolvers<void>();
  const verify = accounts.verify.bind(accounts);
  accounts.verify = async (name, password) => {
    waiting.resolve();
    await checked.promise;
    return await verify(name, password);
  };
  const client = await server.client("bob", "sasl");
  client.logIn("alice", "secret");
  await waiting.promise;
  assert.equal(server.server.disconnectAccount("alice", "Revoked"), 0);
  checked.resolve();
  assert.equal((await client.sync()).at(-1), "904 bob SASL authentication failed");
  assert.ok(!server.server.isOnline("alice"));
});

Deno.test("CAP END in the middle of a SASL exchange aborts it and registers", async () => {
  await using server = startServer();
  const client = await server.dial();
  client.send("CAP REQ :sasl", "AUTHENTICATE PLAIN", "NICK bob", "USER b 0 * :B", "CAP END");
  const commands = (await client.until("001")).map(({ command }) => command);
  assert.deepEqual(commands, ["CAP", "AUTHENTICATE", "906", "001"]);
});

Deno.test("lines after a login wait for it, in their order", async () => {
  await using server = startServer({ accounts: new TestAccounts(PASSWORDS) });
  const client = await server.dial();
  client.send("CAP REQ :sasl", "NICK alice", "USER a 0 * :A");
  client.logIn("alice", "secret");
  client.send("CAP END", "JOIN #c", "PRIVMSG #c :hi");
  const shown = (await client.until("366")).map(({ command }) => command);
  assert.ok(shown.indexOf("903") < shown.indexOf("001"));
  assert.ok(server.server.isOnline("alice"));
});

Deno.test("an owned or reserved nick is judged at the end of registration, never before", async () => {
  await using server = startServer({ accounts: new TestAccounts(PASSWORDS) });
  const stranger = await server.dial();
  stranger.send("NICK Alice");
  assert.deepEqual(await stranger.sync(), []);
  stranger.send("USER x 0 * :X", "NICK reserved", "NICK free");
  const messages = await stranger.until("422");
  assert.deepEqual(messages.slice(0, 3).map(({ command }) => command), ["433", "433", "001"]);
  stranger.send("NICK ALICE", "NICK free2");
  assert.deepEqual(await stranger.sync(), [
    "433 free ALICE Nickname is reserved for the account that owns it",
    "free NICK free2",
  ]);
});

Deno.test("two clients cannot have one nick, in any case", async () => {
  await using server = startServer();
  await server.client("bob");
  const second = await server.dial();
  second.send("NICK BOB", "USER x 0 * :X");
  assert.deepEqual(await second.sync(), ["433 * BOB Nickname is already in use"]);
});

Deno.test("an account takes its nick back from an older session of its own", async () => {
  await using server = startServer({ accounts: new TestAccounts(PASSWORDS) });
  const old = await server.member("alice", "secret");
  const watcher = await server.client("bob");
  for (const client of [old, watcher, old]) {
    client.send("JOIN #c");
    await client.sync();
  }
  const fresh = await server.member("alice", "secret");
  const reason = "Replaced by a newer session of the same account";
  assert.deepEqual(await old.untilClosed(), [`ERROR Closing link: alice (${reason})`]);
  assert.deepEqual(await watcher.sync(), [`alice QUIT ${reason}`]);
  fresh.send("JOIN #c");
  assert.equal((await fresh.sync())[0], "alice JOIN #c");
});

Deno.test("an account takes its nick from the user that held it before the account was made", async () => {
  const passwords: Record<string, string> = {};
  await using server = startServer({ accounts: new TestAccounts(passwords) });
  const squatter = await server.client("carol");
  passwords["carol"] = "new";
  const owner = await server.client("guest", "sasl");
  owner.logIn("carol", "new");
  owner.send("NICK carol");
  assert.equal((await owner.sync()).at(-1), "guest NICK carol");
  assert.deepEqual(await squatter.untilClosed(), [
    "ERROR Closing link: carol (Nick taken by its owner)",
  ]);
});

Deno.test("the server can require accounts", async () => {
  await using server = startServer({
    requireAccount: true,
    accounts: new TestAccounts(PASSWORDS),
  });
  await server.member("alice", "secret");
  const stranger = await server.dial();
  stranger.send("NICK bob", "USER b 0 * :B");
  assert.deepEqual(await stranger.untilClosed(), [
    "FAIL * ACCOUNT_REQUIRED You need to log in to an account with SASL",
    "ERROR Closing link: * (You need to log in to an account with SASL)",
  ]);
});

Deno.test("with requireAccount auto, loopback needs no account", async () => {
  await using server = startServer({ requireAccount: "auto" });
  await server.client("bob");
});

Deno.test("clients that do not log in need the server password", async () => {
  await using server = startServer({ password: "open", accounts: new TestAccounts(PASSWORDS) });
  await server.member("alice", "secret");
  const knowing = await server.dial();
  knowing.send("PASS open", "NICK bob", "USER b 0 * :B");
  await knowing.until("001");
  for (const first of ["PASS wrong", "PING x"]) {
    const stranger = await server.dial();
    stranger.send(first, "NICK eve", "USER e 0 * :E", "PASS open");
    const lines = await stranger.untilClosed();
    assert.deepEqual(lines.slice(-2), [
      "464 * Password incorrect",
      "ERROR Closing link: * (Password incorrect)",
    ]);
  }
});

Deno.test("PASS account:password logs in, with or without a password of the server", async () => {
  for (const password of ["", "open", "alice:open"]) {
    const accounts = new TestAccounts(PASSWORDS);
    await using server = startServer({ requireAccount: true, password, accounts });
    const client = await server.dial();
    client.send("PASS alice:secret", "NICK alice", "USER a 0 * :A");
    const [login] = await client.until("001");
    assert.equal(login?.command, "900");
    client.send("WHOIS alice");
    const whois = await client.until("318");
    assert.ok(whois.some(({ command, params }) => command === "330" && params[2] === "alice"));
  }
});

Deno.test("a wrong password in PASS closes the connection, and says why", async () => {
  const accounts = new TestAccounts(PASSWORDS);
  await using server = startServer({ accounts });
  const refused = async (line: string) => {
    const client = await server.dial();
    client.send(line, "NICK alice", "USER a 0 * :A");
    return await client.untilClosed();
  };
  const wrong = [
    "464 * Password incorrect",
    "ERROR Closing link: * (Password incorrect)",
  ];
  assert.deepEqual(await refused("PASS alice:wrong"), wrong);
  assert.deepEqual(await refused("PASS nobody:secret"), wrong);
  accounts.outcome = { kind: "throttled", retryAfterSeconds: 60 };
  const [throttled] = await refused("PASS alice:secret");
  assert.equal(throttled, "464 * Too many attempts, try again in 60 seconds");
  accounts.outcome = { kind: "unavailable" };
  const [unavailable] = await refused("PASS alice:secret");
  assert.equal(unavailable, "464 * Logins are not possible at the moment");
});

Deno.test("a password of the server may have a colon, and PASS is ignored if there is none", async () => {
  const accounts = new TestAccounts(PASSWORDS);
  await using closed = startServer({ password: "alice:wrong", accounts });
  const guest = await closed.dial();
  guest.send("PASS alice:wrong", "NICK bob", "USER b 0 * :B");
  await guest.until("001");
  await using open = startServer({ accounts });
  const other = await open.dial();
  for (const password of ["hello", ":x", "bob:", "not a nick:x"]) other.send(`PASS :${password}`);
  other.send("NICK bob", "USER b 0 * :B");
  await other.until("001");
});
