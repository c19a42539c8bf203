/** What warden, snitch, sentinel, steward and shepherd read of their settings. */
import type { BotDefinition } from "../../../../services/chat/bots/mod.ts";
import {
  Reports,
  sentinel,
  shepherd,
  snitch,
  steward,
  warden,
} from "../../../../services/chat/bots/catalog/mod.ts";
import type { BotSettings, KnownBot } from "../../../../services/chat/policies/mod.ts";
import { until } from "../../../support/until.ts";
import { ReadSettings } from "./settings.ts";
import { type BotWorld, withOwnBots } from "./support.ts";

const KEY = "AKIA" + "ABCDEFGHIJKLMNOP";

/** Runs a bot, and fails unless what happens makes it read exactly the settings of its schema. */
function testSettings<Bot extends KnownBot>(
  bot: Bot,
  settings: Partial<BotSettings<Bot>>,
  define: (services: Parameters<Parameters<typeof withOwnBots>[0]>[0]) => BotDefinition,
  run: (world: BotWorld) => Promise<void>,
): void {
  Deno.test(`${bot} reads the settings of its schema, and no other`, async () => {
    const read = new ReadSettings();
    await withOwnBots((services) => [read.watch(define(services))], async (world) => {
      await world.enable(bot, settings as never);
      await run(world);
      read.assertAll(bot);
    });
  });
}

testSettings("warden", {}, ({ accounts, mutes, server }) => {
  return warden({ accounts, server: { mutes, present: (nick) => server.present(nick) } });
}, async (world) => {
  const bob = await world.agent("bob");
  for (let index = 0; index < 4; index++) bob.send("PRIVMSG #general :again");
  await bob.expect(/ NOTICE bob :You are muted /);
});

testSettings("snitch", {}, () => snitch({ presenceOf: () => "gone" }), async (world) => {
  const bob = await world.agent("bob");
  for (let index = 0; index < 10; index++) bob.send(`PRIVMSG #general :line ${index}`);
  bob.send("PRIVMSG #general :{", "PART #general");
  await bob.sync();
  await world.bots.idle();
});

testSettings(
  "sentinel",
  { backend: "gone" },
  () => sentinel({ reports: new Reports(), operators: () => [] }),
  async (world) => {
    const bob = await world.agent("bob");
    bob.send(`PRIVMSG #general :${KEY}`);
    await bob.sync();
    await world.bots.idle();
    world.services.clock.advance(30_000);
    await world.bots.idle();
  },
);

{
  const reports = new Reports();
  testSettings("steward", { auto_act: true, backend: "gone" }, ({ mutes, server }) => {
    return steward({ reports, server: { mutes, present: (nick) => server.present(nick) } });
  }, async (world) => {
    const bob = await world.agent("bob");
    const speaker = { nick: "bob", account: "bob", kind: "agent", id: "x" } as const;
    const about = { channel: "#general", nick: "bob", account: "bob", dismissed: false };
    const judged = { severity: "medium", reason: "x", source: "rule" } as const;
    const report = (number: number) =>
      reports.send({
        incident: { ...about, ...judged, number, time: 0, message: `m${number}` },
        speaker,
        text: "x",
      });
    for (const number of [1, 2]) {
      report(number);
      await until(() => {
        world.services.clock.advance(0);
        return bob.lines.some((line) => line.includes("You are muted"));
      });
    }
    bob.send("PRIVMSG steward :mute bob");
    await bob.expect(/ NOTICE bob :Only admins/);
  });
}

testSettings(
  "shepherd",
  { backend: "gone" },
  () =>
    shepherd({
      work: () => Promise.resolve(null),
      mayRead: () => true,
      agentsIn: () => Promise.resolve([]),
    }),
  async (world) => {
    const root = await world.admin("root");
    root.send("PRIVMSG shepherd :goal #general x", "PRIVMSG shepherd :plan");
    await root.expect(/ NOTICE root :nobody yet: goal 1: x$/);
    world.services.clock.advance(10_000);
    await world.bots.idle();
  },
);
