/** What the bots do that act: herald, sentinel, shepherd, snitch, steward and warden. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createHmac } from "node:crypto";
import type { Scene } from "./reading_bots.ts";
import { type Sight, sooner } from "./sight.ts";
import type { Team } from "./team.ts";

const GENERAL = "#general";

/** So many lines at once that warden warns, mutes and removes who says them. */
const FLOOD_LINES = 80;

/** What looks like a key of AWS. */
const KEY = `AKIA${"ABCDEFGHIJKLMNOP"}`;

/** A source of webhooks: how it signs, and how its event begins. */
type Signer = (secret: string, body: string, id: string) => Record<string, string>;

const SIGNERS: Readonly<Record<"github" | "forgejo" | "standard", Signer>> = {
  github: (secret, body, id) => ({
    "x-github-event": "push",
    "x-github-delivery": id,
    "x-hub-signature-256": `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`,
  }),
  forgejo: (secret, body, id) => ({
    "x-forgejo-event": "push",
    "x-forgejo-delivery": id,
    "x-forgejo-signature": createHmac("sha256", secret).update(body).digest("hex"),
  }),
  standard: (secret, body, id) => {
    const time = String(Math.floor(Date.now() / 1000));
    const key = Buffer.from(secret.slice("whsec_".length), "base64");
    const mac = createHmac("sha256", key).update(`${id}.${time}.${body}`).digest("base64");
    return { "webhook-id": id, "webhook-timestamp": time, "webhook-signature": `v1,${mac}` };
  },
};

export const herald: Scene = async (team, ledger, round) => {
  const sight = await team.now();
  const text = `Deploy ${round} failed`;
  await team.order("POST /v1/herald", { type: "deploy.failed", text });
  const line = await sight.line(team.root, team.saying("herald", "#deploys", text));
  ledger.note("herald", "irc", line);
  const message = await sight.message("#deploys", "herald", new RegExp(text));
  ledger.note("herald", "rest", message.text);
  for (const kind of ["github", "forgejo", "standard"] as const) {
    const source = { name: `${kind}-${round}`, kind };
    const { path, secret } = await team.order<{ path: string; secret: string }>(
      "POST /v1/herald/sources",
      source,
    );
    const body = JSON.stringify({
      type: "push",
      ref: "refs/heads/main",
      commits: [{ message: `Change ${round}` }],
      repository: { full_name: `team/${kind}` },
    });
    const send = async (headers: Record<string, string>) => {
      const answer = await fetch(team.program.api + path, { method: "POST", headers, body });
      await answer.body?.cancel();
      return answer.status;
    };
    const signed = SIGNERS[kind](secret, body, `delivery-${kind}-${round}`);
    assert.equal(await send(SIGNERS[kind](`${secret}A`.slice(1), body, "forged")), 401);
    assert.deepEqual([await send(signed), await send(signed)], [202, 200], kind);
    await sight.message("#ops", "herald", new RegExp(`^\\[${kind}-${round}\\.`));
    await team.order(`DELETE /v1/herald/sources/${source.name}`);
  }
  const { data } = await sight.logged("herald.source_added");
  ledger.note("herald", "events", `herald.source_added ${JSON.stringify(data)}`);
};

/** An agent floods a channel: snitch tells of it and, on muster's own server, warden stops it. */
export const flood: Scene = async (team, ledger, round) => {
  const sight = await team.now();
  const { nick, irc } = team.turn(team.onIrc.slice(4), round);
  const lines = Array.from(
    { length: FLOOD_LINES },
    (_, line) => `PRIVMSG ${GENERAL} :spam ${round} ${line}`,
  );
  await irc.send(...lines);
  await team.settled(irc);
  ledger.note("snitch", "irc", await sight.line(team.root, team.saying("snitch", "#ops", nick)));
  const alarm = await sight.message("#ops", "snitch", new RegExp(`^\\[flood\\] ${nick} `));
  ledger.note("snitch", "rest", alarm.text);
  const alarmed = await sight.logged("bot.alarm", ({ data }) => data["nick"] === nick);
  ledger.note("snitch", "events", `bot.alarm ${JSON.stringify(alarmed.data)}`);
  if (team.network !== null) return;
  const muted = await sight.line(irc, team.saying("warden", nick, "You are muted"));
  ledger.note("warden", "irc", muted);
  await sight.line(irc, new RegExp(`^:warden!\\S+ KICK ${GENERAL} ${nick} `));
  const { data } = await sight.logged("irc.muted", (one) => {
    return one.data["bot"] === "warden" && one.data["nick"] === nick;
  });
  ledger.note("warden", "events", `irc.muted ${JSON.stringify(data)}`);
  const arrived = (await sight.messages(GENERAL)).filter(({ text }) =>
    text.startsWith(`spam ${round} `)
  );
  assert.ok(arrived.length < lines.length, "Nothing of the flood was refused");
  await refusedOverHttp(team, ledger, round);
  await unmute(team, nick);
  await irc.join(GENERAL);
};

