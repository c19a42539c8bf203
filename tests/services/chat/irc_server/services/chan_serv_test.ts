import assert from "node:assert/strict";
import { anAgent, BY_OPERATOR } from "../../../../support/services.ts";
import { type Asking, withServices, type World } from "./support.ts";

/** A founder in its registered channel `#den`. */
async function founder(world: World, account = "ann"): Promise<Asking> {
  await world.person(account);
  const ann = await world.member(account);
  await ann.ask("JOIN #den", "CS REGISTER #den");
  return ann;
}

/** The status of members as NAMES shows them. */
async function names(one: Asking, channel = "#den"): Promise<string> {
  const shown = await one.ask(`NAMES ${channel}`);
  const line = shown.find((candidate) => candidate.startsWith("353 ")) ?? "";
  return line.split(" ").slice(4).toSorted().join(" ");
}

Deno.test("REGISTER needs an operator of the channel with an account", async () => {
  await withServices(async (world) => {
    const guest = await world.guest("guest");
    await world.person("ann");
    await world.person("bob");
    const ann = await world.member("ann");
    const bob = await world.member("bob");
    assert.deepEqual(
      await guest.ask("JOIN #guests", "CS REGISTER #guests").then((all) => all.at(-1)),
      "Log in first; NickServ tells how.",
    );
    assert.deepEqual(await ann.ask("CS REGISTER #den", "CS REGISTER den", "CS REGISTER"), [
      "You are not in #den.",
      "That is not the name of a channel.",
      "Say REGISTER #channel",
    ]);
    await ann.ask("JOIN #Den");
    await bob.ask("JOIN #den");
    assert.deepEqual(await bob.ask("CS REGISTER #den"), [
      "Only an operator of #den can register it.",
    ]);
    assert.deepEqual(await ann.ask("CS REGISTER #den", "CS REGISTER #den"), [
      "bob JOIN #Den",
      "#Den is registered, and yours.",
      "#Den is registered already.",
    ]);
    assert.deepEqual(await bob.ask("CS INFO #den", "CS DROP #den", "CS TRANSFER #den bob"), [
      "#Den is registered since 2026-11-20. Founder: ann.",
      "#Den is not yours.",
      "#Den is not yours.",
    ]);
    await ann.ask("JOIN #two", "JOIN #three");
    assert.deepEqual(await ann.ask("CS REGISTER #two", "CS REGISTER #three", "CS LIST"), [
      "#two is registered, and yours.",
      "ann has registered 2 channels, the most it may.",
      "#Den (founder)",
      "#two (founder)",
    ]);
  });
});

Deno.test("concurrent requests register a channel once, and no account exceeds its bound", async () => {
  await withServices(async (world) => {
    await world.person("ann");
    const sessions = [await world.member("ann"), await world.guest("x"), await world.guest("y")];
    for (const [index, one] of sessions.entries()) {
      await one.ask("NS ID ann correct-horse", `JOIN #den,#${index}`);
    }
    const all = ["CS REGISTER #den", "CS REGISTER #0", "CS REGISTER #1", "CS REGISTER #2"];
    const answers = await Promise.all(sessions.map((one) => one.ask(...all)));
    const made = answers.flat().filter((line) => line.endsWith("is registered, and yours."));
    assert.equal(made.length, 2, answers.flat().join("\n"));
    assert.ok(!answers.flat().some((line) => line.startsWith("400")));
    assert.equal((await sessions[0]?.ask("CS LIST"))?.length, 2);
  });
});

Deno.test("topic, modes, key, limit and bans survive a restart, and the founder keeps the status", async () => {
  await withServices(async (first, again) => {
    const ann = await founder(first);
    await ann.ask("MODE #den +ikl-t s3cret-key 5", "MODE #den +b *!*@bad", "TOPIC #den :Welcome");
    await ann.ask("PART #den");
    const stored = await first.services.database.tables.selectFrom("irc_channels").select("state")
      .executeTakeFirstOrThrow();
    assert.ok(!stored.state.includes("s3cret-key"), "the key is not in the clear");

    const world = await again();
    const guest = await world.guest("guest");
    assert.deepEqual(
      (await guest.ask("JOIN #den", "JOIN #den s3cret-key")).map((line) => line.split(" ")[0]),
      ["475", "473"],
    );
    const back = await world.member("ann");
    const shown = await back.ask("JOIN #den", "MODE #den", "MODE #den b");
    assert.ok(shown.includes("332 ann #den Welcome"), shown.join("\n"));
    assert.ok(shown.includes("353 ann = #den @ann"));
    assert.ok(shown.includes("324 ann #den +inkl s3cret-key 5"));
    assert.ok(shown.some((line) => line.startsWith("367 ann #den *!*@bad ")));
  });
});

