import assert from "node:assert/strict";
import { SYSTEM } from "../../../../services/engines/events/mod.ts";
import type { JudgedMessage } from "../../../../services/engines/irc/mod.ts";
import { Mutes } from "../../../../services/chat/irc_server/mutes/mod.ts";
import {
  anAgent,
  BY_OPERATOR,
  type TestServices,
  withServices,
} from "../../../support/services.ts";

const SCOUT = { nick: "scout", account: "scout", address: "192.0.2.7" };
const GUEST = { nick: "eve", account: null, address: "192.0.2.9" };
const MINUTE = 60_000;

function openMutes({ database, accounts, clock: scheduler, log }: TestServices): Promise<Mutes> {
  return Mutes.open({ database, accounts, scheduler, log });
}

function act(reason = "Too fast") {
  return { bot: "warden", reason, origin: { ...SYSTEM, actor: "bot:warden" } };
}

function message(
  sender: JudgedMessage["sender"],
  { channel = "#a", isOperator = false }: { channel?: string; isOperator?: boolean } = {},
): JudgedMessage {
  return { sender, isOperator, channel, command: "PRIVMSG", text: "hi", time: 0 };
}

async function logged({ database, eventLog }: TestServices) {
  await database.commit({});
  const { events } = await eventLog.read({ types: ["irc.*"], limit: 100 });
  return events.map(({ type, actor, data }) => ({ type, actor, data }));
}

Deno.test("a mute refuses an account's messages in its channel until its time is over", async () => {
  await withServices(async (services) => {
    await anAgent(services, "scout");
    const mutes = await openMutes(services);
    assert.equal(mutes.isIdle, true);
    assert.equal(mutes.judge(message(SCOUT)), null);
    const adding = mutes.add(SCOUT, { ...act(), channel: "#A", duration: MINUTE });
    assert.equal(mutes.isIdle, false);
    const refusal = "You are muted until 2026-11-20T12:01:00.000Z by warden: Too fast";
    assert.equal(mutes.judge(message(SCOUT)), refusal, "at once, before it is on disk");
    await adding;
    assert.equal(mutes.judge(message({ ...SCOUT, nick: "other", address: "::1" })), refusal);
    assert.equal(mutes.judge(message(SCOUT, { channel: "#b" })), null);
    assert.equal(mutes.judge(message(SCOUT, { isOperator: true })), null);
    services.clock.advance(MINUTE);
    assert.equal(mutes.judge(message(SCOUT)), null);
    assert.deepEqual(mutes.list(), []);
    const about = { bot: "warden", nick: "scout", account: "scout", channel: "#A" };
    assert.deepEqual(await logged(services), [
      {
        type: "irc.muted",
        actor: "bot:warden",
        data: { ...about, reason: "Too fast", expires_at: "2026-11-20T12:01:00.000Z" },
      },
      { type: "irc.unmuted", actor: "system", data: { ...about, reason: "Its time is over" } },
    ]);
    mutes.close();
  });
});

Deno.test("a mute without a channel holds in all, and a guest is known by its address", async () => {
  await withServices(async (services) => {
    const mutes = await openMutes(services);
    await mutes.add(GUEST, { ...act(), channel: null, duration: MINUTE });
    assert.ok(mutes.judge(message({ ...GUEST, nick: "renamed" }, { channel: "#z" })) !== null);
    assert.equal(mutes.judge(message({ ...GUEST, address: "192.0.2.10" })), null);
    const here = { nick: "bob", account: null, address: "127.0.0.1" };
    await mutes.add(here, { ...act(), channel: null, duration: MINUTE });
    assert.equal(mutes.judge(message({ ...here, nick: "ann" })), null);
    mutes.close();
  });
});

Deno.test("mutes hold across a restart, and end on time while nothing runs", async () => {
  await withServices(async (services) => {
    await anAgent(services, "scout");
    const first = await openMutes(services);
    await first.add(SCOUT, { ...act(), channel: "#a", duration: MINUTE });
    await first.add(GUEST, { ...act(), channel: "#a", duration: 3 * MINUTE });
    first.close();
    const second = await openMutes(services);
    assert.ok(second.judge(message(SCOUT)) !== null);
    second.close();
    services.clock.advance(2 * MINUTE);
    const third = await openMutes(services);
    assert.equal(third.judge(message(SCOUT)), null);
    assert.deepEqual(third.list().map(({ nick, setBy }) => [nick, setBy]), [["eve", "bot:warden"]]);
    const lifted = (await logged(services)).filter(({ type }) => type === "irc.unmuted");
    assert.equal(lifted.length, 1);
    third.close();
  });
});

Deno.test("a mute is lifted by nick or account, and says who did it and why", async () => {
  await withServices(async (services) => {
    await anAgent(services, "scout");
    const mutes = await openMutes(services);
    const renamed = { ...SCOUT, nick: "scout2" };
    await mutes.add(renamed, { ...act(), channel: "#a", duration: MINUTE });
    await mutes.add(renamed, { ...act(), channel: "#b", duration: MINUTE });
    const forgiving = { ...act("It said sorry"), origin: { ...SYSTEM, actor: "admin:ann" } };
    assert.equal((await mutes.lift("scout", "#B", forgiving)).length, 1);
    assert.equal(mutes.judge(message(SCOUT, { channel: "#b" })), null);
    assert.ok(mutes.judge(message(SCOUT)) !== null);
    assert.equal((await mutes.lift("SCOUT2", null, forgiving)).length, 1);
    assert.equal((await mutes.lift("scout", null, forgiving)).length, 0);
    const last = (await logged(services)).at(-1);
    assert.deepEqual([last?.type, last?.actor, last?.data["reason"]], [
      "irc.unmuted",
      "admin:ann",
      "It said sorry",
    ]);
    mutes.close();
  });
});

Deno.test("the next owner of a name inherits no mute", async () => {
  await withServices(async (services) => {
    await anAgent(services, "scout");
    const mutes = await openMutes(services);
    await mutes.add(SCOUT, { ...act(), channel: "#a", duration: MINUTE });
    await services.agents.delete("scout", BY_OPERATOR);
    await anAgent(services, "scout");
    assert.equal(mutes.judge(message(SCOUT)), null);
    assert.deepEqual(mutes.list(), []);
    mutes.close();
  });
});

Deno.test("another judge is asked about everything, and counts what muted users say", async () => {
  await withServices(async (services) => {
    const mutes = await openMutes(services);
    const asked: string[] = [];
    mutes.setJudge({
      judge({ sender: { nick } }) {
        asked.push(nick);
        return nick === "ann" ? "Not now" : null;
      },
    });
    await mutes.add(GUEST, { ...act(), channel: "#a", duration: MINUTE });
    assert.equal(mutes.judge(message({ ...GUEST, nick: "ann", address: "::2" })), "Not now");
    assert.ok(mutes.judge(message(GUEST))?.includes("You are muted"));
    assert.deepEqual(asked, ["ann", "eve"]);
    mutes.close();
  });
});

Deno.test("the number of mutes is bounded", async () => {
  await withServices(async (services) => {
    const mutes = await openMutes(services);
    const mute = (index: number) => {
      const address = `198.51.${index >> 8}.${index & 255}`;
      return mutes.add({ ...GUEST, address }, { ...act(), channel: "#a", duration: MINUTE });
    };
    await Promise.all(Array.from({ length: 1000 }, (_, index) => mute(index)));
    await assert.rejects(mute(1000), {
      message: "There are already 1000 mutes, which is the limit",
    });
    await mute(0);
    mutes.close();
  });
});
