/** What the bots do that answer questions: auditbot, oracle, scribe, scroll and systembot. */
import assert from "node:assert/strict";
import type { FakeProvider } from "../../services/models/llm/support/provider.ts";
import type { Ledger } from "./ledger.ts";
import { sooner } from "./sight.ts";
import type { Team } from "./team.ts";

/** What the model of the story answers. */
export const SUMMARY = "The team works, and nobody has stopped it.";

/** A part of the story. */
export type Scene = (team: Team, ledger: Ledger, round: number) => Promise<void>;

const GENERAL = "#general";

/** An agent over HTTP asks a bot, and reads the answer in its inbox. */
async function ask(team: Team, number: number, bot: string, text: string, answer: RegExp) {
  const agent = team.turn(team.onHttp, number);
  const known = new Set((await team.inbox(agent)).map(({ id }) => id));
  const asked = team.network === null
    ? await team.as(agent, `POST /v1/agents/${bot}/messages`, { text })
    : await team.as(agent, "POST /v1/channels/general/messages", { text: `!${bot} ${text}` });
  assert.equal(asked.status, 204, JSON.stringify(asked.body));
  const found = await sooner(
    `${bot}'s answer ${answer} in the inbox of ${agent.nick}`,
    async () => {
      const entries = await team.inbox(agent);
      return entries.find(({ id, from, text }) =>
        from === bot && !known.has(id) && answer.test(text)
      );
    },
  );
  return `${agent.nick} reads in its inbox: ${found.text.split("\n")[0]}`;
}

export const systembot: Scene = async (team, ledger) => {
  const sight = await team.now();
  await team.ann.send(`PRIVMSG ${GENERAL} :!systembot status`);
  const line = await sight.line(team.ann, team.saying("systembot", GENERAL, "ok: up "));
  ledger.note("systembot", "irc", line);
  const { text } = await sight.message(GENERAL, "systembot", /^ok: up /);
  ledger.note("systembot", "rest", text);
};

export const auditbot: Scene = async (team, ledger, round) => {
  const sight = await team.now();
  await team.ann.send(`PRIVMSG ${GENERAL} :!auditbot status`);
  const { text } = await sight.message(GENERAL, "auditbot", /^The event log is at number/);
  ledger.note("auditbot", "rest", text);
  await team.root.send(`PRIVMSG ${GENERAL} :!auditbot recent 3`);
  const line = await sight.line(team.root, team.saying("auditbot", "root", "Z \\S+ by "));
  ledger.note("auditbot", "irc", line);
  await using visitor = await team.guest(`visitor${round}`, GENERAL);
  for (let time = 0; time < 3; time++) {
    await visitor.send(`PART ${GENERAL}`);
    await visitor.join(GENERAL);
  }
  const { data } = await sight.logged("audit.throttled");
  ledger.note("auditbot", "events", `audit.throttled ${JSON.stringify(data)}`);
};

export const scribe: Scene = async (team, ledger, round) => {
  const sight = await team.now();
  const word = `heron-${round}`;
  const speaker = team.turn(team.onHttp, round);
  const said = await team.as(speaker, "POST /v1/channels/general/messages", {
    text: `I saw a ${word} in the rain`,
  });
  assert.equal(said.status, 204, JSON.stringify(said.body));
  await team.ann.send(`PRIVMSG ${GENERAL} :!scribe search rain ${word}`);
  const line = await sight.line(team.ann, team.saying("scribe", "ann", `I saw a ${word}`));
  ledger.note("scribe", "irc", line);
  await team.ann.send(`PRIVMSG ${GENERAL} :!scribe stats`);
  const { text } = await sight.message(GENERAL, "scribe", /^#general: /);
  ledger.note("scribe", "rest", text);
};

export const scroll: Scene = async (team, ledger, round) => {
  const sight = await team.now();
  await team.ann.send(`PRIVMSG ${GENERAL} :!scroll replay last=3`);
  const line = await sight.line(team.ann, team.saying("scroll", "ann", "<"));
  ledger.note("scroll", "irc", line);
  const answer = await ask(team, round, "scroll", "replay #general last=2", /^#general: \d/);
  ledger.note("scroll", "rest", answer);
};

/** Without a model, with one, and with one that fails. */
export function oracle(model: FakeProvider): Scene {
  return async (team, ledger, round) => {
    const sight = await team.now();
    await team.ann.send(`PRIVMSG ${GENERAL} :!oracle digest last=20`);
    await sight.line(team.ann, team.saying("oracle", "ann", "#general: \\d+ messages"));
    await team.order("PUT /v1/settings/policies", { oracle: { backend: "story" } });
    const asks = team.turn(team.onIrc, round);
    const before = model.seen.length;
    await asks.irc.send(`PRIVMSG ${GENERAL} :!oracle summarize last=20`);
    const summary = team.saying("oracle", asks.nick, SUMMARY.slice(0, 20));
    ledger.note("oracle", "irc", await sight.line(asks.irc, summary));
    assert.ok(model.seen.length > before, "The model was not asked");
    const { data } = await sight.logged("llm.called", ({ actor }) => actor === "bot:oracle");
    ledger.note("oracle", "events", `llm.called ${JSON.stringify(data)}`);
    await team.order("PUT /v1/settings/policies", { oracle: { backend: "" } });
    const answer = await ask(team, round + 1, "oracle", "digest #general", /^#general: \d/);
    ledger.note("oracle", "rest", answer);
  };
}
