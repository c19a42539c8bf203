import assert from "node:assert/strict";
import { type BotWorld, withBots } from "./support.ts";

function testSnitch(
  name: string,
  settings: Record<string, number | string | string[]>,
  run: (world: BotWorld) => Promise<void>,
): void {
  Deno.test(`snitch: ${name}`, () =>
    withBots(async (world) => {
      await world.enable("snitch", { alert_channel: "#alerts", ...settings });
      await run(world);
    }));
}

testSnitch(
  "a flood raises one alarm in its time, to the channel and the nicks of the policy",
  { flood_messages: 3, flood_window_sec: 10, alert_nicks: ["ann"] },
  async (world) => {
    const ann = await world.person("ann", "#alerts");
    const bob = await world.agent("bob");
    for (let index = 0; index < 8; index++) bob.send(`PRIVMSG #general :line ${index}`);
    const alarm = "\\[flood\\] bob in #general said 3 messages in 10 seconds$";
    await ann.expect(new RegExp(`^:snitch!\\S+ PRIVMSG #alerts :${alarm}`));
    await ann.expect(new RegExp(`^:snitch!\\S+ NOTICE ann :${alarm}`));
    const about = { bot: "snitch", kind: "flood", nick: "bob", channel: "#general" };
    await world.services.bridge?.whenReady();
    assert.deepEqual(await world.events("bot.alarm"), [about]);
    world.services.clock.advance(60_000);
    for (let index = 0; index < 3; index++) bob.send(`PRIVMSG #general :more ${index}`);
    await ann.expect(new RegExp(`PRIVMSG #alerts :${alarm}`));
  },
);

testSnitch(
  "coming and going raises an alarm; the bots' own joins do not",
  { join_part_threshold: 4, join_part_window_sec: 60 },
  async (world) => {
    const ann = await world.person("ann", "#alerts");
    for (let index = 0; index < 3; index++) {
      await world.policies({ systembot: { enabled: true } });
      await world.policies({ systembot: { enabled: false } });
    }
    const bob = await world.agent("bob");
    for (let index = 0; index < 2; index++) {
      bob.send("PART #general");
      await bob.join("#general");
    }
    await ann.expect(/:\[cycling\] bob in #general came and went 4 times in 60 seconds$/);
    assert.equal((await world.events("bot.alarm")).length, 1);
  },
);

testSnitch("malformed envelopes raise an alarm", { malformed_threshold: 2 }, async (world) => {
  const ann = await world.person("ann", "#alerts");
  const bob = await world.agent("bob");
  bob.send('PRIVMSG #general :{"v":1,"type"', "PRIVMSG #general :{}");
  await ann.expect(/:\[malformed\] bob in #general sent 2 malformed envelopes in a minute$/);
});

testSnitch(
  "watched agents that leave or go away raise alarms; one that never came does not",
  { monitor_nicks: ["bob", "never"] },
  async (world) => {
    const { clock } = world.services;
    const ann = await world.person("ann", "#alerts");
    const root = await world.admin("root", "#alerts");
    const bob = await world.agent("bob");
    await world.agent("eve");
    clock.advance(200_000);
    await world.bots.idle();
    root.send("PRIVMSG snitch :watch eve");
    await root.expect(/ NOTICE root :I watch eve, who is here$/);
    bob.send("AWAY :lunch", "PING away");
    await bob.expect(/ PONG .*away$/);
    clock.advance(5000);
    await ann.expect(/PRIVMSG #alerts :\[away\] bob is away$/);
    bob.send("AWAY");
    await bob.sync();
    clock.advance(5000);
    await ann.expect(/PRIVMSG #alerts :\[back\] bob is back$/);
    bob.send("QUIT");
    await ann.sync();
    clock.advance(60_000);
    await ann.expect(/PRIVMSG #alerts :\[gone\] bob is gone$/);
    ann.send("PRIVMSG snitch :status");
    await ann.expect(/ NOTICE ann :Watching: bob \(gone\), eve \(here\), never \(never seen\)$/);
    await world.policies({ snitch: { enabled: false } });
    await world.enable("snitch");
    root.send("PRIVMSG snitch :watch EVE", "PRIVMSG snitch :unwatch eve");
    await root.expect(/ NOTICE root :I watch EVE already$/);
    await root.expect(/ NOTICE root :I no longer watch eve$/);
    root.send("PRIVMSG snitch :unwatch eve", "PRIVMSG snitch :unwatch bob");
    await root.expect(/ NOTICE root :I do not watch eve$/);
    await root.expect(/ NOTICE root :bob is in "monitor_nicks" of my policy: remove it there$/);
    ann.send("PRIVMSG snitch :watch eve", "PRIVMSG snitch :ack eve", "PRIVMSG snitch :unwatch eve");
    for (let index = 0; index < 3; index++) await ann.expect(/:Only admins may do that$/);
  },
);

testSnitch(
  "what is acknowledged raises no alarm for an hour",
  { flood_messages: 2, flood_window_sec: 5 },
  async (world) => {
    const root = await world.admin("root", "#alerts");
    const bob = await world.agent("bob");
    root.send("PRIVMSG snitch :ack bob #general");
    await root.expect(/ NOTICE root :No alarm about bob in #general for an hour$/);
    for (let index = 0; index < 5; index++) bob.send(`PRIVMSG #general :line ${index}`);
    await bob.sync();
    assert.deepEqual(await world.events("bot.alarm"), []);
    world.services.clock.advance(3_600_000);
    for (let index = 0; index < 2; index++) bob.send(`PRIVMSG #general :later ${index}`);
    await root.expect(/:\[flood\] bob in #general/);
    await world.policies({ snitch: { flood_messages: 0, alert_channel: "#other" } });
    world.services.clock.advance(60_000);
    for (let index = 0; index < 9; index++) bob.send(`PRIVMSG #general :free ${index}`);
    await bob.sync();
    assert.equal((await world.events("bot.alarm")).length, 1);
  },
);

testSnitch(
  "an agent that does not come back after a restart raises an alarm, after a while",
  { monitor_nicks: ["bob"] },
  async (world) => {
    const { clock } = world.services;
    const ann = await world.person("ann", "#alerts");
    const bob = await world.agent("bob");
    clock.advance(5000);
    await world.bots.idle();
    await world.policies({ snitch: { enabled: false } });
    bob.send("QUIT");
    await ann.sync();
    await world.enable("snitch");
    clock.advance(60_000);
    await world.bots.idle();
    assert.deepEqual(await world.events("bot.alarm"), [], "it may be on the way back");
    clock.advance(65_000);
    await ann.expect(/PRIVMSG #alerts :\[gone\] bob is gone$/);
  },
);
