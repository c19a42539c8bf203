import assert from "node:assert/strict";
import type { ChannelKeeper, Keeping, KeptChannel } from "../../../../services/engines/irc/mod.ts";
import { startServer, TestAccounts, type TestServer } from "./support/server.ts";

/** Keeps registered channels in memory. */
class TestKeeper implements ChannelKeeper {
  readonly kept = new Map<string, KeptChannel>();
  /** Changes of registered channels. */
  changes = 0;
  /** When what is changed from now on is on disk. */
  written: Promise<Keeping> = Promise.resolve("stored");

  find(channel: string): KeptChannel | null {
    return this.kept.get(channel.toLowerCase()) ?? null;
  }

  changed(channel: KeptChannel): Promise<Keeping> {
    if (channel.unregistered !== undefined) return this.written;
    this.changes++;
    this.kept.set(channel.name.toLowerCase(), channel);
    return this.written;
  }

  emptied(): boolean {
    return false;
  }

  renamed(): Promise<Keeping> {
    return this.written;
  }
}

const ACTOR = { nick: "ann", account: "ann", address: "127.0.0.1" };

function world(): TestServer & { keeper: TestKeeper } {
  const keeper = new TestKeeper();
  const accounts = new TestAccounts({ ann: "secret", bob: "secret", carol: "secret" });
  return Object.assign(startServer({ accounts, channels: keeper }), { keeper });
}

Deno.test("a kept channel is restored when somebody joins it again", async () => {
  await using server = world();
  const ann = await server.member("ann", "secret");
  ann.send("JOIN #Den", "MODE #den -t+Cms", "TOPIC #den :before");
  await ann.sync();
  assert.equal(server.keeper.changes, 0);
  await server.server.channels.setKept("#den", true, null);
  ann.send(
    "TOPIC #den :welcome",
    "MODE #den +kl secret 10",
    "MODE #den +b a:eve",
    "MODE #den +v ann",
  );
  await ann.sync();
  ann.send("MODE #den +e *!*@good", "PART #den");
  await ann.sync();
  assert.equal(server.server.stats().channels, 0);

  server.accounts.setStatus("ann", "operator");
  ann.send("JOIN #DEN", "MODE #den", "MODE #den b", "MODE #den e");
  const shown = (await ann.sync()).map((line) =>
    line.replaceAll(/\S+!\S+@\S+\.ip|\b\d{10}\b/g, "_")
  );
  assert.deepEqual(shown, [
    "ann JOIN #Den",
    "332 ann #Den welcome",
    "333 ann #Den _ _",
    "353 ann @ #Den @ann",
    "366 ann #Den End of /NAMES list",
    "324 ann #Den +Cmnskl secret 10",
    "329 ann #Den _",
    "367 ann #Den a:eve _ _",
    "368 ann #Den End of channel ban list",
    "348 ann #Den *!*@good _ _",
    "349 ann #Den End of channel ban exception list",
  ]);
});

Deno.test("nobody becomes operator of a kept channel by joining first, and its modes hold while it is empty", async () => {
  await using server = world();
  const ann = await server.member("ann", "secret");
  const bob = await server.member("bob", "secret");
  ann.send("JOIN #den");
  await ann.sync();
  await server.server.channels.setKept("#den", true, null);
  ann.send("PART #den");
  await ann.sync();
  bob.send("JOIN #den");
  assert.ok((await bob.sync()).includes("353 bob = #den bob"));
  bob.send("PART #den");
  await bob.sync();

  server.accounts.setStatus("ann", "operator");
  ann.send("JOIN #den", "MODE #den +ik key", "PART #den");
  await ann.sync();
  bob.send("JOIN #den", "JOIN #den key");
  assert.deepEqual((await bob.sync()).map((line) => line.split(" ")[0]), ["475", "473"]);
  assert.equal(server.server.stats().channels, 0);
  ann.send("JOIN #den");
  assert.ok((await ann.sync()).includes("353 ann = #den @ann"), "its operator always comes in");
});

Deno.test("a channel that is no longer kept is like any other", async () => {
  await using server = world();
  const ann = await server.member("ann", "secret");
  ann.send("JOIN #den");
  await ann.sync();
  const { channels } = server.server;
  await channels.setKept("#den", true, null);
  const { changes } = server.keeper;
  await channels.setKept("#den", false, "ann");
  ann.send("TOPIC #den :new");
  await ann.sync();
  assert.equal(server.keeper.changes, changes);
  const bob = await server.member("bob", "secret");
  bob.send("JOIN #den");
  assert.ok((await bob.sync()).includes("353 bob = #den @ann bob"));
});

