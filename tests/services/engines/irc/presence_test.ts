import assert from "node:assert/strict";
import { startServer, TestAccounts } from "./support/server.ts";

Deno.test("a client that watches a nick learns when it is taken and when it is free", async () => {
  await using server = startServer();
  const watcher = await server.client("watcher");
  watcher.send("MONITOR + Bob,not!a@nick,watcher", "monitor +  ", "MONITOR X");
  assert.deepEqual(await watcher.sync(), [
    "730 watcher watcher!~watcher@" + await hostOf(server, "watcher"),
    "731 watcher Bob",
    "400 watcher MONITOR Unknown subcommand",
  ]);
  const bob = await server.client("bob");
  const mask = `~bob@${await hostOf(server, "bob")}`;
  bob.send("NICK BOB", "NICK robert", "NICK bob", "QUIT");
  await bob.untilClosed();
  assert.deepEqual(await watcher.sync(), [
    `730 watcher bob!${mask}`,
    "731 watcher BOB",
    `730 watcher bob!${mask}`,
    "731 watcher bob",
  ]);
  watcher.send("MONITOR L", "MONITOR - bob", "MONITOR S", "MONITOR C", "MONITOR L");
  assert.deepEqual((await watcher.sync()).map((line) => line.replace(/!.*/, "")), [
    "732 watcher Bob,watcher",
    "733 watcher End of MONITOR list",
    "730 watcher watcher",
    "733 watcher End of MONITOR list",
  ]);
});

Deno.test("a client may watch as many nicks as ISUPPORT says", async () => {
  await using server = startServer();
  const watcher = await server.client("watcher");
  watcher.send("VERSION");
  const told = (await watcher.sync()).join(" ").match(/ MONITOR=([0-9]+) /)?.[1];
  const nicks = Array.from({ length: Number(told) + 2 }, (_, index) => `n${index}`);
  watcher.send(`MONITOR + ${nicks.join(",")}`);
  const answers = await watcher.syncMessages();
  assert.deepEqual(answers.at(-1)?.params.slice(1, 3), [told, nicks.slice(-2).join(",")]);
  const offline = answers.filter(({ command }) => command === "731");
  assert.equal(offline.flatMap(({ params }) => params[1]?.split(",")).length, Number(told));
});

Deno.test("extended-monitor adds the other notifications, once each", async () => {
  await using server = startServer({ accounts: new TestAccounts({ zoe: "secret" }) });
  const wanted = "away-notify setname account-notify";
  const watcher = await server.client("watcher", `extended-monitor ${wanted}`);
  const simple = await server.client("simple", wanted);
  const silent = await server.client("silent", "extended-monitor");
  for (const client of [watcher, simple, silent]) {
    client.send("MONITOR + bob");
    await client.sync();
  }
  const bob = await server.client("bob", "sasl");
  bob.send("AWAY :lunch", "SETNAME :Robert", "JOIN #c");
  bob.logIn("zoe", "secret");
  await bob.until("903");
  await bob.sync();
  watcher.send("JOIN #c");
  await watcher.until("366");
  bob.send("AWAY");
  await bob.sync();
  assert.deepEqual(await watcher.sync(), ["bob AWAY"]);
  for (const client of [simple, silent]) {
    assert.deepEqual((await client.sync()).map((line) => line.split(" ")[0]), ["730"]);
  }
});

Deno.test("WHOWAS lists the former owners of a nick, the last one first", async () => {
  await using server = startServer({ clock: () => Date.UTC(2030, 0, 1) });
  for (const name of ["first", "second"]) {
    const client = await server.dial();
    client.send("NICK Bob", `USER ${name} 0 * :Real ${name}`);
    await client.until("422");
    client.send(name === "first" ? "QUIT" : "NICK robert");
    if (name === "first") await client.untilClosed();
    else await client.sync();
  }
  const asker = await server.client("asker");
  asker.send("WHOWAS bob 1", "WHOWAS bob 0", "WHOWAS nobody", "WHOWAS");
  const answers = (await asker.syncMessages()).map(({ command, params }) => {
    return [command, ...params.slice(1, command === "314" ? 3 : 2)].join(" ");
  });
  assert.deepEqual(answers, [
    ...["314 Bob ~second", "312 Bob", "369 bob"],
    ...["314 Bob ~second", "312 Bob", "314 Bob ~first", "312 Bob", "369 bob"],
    ...["406 nobody", "369 nobody", "431 No nickname given"],
  ]);
});

async function hostOf(server: ReturnType<typeof startServer>, nick: string): Promise<string> {
  const client = await server.client(`asks-${nick}`);
  client.send(`WHOIS ${nick}`);
  const host = (await client.syncMessages()).find(({ command }) => command === "311")?.params[3];
  await client.close();
  return host ?? "";
}