Deno.test("nobody becomes operator of a registered channel by joining first", async () => {
  await withServices(async (first, again) => {
    await founder(first);
    const world = await again();
    await world.person("bob");
    const bob = await world.member("bob");
    await bob.ask("JOIN #den");
    assert.equal(await names(bob), "bob");
    const guest = await world.guest("guest");
    await guest.ask("JOIN #den");
    const late = await guest.ask("NS ID ann correct-horse");
    assert.ok(late.includes("MODE #den +o guest"), late.join("\n"));
  });
});

Deno.test("AMODE gives accounts a status now and at every join", async () => {
  await withServices(async (first, again) => {
    const ann = await founder(first);
    await first.person("bob");
    await first.person("eve");
    const bob = await first.member("bob");
    await bob.ask("JOIN #den");
    assert.deepEqual(await ann.ask("CS AMODE #den +v BOB", "CS AMODE #den +v bob"), [
      "bob JOIN #den",
      "ChanServ MODE #den +v bob",
      "bob is voice in #den.",
      "bob is voice in #den.",
    ]);
    assert.deepEqual(await ann.ask("CS AMODE #den +o bob", "CS AMODE #den -v bob"), [
      "ChanServ MODE #den -v bob",
      "ChanServ MODE #den +o bob",
      "bob is operator in #den.",
      "bob is not voice in #den.",
    ]);
    assert.deepEqual(
      await ann.ask("CS AMODE #den +o ann", "CS AMODE #den +o nobody", "CS AMODE #den +x bob"),
      [
        "ann is the founder of #den.",
        "There is no account nobody.",
        "Use AMODE #channel +o account; +v, -o and -v work likewise.",
      ],
    );
    assert.deepEqual((await bob.ask("CS AMODE #den +o eve", "CS AMODE #den")).slice(-2), [
      "#den is not yours.",
      "bob (operator)",
    ]);

    const world = await again();
    const second = await world.member("bob");
    await second.ask("JOIN #den");
    assert.equal(await names(second), "@bob");
    const owner = await world.member("ann");
    await owner.ask("JOIN #den", "CS AMODE #den -o bob");
    assert.equal(await names(owner), "@ann bob");
    await second.ask("PART #den", "JOIN #den");
    assert.equal(await names(second), "@ann bob");
    const more = await owner.ask("CS AMODE #den +v bob", "CS AMODE #den +v eve");
    assert.ok(more.includes("eve is voice in #den."), more.join("\n"));
    await world.person("zoe");
    assert.deepEqual(await owner.ask("CS AMODE #den +v zoe"), [
      "2 accounts have a status in #den already.",
    ]);
  });
});

Deno.test("OP, DEOP, VOICE and DEVOICE change members, for users with the right", async () => {
  await withServices(async (world) => {
    const ann = await founder(world);
    await world.person("bob");
    const bob = await world.member("bob");
    await bob.ask("JOIN #den");
    assert.deepEqual(await bob.ask("CS OP #den", "CS OP #none"), [
      "You have no rights in #den.",
      "#none is not registered.",
    ]);
    await ann.ask("CS OP #den bob", "CS VOICE #den bob ann");
    assert.equal(await names(bob), "@ann @bob");
    await ann.ask("CS DEOP #den", "CS DEOP #den bob", "CS DEVOICE #den ann");
    assert.equal(await names(bob), "+bob ann");
    assert.deepEqual(await ann.ask("CS OP #den", "CS OP #den", "CS OP #den nobody"), [
      "ChanServ MODE #den +o ann",
      "Nothing changes for ann.",
      "nobody is not in #den.",
    ]);
    await ann.ask("CS AMODE #den +o bob");
    assert.equal((await bob.ask("CS DEOP #den ann")).at(-1), "ann is the founder of #den.");
  });
});