Deno.test("services change statuses, and the channel sees which service did it", async () => {
  const told: string[] = [];
  const observer = {
    modeChanged: ({ actor, changes }: { actor: { nick: string }; changes: string }) =>
      void told.push(`${actor.nick} ${changes}`),
  };
  await using server = startServer({ observer });
  server.server.addService({ nick: "ChanServ", realname: "", handle() {} });
  const ann = await server.client("ann");
  const bob = await server.client("bob");
  for (const client of [ann, bob]) {
    client.send("JOIN #den");
    await client.sync();
  }
  await ann.sync();
  const { channels } = server.server;
  const change = { add: true, status: "operator", by: "ChanServ", actor: ACTOR } as const;
  assert.equal(channels.isOperator("bob", "#den"), false);
  assert.equal(channels.setStatus("#den", "bob", change), true);
  assert.equal(channels.setStatus("#den", "bob", change), false);
  assert.equal(channels.setStatus("#den", "nobody", change), false);
  assert.equal(channels.setStatus("#none", "bob", change), false);
  assert.equal(channels.isOperator("bob", "#den"), true);
  assert.equal(channels.isOperator("bob", "#none"), null);
  channels.setStatus("#den", "bob", { ...change, add: false });
  assert.deepEqual(await ann.sync(), ["ChanServ MODE #den +o bob", "ChanServ MODE #den -o bob"]);
  assert.deepEqual(told, ["ann +o bob", "ann -o bob"]);
});

Deno.test("a client that changes a kept channel gets its next reply once the change is kept", async () => {
  await using server = world();
  const ann = await server.member("ann", "secret", "labeled-response");
  const bob = await server.member("bob", "secret");
  for (const client of [ann, bob]) {
    client.send("JOIN #den");
    await client.sync();
  }
  await ann.sync();
  await server.server.channels.setKept("#den", true, null);
  const { promise, resolve } = Promise.withResolvers<Keeping>();
  server.keeper.written = promise;
  ann.send("TOPIC #den :one", "MODE #den +m", "PING after");
  await bob.sync();
  bob.send("PRIVMSG #den :meanwhile");
  await bob.sync();
  const order = ann.until("PONG").then((all) => all.map(({ command }) => command));
  assert.equal(server.keeper.changes, 2, "the mode waits for the topic");
  resolve("stored");
  assert.deepEqual(await order, ["PRIVMSG", "TOPIC", "MODE", "PONG"]);
});

/** An unregistered channel of ann with bob in it, and a keeper whose answer the test decides. */
async function den() {
  const world_ = world();
  const ann = await world_.member("ann", "secret");
  const bob = await world_.member("bob", "secret");
  ann.send("JOIN #den", "MODE #den +b *!*@bad", "TOPIC #den :before");
  await ann.sync();
  bob.send("JOIN #den");
  await bob.sync();
  await ann.sync();
  const answer = Promise.withResolvers<Keeping>();
  world_.keeper.written = answer.promise;
  return { world: world_, ann, bob, answer };
}

const CHANGES = [
  "TOPIC #den :after",
  "MODE #den +mk-n key",
  "MODE #den -b+b *!*@bad *!*@evil",
  "RENAME #den #lair",
];

Deno.test("a change of a channel is announced once it is stored", async () => {
  for (const line of CHANGES) {
    const { world, ann, bob, answer } = await den();
    await using _ = world;
    ann.send(line);
    await bob.sync();
    assert.deepEqual(await bob.sync(), [], line);
    answer.resolve("stored");
    assert.notDeepEqual(await ann.sync(), [], line);
    assert.notDeepEqual(await bob.sync(), [], line);
  }
});

Deno.test("a change of a channel that is not stored is undone, and only its sender learns of it", async () => {
  for (const keeping of ["refused", "full"] as const) {
    for (const line of CHANGES) {
      const { world, ann, bob, answer } = await den();
      await using _ = world;
      const shown = async () => {
        ann.send("TOPIC #den", "MODE #den", "MODE #den b", "NAMES #den");
        return (await ann.sync()).filter((told) => !told.includes("FAIL"));
      };
      const before = await shown();
      ann.send(line);
      await bob.sync();
      answer.resolve(keeping);
      const [refusal = ""] = await ann.sync();
      const code = keeping === "full" ? "LIMIT_REACHED" : "TEMPORARILY_UNAVAILABLE";
      assert.ok(refusal.startsWith(`FAIL ${line.split(" ", 1)[0]} ${code} #den`), refusal);
      assert.deepEqual(await bob.sync(), [], line);
      assert.deepEqual(await shown(), before, line);
    }
  }
});

Deno.test("a change waits for the one before it, and is judged after that is undone", async () => {
  const { world, ann, bob, answer } = await den();
  await using _ = world;
  ann.send("MODE #den +v bob");
  await ann.sync();
  await bob.sync();
  ann.send("MODE #den -t");
  await bob.sync();
  bob.send("TOPIC #den :mine");
  // What somebody else says meanwhile waits for nothing.
  const carol = await world.member("carol", "secret");
  carol.send("JOIN #den");
  await carol.sync();
  answer.resolve("refused");
  assert.match((await bob.sync()).join(), /482 bob #den/);
});

Deno.test("a program learns that its topic is not stored", async () => {
  const { world, answer } = await den();
  await using _ = world;
  answer.resolve("refused");
  const refusal = await world.server.findUser({ nick: "ann", account: "ann", realname: "Ann" })
    ?.setTopic("#den", "after");
  assert.equal(refusal?.kind, "unavailable");
});
