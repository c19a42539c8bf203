import assert from "node:assert/strict";
import { startServer, TestAccounts } from "./support/server.ts";

/** Everything by which a user may look at another. */
const LOOKS = [
  ...["WHOIS bob", "WHO bob", "WHO #c", "WHO #c %tcuihsnfdlaor,1", "WHO 127.0.0.1", "USERHOST bob"],
  ...["NAMES #c", "WHOWAS gone", "CHATHISTORY LATEST #c * 50", "MONITOR + bob", "MODE #c b"],
];

/** Guesses at the address of a client on loopback. */
const GUESSES = ["127.0.0.1", "127.*", "*.0.0.1", "127.0.0.?", "::ffff:127.0.0.1", "127.0.0.0/8"];

Deno.test("the operator of a channel learns no address by trying bans, mutes, exceptions or invitations", async () => {
  await using server = startServer();
  const founder = await server.client("founder");
  founder.send("JOIN #c", "MODE #c -t");
  const bob = await server.client("bob");
  for (const host of GUESSES) {
    founder.send(`MODE #c +bb *!*@${host} m:*!*@${host}`);
    await founder.sync();
    bob.send("JOIN #c", "PRIVMSG #c :hi", "TOPIC #c :hi", "PART #c");
    const lines = await bob.sync();
    assert.ok(!lines.some((line) => /^(404|474|482) /.test(line)), `${host}: ${lines}`);
    founder.send(`MODE #c -bb *!*@${host} m:*!*@${host}`);

    founder.send(`MODE #c +bei *!*@* *!*@${host}`);
    await founder.sync();
    bob.send("JOIN #c");
    assert.equal((await bob.sync()).length, 1, `+e ${host}`);
    founder.send(`MODE #c -be+I *!*@* *!*@${host} *!*@${host}`);
    await founder.sync();
    bob.send("JOIN #c");
    assert.deepEqual(await bob.sync(), ["473 bob #c Cannot join channel (+i)"], `+I ${host}`);
    founder.send(`MODE #c -Ii *!*@${host}`);
    await founder.sync();
  }
});

Deno.test("an IRC operator bans an address from a channel, and the list shows its cloak", async () => {
  const accounts = new TestAccounts({ Admin: "secret" });
  await using server = startServer({ accounts });
  const founder = await server.client("founder");
  founder.send("JOIN #c", "OPER admin secret");
  await founder.sync();
  const ann = await server.client("ann");
  ann.send("JOIN #c");
  await ann.sync();
  founder.send("MODE #c +b *!*@127.0.0.1", "MODE #c +b m:*!*@2001:db8::/64", "MODE #c b");
  await founder.sync();
  const told = (await ann.sync()).join("\n");
  assert.match(told, /MODE #c \+b \*!\*@[0-9a-f]{10}\.ip\n/);
  assert.match(told, /MODE #c \+b m:\*!\*@\*\.[0-9a-f]{10}\.ip$/);
  const bob = await server.client("bob");
  bob.send("JOIN #c");
  assert.deepEqual(await bob.sync(), ["474 bob #c Cannot join channel (+b)"]);
  founder.send("MODE #c -b *!*@127.0.0.1");
  await founder.sync();
  bob.send("JOIN #c");
  assert.equal((await bob.sync())[0], "bob JOIN #c");
});

Deno.test("nobody but an IRC operator learns the address of another user", async () => {
  const accounts = new TestAccounts({ Admin: "secret" });
  await using server = startServer({ accounts });
  const capabilities = "userhost-in-names batch draft/chathistory draft/event-playback server-time";
  const curious = await server.client("curious", capabilities);
  curious.send("JOIN #c");
  await curious.sync();
  const gone = await server.client("gone");
  gone.send("JOIN #c", "NICK gone2", "NICK gone", "QUIT :bye");
  await gone.untilClosed();
  const bob = await server.client("bob");
  bob.send(
    "JOIN #c",
    "TOPIC #c :hello",
    "PRIVMSG curious :hi",
    "PRIVMSG #c :hi",
    "INVITE curious #c",
  );
  await bob.sync();

  curious.send(...LOOKS);
  const seen: string[] = [];
  for (const { source, params } of await curious.syncMessages()) seen.push(source ?? "", ...params);
  assert.ok(seen.some((text) => /@[0-9a-f]{10}\.ip$/.test(text)), "hosts are told");
  const addresses = seen.filter((text) => text.includes("127.0.0.1"));
  assert.deepEqual(addresses, ["127.0.0.1", "127.0.0.1"], "in its own row, and its own question");

  curious.send("OPER admin secret", "WHOIS bob");
  const told = await curious.syncMessages();
  assert.ok(told.some(({ params }) => params.includes("127.0.0.1")));
});
