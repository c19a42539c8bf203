import assert from "node:assert/strict";
import { IrcModeration } from "../../../../services/chat/irc_server/mod.ts";
import { anAgent, type TestServices, withServices } from "../../../support/services.ts";

const SCOUT = { nick: "scouty", account: "scout", address: "192.0.2.7" };

function moderationOf({ database, accounts, clock, log }: TestServices): IrcModeration {
  return new IrcModeration({ database, accounts, scheduler: clock, log });
}

async function logged({ database, eventLog }: TestServices) {
  await database.commit({});
  const { events } = await eventLog.read({ types: ["irc.*"], limit: 1000 });
  return events.map(({ type, actor, address, data }) => ({ type, actor, address, data }));
}

Deno.test("events on IRC are logged with their author, and without the text of a kick", async () => {
  await withServices(async (services) => {
    await anAgent(services, "Scout");
    const moderation = moderationOf(services);
    const kick = { actor: SCOUT, channel: "#c", nick: "ann", reason: "private words" };
    moderation.kicked(kick);
    const guest = { nick: "someone", account: null, address: "127.0.0.1" };
    moderation.modeChanged({ actor: guest, channel: "#c", changes: "+b bad!*@*" });
    moderation.operatorGranted({ actor: guest, operator: "root" });
    const redaction = { id: "m1", actor: SCOUT, channel: "#c", author: "ann", own: false };
    moderation.messageRedacted(redaction);
    moderation.messageRedacted({ ...redaction, author: "scouty", own: true });
    moderation.hostChanged({ actor: guest, target: SCOUT, host: "agents/scout" });
    moderation.channelRenamed({ actor: guest, channel: "#c", to: "#d" });
    const bridge = { nick: "bridge", account: "bridge", address: "memory" };
    moderation.modeChanged({ actor: bridge, channel: "#c", changes: "+k *" });
    const target = { nick: "eve", account: null, address: "192.0.2.9" };
    const reason = "flooding";
    moderation.killed({ actor: { ...guest, operator: "root" }, target, reason });
    moderation.topicChanged({ actor: SCOUT, channel: "#c" });
    await moderation.close();
    assert.deepEqual(await logged(services), [
      {
        type: "irc.kicked",
        actor: "agent:Scout",
        address: "192.0.2.7",
        data: { channel: "#c", nick: "ann" },
      },
      {
        type: "irc.modes_changed",
        actor: "guest:someone",
        address: "127.0.0.1",
        data: { channel: "#c", changes: "+b bad!*@*" },
      },
      {
        type: "irc.operator_granted",
        actor: "guest:someone",
        address: "127.0.0.1",
        data: { nick: "someone", operator: "root" },
      },
      {
        type: "irc.message_redacted",
        actor: "agent:Scout",
        address: "192.0.2.7",
        data: { channel: "#c", nick: "ann" },
      },
      {
        type: "irc.host_changed",
        actor: "guest:someone",
        address: "127.0.0.1",
        data: { nick: "scouty", host: "agents/scout" },
      },
      {
        type: "irc.channel_renamed",
        actor: "guest:someone",
        address: "127.0.0.1",
        data: { channel: "#c", to: "#d" },
      },
      {
        type: "irc.modes_changed",
        actor: "irc:bridge",
        address: null,
        data: { channel: "#c", changes: "+k *" },
      },
      {
        type: "irc.killed",
        actor: "irc:root",
        address: "127.0.0.1",
        data: { nick: "eve", account: null, reason: "flooding" },
      },
      {
        type: "irc.topic_changed",
        actor: "agent:Scout",
        address: "192.0.2.7",
        data: { channel: "#c" },
      },
    ]);
  });
});

Deno.test("beyond sixty events a minute, one actor's events are only counted", async () => {
  await withServices(async (services) => {
    await anAgent(services, "scout");
    const pendingBefore = services.clock.pending;
    const moderation = moderationOf(services);
    const toggle = (times: number, nick: string) => {
      for (let turn = 0; turn < times; turn++) {
        const actor = { ...SCOUT, nick };
        moderation.modeChanged({ actor, channel: "#c", changes: turn % 2 === 0 ? "+m" : "-m" });
      }
    };
    toggle(50, "scouty");
    toggle(50, "renamed");
    services.clock.advance(60_000);
    toggle(1, "scouty");
    await moderation.close();
    const events = await logged(services);
    assert.equal(events.filter(({ type }) => type === "irc.modes_changed").length, 61);
    assert.deepEqual(events.filter(({ type }) => type === "irc.moderation_omitted"), [{
      type: "irc.moderation_omitted",
      actor: "agent:scout",
      address: "192.0.2.7",
      data: { count: 40 },
    }]);
    // Other parts' timers may have run out.
    assert.ok(services.clock.pending <= pendingBefore);
  });
});
