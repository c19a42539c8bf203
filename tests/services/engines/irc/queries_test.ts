import assert from "node:assert/strict";
import { startServer, TestAccounts } from "./support/server.ts";

const ACCOUNTS = { alice: "secret", admin: "master" };

Deno.test("WHO lists a channel, a nick or a mask, and WHOX the fields asked for", async () => {
  await using server = startServer({ accounts: new TestAccounts(ACCOUNTS) });
  const alice = await server.member("alice", "secret");
  alice.send("JOIN #c", "AWAY :out", "MODE alice +B");
  await alice.sync();
  const bob = await server.client("bob");
  bob.send("JOIN #c");
  await bob.sync();
  bob.send("WHO #C", "WHO alice %tacuhnr,1", "WHO Alice %na", "WHO al* %n", "WHO nobody");
  const lines = await bob.sync();
  const shown = lines.map((line) => line.replace(/[0-9a-f]{10}\.ip/g, "HOST"));
  assert.deepEqual(shown, [
    "352 bob #c ~alice HOST irc.test alice G@B 0 alice",
    "352 bob #c ~bob HOST irc.test bob H 0 Real bob",
    "315 bob #C End of WHO list",
    "354 bob 1 * ~alice HOST alice alice alice",
    "315 bob alice End of WHO list",
    "354 bob alice alice",
    "315 bob Alice End of WHO list",
    "354 bob alice",
    "315 bob al* End of WHO list",
    "315 bob nobody End of WHO list",
  ]);
});

Deno.test("an invisible user is found by its nick and its channels alone", async () => {
  await using server = startServer();
  const hidden = await server.client("hidden");
  hidden.send("MODE hidden +i", "JOIN #c", "MODE hidden");
  assert.equal((await hidden.sync()).at(-1), "221 hidden +i");
  const bob = await server.client("bob");
  bob.send("WHO hid*", "WHO #c", "NAMES #c", "WHOIS hidden", "WHO hidden %n");
  const commands = (await bob.syncMessages()).map(({ command }) => command);
  assert.deepEqual(commands, ["315", "315", "366", "311", "312", "317", "318", "354", "315"]);
  bob.send("JOIN #c", "WHO hid* %n");
  assert.ok((await bob.sync()).includes("354 bob hidden"));
});

Deno.test("WHOIS shows what the asker may know, and addresses only to operators", async () => {
  await using server = startServer({ accounts: new TestAccounts(ACCOUNTS) });
  const alice = await server.member("alice", "secret");
  alice.send("JOIN #c");
  await alice.sync();
  const bob = await server.client("bob");
  bob.send("WHOIS alice", "WHOIS nobody", "WHOIS");
  const lines = await bob.sync();
  assert.match(lines[0] ?? "", /^311 bob alice ~alice [0-9a-f]{10}\.ip \* alice$/);
  assert.equal(lines[1], "319 bob alice @#c");
  assert.equal(lines[2], "312 bob alice irc.test a server under test");
  assert.equal(lines[3], "330 bob alice alice is logged in as");
  assert.match(lines[4] ?? "", /^317 bob alice \d+ \d+ seconds idle, signon time$/);
  assert.ok(!lines.some((line) => line.includes("127.0.0.1")));
  assert.equal(lines.at(-1), "431 bob No nickname given");
  bob.send("OPER admin wrong", "OPER admin master", "WHOIS alice", "MODE bob -o");
  const after = await bob.sync();
  assert.deepEqual(after.slice(0, 3), [
    "464 bob Password incorrect",
    "381 bob You are now an IRC operator",
    "bob MODE bob +o",
  ]);
  assert.ok(after.includes("338 bob alice 127.0.0.1 is actually using host"));
  assert.equal(after.at(-1), "bob MODE bob -o");
});

Deno.test("the queries that clients send after connecting are answered", async () => {
  await using server = startServer({ version: "muster-1" });
  await server.client("alice");
  const bob = await server.client("bob");
  bob.send("AWAY :out", "USERHOST bob nobody ALICE", "ISON nobody alice :BOB x", "VERSION", "TIME");
  bob.send("MOTD other.test", "LUSERS", "MODE alice", "MODE bob +xo", "NAMES");
  const lines = await bob.sync();
  assert.match(lines[1] ?? "", /^302 bob bob=-~bob@\S+ alice=\+~alice@\S+$/);
  assert.equal(lines[2], "303 bob alice bob");
  assert.equal(lines[3], "351 bob muster-1 irc.test a server under test");
  assert.ok(lines.includes("402 bob other.test No such server"));
  assert.ok(lines.includes("255 bob I have 2 clients and 0 servers"));
  assert.ok(lines.includes("502 bob Cannot change the modes of other users"));
  assert.deepEqual(lines.slice(-2), ["501 bob Unknown mode flag", "366 bob * End of /NAMES list"]);
});
