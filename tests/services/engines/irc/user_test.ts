import assert from "node:assert/strict";
import { type ObservedMessage, type User } from "../../../../services/engines/irc/mod.ts";
import { until } from "../../../support/until.ts";
import { startServer, TestAccounts, type TestServer } from "./support/server.ts";

const SCOUT = { nick: "scout", account: "scout", realname: "An agent" };

function addScout({ server }: TestServer, channel = "#a"): User {
  const user = server.addUser(SCOUT);
  assert.ok(user !== null);
  assert.equal(user.join(channel), null);
  return user;
}

function accounts(): TestAccounts {
  return new TestAccounts({ scout: "secret", ann: "secret" });
}

Deno.test("a user without a connection is a user like any other", async () => {
  await using world = startServer({ accounts: accounts() });
  const ann = await world.member("ann", "secret");
  ann.send("JOIN #a");
  await ann.sync();
  const scout = addScout(world);
  assert.deepEqual(await ann.sync(), ["scout JOIN #a"]);
  ann.send("NAMES #a", "WHOIS scout", "PRIVMSG scout :psst", "WHO #a");
  const shown = await ann.sync();
  assert.ok(shown.includes("353 ann = #a @ann scout"), shown.join("\n"));
  assert.ok(shown.includes("311 ann scout agent irc.test * An agent"), shown.join("\n"));
  assert.ok(shown.includes("330 ann scout scout is logged in as"));
  assert.ok(!shown.some((line) => line.startsWith("401")));
  assert.deepEqual(scout.say("#a", ["one", "two"]).kind, "sent");
  assert.deepEqual(await ann.sync(), ["scout PRIVMSG #a one", "scout PRIVMSG #a two"]);
  assert.equal(world.server.isOnline("scout"), false);
  const { clients, registered, virtual } = world.server.stats();
  assert.deepEqual({ clients, registered, virtual }, { clients: 1, registered: 2, virtual: 1 });
  assert.equal(world.server.isMember("scout", "#A"), true);
  scout.part("#a");
  scout.leave("Gone");
  assert.deepEqual(await ann.sync(), ["scout PART #a"]);
  assert.equal(world.server.findUser(SCOUT), null);
});

Deno.test("a channel's modes bind a user without a connection, and it can be kicked", async () => {
  await using world = startServer({ accounts: accounts() });
  const op = await world.member("ann", "secret");
  op.send("JOIN #a", "JOIN #b", "MODE #a +m", "MODE #b +i");
  await op.sync();
  const scout = addScout(world);
  const refused = { kind: "refused", reason: "Cannot send to channel" };
  assert.deepEqual(scout.say("#a", ["hi"]), refused);
  assert.deepEqual(scout.say("#b", ["hi"]), {
    kind: "refused",
    reason: "Cannot join channel (+i)",
  });
  op.send("MODE #a +v scout", "MODE #b +b scout!*@*");
  await op.sync();
  assert.equal(scout.say("#a", ["hi"]).kind, "sent");
  op.send("MODE #a +b scout!*@*", "KICK #a scout");
  await op.sync();
  assert.equal(scout.isIn("#a"), false);
  assert.deepEqual(scout.say("#a", ["hi"]), {
    kind: "refused",
    reason: "Cannot join channel (+b)",
  });
});

Deno.test("a login of the account takes the nick from the user without a connection", async () => {
  await using world = startServer({ accounts: accounts() });
  const eve = await world.member("ann", "secret");
  eve.send("JOIN #a");
  await eve.sync();
  const scout = addScout(world);
  await eve.sync();
  const session = await world.member("scout", "secret");
  session.send("JOIN #a");
  await session.sync();
  assert.deepEqual(await eve.sync(), []);
  assert.equal(world.server.addUser(SCOUT), null);
  assert.equal(world.server.findUser(SCOUT)?.virtual, false);
  scout.leave("Too late");
  assert.deepEqual(await eve.sync(), []);
});

Deno.test("a message for a live session comes from the session and does not move it", async () => {
  await using world = startServer({ accounts: accounts() });
  const eve = await world.client("eve");
  eve.send("JOIN #a", "JOIN #b", "MODE #b +i");
  const session = await world.member("scout", "secret", "echo-message");
  await eve.sync();
  const user = world.server.findUser(SCOUT);
  assert.equal(user?.join("#a"), null);
  assert.equal(user?.say("#a", ["from afar"]).kind, "sent");
  assert.equal(user?.say("#b", ["hi"]).kind, "refused");
  assert.deepEqual(user?.say("#none", ["hi"]), { kind: "refused", reason: "No such channel" });
  user?.leave("No");
  assert.deepEqual(await eve.sync(), ["scout PRIVMSG #a from afar"]);
  assert.deepEqual(await session.sync(), ["scout PRIVMSG #a from afar"]);
});

