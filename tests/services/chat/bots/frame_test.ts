import assert from "node:assert/strict";
import {
  type BotContext,
  type BotInstance,
  BridgeVoices,
  defineBot,
} from "../../../../services/chat/bots/mod.ts";
import { Conflict } from "../../../../services/kernel/errors.ts";
import { BY_OPERATOR } from "../../../support/services.ts";
import { until } from "../../../support/until.ts";
import { type BotWorld, withBots, withOwnBots } from "./support.ts";

/** A bot for tests, in the place of a real one. */
class Parrot {
  readonly #context: BotContext<"scroll">;

  constructor(context: BotContext<"scroll">) {
    this.#context = context;
  }

  say(text: string): string {
    if (text === "throw") throw new TypeError("A fault of the bot");
    if (text === "refuse") throw new Conflict("I refuse");
    return text;
  }

  async count(): Promise<string> {
    const { z } = await import("zod");
    const before = await this.#context.state.read("count", () => z.number()) ?? 0;
    await this.#context.state.write("count", before + 1);
    return `count ${before + 1}`;
  }
}

const PARROT = defineBot<"scroll", Parrot>({
  name: "scroll",
  purpose: "Repeats what it hears.",
  commands: [
    {
      name: "SAY",
      usage: "text",
      purpose: "says a text",
      may: "anyone",
      words: 1,
      run: (bot, { text }) => bot.say(text),
    },
    { name: "COUNT", usage: "", purpose: "counts", may: "account", run: (bot) => bot.count() },
    {
      name: "LINES",
      usage: "n",
      purpose: "says many lines",
      may: "anyone",
      run: (_, { words }) => Array.from({ length: Number(words[0]) }, (_, line) => `line ${line}`),
    },
    {
      name: "OP",
      usage: "",
      purpose: "for operators",
      may: "channelOperator",
      run: () => "you may",
    },
    { name: "ADMIN", usage: "", purpose: "for admins", may: "admin", run: () => "you may" },
    {
      name: "WHISPER",
      usage: "",
      purpose: "answers the speaker",
      may: "anyone",
      isPrivate: true,
      run: () => "psst",
    },
  ],
  start: (context) => new Parrot(context),
});

function testParrot(name: string, run: (world: BotWorld) => Promise<void>): void {
  Deno.test(name, () =>
    withOwnBots(() => [PARROT], async (world) => {
      await world.enable("scroll");
      await run(world);
    }));
}

