import assert from "node:assert/strict";
import { startServer, TestAccounts } from "./support/server.ts";

const said = ["one", "two", "three"];

Deno.test("a client without CHATHISTORY sees the last messages with their times when it joins", async () => {
  const accounts = new TestAccounts({ ann: "secret", worker: "secret" });
  accounts.actsOnMessages = (account) => account === "worker";
  await using server = startServer({ accounts, limits: { replayMessages: 2 } });
  const speaker = await server.client("speaker", "server-time");
  speaker.send("JOIN #c", ...said.map((text) => `PRIVMSG #c :${text}`), "TOPIC #c :news");
  await speaker.sync();

  const ann = await server.member("ann", "secret", "server-time batch");
  ann.send("JOIN #c");
  const shown = await ann.syncMessages();
  const [start, ...inBatch] = shown.slice(shown.findIndex(({ command }) => command === "366") + 1);
  assert.deepEqual(start?.params.slice(1), ["chathistory", "#c"]);
  const reference = start?.params[0]?.slice(1);
  const messages = inBatch.filter(({ tags }) => tags.get("batch") === reference);
  assert.deepEqual(messages.map(({ params }) => params[1]), ["two", "three"]);
  assert.ok(messages.every(({ tags }) => tags.has("time")));

  const others: [string, Promise<Awaited<ReturnType<typeof server.client>>>][] = [
    ["a client that shows no times", server.client("old")],
    ["one that asks itself", server.client("modern", "server-time draft/chathistory")],
    ["one that acts on what it reads", server.member("worker", "secret", "server-time")],
  ];
  for (const [what, connecting] of others) {
    const client = await connecting;
    client.send("JOIN #c");
    const told = await client.syncMessages();
    assert.ok(!told.some(({ command }) => command === "PRIVMSG"), what);
  }
});