Deno.test("disconnecting the account ends its user without a connection", async () => {
  await using world = startServer({ accounts: accounts() });
  const scout = addScout(world);
  assert.equal(world.server.disconnectAccount("scout", "Revoked"), 1);
  assert.equal(scout.isIn("#a"), false);
  assert.equal(world.server.findUser(SCOUT), null);
});

Deno.test("a nick of the server's own clients cannot be taken", async () => {
  await using world = startServer({ accounts: accounts() });
  await world.internal("ann");
  assert.equal(world.server.addUser({ ...SCOUT, nick: "ann", account: "ann" }), null);
});

Deno.test("observers see every accepted message once", async () => {
  const seen: Omit<ObservedMessage, "id" | "time">[] = [];
  const ids = new Set<string>();
  const observer = {
    messageSent({ id, time, ...message }: ObservedMessage) {
      ids.add(id);
      assert.ok(time > 0);
      seen.push(message);
    },
  };
  await using world = startServer({ accounts: accounts(), observer });
  const eve = await world.client("eve", "message-tags");
  eve.send("JOIN #a", "PRIVMSG #a :hello", "NOTICE @#a :ops", "TAGMSG #a", "PRIVMSG nobody :x");
  await eve.sync();
  addScout(world);
  eve.send("@+draft/reply=one PRIVMSG SCOUT :psst");
  await eve.sync();
  const sender = { nick: "eve", account: null, address: "127.0.0.1" };
  const receiver = { nick: "scout", account: "scout", address: "internal" };
  const isRelayed = false;
  const inChannel = { sender, channel: "#a", receiver: null, answered: null, isRelayed };
  const toScout = { sender, channel: null, receiver, answered: "one", isRelayed };
  assert.deepEqual(seen, [
    { ...inChannel, command: "PRIVMSG", statusPrefix: "", text: "hello" },
    { ...inChannel, command: "NOTICE", statusPrefix: "@", text: "ops" },
    { ...toScout, command: "PRIVMSG", statusPrefix: "", text: "psst" },
  ]);
  assert.equal(ids.size, 3);
});

Deno.test("a muted account keeps its session and learns why nothing it says arrives", async () => {
  const held = accounts();
  let reason: string | null = "Paused: too loud";
  held.muteReason = () => reason;
  await using world = startServer({ accounts: held });
  const eve = await world.client("eve");
  eve.send("JOIN #a");
  const scout = await world.member("scout", "secret", "message-tags");
  scout.send("JOIN #a");
  await scout.sync();
  await eve.sync();
  scout.send("PRIVMSG #a,eve :hi", "NOTICE #a :hi", "TAGMSG eve");
  assert.deepEqual(await scout.sync(), [
    "404 scout #a Paused: too loud",
    "531 scout eve Paused: too loud",
    "FAIL NOTICE MUTED #a Paused: too loud",
    "531 scout eve Paused: too loud",
  ]);
  assert.deepEqual(await eve.sync(), []);
  reason = null;
  scout.send("PRIVMSG #a :hi");
  await scout.sync();
  assert.deepEqual(await eve.sync(), ["scout PRIVMSG #a hi"]);
});

Deno.test("an account's own rate delays its messages and loses none", async () => {
  const held = accounts();
  const asked: string[] = [];
  held.messageDelay = (account) => asked.push(account) === 1 ? 0 : 1;
  await using world = startServer({ accounts: held });
  const eve = await world.client("eve");
  eve.send("JOIN #a");
  const scout = await world.member("scout", "secret");
  scout.send("JOIN #a", "PRIVMSG #a :1", "PRIVMSG #a :2", "PRIVMSG #a :3");
  await scout.sync();
  const heard = (await eve.sync()).filter((line) => line.includes("PRIVMSG"));
  assert.deepEqual(heard, ["scout PRIVMSG #a 1", "scout PRIVMSG #a 2", "scout PRIVMSG #a 3"]);
  assert.deepEqual(asked, ["scout", "scout", "scout"]);
});

Deno.test("a client that leaves while its message waits holds up nothing", async () => {
  const held = accounts();
  held.messageDelay = () => 3_600_000;
  await using world = startServer({ accounts: held });
  const scout = await world.member("scout", "secret");
  scout.send("PRIVMSG scout :never");
  await until(() => world.server.stats().messagesIn > 5);
  assert.equal(world.server.disconnectAccount("scout", "Enough"), 1);
  const lines = await scout.untilClosed();
  assert.match(lines.at(-1) ?? "", /^ERROR .*Enough/);
});