testParrot("A bot is a user marked +B in the channels of the bridge", async (world) => {
  const ann = await world.person("ann");
  ann.send("WHOIS scroll");
  await ann.expect(/ 311 ann scroll .* :Repeats what it hears\.$/);
  await ann.expect(/ 319 ann scroll :@#general$/);
  await ann.expect(/ 335 ann scroll :is a bot$/);
  await world.services.bridge?.join("#later", BY_OPERATOR);
  ann.send("NAMES #later");
  await ann.expect(/ 353 ann = #later :.*scroll/);
});

testParrot("A bot answers the forms that address it, and nothing else", async (world) => {
  const ann = await world.person("ann");
  const forms = ["scroll: say one", "Scroll, SAY two", "!scroll say three", "!SCROLL   say   four"];
  for (const form of forms) ann.send(`PRIVMSG #general :${form}`);
  for (const answer of ["one", "two", "three", "four"]) {
    await ann.expect(new RegExp(`:scroll!.* PRIVMSG #general :${answer}$`));
  }
  const others = [
    "scroll say no",
    "say no",
    "!say no",
    "hey scroll: say no",
    "[ann] !scroll say no",
  ];
  for (const text of others) ann.send(`PRIVMSG #general :${text}`);
  ann.send("NOTICE #general :!scroll say no", "PRIVMSG #general :!scroll say end");
  const from = ann.lines.length;
  await ann.expect(/PRIVMSG #general :end$/);
  assert.ok(!ann.lines.slice(from).some((line) => /PRIVMSG #general :no$/.test(line)));
});

testParrot("A private command is answered by NOTICE", async (world) => {
  const ann = await world.person("ann");
  ann.send("PRIVMSG scroll :say hello");
  await ann.expect(/^:scroll!\S+ NOTICE ann :hello$/);
  ann.send("PRIVMSG scroll :!scroll say hello again");
  await ann.expect(/ NOTICE ann :hello again$/);
  ann.send("PRIVMSG #general :!scroll whisper");
  await ann.expect(/ NOTICE ann :psst$/);
});

testParrot("HELP lists the commands and explains one", async (world) => {
  const ann = await world.person("ann");
  ann.send("PRIVMSG #general :!scroll help");
  await ann.expect(/:Repeats what it hears\. Commands: SAY, COUNT, LINES, OP, ADMIN, WHISPER\./);
  ann.send("PRIVMSG #general :!scroll");
  await ann.expect(/:Repeats what it hears\. Commands:/);
  ann.send("PRIVMSG #general :scroll: help say");
  await ann.expect(/:scroll: SAY text – says a text$/);
  ann.send("PRIVMSG #general :scroll: dance");
  await ann.expect(/There is no such command/);
  ann.send("PRIVMSG #general :scroll: say");
  await ann.expect(/:Say SAY text$/);
  ann.send("PRIVMSG #general :scroll: say refuse");
  await ann.expect(/PRIVMSG #general :I refuse$/);
});

testParrot("An answer is bounded in lines", async (world) => {
  const ann = await world.person("ann");
  ann.send("PRIVMSG #general :!scroll lines 25");
  await ann.expect(/:line 19$/);
  world.services.clock.advance(1000);
  await ann.expect(/:… and 5 more lines$/);
});

testParrot("The proven account decides who may give a command", async (world) => {
  const ann = await world.person("ann");
  const root = await world.admin("root");
  const guest = await world.guest("root_");
  const op = await world.agent("boss");
  world.services.server.channels.setStatus("#general", "boss", {
    add: true,
    status: "operator",
    by: "ChanServ",
    actor: { nick: "ChanServ", account: null, address: "internal" },
  });
  const answers: [typeof ann, string, RegExp][] = [
    [guest, "count", /Log in to your account first/],
    [guest, "op", /Log in to your account first/],
    [guest, "admin", /Only admins may do that/],
    [ann, "count", /count 1/],
    [ann, "op", /Only operators of #general may do that/],
    [ann, "admin", /Only admins may do that/],
    [op, "op", /you may/],
    [op, "admin", /Only admins may do that/],
    [root, "op", /you may/],
    [root, "admin", /you may/],
  ];
  for (const [user, command, answer] of answers) {
    user.send(`PRIVMSG #general :!scroll ${command}`);
    await user.expect(new RegExp(`:scroll!.* PRIVMSG #general :${answer.source}`));
  }
  // What the operator says in another's name proves nobody's account.
  const posted = { nick: "root", text: "!scroll admin" };
  await world.services.bridge?.post("#general", posted, BY_OPERATOR);
  await ann.expect(/:scroll!.* PRIVMSG #general :Only admins may do that/);
});

testParrot("A bot never answers another bot more than once", async (world) => {
  const ann = await world.person("ann");
  const robot = await world.guest("robot");
  robot.send("MODE robot +B");
  for (const text of ["one", "two", "three"]) robot.send(`PRIVMSG #general :!scroll say ${text}`);
  await robot.sync();
  ann.send("PRIVMSG #general :!scroll say end");
  await ann.expect(/PRIVMSG #general :end$/);
  const answered = ann.lines.filter((line) => /^:scroll!.* PRIVMSG #general/.test(line));
  assert.deepEqual(answered.map((line) => line.split(" :")[1]), ["one", "end"]);
});

testParrot("A speaker who gives too many commands hears of it once", async (world) => {
  const ann = await world.person("ann");
  for (let count = 0; count < 15; count++) ann.send(`PRIVMSG #general :!scroll say ${count}`);
  await ann.expect(/ NOTICE ann :You give commands faster than I answer/);
  world.services.clock.advance(60_000);
  ann.send("PRIVMSG #general :!scroll say later");
  await ann.expect(/PRIVMSG #general :later$/);
  const told = ann.lines.filter((line) => line.includes("faster than I answer"));
  assert.equal(told.length, 1);
  assert.ok(!ann.lines.some((line) => /^:scroll!.*:14$/.test(line)));
});

testParrot("A bot that throws is started again with growing pauses", async (world) => {
  const { clock } = world.services;
  const ann = await world.person("ann");
  for (const pause of [1, 2, 4]) {
    ann.send("PRIVMSG #general :!scroll say throw");
    await until(() => world.condition("scroll") === "failed");
    ann.send("PRIVMSG #general :!scroll say now");
    await ann.expect(/PRIVMSG #general :I am starting\. Try again soon\.$/);
    clock.advance(pause * 1000 - 1);
    assert.equal(world.condition("scroll"), "failed");
    clock.advance(1);
    await until(() => world.condition("scroll") === "running");
    ann.send(`PRIVMSG #general :!scroll say back ${pause}`);
    await ann.expect(new RegExp(`PRIVMSG #general :back ${pause}$`));
    clock.advance(10_000);
  }
  assert.deepEqual(
    await world.events("bot.failed"),
    [1, 2, 4].map((restart_seconds) => {
      return { bot: "scroll", error: "TypeError", restart_seconds };
    }),
  );
});

testParrot("A bot is enabled and disabled while muster runs", async (world) => {
  const ann = await world.person("ann");
  await world.policies({ scroll: { enabled: false } });
  await ann.expect(/^:scroll!\S+ QUIT :Disabled in its policy$/);
  ann.send("PRIVMSG scroll :say hello");
  await ann.expect(/ 401 ann scroll /);
  await world.enable("scroll");
  await ann.expect(/^:scroll!\S+ JOIN (:)?#general/);
  ann.send("PRIVMSG #general :!scroll say back");
  await ann.expect(/PRIVMSG #general :back$/);
  assert.deepEqual(await world.events("bot.started"), [{ bot: "scroll" }, { bot: "scroll" }]);
  assert.deepEqual(await world.events("bot.stopped"), [{ bot: "scroll" }]);
});

Deno.test("a bot that is stopped while it starts has ended once that is over", async () => {
  const [isStarting, mayStart] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const doing: string[] = [];
  const slow = defineBot<"scroll", BotInstance>({
    name: "scroll",
    purpose: "Starts slowly.",
    commands: [],
    async start() {
      isStarting.resolve();
      await mayStart.promise;
      return { stop: () => void doing.push("ended") };
    },
  });
  await withOwnBots(() => [slow], async (world) => {
    await world.policies({ scroll: { enabled: true } });
    await isStarting.promise;
    const stopped = world.bots.stop().then(() => doing.push("stopped"));
    await until(() => world.condition("scroll") === "stopped");
    for (let turn = 0; turn < 10; turn++) await world.events("bot.started");
    mayStart.resolve();
    await stopped;
    assert.deepEqual(doing, ["ended", "stopped"]);
  });
});

Deno.test("a bot that is stopped while it fails has ended once that is over", async () => {
  const [isEnding, mayEnd] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const doing: string[] = [];
  const failing = defineBot<"scroll", BotInstance>({
    name: "scroll",
    purpose: "Fails, and ends slowly.",
    commands: [{
      name: "FAIL",
      usage: "",
      purpose: "fails",
      may: "anyone",
      run() {
        throw new TypeError("A fault of the bot");
      },
    }],
    start: () => ({
      async stop() {
        isEnding.resolve();
        await mayEnd.promise;
        doing.push("ended");
      },
    }),
  });
  await withOwnBots(() => [failing], async (world) => {
    await world.enable("scroll");
    const ann = await world.person("ann");
    ann.send("PRIVMSG #general :!scroll fail");
    await isEnding.promise;
    const stopped = world.bots.stop().then(() => doing.push("stopped"));
    for (let turn = 0; turn < 10; turn++) await world.events("bot.started");
    mayEnd.resolve();
    await stopped;
    assert.deepEqual(doing, ["ended", "stopped"]);
  });
});

testParrot("a bot that left with lines to say speaks when it is back", async (world) => {
  const ann = await world.person("ann");
  // More lines than it says at once.
  for (let time = 0; time < 2; time++) ann.send("PRIVMSG #general :!scroll lines 20");
  await ann.expect(/PRIVMSG #general :line 19$/);
  await world.policies({ scroll: { enabled: false } });
  await world.enable("scroll");
  world.services.clock.advance(60_000);
  ann.send("PRIVMSG #general :!scroll say back");
  await ann.expect(/PRIVMSG #general :back$/);
});

testParrot("What a bot keeps survives its restart", async (world) => {
  const ann = await world.person("ann");
  ann.send("PRIVMSG #general :!scroll count");
  await ann.expect(/count 1$/);
  await world.policies({ scroll: { enabled: false } });
  await world.enable("scroll");
  ann.send("PRIVMSG #general :!scroll count");
  await ann.expect(/count 2$/);
});

Deno.test("nobody becomes operator of a channel in which bots report by joining it", () =>
  withBots(async (world) => {
    const { authority } = world.services;
    const early = await world.person("early", "#reports");
    early.send("TOPIC #reports :mine", "MODE #reports");
    await early.expect(/ 324 early #reports /);
    await world.enable("snitch", { alert_channel: "#reports" });
    await early.expect(/ MODE #reports -o early$/);
    const late = await world.person("late", "#reports");
    for (const one of [early, late]) {
      one.send("MODE #reports +k key");
      await one.expect(/ 482 \S+ #reports /);
    }
    // Admins are operators there. Whom they make operator stays so when other settings change.
    const root = await world.admin("root", "#reports");
    root.send("MODE #reports +o late");
    await late.expect(/ MODE #reports \+o late$/);
    await world.enable("shepherd", { report_channel: "ops" });
    early.send("PRIVMSG shepherd :goal mine #ops", "JOIN #ops", "PRIVMSG shepherd :goal mine #ops");
    for (let time = 1; time <= 2; time++) await early.expect(/Only operators of #ops may do that$/);
    assert.ok(authority.ownsChannel("#OPS"));
    late.send("MODE #reports +m");
    await late.expect(/ MODE #reports \+m$/);
    await world.policies({ snitch: { alert_channel: "#other" }, shepherd: { enabled: false } });
    const owned = ["#reports", "#other", "#ops"].map((name) => authority.ownsChannel(name));
    assert.deepEqual(owned, [false, true, false]);
  }));

Deno.test("on another network, an agent without a connection reads in its inbox what it is told", async () => {
  const told: string[] = [];
  const kept: string[] = [];
  const bridge = {
    announce: () => Promise.resolve(),
    tell: (nick: string) => Promise.resolve(void told.push(nick)),
  };
  const voice = new BridgeVoices(bridge, (nick) => {
    if (nick === "ann") return null;
    return {
      isOnline: nick === "present",
      keep: (bot, line) => void kept.push(`${nick} ${bot} ${line}`),
    };
  }).open("scroll");
  for (const nick of ["ann", "present", "absent"]) await voice.tell(nick, "one");
  assert.deepEqual(told, ["ann", "present"]);
  assert.deepEqual(kept, ["present scroll one", "absent scroll one"]);
});
