import assert from "node:assert/strict";
import { startServer, TestAccounts } from "./support/server.ts";

Deno.test("messages reach channels, statuses and users, and never their sender", async () => {
  await using server = startServer();
  const op = await server.client("op");
  const voiced = await server.client("voiced");
  const plain = await server.client("plain");
  for (const client of [op, voiced, plain]) {
    client.send("JOIN #c");
    await client.sync();
  }
  op.send("MODE #c +v voiced");
  for (const client of [op, voiced, plain]) await client.sync();
  plain.send(
    "PRIVMSG #C :all",
    "NOTICE @#c :ops",
    "PRIVMSG +#c,OP :more",
    "PRIVMSG op :\x01PING 1\x01",
  );
  assert.deepEqual(await plain.sync(), []);
  assert.deepEqual(await op.sync(), [
    "plain PRIVMSG #c all",
    "plain NOTICE @#c ops",
    "plain PRIVMSG +#c more",
    "plain PRIVMSG op more",
    "plain PRIVMSG op \x01PING 1\x01",
  ]);
  assert.deepEqual(await voiced.sync(), ["plain PRIVMSG #c all", "plain PRIVMSG +#c more"]);
});

Deno.test("a message that cannot be delivered is answered, a NOTICE never", async () => {
  await using server = startServer();
  const op = await server.client("op");
  const guest = await server.client("guest");
  op.send("JOIN #c", "JOIN #m", "MODE #m -n+m", "AWAY :lunch");
  await op.sync();
  const wrong = ["", " #c", " #x :hi", " #c :hi", " #m :hi", " nobody :hi", " a,b,c,d,e :hi"];
  guest.send(...wrong.map((rest) => `NOTICE${rest}`));
  guest.send(...wrong.map((rest) => `PRIVMSG${rest}`), "PRIVMSG op :hi");
  assert.deepEqual(await guest.sync(), [
    "411 guest No recipient given",
    "412 guest No text to send",
    "403 guest #x No such channel",
    "404 guest #c Cannot send to channel",
    "404 guest #m Cannot send to channel",
    "401 guest nobody No such nick",
    "407 guest e Too many recipients",
    "301 guest op lunch",
  ]);
});

Deno.test("banned members may not speak, voiced ones may", async () => {
  await using server = startServer();
  const op = await server.client("op");
  const guest = await server.client("guest");
  for (const client of [op, guest]) {
    client.send("JOIN #c");
    await client.sync();
  }
  op.send("MODE #c +b guest");
  await op.sync();
  guest.send("PRIVMSG #c :one");
  op.send("MODE #c +v guest");
  await op.sync();
  guest.send("PRIVMSG #c :two");
  assert.deepEqual((await guest.sync()).filter((line) => line.startsWith("4")), [
    "404 guest #c Cannot send to channel",
  ]);
});

Deno.test("clients that asked for tags get them, with client tags and TAGMSG", async () => {
  await using server = startServer({ accounts: new TestAccounts({ alice: "secret" }) });
  const plain = await server.client("plain");
  const full = await server.client("full", "message-tags server-time account-tag");
  const alice = await server.member("alice", "secret", "message-tags echo-message");
  for (const client of [plain, full, alice]) {
    client.send("JOIN #c");
    await client.sync();
  }
  for (const client of [plain, full]) await client.sync();
  alice.send("MODE alice +B");
  await alice.sync();
  alice.send("@+x=1\\s2;drop=me PRIVMSG #c :hi", "@+typing=active TAGMSG #c");
  const [echo, echoed] = await alice.syncMessages();
  const [message, tagmsg] = await full.syncMessages();
  assert.deepEqual(await plain.sync(), ["alice PRIVMSG #c hi"]);
  const tags = Object.fromEntries(message?.tags ?? []);
  assert.deepEqual(Object.keys(tags).sort(), ["+x", "account", "bot", "msgid", "time"]);
  assert.equal(tags["+x"], "1 2");
  assert.equal(tags["account"], "alice");
  assert.equal(echo?.tags.get("msgid"), tags["msgid"]);
  assert.equal(tagmsg?.command, "TAGMSG");
  assert.equal(echoed?.tags.get("+typing"), "active");
});

Deno.test("ids are unique and times never go back, even when the clock does", async () => {
  let now = 2_000_000_000_000;
  await using server = startServer({ clock: () => now });
  const client = await server.client("bob", "message-tags server-time echo-message");
  const seen: (string | undefined)[] = [];
  const times: string[] = [];
  for (const step of [0, 5, -60_000, 10]) {
    now += step;
    client.send("PRIVMSG bob :to myself");
    for (const { tags } of await client.syncMessages()) {
      seen.push(tags.get("msgid"));
      times.push(tags.get("time") ?? "");
    }
  }
  assert.equal(new Set(seen).size, 4, "a message to oneself has one id in both copies");
  assert.deepEqual(times, [...times].sort());
  assert.equal(times[0], "2033-05-18T03:33:20.000Z");
});

