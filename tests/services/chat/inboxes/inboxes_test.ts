import assert from "node:assert/strict";
import {
  Forbidden,
  Invalid,
  NotFound,
  TooMany,
  Unavailable,
} from "../../../../services/kernel/errors.ts";
import { OPERATOR, type Principal } from "../../../../services/people/identity/mod.ts";
import { BY_OPERATOR } from "../../../support/services.ts";
import { aSession, aWatcher, withAttendance, type World } from "./support.ts";

/** What an agent's inbox holds, as `where from: text`. */
async function inbox({ inboxes }: World, nick: string, since?: string): Promise<string[]> {
  const messages = await inboxes.read(nick, { since }, OPERATOR);
  return messages.map(({ channel, from, text }) => `${channel ?? "-"} ${from}: ${text}`);
}

Deno.test("an agent finds its private messages and its mentions", () =>
  withAttendance(async (world) => {
    await world.call("scout", await world.register("scout", { channels: ["general"] }));
    const eve = await aWatcher(world);
    eve.send(
      "PRIVMSG scout :psst",
      "PRIVMSG #general :nobody in particular",
      "PRIVMSG #general :Scout: look",
      "NOTICE #general :scout, again",
      "PRIVMSG #general :\x01ACTION waves at scout\x01",
      "PRIVMSG scout :\x01VERSION\x01",
      "PRIVMSG @#general :scout is not to hear this",
    );
    await eve.sync();
    await world.bridge.post("general", { nick: "ann", text: "hi @all" }, BY_OPERATOR);
    assert.deepEqual(await inbox(world, "SCOUT"), [
      "- eve: psst",
      "#general eve: Scout: look",
      "#general eve: scout, again",
      "#general eve: * eve waves at scout",
      "#general ann: hi @all",
    ]);
    const messages = await world.inboxes.read("scout", {}, OPERATOR);
    const stamps = messages.map(({ timestamp }) => timestamp);
    assert.deepEqual([...new Set(stamps)].sort(), stamps);
    assert.match(stamps[0] ?? "", /\.\d{6}Z$/);
    assert.deepEqual(await inbox(world, "scout", messages[2]?.id), [
      "#general eve: * eve waves at scout",
      "#general ann: hi @all",
    ]);
    assert.deepEqual(
      await inbox(world, "scout", stamps[2]),
      await inbox(world, "scout", messages[2]?.id),
    );
    assert.equal((await world.inboxes.read("scout", { limit: 1 }, OPERATOR)).length, 1);
  }));

Deno.test("on another network, inboxes hold what the bridge hears", () =>
  withAttendance(async (world) => {
    await world.register("scout", { channels: ["general"] });
    const heard = { channel: "#general", nick: "ann", account: null, time: Date.now() };
    for (
      const [id, more] of Object.entries({
        one: { text: "scout: look" },
        two: { text: "nobody in particular" },
        three: { text: "scout says so itself", nick: "scout_", account: "scout" },
        four: { text: "scout: elsewhere", channel: "#other" },
        five: { text: "* ann waves at scout", account: "ann" },
      })
    ) world.inboxes.takeHeard({ ...heard, ...more, id });
    assert.deepEqual(await inbox(world, "scout"), [
      "#general ann: scout: look",
      "#general ann: * ann waves at scout",
    ]);
  }));

Deno.test("mentions reach absent agents only in their own channels", () =>
  withAttendance(async (world) => {
    await world.register("away", { channels: ["general"] });
    await world.register("elsewhere", { channels: ["other"] });
    const scout = await aSession(world, "scout", await world.register("scout"));
    const eve = await aWatcher(world);
    eve.send("PRIVMSG #general :@workers: away, elsewhere and scout");
    await eve.sync();
    scout.send("PRIVMSG #general :@all of us");
    await scout.sync();
    const [first, second] = [
      "#general eve: @workers: away, elsewhere and scout",
      "#general scout: @all of us",
    ];
    assert.deepEqual(await inbox(world, "away"), [first, second]);
    assert.deepEqual(await inbox(world, "elsewhere"), []);
    assert.deepEqual(await inbox(world, "scout"), [first]);
  }));

