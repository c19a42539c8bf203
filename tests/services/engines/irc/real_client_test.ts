import assert from "node:assert/strict";
import { Client } from "irc-framework";
import { startServer, TestAccounts } from "./support/server.ts";

interface ChannelMessage {
  nick: string;
  target: string;
  message: string;
  tags: Record<string, string>;
}

/** The next event of this name. */
function once<Event>(client: Client, name: string): Promise<Event> {
  return new Promise((resolve) => client.once(name, resolve));
}

Deno.test("irc-framework logs in, joins, talks, and sees its echo", async () => {
  const accounts = new TestAccounts({ agent: "secret" });
  await using server = startServer({ accounts, requireAccount: true });
  const human = await server.internal("human");
  human.send("JOIN #c");
  await human.sync();

  const client = new Client();
  client.connect({
    host: "127.0.0.1",
    port: server.port,
    nick: "agent",
    account: { account: "agent", password: "secret" },
    enable_echomessage: true,
    auto_reconnect: false,
    ping_interval: 0,
  });
  await once(client, "registered");
  assert.equal(client.user.nick, "agent");
  const list = once<{ users: { nick: string }[] }>(client, "userlist");
  client.join("#c");
  assert.deepEqual((await list).users.map(({ nick }) => nick), ["human", "agent"]);

  const echo = once<ChannelMessage>(client, "message");
  client.say("#c", "hello there");
  const { nick, message, tags } = await echo;
  assert.deepEqual([nick, message, tags["account"]], ["agent", "hello there", "agent"]);
  assert.ok(tags["msgid"] && tags["time"]);
  assert.ok((await human.sync()).includes("agent PRIVMSG #c hello there"));

  const heard = once<ChannelMessage>(client, "message");
  human.send("PRIVMSG #c :hello back");
  assert.equal((await heard).message, "hello back");

  const who = once<{ users: { nick: string; account: string }[] }>(client, "wholist");
  client.who("#c");
  assert.equal((await who).users.length, 2);
  const closed = once(client, "close");
  client.quit("done");
  await closed;
});
