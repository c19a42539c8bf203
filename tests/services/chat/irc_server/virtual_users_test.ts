import assert from "node:assert/strict";
import { Conflict, Forbidden, TooMany } from "../../../../services/kernel/errors.ts";
import { OPERATOR } from "../../../../services/people/identity/mod.ts";
import { tokenRequestSchema } from "../../../../services/people/identity/schemas.ts";
import { TestScheduler } from "../../../support/scheduler.ts";
import {
  anAgent,
  BY_OPERATOR,
  openServices,
  type TestServices,
} from "../../../support/services.ts";
import { withFolder } from "../../../support/temporary.ts";
import { IrcUser } from "../bridge/support.ts";
import { aSession, aWatcher, withAttendance } from "../inboxes/support.ts";
import { THOROUGH } from "../../../support/level.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** What a client was told since it was asked last, without what it asked for itself. */
async function news(user: IrcUser): Promise<string[]> {
  const before = user.lines.length;
  await user.sync();
  const told = user.lines.slice(marks.get(user) ?? before);
  marks.set(user, user.lines.length);
  return told.filter((line) => !line.includes(" PONG ")).map(shorten);
}

const marks = new WeakMap<IrcUser, number>();

function shorten(line: string): string {
  return line.replace(/^(?:@\S+ )?:([^!\s]+)!\S+/, "$1");
}

/** What a client that sees away states was told of an agent. */
const AWAY = "scout AWAY :Messages wait in its inbox";

Deno.test("an agent that calls stays in its channels for a day: away after two minutes, back with a call", () =>
  withAttendance(async (world) => {
    const { call, register, services, server } = world;
    const passphrase = await register("scout", { channels: ["general", "ops"] });
    const eve = await aWatcher(world, "away-notify");
    await news(eve);
    await call("scout", passphrase);
    assert.deepEqual(await news(eve), [
      "scout JOIN #general",
      ":irc.test MODE #general +v scout",
    ]);
    eve.send("WHOIS scout", "NAMES #general");
    assert.match(
      (await news(eve)).join("\n"),
      /311 eve scout agent \S+ \* :An agent .*319 eve scout :.*#general.*330 eve scout scout .*353 eve = #general :.*\+scout/s,
    );
    services.clock.advance(MINUTE);
    await call("scout", passphrase);
    services.clock.advance(2 * MINUTE - 1);
    assert.deepEqual(await news(eve), []);
    assert.equal(server.isMember("scout", "#ops"), true);
    services.clock.advance(1);
    assert.deepEqual(await news(eve), [AWAY]);
    assert.equal(server.isMember("scout", "#ops"), true);
    await call("scout", passphrase);
    assert.deepEqual(await news(eve), ["scout AWAY"]);
    services.clock.advance(HOUR);
    eve.send("WHOIS scout", "PRIVMSG scout :hi");
    assert.match(
      (await news(eve)).join("\n"),
      /AWAY :Messages wait in its inbox\n.* 301 eve scout :Messages wait .* 317 eve scout 3600 .* 301 eve scout :Messages wait/s,
    );
    services.clock.advance(23 * HOUR - 1);
    assert.deepEqual(await news(eve), []);
    services.clock.advance(1);
    assert.deepEqual(await news(eve), ["scout QUIT :No call for a long time"]);
    assert.equal(world.virtualUsers.size, 0);
  }));

Deno.test("an agent's post comes from its own nick, and is logged once", () =>
  withAttendance(async (world) => {
    const { bridge, call, register } = world;
    const passphrase = await register("scout", { channels: ["general"] });
    const caller = await call("scout", passphrase);
    const eve = await aWatcher(world);
    await news(eve);
    await bridge.post("general", { text: "one\ntwo" }, caller);
    await bridge.post("general", { nick: "scout", text: "for me" }, BY_OPERATOR);
    assert.deepEqual(await news(eve), [
      "scout PRIVMSG #general :one",
      "scout PRIVMSG #general :two",
      "bridge PRIVMSG #general :[scout] for me",
    ]);
    const messages = await bridge.messages("general", {});
    assert.deepEqual(messages.map(({ nick, text }) => `${nick}: ${text}`), [
      "scout: one",
      "scout: two",
      "scout: for me",
    ]);
    assert.deepEqual(await bridge.users("general"), ["bridge", "eve", "scout"]);
  }));