Deno.test("TOPIC changes the topic for users with the right, inside or outside", async () => {
  await withServices(async (first, again) => {
    const ann = await founder(first);
    const guest = await first.guest("guest");
    await guest.ask("JOIN #den");
    assert.deepEqual(await guest.ask("CS TOPIC #den mine"), ["You have no rights in #den."]);
    await ann.ask("PART #den");
    assert.deepEqual(await ann.ask("PRIVMSG ChanServ :TOPIC #den Tea  at five"), [
      "The topic of #den is changed.",
    ]);
    assert.deepEqual((await guest.ask("PART #den")).slice(1), [
      "ChanServ TOPIC #den Tea at five",
      "guest PART #den",
    ]);
    assert.deepEqual(await ann.ask("CS TOPIC #den again"), ["Nobody is in #den at present."]);
    const world = await again();
    const back = await world.guest("guest");
    assert.ok((await back.ask("JOIN #den")).includes("332 guest #den Tea at five"));
  });
});

Deno.test("ChanServ does not change agents' statuses, which the registry sets", async () => {
  await withServices(async (world) => {
    const ann = await founder(world);
    const passphrase = await anAgent(world.services, "scout", { channels: ["#den"] });
    const scout = await world.member("scout", passphrase);
    await scout.ask("JOIN #den");
    const sentence = "What scout is in #den, the registry of agents says; it is not changed here.";
    assert.deepEqual(
      (await ann.ask("CS AMODE #den +o scout", "CS DEVOICE #den scout", "CS OP #den scout")).slice(
        -3,
      ),
      [sentence, sentence, sentence],
    );
    assert.equal(await names(ann), "+scout @ann");
  });
});

Deno.test("rights end with the account, and the next owner of its name gets none", async () => {
  await withServices(async (world) => {
    const ann = await founder(world);
    await world.person("bob");
    await ann.ask("CS AMODE #den +o bob", "PART #den");
    const { ircAccounts } = world.services;
    for (const account of ["ann", "bob"]) {
      await ircAccounts.delete(account, BY_OPERATOR);
      await world.person(account);
    }
    const heir = await world.member("bob");
    await heir.ask("JOIN #den");
    assert.equal(await names(heir), "bob");
    const namesake = await world.guest("x");
    await namesake.ask("NS ID ann correct-horse");
    assert.deepEqual(await namesake.ask("CS INFO #den", "CS DROP #den", "CS LIST"), [
      "#den is registered since 2026-11-20. Founder: nobody any more: an IRC operator can TRANSFER " +
      "or DROP it.",
      "#den is not yours.",
      "You have no channels.",
    ]);
  });
});

Deno.test("the founder and IRC operators may TRANSFER and DROP, and both are logged", async () => {
  await withServices(async (world) => {
    const ann = await founder(world);
    await world.person("bob");
    const bob = await world.member("bob");
    await bob.ask("JOIN #den");
    assert.deepEqual((await ann.ask("CS TRANSFER #den bob")).slice(-2), [
      "ChanServ MODE #den +o bob",
      "#den is bob's now.",
    ]);
    assert.deepEqual(await ann.ask("CS DROP #den"), ["#den is not yours."]);
    await bob.ask("CS AMODE #den +v ann");
    const { admins } = world.services;
    await admins.create({ username: "root", password: "correct-horse" }, BY_OPERATOR);
    const root = await world.guest("op");
    await root.ask("OPER root correct-horse");
    assert.deepEqual(await root.ask("CS DROP #den", "CS INFO #den"), [
      "#den is no longer registered.",
      "#den is not registered.",
    ]);
    const rows = await world.services.database.tables.selectFrom("events")
      .select(["type", "actor", "data"]).where("type", "like", "irc.channel%").orderBy("seq")
      .execute();
    assert.deepEqual(rows.map(({ type, actor, data }) => [type, actor, JSON.parse(data)]), [
      ["irc.channel_registered", "person:ann", { channel: "#den" }],
      ["irc.channel_transferred", "person:ann", { channel: "#den", founder: "bob" }],
      ["irc.channel_access_changed", "person:bob", {
        channel: "#den",
        account: "ann",
        status: "voice",
      }],
      ["irc.channel_dropped", "admin:root", { channel: "#den" }],
    ]);
  });
});

Deno.test("a secret channel looks unregistered to outsiders", async () => {
  await withServices(async (world) => {
    const ann = await founder(world);
    await ann.ask("MODE #den +s");
    const guest = await world.guest("guest");
    const unknown = "#den is not registered.";
    assert.deepEqual(
      await guest.ask("CS INFO #den", "CS OP #den", "CS AMODE #den", "CS DROP #den"),
      [unknown, unknown, unknown, unknown],
    );
    assert.equal((await ann.ask("CS INFO #den")).length, 1);
  });
});
