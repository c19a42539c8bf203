import assert from "node:assert/strict";
import type { ObservedMessage } from "../../../../services/engines/irc/mod.ts";
import { startServer, TestAccounts } from "./support/server.ts";

Deno.test("an operator relays the words of users elsewhere, also into the history", async () => {
  const observed: ObservedMessage[] = [];
  await using server = startServer({
    observer: { messageSent: (message) => observed.push(message) },
  });
  const relay = await server.client("relay", "echo-message labeled-response batch");
  const reader = await server.client("reader", "draft/relaymsg draft/chathistory batch");
  const plain = await server.client("plain", "account-tag message-tags");
  for (const client of [relay, reader, plain]) client.send("JOIN #c");
  for (const client of [relay, reader, plain]) await client.sync();
  for (const client of [relay, reader]) await client.sync();

  relay.send("@label=x RELAYMSG #C ann/elsewhere :hello there");
  const [echo] = await relay.syncMessages();
  assert.equal(echo?.tags.get("label"), "x");
  const [heard] = await reader.syncMessages();
  assert.match(heard?.source ?? "", /^ann\/elsewhere!~relay@/);
  assert.deepEqual(heard?.params, ["#c", "hello there"]);
  assert.equal(heard?.tags.get("draft/relaymsg"), "relay");
  const [untold] = await plain.syncMessages();
  assert.deepEqual([...untold?.tags.keys() ?? []], ["msgid"]);
  assert.deepEqual(observed.map(({ sender, channel, text }) => [sender.nick, channel, text]), [
    ["ann/elsewhere", "#c", "hello there"],
  ]);

  reader.send("CHATHISTORY LATEST #c * 10");
  const played = (await reader.syncMessages()).filter(({ command }) => command === "PRIVMSG");
  assert.deepEqual(played.map(({ source, tags }) => [source, tags.get("draft/relaymsg")]), [
    [heard?.source, "relay"],
  ]);
});

Deno.test("RELAYMSG explains errors and needs an operator of the channel", async () => {
  const accounts = new TestAccounts({ paused: "secret" });
  accounts.muteReason = (account) => account === "paused" ? "You are paused" : null;
  await using server = startServer({ accounts, limits: { lineBytes: 512 } });
  const host = await server.client("host");
  const guest = await server.client("guest");
  for (const client of [host, guest]) {
    client.send("JOIN #c");
    await client.sync();
  }
  await host.sync();
  guest.send("RELAYMSG #c ann/x :hello", "RELAYMSG #none ann/x :hello", "RELAYMSG #c ann/x");
  assert.deepEqual(await guest.sync(), [
    "FAIL RELAYMSG PRIVS_NEEDED Only operators of the channel relay messages to it",
    "403 guest #none No such channel",
    "461 guest RELAYMSG Not enough parameters",
  ]);
  const nicks = ["ann", "/ann", "ann/", "a!n/x", "@ann/x", "a,n/x", `${"a".repeat(64)}/x`];
  for (const nick of nicks) {
    host.send(`RELAYMSG #c ${nick} :hello`);
    const [answer] = await host.sync();
    assert.match(answer ?? "", /^FAIL RELAYMSG INVALID_NICK /, nick);
  }
  host.send("RELAYMSG #c ann/x : ", `RELAYMSG #c ann/x :${"x".repeat(480)}`);
  host.send("MODE #c +b m:ann/*!*@*", "RELAYMSG #c ann/x :hello", "RELAYMSG #c bob/x :hello");
  assert.deepEqual(await host.sync(), [
    "FAIL RELAYMSG BLANK_MSG The message has no text",
    "417 host Input line was too long",
    "host MODE #c +b m:ann/*!*@*",
    "FAIL RELAYMSG BANNED This nick is banned from the channel",
  ]);
  assert.deepEqual(await guest.sync(), ["host MODE #c +b m:ann/*!*@*", "bob/x PRIVMSG #c hello"]);

  const paused = await server.internal("paused", { account: "paused" });
  paused.send("JOIN #d", "RELAYMSG #d ann/x :hello");
  assert.equal((await paused.sync()).at(-1), "FAIL RELAYMSG MUTED You are paused");
});