Deno.test("a reader waits for messages, and ends with its agent", () =>
  withAttendance(async (world) => {
    const { call, inboxes, register, services } = world;
    const caller = await call("scout", await register("scout", { channels: ["general"] }));
    const eve = await aWatcher(world);
    const read = () =>
      inboxes.read(
        "scout",
        { since: new Date(0).toISOString(), waitSeconds: 60 },
        caller.principal,
      );
    const waiting = read();
    eve.send("PRIVMSG scout :wake up");
    assert.deepEqual((await waiting).map(({ text }) => text), ["wake up"]);
    assert.equal((await read()).length, 1);
    const late = inboxes.read("scout", {
      since: "2099-01-01T00:00:00Z",
      waitSeconds: 5,
    }, caller.principal);
    services.clock.advance(5000);
    assert.deepEqual(await late, []);
    const ended = inboxes.read(
      "scout",
      { since: "2099-01-01T00:00:00Z", waitSeconds: 60 },
      caller.principal,
    );
    await services.agents.revoke("scout", BY_OPERATOR);
    assert.deepEqual(await ended, []);
  }));

Deno.test("an agent whose readers wait in great numbers keeps nobody else from waiting", () =>
  withAttendance(async ({ call, inboxes, register }) => {
    const [scout, other] = await Promise.all(
      ["scout", "other"].map(async (nick) => await call(nick, await register(nick))),
    );
    assert.ok(scout !== undefined && other !== undefined);
    const wait = (nick: string, principal: Principal) =>
      inboxes.read(nick, { waitSeconds: 60 }, principal);
    const waits = Array.from({ length: 5000 }, () => wait("scout", scout.principal));
    const refused = waits.map((one) => one.then(() => null, (error: unknown) => error));
    waits.push(wait("other", other.principal), wait("scout", OPERATOR));
    inboxes.close();
    assert.deepEqual(await Promise.all(waits.slice(-2)), [[], []]);
    const errors = (await Promise.all(refused)).filter((error) => error !== null);
    assert.equal(errors.length, 3500);
    assert.ok(errors.every((error) => error instanceof TooMany));
  }));

Deno.test("closing the inboxes ends their readers and refuses new ones", () =>
  withAttendance(async ({ inboxes, register }) => {
    await register("scout");
    const waiting = inboxes.read("scout", { waitSeconds: 60 }, OPERATOR);
    inboxes.close();
    assert.deepEqual(await waiting, []);
    await assert.rejects(inboxes.read("scout", {}, OPERATOR), Unavailable);
  }));

Deno.test("an agent reads its own inbox, and the operator reads every inbox", () =>
  withAttendance(async ({ call, inboxes, register }) => {
    const { principal } = await call("scout", await register("scout"));
    await register("other");
    assert.deepEqual(await inboxes.read("Scout", {}, principal), []);
    await assert.rejects(inboxes.read("other", {}, principal), Forbidden);
    await assert.rejects(inboxes.read("nobody", {}, OPERATOR), NotFound);
    for (const query of [{ limit: 0 }, { limit: 201 }, { waitSeconds: 61 }, { since: "x" }]) {
      await assert.rejects(inboxes.read("other", query, OPERATOR), Invalid);
    }
  }));

Deno.test("an inbox is bounded and ends with its agent", () =>
  withAttendance(async (world) => {
    const eve = await aWatcher(world);
    await world.call("scout", await world.register("scout"));
    for (let count = 0; count < 250; count++) eve.send(`PRIVMSG scout :${count}`);
    await eve.sync();
    const kept = await inbox(world, "scout");
    assert.deepEqual([kept.length, kept[0], kept.at(-1)], [200, "- eve: 50", "- eve: 249"]);
    await world.services.agents.delete("scout", BY_OPERATOR);
    await world.register("scout");
    assert.deepEqual(await inbox(world, "scout"), []);
  }));

Deno.test("a message that is redacted on IRC leaves every inbox", () =>
  withAttendance(async (world) => {
    await world.call("scout", await world.register("scout", { channels: ["general"] }));
    const tagged = "message-tags echo-message draft/message-redaction";
    const eve = await aWatcher(world, tagged);
    eve.send("PRIVMSG scout :psst", "PRIVMSG #general :scout: look", "PRIVMSG #general :scout!");
    await eve.sync();
    const [alone, , last] = await world.inboxes.read("scout", {}, OPERATOR);
    eve.send(`REDACT scout ${alone?.id}`, `REDACT #general ${last?.id}`);
    await eve.sync();
    assert.deepEqual(await inbox(world, "scout"), ["#general eve: scout: look"]);
  }));
