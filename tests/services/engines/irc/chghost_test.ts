import assert from "node:assert/strict";
import { formatMessage, type Message } from "../../../../services/engines/irc/protocol/message.ts";
import type { TestClient } from "./support/client.ts";
import { startServer, TestAccounts, type TestServer } from "./support/server.ts";

async function anOperator(server: TestServer, capabilities = ""): Promise<TestClient> {
  const admin = await server.client("oper", capabilities);
  admin.send("OPER admin root");
  await admin.sync();
  return admin;
}

/** Everything that came, with its source, without tags. */
async function told(client: TestClient): Promise<string[]> {
  const messages = await client.syncMessages();
  return messages.map(({ source, command, params }: Message) => {
    return formatMessage({ source, command, params });
  });
}

Deno.test("a client sees a new host in the form that it supports", async () => {
  const changed: string[] = [];
  const accounts = new TestAccounts({ admin: "root" });
  const hostChanged = (event: { target: { nick: string }; host: string }) =>
    void changed.push(`${event.target.nick} ${event.host}`);
  await using server = startServer({ accounts, observer: { hostChanged } });
  const admin = await anOperator(server);
  const alice = await server.client("alice", "chghost");
  const aware = await server.client("aware", "chghost");
  const plain = await server.client("plain", "away-notify");
  const extended = await server.client("extended", "extended-join");
  const watcher = await server.client("watcher", "chghost extended-monitor");
  watcher.send("MONITOR + alice");
  for (const client of [alice, aware, plain, extended]) client.send("JOIN #c,#d");
  for (const client of [alice, aware, plain, extended, watcher]) await client.sync();
  alice.send("AWAY :out", "WHOIS alice");
  const cloak = (await alice.syncMessages()).find(({ command }) => command === "311")?.params[3];
  for (const client of [alice, aware, plain, extended]) await client.sync();

  admin.send("CHGHOST alice project/alice", "CHGHOST alice project/alice");
  await admin.sync();
  const change = `:alice!~alice@${cloak} CHGHOST ~alice project/alice`;
  const yours = ":irc.test 396 alice project/alice :is your host as others see it";
  assert.deepEqual(await told(alice), [change, yours, yours]);
  assert.deepEqual(await told(aware), [change]);
  assert.deepEqual(await told(watcher), [change]);
  const quit = `:alice!~alice@${cloak} QUIT :Changing host`;
  const mask = ":alice!~alice@project/alice";
  assert.deepEqual(await told(plain), [
    quit,
    `${mask} JOIN #c`,
    ":irc.test MODE #c +o alice",
    `${mask} AWAY out`,
    `${mask} JOIN #d`,
    ":irc.test MODE #d +o alice",
    `${mask} AWAY out`,
  ]);
  assert.deepEqual((await told(extended)).slice(0, 2), [quit, `${mask} JOIN #c * :Real alice`]);
  assert.deepEqual(changed, ["alice project/alice"]);
  alice.send("PRIVMSG #c :still here");
  await alice.sync();
  assert.deepEqual(await told(aware), [`${mask} PRIVMSG #c :still here`]);
  admin.send("CHGHOST alice *");
  await admin.sync();
  assert.deepEqual(await told(aware), [`${mask} CHGHOST ~alice ${cloak}`]);
});

Deno.test("a given host evades no ban, and a malformed host is refused", async () => {
  await using server = startServer({ accounts: new TestAccounts({ admin: "root" }) });
  const admin = await anOperator(server, "chghost");
  const guest = await server.client("guest");
  await server.internal("service", { account: "service", privileged: true });
  guest.send("WHOIS guest");
  const cloak = (await guest.syncMessages()).find(({ command }) => command === "311")?.params[3];
  admin.send("JOIN #c", `MODE #c +b *!*@${cloak}`, "CHGHOST guest elsewhere.example");
  await admin.sync();
  guest.send("JOIN #c");
  assert.equal((await guest.sync()).at(-1), "474 guest #c Cannot join channel (+b)");
  admin.send("MODE #c -b+b *!*@* *!*@elsewhere.example", `MODE #c -b *!*@${cloak}`);
  await admin.sync();
  guest.send("JOIN #c", "CHGHOST guest mine");
  const answers = (await guest.sync()).map((line) => line.split(" ")[0]);
  assert.deepEqual(answers, ["474", "481"]);
  const refused = "400 oper CHGHOST This is no host";
  const bad = ["a@b", "-x", "a..b", `x${"y".repeat(63)}`, "a!b"];
  admin.send(
    ...bad.map((host) => `CHGHOST guest ${host}`),
    "CHGHOST nobody a",
    "CHGHOST service a",
  );
  assert.deepEqual(await admin.sync(), [
    ...bad.map(() => refused),
    "401 oper nobody No such nick",
    "483 oper This user belongs to the server",
  ]);
  admin.send("CHGHOST oper staff.example");
  assert.deepEqual(await admin.sync(), [
    "oper CHGHOST ~oper staff.example",
    "396 oper staff.example is your host as others see it",
  ]);
});