async function refusedOverHttp(team: Team, ledger: Parameters<Scene>[1], round: number) {
  const agent = team.turn(team.onHttp, round);
  const refused = await sooner("a refusal of warden over REST", async () => {
    const answer = await team.as(agent, "POST /v1/channels/general/messages", {
      text: "ping ping",
    });
    return answer.status === 204 ? null : answer;
  });
  ledger.note("warden", "rest", `${refused.status} ${JSON.stringify(refused.body)}`);
  await unmute(team, agent.nick);
}

/** Lifts every mute of an agent, if there is any. */
async function unmute(team: Team, nick: string): Promise<void> {
  const sight = await team.now();
  await team.root.send(`PRIVMSG warden :unmute ${nick}`);
  await sight.line(team.root, team.saying("warden", "root", `${nick} (may speak|is not muted)`));
}

/** An agent publishes a key: sentinel reports it and, on muster's own server, steward acts. */
export const incident: Scene = async (team, ledger, round) => {
  const sight = await team.now();
  const { nick, irc } = team.turn(team.onIrc.slice(4), round + 1);
  await irc.send(`PRIVMSG ${GENERAL} :the key of stage ${round} is ${KEY}`);
  const reported = await sight.line(
    team.root,
    team.saying("sentinel", "#moderation", `${nick} in #general: an AWS access key`),
  );
  ledger.note("sentinel", "irc", reported);
  const report = await sight.message("#moderation", "sentinel", new RegExp(`\\b${nick} in #gen`));
  ledger.note("sentinel", "rest", report.text);
  const { data } = await sight.logged("bot.incident", (one) => one.data["nick"] === nick);
  ledger.note("sentinel", "events", `bot.incident ${JSON.stringify(data)}`);
  assert.ok(!JSON.stringify(data).includes(KEY), "The event log has the key");
  if (team.network === null) await sanction(team, ledger, { nick, irc, sight });
  await team.root.send(`PRIVMSG #moderation :!sentinel dismiss ${nick}`);
  await sight.line(team.root, team.saying("sentinel", "#moderation", "Dismissed"));
};

async function sanction(
  team: Team,
  ledger: Parameters<Scene>[1],
  { nick, irc, sight }: {
    readonly nick: string;
    readonly irc: Team["ann"];
    /** From before the incident. */
    readonly sight: Sight;
  },
): Promise<void> {
  const muted = await sight.line(irc, team.saying("steward", nick, "You are muted"));
  ledger.note("steward", "irc", muted);
  const { data } = await sight.logged("irc.muted", (one) => {
    return one.data["bot"] === "steward" && one.data["nick"] === nick;
  });
  ledger.note("steward", "events", `irc.muted ${JSON.stringify(data)}`);
  const told = await sight.message("#moderation", "steward", new RegExp(`muted ${nick} `));
  ledger.note("steward", "rest", told.text);
  await team.root.send(`PRIVMSG ${GENERAL} :!steward unmute ${nick} ${GENERAL}`);
  await sight.line(team.root, team.saying("steward", GENERAL, `${nick} may speak again`));
}

/** A goal and a task, which its owner ends; the project's tickets are part of the goals. */
export const shepherd: Scene = async (team, ledger, round) => {
  const sight = await team.now();
  const owner = team.turn(team.onHttp, round + 2);
  await team.root.send(`PRIVMSG ${GENERAL} :!shepherd goal Ship release ${round}`);
  const set = await sight.line(team.root, team.saying("shepherd", GENERAL, "Goal \\d+ for #gen"));
  const goal = /Goal (\d+)/.exec(set)?.[1];
  await team.root.send(`PRIVMSG ${GENERAL} :!shepherd assign ${owner.nick} Write page ${round}`);
  const given = team.saying("shepherd", GENERAL, `root gives you task \\d+: Write page ${round}`);
  ledger.note("shepherd", "irc", await sight.line(team.ann, given));
  const { data } = await sight.logged("bot.task_assigned");
  ledger.note("shepherd", "events", `bot.task_assigned ${JSON.stringify(data)}`);
  const entry = await sooner(`the task in the inbox of ${owner.nick}`, async () => {
    const entries = await team.inbox(owner);
    return entries.find(({ from, text }) =>
      from === "shepherd" && text.includes(`Write page ${round} `)
    );
  });
  ledger.note("shepherd", "rest", `inbox of ${owner.nick}: ${entry.text}`);
  await team.root.send(`PRIVMSG ${GENERAL} :!shepherd goals`);
  await sight.line(team.root, team.saying("shepherd", "(#general|root)", "of team: "));
  const done = JSON.stringify({
    v: 1,
    type: "task.done",
    id: `t-${round}`,
    from: owner.nick,
    payload: {},
  });
  const posted = await team.as(owner, "POST /v1/channels/general/messages", { text: done });
  assert.equal(posted.status, 204, JSON.stringify(posted.body));
  await sight.logged("bot.goal_done", (one) => one.data["number"] === data["number"]);
  await team.root.send(`PRIVMSG ${GENERAL} :!shepherd done ${goal}`);
  await sight.line(team.root, team.saying("shepherd", GENERAL, `Goal ${goal} is done`));
};
