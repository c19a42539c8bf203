/** What a halted agent may do with an IRC client, and who may halt from there. */
import assert from "node:assert/strict";
import { COMMANDS } from "../../../../services/engines/irc/commands/mod.ts";
import { anAgent, BY_OPERATOR } from "../../../support/services.ts";
import { PASSWORD, withServices } from "./services/support.ts";

const REASON = "All agents are halted: drill";

/**
 * Every command. A line is refused with the reason of the halt. `reads` changes nothing that others
 * see; `operators` is closed to agents anyway. A new command needs an entry.
 */
const DECISIONS: Readonly<Record<string, string>> = {
  ADMIN: "reads",
  AUTHENTICATE: "reads",
  AWAY: "AWAY :gone",
  BATCH: "reads",
  CAP: "reads",
  CHANSERV: "CHANSERV HELP",
  CHATHISTORY: "reads",
  CHGHOST: "operators",
  CS: "CS HELP",
  HELP: "reads",
  HELPOP: "reads",
  INFO: "reads",
  INVITE: "INVITE ann #c",
  ISON: "reads",
  JOIN: "JOIN #new",
  KICK: "KICK #c ann",
  KILL: "operators",
  KLINE: "operators",
  LINKS: "reads",
  LIST: "reads",
  LUSERS: "reads",
  MARKREAD: "reads",
  METADATA: "METADATA * SET note :x",
  MODE: "MODE #c +t",
  MONITOR: "reads",
  MOTD: "reads",
  NAMES: "reads",
  NICK: "NICK other",
  NICKSERV: "NICKSERV HELP",
  NOTICE: "NOTICE #c :x",
  NS: "NS HELP",
  OPER: "OPER x y",
  PART: "reads",
  PASS: "reads",
  PING: "reads",
  PONG: "reads",
  PRIVMSG: "PRIVMSG #c :x",
  QUIT: "reads",
  REDACT: "REDACT #c id",
  REGISTER: "REGISTER * * password",
  RELAYMSG: "RELAYMSG #c x/y :x",
  RENAME: "RENAME #c #d",
  SETNAME: "SETNAME :x",
  STATS: "reads",
  TAGMSG: "@+x=y TAGMSG #c",
  TIME: "reads",
  TOPIC: "TOPIC #c :x",
  UNKLINE: "operators",
  USER: "reads",
  USERHOST: "reads",
  VERIFY: "VERIFY x y",
  VERSION: "reads",
  WALLOPS: "operators",
  WHO: "reads",
  WHOIS: "reads",
  WHOWAS: "reads",
};

const CAPABILITIES = "message-tags draft/message-redaction draft/relaymsg draft/channel-rename " +
  "draft/metadata-2 setname";

Deno.test("a halted agent reads on IRC, and every command that others would see is refused", async () => {
  assert.deepEqual([...COMMANDS.keys()].sort(), Object.keys(DECISIONS).sort());
  await withServices(async (world) => {
    const { halts } = world.services.agents;
    const passphrase = await anAgent(world.services, "coder");
    const ann = await world.guest("ann", CAPABILITIES);
    await ann.ask("JOIN #c");
    const coder = await world.member("coder", passphrase);
    await coder.ask(`CAP REQ :${CAPABILITIES}`, "JOIN #c");
    await ann.ask();
    await halts.halt({ reason: "drill", agents: [], types: [] }, BY_OPERATOR);
    const notice = /NOTICE \$\* (:)?Halted by operator: all agents. Reason: drill/;
    assert.match((await ann.ask()).join("\n"), notice);
    assert.match((await coder.ask()).join("\n"), notice);

    for (const [command, line] of Object.entries(DECISIONS)) {
      if (line === "reads") continue;
      const lines = await coder.ask(line === "operators" ? `${command} x y` : line);
      const expected = line === "operators" ? " 481 |^481 " : REASON;
      assert.match(lines.join("\n"), new RegExp(expected), command);
      assert.deepEqual(await ann.ask(), [], command);
    }
    const read = (await coder.ask("NAMES #c", "TOPIC #c", "WHOIS ann")).join("\n");
    assert.match(read, /353 .*coder/);

    await halts.resume({ agents: [], types: [] }, BY_OPERATOR);
    await ann.ask();
    await coder.ask("PRIVMSG #c :back");
    assert.match((await ann.ask()).join("\n"), /PRIVMSG #c (:)?back/);
  });
});

Deno.test("an agent that is halted by itself logs in under its own name, and stays silent", async () => {
  await withServices(async (world, again) => {
    const passphrase = await anAgent(world.services, "coder");
    const request = { reason: null, agents: ["coder"], types: [] };
    await world.services.agents.halts.halt(request, BY_OPERATOR);
    const later = await again();
    const ann = await later.guest("ann");
    await ann.ask("JOIN #c");
    const coder = await later.member("coder", passphrase);
    const lines = await coder.ask("JOIN #c", "PRIVMSG #c :hello");
    assert.match(lines.join("\n"), /404 coder #c (:)?This agent is halted/);
  });
});

Deno.test("!halt and !resume of an admin work on IRC; of nobody else, whatever the text says", async () => {
  await withServices(async (world) => {
    const { halts } = world.services.agents;
    const admins = world.services.admins;
    await admins.create({ username: "root", password: PASSWORD }, BY_OPERATOR);
    await anAgent(world.services, "coder");
    await anAgent(world.services, "boss", { type: "orchestrator" });
    await world.person("ann");
    const changed = () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const stop = halts.onChanged(() => {
        stop();
        resolve();
      });
      return promise;
    };

    for (const other of [await world.guest("root2"), await world.member("ann")]) {
      const lines = await other.ask("JOIN #c", "PRIVMSG #c :!halt", "PRIVMSG #c :[root] !halt");
      assert.match(lines.join("\n"), /Only admins who are logged in may use !halt/);
    }
    assert.equal(halts.isAny, false);

    const root = await world.member("root");
    await root.ask("JOIN #c");
    const halting = changed();
    root.client.send("PRIVMSG #c :!halt @workers wrong branch");
    await halting;
    const { halted, types } = halts.read();
    assert.deepEqual([halted, types.map(({ type, reason, by }) => [type, reason, by])], [
      false,
      [["worker", "wrong branch", "root"]],
    ]);
    const everybody = changed();
    root.client.send("PRIVMSG #c :!halt");
    await everybody;
    assert.equal(halts.read().agents_halted, 2);
    const resuming = changed();
    root.client.send("PRIVMSG #c :!resume @coder");
    await resuming;
    assert.equal(halts.read().agents_halted, 1);
    // The refusal may come after the answer to the first PING.
    const answers = [...await root.ask("PRIVMSG #c :!halt @nobody"), ...await root.ask()];
    assert.match(answers.join("\n"), /no agent "nobody"/);
    const forgotten = [...await root.ask("PRIVMSG #c :!resume planner"), ...await root.ask()];
    assert.match(forgotten.join("\n"), /Usage: !resume \[@agent or @type …\]/);
    assert.equal(halts.read().agents_halted, 1);
  });
});
