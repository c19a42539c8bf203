import assert from "node:assert/strict";
import {
  Conflict,
  Forbidden,
  Invalid,
  NotFound,
  TooLarge,
} from "../../../../services/kernel/errors.ts";
import { OPERATOR } from "../../../../services/people/identity/mod.ts";
import { BY_OPERATOR } from "../../../support/services.ts";
import { IrcUser } from "../bridge/support.ts";
import { aSession, withAttendance, type World } from "./support.ts";

/** What an agent's inbox holds, as `kind from (account): text`. */
async function inbox({ inboxes }: World, nick: string): Promise<string[]> {
  const messages = await inboxes.read(nick, {}, OPERATOR);
  return messages.map(({ kind, from, account, text }) => `${kind} ${from} (${account}): ${text}`);
}

Deno.test("an agent without a connection and a person exchange messages", () =>
  withAttendance(async (world) => {
    const scout = await world.call("scout", await world.register("scout"));
    const ann = new IrcUser(world.server, "ann");
    await ann.sync();
    await world.directMessages.send("Ann", { text: "psst" }, scout);
    assert.match(await ann.expect(/ PRIVMSG /), /^:scout!agent@\S+ PRIVMSG ann :psst$/);
    ann.send("PRIVMSG scout :yes?");
    await ann.sync();
    assert.deepEqual(await inbox(world, "scout"), ["message ann (null): yes?"]);
  }));

Deno.test("a message of several lines is one in an inbox, and one on IRC", () =>
  withAttendance(async (world) => {
    const scout = await world.call("scout", await world.register("scout"));
    await world.register("away");
    await world.call("builder", await world.register("builder"));
    const ann = new IrcUser(world.server, "ann", {
      capabilities: "batch message-tags draft/multiline",
    });
    await ann.sync();
    for (const to of ["ann", "builder", "away"]) {
      await world.directMessages.send(to, { text: "one\ntwo\n\nthree" }, scout);
    }
    await ann.expect(/ BATCH \+\S+ draft\/multiline ann$/);
    assert.deepEqual(await inbox(world, "builder"), ["message scout (scout): one\ntwo\nthree"]);
    assert.deepEqual(await inbox(world, "away"), ["message scout (scout): one\ntwo\nthree"]);
    const long = Array.from({ length: 3 }, () => "x".repeat(5000)).join("\n");
    await world.directMessages.send("builder", { text: long }, scout);
    assert.equal((await inbox(world, "builder")).at(-1), `message scout (scout): ${long}`);
  }));

Deno.test("an agent's session sends its message, and an absent or paused agent finds its messages later", () =>
  withAttendance(async (world) => {
    const { agents } = world.services;
    const passphrase = await world.register("scout");
    const session = await aSession(world, "scout", passphrase);
    const scout = await world.call("scout", passphrase);
    await world.register("builder");
    await agents.speechControls.pause("builder", { reason: null }, BY_OPERATOR);
    await world.directMessages.send("builder", { text: "for later" }, scout);
    assert.deepEqual(await inbox(world, "builder"), ["message scout (scout): for later"]);
    const ann = new IrcUser(world.server, "ann");
    await ann.sync();
    await world.directMessages.send("ann", { text: "now" }, scout);
    await ann.expect(/^:scout!(?!agent@)\S+ PRIVMSG ann :now$/);
    await session.sync();
    assert.equal(agents.get("scout").messages_per_minute, 2);
  }));