Deno.test("labeled-response marks one line, a batch of several, and nothing", async () => {
  await using server = startServer();
  const client = await server.client("bob", "labeled-response batch echo-message message-tags");
  client.send("@label=a PONG x", "@label=b PRIVMSG nobody :hi", "@label=c JOIN #c");
  client.send("@label=d PRIVMSG #c :hi", "@label=e NONSENSE", `@label=${"x".repeat(65)} PONG x`);
  const messages = await client.syncMessages();
  const [ack, failed, start, ...rest] = messages;
  assert.deepEqual([ack?.command, ack?.tags.get("label")], ["ACK", "a"]);
  assert.deepEqual([failed?.command, failed?.tags.get("label")], ["401", "b"]);
  assert.deepEqual([start?.command, start?.tags.get("label")], ["BATCH", "c"]);
  const reference = start?.params[0]?.slice(1) ?? "";
  const batched = rest.filter(({ tags }) => tags.get("batch") === reference);
  assert.deepEqual(batched.map(({ command }) => command), ["JOIN", "353", "366"]);
  assert.deepEqual(rest[3]?.params, [`-${reference}`]);
  assert.deepEqual(
    rest.slice(4).map(({ command, tags }) => [command, tags.get("label")]),
    [["PRIVMSG", "d"], ["421", "e"]],
  );
});

Deno.test("a long line is whole for clients that accept it and split for the others", async () => {
  await using server = startServer();
  const sender = await server.client("sender", "message-tags");
  const whole = await server.client("whole", "message-tags");
  const split = await server.client("split");
  for (const client of [sender, whole, split]) {
    client.send("JOIN #c");
    await client.sync();
  }
  for (const client of [sender, whole]) await client.sync();
  const text = "word \u{1f600}é".repeat(500);
  const action = `\x01ACTION ${"x".repeat(1000)}\x01`;
  sender.send(`PRIVMSG #c :${text}`, `PRIVMSG #c :${action}`);
  await sender.sync();
  const messages = await whole.syncMessages();
  assert.deepEqual(messages.map(({ params }) => params[1]), [text, action]);
  const texts: string[] = [];
  split.send("PING end");
  for (let line = await split.line(); !line?.includes("PONG"); line = await split.line()) {
    assert.ok(new TextEncoder().encode(`${line}\r\n`).length <= 512);
    texts.push(line?.slice(line.indexOf(" :") + 2) ?? "");
  }
  const actions = texts.filter((piece) => piece.startsWith("\x01"));
  assert.equal(actions.map((piece) => piece.slice(8, -1)).join(""), "x".repeat(1000));
  const words = texts.filter((piece) => !piece.startsWith("\x01")).join(" ");
  assert.equal(words.replaceAll(" ", ""), text.replaceAll(" ", ""));
});

Deno.test("members of shared channels see AWAY, SETNAME, NICK, ACCOUNT and QUIT", async () => {
  await using server = startServer({ accounts: new TestAccounts({ alice: "secret" }) });
  const watcher = await server.client("watcher", "away-notify setname account-notify");
  const plain = await server.client("plain");
  const bob = await server.client("bob", "sasl setname");
  for (const client of [watcher, plain, bob]) {
    client.send("JOIN #c", "JOIN #d");
    await client.sync();
  }
  for (const client of [watcher, plain]) await client.sync();
  bob.send("AWAY :out", "AWAY", "SETNAME :New name", "NICK rob");
  bob.logIn("alice", "secret");
  bob.send("SETNAME :", "QUIT :bye");
  const lines = await bob.untilClosed();
  assert.ok(lines.includes("FAIL SETNAME INVALID_REALNAME The real name is empty or too long"));
  assert.equal(lines.at(-1), "ERROR Closing link: rob (Quit: bye)");
  assert.deepEqual(await watcher.sync(), [
    "bob AWAY out",
    "bob AWAY",
    "bob SETNAME New name",
    "bob NICK rob",
    "rob ACCOUNT alice",
    "rob QUIT Quit: bye",
  ]);
  assert.deepEqual(await plain.sync(), ["bob NICK rob", "rob QUIT Quit: bye"]);
});

Deno.test("other clients get a command's effects before the sender gets its next reply", async () => {
  await using server = startServer();
  const alice = await server.client("alice");
  const bob = await server.client("bob");
  for (let round = 0; round < 20; round++) {
    alice.send(`PRIVMSG bob :${round}`);
    await alice.sync();
    assert.deepEqual(await bob.sync(), [`alice PRIVMSG bob ${round}`]);
  }
});