Deno.test("a channel's modes bind an agent's posts, and the refusal explains why", () =>
  withAttendance(async (world) => {
    const { bridge, call, register } = world;
    const caller = await call(
      "watcher",
      await register("watcher", { type: "observer", channels: ["general"] }),
    );
    const boss = await aSession(
      world,
      "boss",
      await register("boss", { type: "operator", channels: ["general"] }),
    );
    boss.send("MODE #general +m");
    await boss.sync();
    const post = () => bridge.post("general", { text: "hi" }, caller);
    await assert.rejects(post, {
      name: "Conflict",
      message: /IRC refused the message: Cannot send/,
    });
    boss.send("MODE #general -m", "MODE #general +b watcher!*@*", "KICK #general watcher");
    await boss.sync();
    await assert.rejects(post, Conflict);
    await assert.rejects(() => bridge.join("general", caller), Conflict);
    assert.deepEqual(await bridge.messages("general", {}), []);
  }));

Deno.test("a session takes over the nick, carries the agent's posts, and returns the nick when it ends", () =>
  withAttendance(async (world) => {
    const { bridge, call, register } = world;
    const passphrase = await register("scout", { channels: ["general"] });
    const caller = await call("scout", passphrase);
    const eve = await aWatcher(world);
    await news(eve);
    const session = await aSession(world, "scout", passphrase);
    assert.deepEqual(await news(eve), []);
    assert.equal(session.lines.filter((line) => / JOIN #general$/.test(line)).length, 1);
    await bridge.post("general", { text: "from HTTP" }, caller);
    assert.deepEqual(await news(eve), ["scout PRIVMSG #general :from HTTP"]);
    session.send("QUIT");
    await session.expect(/^ERROR /);
    assert.deepEqual(await news(eve), []);
    assert.equal(world.server.isMember("scout", "#general"), true);
    assert.equal(world.server.isOnline("scout"), false);
  }));

Deno.test("a session hears the channels of its nick once it joins them, and leaves those it parts", () =>
  withAttendance(async (world) => {
    const { call, register, server } = world;
    const passphrase = await register("scout", { channels: ["general", "ops"] });
    await call("scout", passphrase);
    const eve = await aWatcher(world);
    await news(eve);
    const session = new IrcUser(server, "scout", { capabilities: "sasl", password: passphrase });
    await session.expect(/ 001 /);
    eve.send("PRIVMSG #general :early", "MODE #general -v scout");
    await news(eve);
    await session.sync();
    assert.deepEqual(session.lines.filter((line) => / JOIN #|early|MODE #/.test(line)), []);
    session.send("PART #ops", "JOIN #general");
    await session.expect(/ PART #ops$/);
    await session.expect(/ 366 scout #general /);
    assert.equal(server.isMember("scout", "#ops"), false);
    eve.send("PRIVMSG #general :late");
    await session.expect(/ PRIVMSG #general :late$/);
    session.send("AWAY :lunch", "QUIT");
    await session.expect(/ERROR/);
    assert.deepEqual(await news(eve), []);
    await call("scout", passphrase);
    assert.deepEqual(await news(eve), []);
  }));

Deno.test("clients that ask for it learn the host of the session that takes a nick over", () =>
  withAttendance(async (world) => {
    const { call, register } = world;
    const passphrase = await register("scout", { channels: ["general"] });
    await call("scout", passphrase);
    const eve = await aWatcher(world, "chghost away-notify");
    await news(eve);
    const session = await aSession(world, "scout", passphrase);
    const [change = "", ...others] = await news(eve);
    assert.match(change, /^scout CHGHOST \S+ \S+$/);
    assert.deepEqual(others, []);
    session.send("QUIT");
    await session.expect(/^ERROR /);
    assert.match((await news(eve)).join("\n"), /^scout CHGHOST agent \S+$/);
  }));

Deno.test("revoking an agent ends its session and its place at once; a kill is seen", () =>
  withAttendance(async (world) => {
    const { call, register, server, services } = world;
    const passphrase = await register("scout", { channels: ["general"] });
    await call("scout", passphrase);
    const eve = await aWatcher(world);
    await aSession(world, "scout", passphrase);
    await news(eve);
    await services.agents.revoke("scout", BY_OPERATOR);
    assert.match((await news(eve)).join("\n"), /^scout QUIT :[^\n]*$/);
    assert.equal(server.present("scout"), null);
  }));

Deno.test("rotating, revoking and deleting end an agent's virtual user at once", () =>
  withAttendance(async (world) => {
    const { call, register, services: { agents }, server } = world;
    const online = () => server.isMember("scout", "#ops");
    await call("scout", await register("scout", { channels: ["ops"] }));
    assert.equal(online(), true);
    const rotated = await agents.rotate("scout", BY_OPERATOR);
    assert.equal(online(), false);
    await call("scout", rotated.credentials.passphrase);
    assert.equal(online(), true);
    await agents.revoke("scout", BY_OPERATOR);
    assert.equal(online(), false);
    await agents.delete("scout", BY_OPERATOR);
    await call("scout", await register("scout", { channels: ["ops"] }));
    assert.equal(online(), true);
    await agents.delete("scout", BY_OPERATOR);
    await Promise.resolve();
    assert.equal(online(), false);
    assert.equal(server.findUser({ nick: "scout", account: "scout", realname: "" }), null);
  }));

Deno.test("an agent returns to the channels that it joined or spoke in, unless it was kicked", () =>
  withAttendance(async (world) => {
    const { bridge, call, register, services, server } = world;
    const passphrase = await register("scout");
    const caller = await call("scout", passphrase);
    await bridge.join("joined", caller);
    await bridge.post("spoken", { text: "hi" }, caller);
    await bridge.post("left", { text: "hi" }, caller);
    await bridge.join("kicked", caller);
    await bridge.part("left", caller);
    const bridgeLine = server.connect({ account: "bridge", privileged: true });
    bridgeLine.send("NICK judge");
    bridgeLine.send("USER judge 0 * :judge");
    bridgeLine.send("KICK #kicked scout");
    await bridge.post("spoken", { text: "after it" }, BY_OPERATOR);
    assert.equal(server.isMember("scout", "#kicked"), false);
    services.clock.advance(24 * HOUR);
    assert.equal(server.isMember("scout", "#spoken"), false);
    await call("scout", passphrase);
    const back = ["#joined", "#spoken", "#left", "#kicked"].filter((channel) =>
      server.isMember("scout", channel)
    );
    assert.deepEqual(back, ["#joined", "#spoken"]);
    bridgeLine.close();
  }));

Deno.test("a paused agent is refused everywhere and keeps its session; a rate is 429 on HTTP", () =>
  withAttendance(async (world) => {
    const { bridge, call, register, services: { agents, clock } } = world;
    const passphrase = await register("scout", { channels: ["general"] });
    const caller = await call("scout", passphrase);
    const session = await aSession(world, "scout", passphrase);
    const post = () => bridge.post("general", { text: "hi" }, caller);
    await agents.speechControls.pause("scout", { reason: "too loud" }, BY_OPERATOR);
    await assert.rejects(post, new Forbidden("This agent is paused: too loud"));
    session.send("PRIVMSG #general :hi", "NOTICE #general :hi");
    await session.expect(/ 404 scout #general :This agent is paused: too loud$/);
    await session.expect(/ FAIL NOTICE MUTED #general :This agent is paused: too loud$/);
    assert.deepEqual(await bridge.messages("general", {}), []);

    await agents.speechControls.resume("scout", BY_OPERATOR);
    await agents.speechControls.setRate("scout", { messages_per_second: 1, burst: 2 }, BY_OPERATOR);
    await post();
    await post();
    await assert.rejects(post, TooMany);
    clock.advance(1000);
    await post();
    assert.equal((await bridge.messages("general", {})).length, 3);
  }));

Deno.test(
  "a thousand virtual users share one timer",
  THOROUGH,
  () =>
    withAttendance(async (world) => {
      const { virtualUsers, bridge, services, server } = world;
      const passphrases = await Promise.all(
        Array.from(
          { length: 1000 },
          (_, index) => world.register(`agent-${index}`, { channels: ["general"] }),
        ),
      );
      let timers = 0;
      for (const [index, passphrase] of passphrases.entries()) {
        await world.call(`agent-${index}`, passphrase);
        if (index === 0) timers = services.clock.pending;
      }
      assert.equal(virtualUsers.size, 1000);
      assert.equal(services.clock.pending, timers);
      assert.equal((await bridge.users("general")).length, 1001);
      services.clock.advance(2 * MINUTE);
      assert.ok(services.clock.pending <= timers);
      assert.equal(virtualUsers.size, 1000);
      services.clock.advance(24 * HOUR);
      assert.equal(virtualUsers.size, 0);
      assert.equal(server.stats().registered, 1);
    }),
);

Deno.test("a token that is revoked ends the presence of the agent that called with it last", () =>
  withAttendance(async (world) => {
    const { call, register, services: { identity, tokens }, server } = world;
    await call("scout", await register("scout", { channels: ["ops"] }));
    const asked = tokenRequestSchema.parse({
      owner: "scout",
      name: "t",
      scopes: ["read", "write"],
    });
    const made = await Promise.all([0, 1].map(() => tokens.create(asked, BY_OPERATOR)));
    for (const { token = "" } of made) identity.enter(token);
    await tokens.revoke(made[0]?.id ?? "", BY_OPERATOR);
    assert.equal(server.isMember("scout", "#ops"), true);
    await tokens.revoke(made[1]?.id ?? "", BY_OPERATOR);
    assert.equal(server.isMember("scout", "#ops"), false);
  }));

Deno.test("after a restart, agents and people are where they were, and nobody is told", () =>
  withFolder(async (folder) => {
    const config = { bridge: { enabled: true }, irc: { history: { persist: true } } };
    const options = { config, ircServer: true };
    const clock = new TestScheduler();
    const first = await openServices(folder, options, clock);
    const basic = async (services: TestServices, name: string, password: string) =>
      await services.identity.authenticate({ kind: "basic", name, password }, "::1");
    const passphrases = new Map<string, string>();
    for (const nick of ["early", "scout", "gone"]) {
      passphrases.set(nick, await anAgent(first, nick, { channels: ["general"] }));
    }
    await basic(first, "early", passphrases.get("early") ?? "");
    clock.advance(20 * HOUR);
    await basic(first, "scout", passphrases.get("scout") ?? "");
    await basic(first, "gone", passphrases.get("gone") ?? "");
    await first.agents.revoke("gone", BY_OPERATOR);
    await first.close();
    clock.advance(5 * HOUR);

    const second = await openServices(folder, options, clock);
    const { server } = second;
    try {
      const isThere = (nick: string) => server.isMember(nick, "#general");
      assert.deepEqual(["early", "scout", "gone"].filter(isThere), ["scout"]);
      assert.equal(server.present("scout")?.isAway, true);
      const eve = new IrcUser(server, "eve", {
        capabilities: "away-notify batch draft/chathistory draft/event-playback server-time",
      });
      await eve.join("#general");
      eve.send("CHATHISTORY LATEST #general * 50");
      await eve.expect(/ BATCH -/);
      const told = eve.lines.filter((line) => /scout.* (JOIN|QUIT)/.test(line)).map(shorten);
      assert.equal(told.length, 1, "only the join before the restart is in the history");
      const before = eve.lines.length;
      await basic(second, "scout", passphrases.get("scout") ?? "");
      await eve.sync();
      assert.deepEqual(
        eve.lines.slice(before).map(shorten).filter((line) => line.startsWith("scout")),
        [
          "scout AWAY",
        ],
      );
    } finally {
      await second.close();
    }
  }));

Deno.test("a message to an agent or a person who is not there is kept, and its sender reads so", () =>
  withAttendance(async (world) => {
    const { register, services } = world;
    await register("scout");
    await services.ircAccounts.create({ account: "Ann", password: "correct horse" }, BY_OPERATOR);
    await register("gone");
    await services.agents.revoke("gone", BY_OPERATOR);
    const eve = await aWatcher(world, "echo-message");
    await news(eve);
    eve.send("PRIVMSG SCOUT :one", "NOTICE scout :two", "PRIVMSG ann :three", "PRIVMSG gone :no");
    eve.send("PRIVMSG nobody :no", "NOTICE nobody :no", "TAGMSG scout");
    assert.deepEqual(await news(eve), [
      "eve PRIVMSG scout :one",
      ":irc.test 301 eve scout :Messages wait in its inbox",
      "eve NOTICE scout :two",
      "eve PRIVMSG Ann :three",
      ":irc.test 301 eve Ann :Messages wait on the web pages",
      ":irc.test 401 eve gone :No such nick",
      ":irc.test 401 eve nobody :No such nick",
      "eve TAGMSG scout",
    ]);
    const entries = await services.inboxes.read("scout", { limit: 10 }, OPERATOR);
    assert.deepEqual(entries.map((entry) => "text" in entry ? entry.text : ""), ["one", "two"]);
    assert.equal(world.virtualUsers.size, 0);
  }));
