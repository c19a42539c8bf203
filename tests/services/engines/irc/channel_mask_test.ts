import assert from "node:assert/strict";
import type { TestClient } from "./support/client.ts";
import { startServer, TestAccounts, type TestServer } from "./support/server.ts";

Deno.test("ISUPPORT lists the extended masks, and the one for accounts", async () => {
  await using server = startServer();
  const client = await server.client("ann");
  client.send("VERSION");
  const tokens = (await client.sync()).join(" ").split(" ");
  assert.ok(tokens.includes("EXTBAN=,am"));
  assert.ok(tokens.includes("ACCOUNTEXTBAN=a"));
});

Deno.test("a mask of an account keeps it out under every nick, and nobody else", async () => {
  await using server = withAccounts();
  const host = await channelOf(loggedIn(server, "host", "host"));
  host.send("MODE #c +b a:Bob", "MODE #c +b");
  const [mode, entry] = await host.sync();
  assert.equal(mode, "host MODE #c +b a:Bob");
  assert.match(entry ?? "", /^367 host #c a:Bob host!/);

  const bob = await loggedIn(server, "bob", "robert");
  bob.send("JOIN #c");
  assert.deepEqual(await bob.sync(), ["474 robert #c Cannot join channel (+b)"]);
  const stranger = await server.client("Bobby");
  stranger.send("JOIN #c");
  assert.equal((await stranger.sync())[0], "Bobby JOIN #c");

  host.send("MODE #c -b A:bob");
  await host.sync();
  bob.send("JOIN #c");
  assert.equal((await bob.sync())[0], "robert JOIN #c");
});

Deno.test("masks of accounts except from bans and from +i, also with wildcards", async () => {
  await using server = withAccounts();
  const host = await channelOf(loggedIn(server, "host", "host"));
  const bob = await loggedIn(server, "bob", "bob");
  host.send("MODE #c +b *!*@*", "MODE #c +e a:b?b");
  await host.sync();
  bob.send("JOIN #c");
  assert.equal((await bob.sync())[0], "bob JOIN #c");
  host.send("MODE #c -be *!*@* a:b?b", "MODE #c +iI a:*");
  await host.sync();
  bob.send("PART #c");
  await bob.sync();
  bob.send("JOIN #c");
  assert.equal((await bob.sync())[0], "bob JOIN #c");
  const stranger = await server.client("stranger");
  stranger.send("JOIN #c");
  assert.deepEqual(await stranger.sync(), ["473 stranger #c Cannot join channel (+i)"]);
});

Deno.test("a muted user may join and listen, but not speak or set the topic", async () => {
  await using server = startServer();
  const host = await channelOf(server.client("host"));
  host.send("MODE #c -t+b m:GUEST", "MODE #c +b");
  const [mode, entry] = await host.sync();
  assert.equal(mode, "host MODE #c -t+b m:GUEST!*@*");
  assert.match(entry ?? "", /^367 host #c m:GUEST!\*@\* host!/);
  const guest = await server.client("guest", "message-tags");
  guest.send("JOIN #c");
  assert.equal((await guest.sync())[0], "guest JOIN #c");
  guest.send("PRIVMSG #c :hello", "TAGMSG #c", "NOTICE #c :hello", "TOPIC #c :mine");
  assert.deepEqual(await guest.sync(), [
    "404 guest #c Cannot send to channel",
    "404 guest #c Cannot send to channel",
    "482 guest #c You are not a channel operator",
  ]);
  assert.deepEqual(await host.sync(), ["guest JOIN #c"]);

  host.send("MODE #c +v guest");
  await host.sync();
  guest.send("PRIVMSG #c :with a voice");
  await guest.sync();
  assert.deepEqual(await host.sync(), ["guest PRIVMSG #c with a voice"]);
  host.send("MODE #c -v guest", "MODE #c -b m:guest!*@*");
  await host.sync();
  guest.send("PRIVMSG #c :without");
  await guest.sync();
  assert.deepEqual(await host.sync(), ["guest PRIVMSG #c without"]);
});

Deno.test("an exception from mutes or bans allows speech; a muted account is muted under any nick", async () => {
  await using server = withAccounts();
  const host = await channelOf(loggedIn(server, "host", "host"));
  const bob = await loggedIn(server, "bob", "robert");
  bob.send("JOIN #c");
  await bob.sync();
  host.send("MODE #c +b m:a:bob");
  await host.sync();
  for (const exception of ["m:*!~robert@*", "a:bob"]) {
    bob.send("PRIVMSG #c :before");
    assert.equal((await bob.sync()).at(-1), "404 robert #c Cannot send to channel");
    host.send(`MODE #c +e ${exception}`);
    await host.sync();
    bob.send(`PRIVMSG #c :${exception}`);
    await bob.sync();
    assert.deepEqual(await host.sync(), [`robert PRIVMSG #c ${exception}`]);
    host.send(`MODE #c -e ${exception}`);
    await host.sync();
  }
});

Deno.test("masks of no known kind are refused", async () => {
  await using server = startServer();
  const host = await channelOf(server.client("host"));
  const masks = ["x:ann", "a:", "m:", "m:m:ann", "m:x:ann"];
  host.send(...masks.map((mask) => `MODE #c +b ${mask}`), "MODE #c +I m:ann");
  assert.deepEqual(await host.sync(), [
    ...masks.map((mask) => `696 host #c b ${mask} Mask is not valid`),
    "696 host #c I m:ann Mask is not valid",
  ]);
});

function withAccounts(): TestServer {
  return startServer({ accounts: new TestAccounts({ bob: "secret", host: "secret" }) });
}

async function channelOf(operator: Promise<TestClient>): Promise<TestClient> {
  const host = await operator;
  host.send("JOIN #c");
  await host.sync();
  return host;
}

async function loggedIn(server: TestServer, account: string, nick: string): Promise<TestClient> {
  const client = await server.dial();
  client.send("CAP REQ :sasl");
  client.logIn(account, "secret");
  await client.until("903");
  await client.register(nick, "sasl");
  return client;
}