Deno.test("the operator's messages come from the bridge, with or without a name", () =>
  withAttendance(async (world) => {
    const { directMessages } = world;
    const ann = new IrcUser(world.server, "ann");
    ann.send("AWAY :back soon");
    await ann.sync();
    await directMessages.send("ann", { text: "hello" }, BY_OPERATOR);
    await ann.expect(/^:bridge!\S+ PRIVMSG ann :hello$/);
    await directMessages.send("ann", { nick: "eve", text: "a\nb" }, BY_OPERATOR);
    await ann.expect(/^:bridge!\S+ PRIVMSG ann :\[eve\] a$/);
    await ann.expect(/^:bridge!\S+ PRIVMSG ann :\[eve\] b$/);

    const session = await aSession(world, "scout", await world.register("scout"));
    await directMessages.send("scout", { text: "a\nb" }, BY_OPERATOR);
    await session.expect(/^:bridge!\S+ PRIVMSG scout :a$/);
    await directMessages.send("scout", { nick: "eve", text: "look" }, BY_OPERATOR);
    await session.expect(/^:bridge!\S+ PRIVMSG scout :\[eve\] look$/);
    assert.deepEqual(await inbox(world, "scout"), [
      "message bridge (bridge): a\nb",
      "message eve (null): look",
    ]);
  }));

Deno.test("the sender learns why a receiver can get no message", () =>
  withAttendance(async (world) => {
    const { directMessages, services } = world;
    const scout = await world.call("scout", await world.register("scout"));
    await world.register("gone");
    await services.agents.revoke("gone", BY_OPERATOR);
    await services.ircAccounts.create({ account: "ann", password: "password" }, BY_OPERATOR);
    const text = "hello";
    for (const caller of [scout, BY_OPERATOR]) {
      const send = (to: string) => directMessages.send(to, { text }, caller);
      await assert.rejects(send("nobody"), NotFound);
      await assert.rejects(send("gone"), NotFound);
      await assert.rejects(send("#general"), NotFound);
      await assert.rejects(send("a b"), NotFound);
      await assert.rejects(send("bridge"), Conflict);
      await assert.rejects(send("nickserv"), Conflict);
    }
    // An agent's message waits for ann; the operator has no name under which it could.
    await directMessages.send("ann", { text }, scout);
    await assert.rejects(directMessages.send("ann", { text }, BY_OPERATOR), Conflict);
    await assert.rejects(directMessages.send("Scout", { text }, scout), Invalid);
    await assert.rejects(directMessages.send("ann", { nick: "eve", text }, scout), Forbidden);
    await assert.rejects(directMessages.send("ann", { text: " " }, scout), Invalid);
    await assert.rejects(directMessages.send("ann", { text: "x".repeat(70_000) }, scout), TooLarge);
    const envelope = JSON.stringify({ v: 1, type: "task", id: "1", from: "eve" });
    await assert.rejects(directMessages.send("ann", { text: envelope }, scout), Forbidden);
  }));

Deno.test("a paused agent sends no direct message, and the rate limit counts them", () =>
  withAttendance(async (world) => {
    const { directMessages, services } = world;
    const scout = await world.call("scout", await world.register("scout"));
    await world.register("away");
    const ann = new IrcUser(world.server, "ann");
    await ann.sync();
    await services.agents.speechControls.setRate(
      "scout",
      { messages_per_second: 1, burst: 1 },
      BY_OPERATOR,
    );
    await directMessages.send("away", { text: "one" }, scout);
    for (const to of ["away", "ann"]) {
      await assert.rejects(directMessages.send(to, { text: "two" }, scout), { name: "TooMany" });
    }
    await services.agents.speechControls.pause("scout", { reason: "too loud" }, BY_OPERATOR);
    for (const to of ["away", "ann"]) {
      await assert.rejects(directMessages.send(to, { text: "three" }, scout), /too loud/);
    }
    assert.deepEqual(await inbox(world, "away"), ["message scout (scout): one"]);
  }));

Deno.test("only the agent gets messages to its nick", () =>
  withAttendance(async (world) => {
    const scout = await world.call("scout", await world.register("scout"));
    const impostor = new IrcUser(world.server, "builder");
    await impostor.sync();
    await world.register("builder");
    await world.directMessages.send("builder", { text: "a secret" }, scout);
    await impostor.sync();
    assert.deepEqual(impostor.lines.filter((line) => line.includes("secret")), []);
    assert.deepEqual(await inbox(world, "builder"), ["message scout (scout): a secret"]);
  }));
