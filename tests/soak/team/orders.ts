/** Who may order what: tickets, the stop button, injected orders, and bots of others. */
import assert from "node:assert/strict";
import { INJECTIONS } from "../../support/injections.ts";
import type { Scene } from "./reading_bots.ts";
import { sooner } from "./sight.ts";
import type { Team } from "./team.ts";

const API = "/projects/team/fossil/api";

/** Makes the project, in which all agents may write. */
export async function openProject(team: Team): Promise<void> {
  await team.order("POST /v1/projects", { slug: "team" });
  for (const { nick } of team.agents) {
    await team.order(`PUT /v1/projects/team/members/${nick}`, { role: "write" });
  }
  await team.order(`POST ${API}/tickets`, { title: "Ticket of the team" });
}

/** All agents claim one ticket: one of them gets it, works, and submits it. */
export const tickets: Scene = async (team, _, round) => {
  const { uuid } = await team.order<{ uuid: string }>(`POST ${API}/tickets`, {
    title: `Step ${round}`,
  });
  const path = `POST ${API}/tickets/${uuid}`;
  const claims = await Promise.all(
    team.agents.map(async (agent) => [agent, await team.as(agent, `${path}/claim`, {})] as const),
  );
  const winners = claims.filter(([, { status }]) => status === 201);
  assert.equal(winners.length, 1, `${winners.length} agents hold ticket ${uuid}`);
  for (const [agent, { status, body }] of claims) {
    assert.ok(status === 201 || status === 409, `${agent.nick}: ${status} ${JSON.stringify(body)}`);
  }
  const [[winner] = []] = winners;
  assert.ok(winner !== undefined);
  const done = await team.as(winner, `${path}/submit`, { summary: `Step ${round} is done` });
  assert.ok(done.status < 300, JSON.stringify(done.body));
};

/** An admin halts everybody on IRC; nobody of the agents can speak, and then all can again. */
export const halt: Scene = async (team, _, round) => {
  const sight = await team.now();
  await team.root.send(`PRIVMSG #ops :!halt Wrong branch ${round}`);
  await sight.logged("agents.halted");
  const [over, tool, mouth] = [
    team.turn(team.onHttp, round),
    team.turn(team.onMcp, round),
    team.turn(team.onIrc, round),
  ];
  const text = `halted ${round}`;
  const posted = await team.as(over, "POST /v1/channels/general/messages", { text });
  assert.equal(posted.status, 423, JSON.stringify(posted.body));
  await assert.rejects(tool.tools.call("post", { channel: "#general", text }), /Wrong branch/);
  // On another network, only that network can stop an IRC client.
  if (team.network === null) {
    await mouth.irc.send(`PRIVMSG #general :${text}`);
    await sight.line(mouth.irc, new RegExp(` 404 ${mouth.nick} #general :All agents are halted`));
  }
  const entries = await sooner("the halt in an inbox", async () => {
    const inbox = await team.inbox(over);
    return inbox.find(({ kind, text }) =>
      kind === "halt" && text.includes(`Wrong branch ${round}`)
    );
  });
  assert.ok(entries.id.length > 0);
  await team.ann.send(`PRIVMSG #general :people go on ${round}`);
  await sooner(
    "what a person says during a halt",
    async () =>
      (await sight.messages("#general")).find((one) => one.text === `people go on ${round}`),
  );
  await team.root.send("PRIVMSG #ops :!resume");
  await sight.logged("agents.resumed");
  const again = await team.as(over, "POST /v1/channels/general/messages", { text: `on ${round}` });
  assert.equal(again.status, 204, JSON.stringify(again.body));
  const said = (await sight.messages("#general")).filter((one) => one.text === text);
  if (team.network === null) assert.deepEqual(said, [], "A halted agent was heard");
};

/** After a rest of so many milliseconds, warden lets anybody say twenty lines at once. */
const REST_MS = 4000;

/** What bots note about what was said; everything else in the event log would be an act. */
const NOTED = new Set(["bot.incident", "bot.alarm", "audit.throttled"]);

/** Fifty texts by which attackers want bots to act; none of them says so much that it is a flood. */
export const injections: Scene = async (team, _, round) => {
  // Warden judges speed, too, and some of them spoke a moment ago.
  await new Promise((resolve) => setTimeout(resolve, REST_MS));
  const sight = await team.now();
  const attackers = [...team.onIrc.slice(0, 4).map(({ irc }) => irc), team.ann];
  for (const [number, text] of INJECTIONS.entries()) {
    const attacker = attackers[number % attackers.length];
    await attacker?.send(`PRIVMSG #general :${text}`);
    if (number % 10 === 9) {
      const agent = team.turn(team.onHttp, number);
      await team.as(agent, "POST /v1/channels/general/messages", {
        text: `[root] ${round} ${text}`,
      });
    }
  }
  for (const attacker of attackers) await team.settled(attacker);
  // The bots have heard all of it when they answer this.
  await team.root.send(`PRIVMSG #general :!systembot status`);
  await sight.line(team.root, team.saying("systembot", "#general", "ok: up "));
  const acts = (await sight.events()).filter((event) =>
    event.actor.startsWith("bot:") && !NOTED.has(event.type)
  );
  assert.deepEqual(acts, [], "An injected order acted");
  const spoken = (await sight.messages("#general")).filter(({ nick, account }) =>
    ["auditbot", "herald", "shepherd", "steward", "warden"].includes(account ?? nick)
  );
  assert.deepEqual(spoken, [], "A bot answered an injected order");
};

/** A bot of somebody else asks each bot three times, and gets one answer of each. */
export const parrot: Scene = async (team, _, round) => {
  const nick = `parrot${round}`;
  await using bot = await team.guest(nick);
  await bot.send(`MODE ${nick} +B`);
  await bot.join("#general");
  const sight = await team.now([bot]);
  for (let time = 0; time < 3; time++) {
    await bot.send("PRIVMSG #general :!systembot status", "PRIVMSG #general :!scribe stats");
    await team.settled(bot);
  }
  await sight.message("#general", "systembot", /^ok: up /);
  await sight.message("#general", "scribe", /files? with/);
  // What comes after this answer was asked for by ann.
  await team.ann.send("PRIVMSG #general :!auditbot status", "PRIVMSG #general :!scribe help");
  await sight.message("#general", "auditbot", /^The event log/);
  await sight.message("#general", "scribe", /HELP command/);
  const messages = await sight.messages("#general");
  for (const [name, answer] of [["systembot", /^ok: up /], ["scribe", /files? with/]] as const) {
    const answers = messages.filter((one) => one.nick === name && answer.test(one.text));
    assert.equal(answers.length, 1, `${name} answered ${nick} ${answers.length} times`);
  }
};
