import assert from "node:assert/strict";
import type { JudgedMessage, SpeechGuard } from "../../../../services/engines/irc/mod.ts";
import { startServer, TestAccounts } from "./support/server.ts";

/** Refuses what contains the word, and keeps all that it is asked about. */
class WordGuard implements SpeechGuard {
  readonly judged: JudgedMessage[] = [];

  judge(message: JudgedMessage): string | null {
    this.judged.push(message);
    if (message.text.includes("broken")) throw new TypeError("The guard is broken");
    return message.text.includes("no") ? "You may not say that" : null;
  }
}

function accounts(): TestAccounts {
  return new TestAccounts({ ann: "secret", bob: "secret" });
}

Deno.test("the guard decides before anybody receives a message to a channel", async () => {
  await using world = startServer({ accounts: accounts() });
  const guard = new WordGuard();
  world.server.setGuard(guard);
  const ann = await world.member("ann", "secret");
  const bob = await world.member("bob", "secret", "message-tags echo-message");
  ann.send("JOIN #a");
  await ann.sync();
  bob.send("JOIN #a", "PRIVMSG #a :yes", "PRIVMSG #a :no", "NOTICE #a :no");
  assert.deepEqual((await bob.sync()).slice(-3), [
    "bob PRIVMSG #a yes",
    "404 bob #a You may not say that",
    "FAIL NOTICE MUTED #a You may not say that",
  ]);
  assert.deepEqual(await ann.sync(), ["bob JOIN #a", "bob PRIVMSG #a yes"]);
  bob.send("PRIVMSG ann :no", "@+typing=active TAGMSG #a");
  await bob.sync();
  assert.deepEqual(await ann.sync(), ["bob PRIVMSG ann no"]);
  const seen = guard.judged.map(({ sender, command, text }) => [sender.account, command, text]);
  assert.deepEqual(seen, [
    ["bob", "PRIVMSG", "yes"],
    ["bob", "PRIVMSG", "no"],
    ["bob", "NOTICE", "no"],
    ["bob", "TAGMSG", ""],
  ]);
});

Deno.test("the guard learns who is operator, and is not asked about the program's clients", async () => {
  await using world = startServer({ accounts: accounts() });
  const guard = new WordGuard();
  world.server.setGuard(guard);
  const ann = await world.member("ann", "secret");
  const bob = await world.member("bob", "secret");
  const bridge = await world.internal("bridge", { privileged: true });
  ann.send("JOIN #a", "PRIVMSG #a :from the operator of the channel");
  await ann.sync();
  bob.send("JOIN #a", "PRIVMSG #a :from a member");
  await bob.sync();
  bridge.send("JOIN #a", "PRIVMSG #a :no");
  await bridge.sync();
  assert.deepEqual(guard.judged.map(({ sender, isOperator }) => [sender.nick, isOperator]), [
    ["ann", true],
    ["bob", false],
  ]);
  assert.ok((await bob.sync()).includes("bridge PRIVMSG #a no"));
});

Deno.test("what the program says for a user is judged too", async () => {
  await using world = startServer({ accounts: accounts() });
  world.server.setGuard(new WordGuard());
  const scout = world.server.addUser({ nick: "scout", account: "scout", realname: "An agent" });
  assert.ok(scout !== null);
  assert.equal(scout.join("#a"), null);
  assert.deepEqual(scout.say("#a", ["no"]), { kind: "refused", reason: "You may not say that" });
  world.server.setGuard(null);
  assert.equal(scout.say("#a", ["no"]).kind, "sent");
});

Deno.test("a guard that throws lets the message pass", async () => {
  await using world = startServer({ accounts: accounts() });
  world.server.setGuard(new WordGuard());
  const ann = await world.member("ann", "secret", "echo-message");
  ann.send("JOIN #a", "PRIVMSG #a :broken");
  assert.equal((await ann.sync()).at(-1), "ann PRIVMSG #a broken");
});

Deno.test("a post of several lines is judged once, and refused as a whole", async () => {
  await using world = startServer({ accounts: accounts() });
  const guard = new WordGuard();
  world.server.setGuard(guard);
  const ann = await world.member("ann", "secret");
  ann.send("JOIN #a");
  await ann.sync();
  const scout = world.server.addUser({ nick: "scout", account: "scout", realname: "An agent" });
  assert.equal(scout?.join("#a"), null);
  assert.equal(scout?.say("#a", ["yes", "well, no"]).kind, "refused");
  assert.equal(scout?.say("#a", ["yes", "indeed"]).kind, "sent");
  const said = ["scout JOIN #a", "scout PRIVMSG #a yes", "scout PRIVMSG #a indeed"];
  assert.deepEqual(await ann.sync(), said);
  assert.deepEqual(guard.judged.map(({ text }) => text), ["yes\nwell, no", "yes\nindeed"]);
});

Deno.test("the program sees who is there, and who is away", async () => {
  await using world = startServer({ accounts: accounts() });
  const ann = await world.member("ann", "secret");
  ann.send("AWAY :lunch");
  await ann.sync();
  const { nick, account, isAway, isBot, isOperator } = world.server.present("ANN") ?? {};
  assert.deepEqual([nick, account, isAway, isBot, isOperator], ["ann", "ann", true, false, false]);
  assert.equal(world.server.present("bob"), null);
});
