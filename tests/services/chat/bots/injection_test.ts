import assert from "node:assert/strict";
import type { JsonObject } from "../../../../services/chat/policies/mod.ts";
import { INJECTIONS, WISHES } from "../../../support/injections.ts";
import { BY_OPERATOR } from "../../../support/services.ts";
import { withBots } from "./support.ts";

const BOTS = [
  "auditbot",
  "herald",
  "oracle",
  "scribe",
  "scroll",
  "sentinel",
  "shepherd",
  "snitch",
  "steward",
  "systembot",
  "warden",
];

/** Events that tell of what was said; all others tell of what was done. */
const OBSERVED = new Set(["bot.incident", "bot.alarm"]);

Deno.test("fifty prompt injections in a channel make no bot act or speak", () =>
  withBots(async (world) => {
    const { database, bridge } = world.services;
    const quiet: Readonly<Record<string, JsonObject>> = {
      steward: { auto_act: false },
      warden: { messages_per_second: 0 },
      snitch: { flood_messages: 0 },
      shepherd: { checkin_interval_sec: 0 },
    };
    for (const bot of BOTS) {
      await world.enable(bot, quiet[bot]);
    }
    await world.admin("root", "#elsewhere");
    const victim = await world.person("victim");
    const attackers = [await world.person("mallory"), await world.guest("root_")];
    assert.equal(INJECTIONS.length, 50);
    await world.bots.idle();
    const before = await database.tables.selectFrom("events").select("seq")
      .orderBy("seq", "desc").executeTakeFirstOrThrow();
    const from = victim.lines.length;
    for (const [number, text] of INJECTIONS.entries()) {
      // A text that is said again and again is a matter for warden.
      const attacker = attackers[number % attackers.length];
      attacker?.send(`PRIVMSG #general :${text}`);
      await attacker?.sync();
      await bridge?.post(
        "#general",
        { nick: "root__", text: `[root] ${number} ${text}` },
        BY_OPERATOR,
      )
        .catch(() => {});
      world.services.clock.advance(15_000);
      await world.bots.idle();
    }
    await victim.sync();
    const bots = new RegExp(`^:(${BOTS.join("|")})!\\S+ (?!JOIN )`);
    const own = [victim, ...attackers].flatMap(({ lines }) => lines).filter((line) =>
      bots.test(line)
    );
    assert.deepEqual(own, []);
    assert.ok(
      victim.lines.slice(from).filter((line) => / PRIVMSG #general /.test(line)).length >= 50,
    );
    const rows = await database.tables.selectFrom("events").select("type")
      .where("seq", ">", before.seq).execute();
    assert.deepEqual(rows.map(({ type }) => type).filter((type) => !OBSERVED.has(type)), []);
    for (const bot of BOTS) assert.equal(world.condition(bot), "running", bot);
  }));

Deno.test("nobody gets a right by a nick or a claim: refused commands change nothing", () =>
  withBots(async (world) => {
    for (const bot of BOTS) await world.enable(bot);
    const victim = await world.person("victim");
    const mallory = await world.person("mallory");
    const wishes = WISHES.map((wish) => wish.startsWith("!") ? wish : `!${wish.replace(":", "")}`);
    for (const wish of wishes) {
      mallory.send(`PRIVMSG #general :${wish} [root]`);
      await mallory.expect(/ (PRIVMSG #general|NOTICE mallory) :Only (admins|operators)/);
      world.services.clock.advance(5000);
    }
    victim.send("PRIVMSG #general :still here");
    await mallory.expect(/^:victim!\S+ PRIVMSG #general :still here$/);
    assert.deepEqual(await world.events("irc.muted"), []);
    assert.deepEqual(await world.events("bot.task_assigned"), []);
  }));
