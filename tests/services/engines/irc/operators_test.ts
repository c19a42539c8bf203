import assert from "node:assert/strict";
import type { TestClient } from "./support/client.ts";
import { COMMANDS } from "../../../../services/engines/irc/commands/mod.ts";
import { startServer, TestAccounts, type TestServer } from "./support/server.ts";

Deno.test("KILL ends users for operators, but not the server's own", async () => {
  await using server = withAdmin();
  const operator = await operatorOf(server);
  const friend = await server.client("friend");
  const victim = await server.client("victim");
  await server.internal("bridge", { privileged: true });
  for (const client of [friend, victim]) {
    client.send("JOIN #c");
    await client.sync();
  }
  await friend.sync();
  friend.send("KILL victim :because");
  assert.deepEqual(await friend.sync(), [
    "481 friend Permission denied: you are not an IRC operator",
  ]);
  operator.send("KILL nobody", "KILL bridge :no", "KILL victim :flooding");
  assert.deepEqual(await operator.sync(), [
    "401 op nobody No such nick",
    "483 op This user belongs to the server",
  ]);
  assert.deepEqual(await victim.untilClosed(), [
    "op KILL victim flooding",
    "ERROR Closing link: victim (Killed (op (flooding)))",
  ]);
  assert.deepEqual(await friend.sync(), ["victim QUIT Killed (op (flooding))"]);
});

Deno.test("an operator with a withdrawn password loses the status", async () => {
  await using server = withAdmin();
  const operator = await operatorOf(server);
  server.server.disconnectAccount("Admin", "Password changed");
  assert.deepEqual(await operator.sync(), ["op MODE op -o"]);
  operator.send("WALLOPS :still here");
  assert.deepEqual((await operator.sync()).map((line) => line.split(" ")[0]), ["481"]);
});

Deno.test("WALLOPS goes from operators to users that asked for it", async () => {
  await using server = withAdmin();
  const operator = await operatorOf(server);
  const curious = await server.client("curious");
  const other = await server.client("other");
  curious.send("MODE curious +w");
  assert.deepEqual(await curious.sync(), ["curious MODE curious +w"]);
  other.send("WALLOPS :hello");
  assert.deepEqual((await other.sync()).map((line) => line.split(" ")[0]), ["481"]);
  operator.send("WALLOPS :maintenance at noon");
  assert.deepEqual(await operator.sync(), []);
  assert.deepEqual(await curious.sync(), ["op WALLOPS maintenance at noon"]);
  assert.deepEqual(await other.sync(), []);
});

Deno.test("INVITE without parameters lists valid invitations", async () => {
  await using server = startServer();
  const host = await server.client("host");
  const guest = await server.client("guest");
  host.send("JOIN #a", "JOIN #b", "INVITE guest #a", "INVITE guest #b", "INVITE guest");
  assert.equal((await host.sync()).at(-1), "461 host INVITE Not enough parameters");
  await guest.sync();
  guest.send("INVITE", "JOIN #a");
  assert.deepEqual((await guest.sync()).slice(0, 3), [
    "336 guest #a",
    "336 guest #b",
    "337 guest End of /INVITE list",
  ]);
  guest.send("INVITE");
  assert.deepEqual(await guest.sync(), ["336 guest #b", "337 guest End of /INVITE list"]);
});

Deno.test("mode C keeps CTCP out of a channel, except ACTION", async () => {
  await using server = startServer();
  const host = await server.client("host");
  const guest = await server.client("guest");
  for (const client of [host, guest]) {
    client.send("JOIN #c", "MODE #c +C");
    await client.sync();
  }
  await host.sync();
  const ctcp = ["\x01VERSION\x01", "\x01ACTION waves\x01"];
  guest.send(...ctcp.map((text) => `PRIVMSG #c :${text}`), "NOTICE #c :\x01PING 1\x01");
  assert.deepEqual(await guest.sync(), ["404 guest #c Cannot send to channel"]);
  assert.deepEqual(await host.sync(), ["guest PRIVMSG #c \x01ACTION waves\x01"]);
});

Deno.test("the server answers queries about itself", async () => {
  let now = Date.UTC(2030, 0, 1);
  await using server = startServer({ clock: () => now, version: "muster-1" });
  const client = await server.client("bob");
  now += (86_400 + 3661) * 1000;
  client.send("INFO", "LINKS", "ADMIN", "STATS u", "STATS");
  assert.deepEqual(await client.sync(), [
    "371 bob irc.test: a server under test",
    "371 bob muster-1",
    "371 bob Started at 2030-01-01T00:00:00.000Z",
    "374 bob End of /INFO list",
    "364 bob irc.test irc.test 0 a server under test",
    "365 bob * End of /LINKS list",
    "423 bob irc.test No administrative info available",
    "242 bob Server up 1 days 01:01:01",
    "219 bob u End of /STATS report",
    "219 bob * End of /STATS report",
  ]);
});

Deno.test("the table of commands is in alphabetical order", () => {
  assert.deepEqual([...COMMANDS.keys()], [...COMMANDS.keys()].toSorted());
});

Deno.test("HELP knows every command", async () => {
  await using server = startServer();
  const client = await server.client("bob");
  client.send("HELP");
  const index = (await client.syncMessages()).filter(({ command }) => command === "705")
    .flatMap(({ params }) => params.at(-1)?.split(" ") ?? []);
  assert.deepEqual(index.toSorted(), [...COMMANDS.keys()].toSorted());
  client.send("HELPOP invite", "HELP nonsense");
  assert.deepEqual(await client.sync(), [
    "704 bob invite INVITE [nick channel]",
    "705 bob invite Invites a user, or lists your invitations.",
    "706 bob invite End of help",
    "524 bob nonsense No help is available on this subject",
  ]);
});

Deno.test("the README of the engine lists every command in alphabetical order", async () => {
  const url = new URL("../../../../services/engines/irc/README.md", import.meta.url);
  const text = await Deno.readTextFile(url);
  const list = /^## Commands\n\n(.*?)\n\n/ms.exec(text)?.[1] ?? "";
  const listed = list.replace(/ \(.*?\)|\.$/g, "").split(/,\s/);
  assert.deepEqual(listed, [...COMMANDS.keys()]);
});

function withAdmin(): TestServer {
  return startServer({ accounts: new TestAccounts({ admin: "secret" }) });
}

async function operatorOf(server: TestServer): Promise<TestClient> {
  const client = await server.client("op");
  client.send("OPER admin secret");
  await client.until("MODE");
  return client;
}
