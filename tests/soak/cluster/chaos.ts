import { order } from "../../support/api.ts";
import { Cluster } from "../../support/real_cluster.ts";
import { asked } from "../../support/until.ts";
import { Asking } from "./asking.ts";
import { Talk } from "./channels.ts";
import { Journal } from "./journal.ts";
import { Mail } from "./mail.ts";
import { Outage } from "./outage.ts";
import { Outcasts } from "./outcasts.ts";
import { Pushes } from "./pushes.ts";
import { Tickets } from "./tickets.ts";
import { TokenTrial } from "./tokens.ts";
import { type Sizes, World } from "./world.ts";

/** Parts of the load. */
export const PARTS = [
  "talk",
  "mail",
  "questions",
  "tickets",
  "pushes",
  "tokens",
  "revocations",
  "events",
] as const;
export type Part = (typeof PARTS)[number];

export interface ChaosOptions {
  readonly sizes: Sizes;
  readonly seed: number;
  /** What takes part; by default, everything. */
  readonly parts?: readonly Part[];
  /** Says what happens. */
  readonly tell: (line: string) => void;
}

/** What a run did. */
export interface Report {
  /** What must not have happened. */
  readonly faults: readonly string[];
  readonly counts: ReadonlyMap<string, number>;
}

/** How long readers may take for what was said before the end, in milliseconds. */
const READ_LIMIT = 60_000;

/** How long PostgreSQL is away the second time, in milliseconds: longer than a lease. */
const AWAY = 8000;

/** Something that works until the end, and is then compared with what was acknowledged. */
interface Work {
  run(): Promise<void>;
  check?(node: string): Promise<void>;
}

/** What the seed decides of what goes wrong. */
interface Troubles {
  /** Whether the killed node leads. */
  readonly killsLeader: boolean;
  /** How PostgreSQL ends the first time; the second time, it ends in the other way. */
  readonly ends: "fast" | "crash";
}

function troublesOf(seed: number): Troubles {
  return { killsLeader: seed % 2 === 0, ends: seed % 4 < 2 ? "crash" : "fast" };
}

/**
 * Runs three nodes under a mixed load. In the middle it kills a node, restores one of its projects
 * elsewhere, drains another node, restarts PostgreSQL twice, and starts the killed node again.
 * Nothing acknowledged may be lost or duplicated.
 */
export async function disturb(options: ChaosOptions): Promise<Report> {
  const { sizes, seed, parts = PARTS, tell } = options;
  const started = performance.now();
  const say = (line: string) =>
    tell(`${((performance.now() - started) / 1000).toFixed(1).padStart(6)} s  ${line}`);
  await using cluster = await Cluster.start({
    config: {
      bridge: { buffer_size: 10_000 },
      projects: { claims_per_agent: 1_000_000 },
      limits: { channels_per_agent: 1000 },
    },
  });
  const world = new World({ cluster, sizes, seed, tell: say });
  say("The nodes run");
  await world.prepare();
  say(`${2 * sizes.agents} agents and ${sizes.projects} projects are there`);
  const has = (part: Part) => parts.includes(part);
  const [talk, journal] = [new Talk(world), new Journal(world)];
  using pushes = new Pushes(world);
  if (has("talk")) await talk.gather();
  if (has("pushes")) await pushes.prepare();
  if (has("events")) await journal.gather();
  const works: Work[] = [
    ...has("mail") ? [new Mail(world)] : [],
    ...has("questions") ? [new Asking(world)] : [],
    ...has("tickets") ? [new Tickets(world)] : [],
    ...has("pushes") ? [pushes] : [],
    ...has("tokens") ? [new TokenTrial(world)] : [],
    ...has("revocations") ? [new Outcasts(world)] : [],
  ];
  say("Everybody is connected");
  const working = [...has("talk") ? [talk.run()] : [], ...works.map((work) => work.run())];
  await shake(world, troublesOf(seed), say);
  world.end();
  await Promise.all(working);
  say("The load has ended");
  if (has("talk")) await endTalk(talk, world);
  say("Readers have read");
  for (const node of cluster.names) {
    for (const work of works) await work.check?.(node);
    if (has("talk")) await checkHistory(world, talk, node);
  }
  if (has("events")) await journal.end();
  say("Everything is compared");
  return { faults: world.faults, counts: world.counts };
}

/** What goes wrong, spread over the run. */
async function shake(
  world: World,
  { killsLeader, ends }: Troubles,
  say: (line: string) => void,
): Promise<void> {
  const { cluster, sizes: { seconds } } = world;
  const part = seconds * 1000 / 7;
  await world.pause(part);
  const leader = await leaderOf(world);
  const victim = killsLeader ? leader : cluster.names.find((name) => name !== leader) ?? leader;
  const others = cluster.names.filter((name) => name !== victim);
  const [other = "", drained = ""] = killsLeader
    ? others
    : others.toSorted((one) => one === leader ? 1 : -1);
  world.open.delete(victim);
  await cluster.stopNode(victim, "SIGKILL");
  say(`${victim}, which ${killsLeader ? "led" : "did not lead"}, is killed`);
  const outage = new Outage(world, victim);
  await outage.check();
  say("Its projects answer 503, the others 200");
  await world.pause(part);
  say(`Its project ${await outage.restore(other)} is restored on ${other}`);
  await order(world.operator(other), `POST /v1/nodes/${drained}/drain`);
  world.open.delete(drained);
  say(`${drained} is drained; ${await leaderOf(world)} leads`);
  await world.pause(part);
  await cluster.restartPostgres(ends);
  say(`PostgreSQL was ended (${ends}), and started again`);
  await asked(() => world.isReady(other), (isReady) => isReady);
  say(`${other} is ready again`);
  await world.pause(part);
  await cluster.startNode(victim);
  await world.admit(victim);
  say(`${victim} is back`);
  await world.pause(part);
  await cluster.restartPostgres(ends === "fast" ? "crash" : "fast", AWAY);
  say(`PostgreSQL was away for ${AWAY} ms`);
  await asked(() => world.isReady(other), (isReady) => isReady);
  await order(world.operator(other), `POST /v1/nodes/${drained}/resume`);
  await world.admit(drained);
  say(`${drained} takes work again`);
  await world.pause(2 * part);
}

/** The node that leads, once one does. */
async function leaderOf(world: World): Promise<string> {
  const ask = async () =>
    (await order(world.operator(), "GET /v1/nodes") as { name: string; leader: boolean }[])
      .find(({ name, leader }) => leader && world.cluster.runs(name))?.name ?? "";
  return await asked(ask, (name) => name !== "");
}

async function endTalk(talk: Talk, world: World): Promise<void> {
  for (const start = performance.now(); !talk.isRead;) {
    if (performance.now() - start > READ_LIMIT) {
      world.count("waits for readers that ended late");
      break;
    }
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  await talk.end();
}

/** Compares what a node has kept of the channels with what readers saw. */
async function checkHistory(world: World, talk: Talk, node: string): Promise<void> {
  const { token } = world.operator(node);
  for (const channel of world.channels) {
    const request = `GET /v1/channels/${channel}/messages?limit=10000`;
    const { status, text } = await world.send(node, `Bearer ${token}`, request);
    if (status !== 200) {
      world.fault(`${node}: ${request}: ${status} ${text}`);
      continue;
    }
    const shown = JSON.parse(text) as { id: string; text: string }[];
    const said = talk.said(channel);
    const ids = new Set<string>();
    const texts = new Set(shown.map(({ text }) => text));
    for (const text of said.keys()) {
      if (!texts.has(text)) world.fault(`${node} does not show "${text}" in ${channel}`);
    }
    for (const { id, text } of shown) {
      if (ids.has(id)) world.fault(`${node} shows ${id} twice in ${channel}`);
      ids.add(id);
      const known = said.get(text);
      if (known !== undefined && known !== id) {
        world.fault(`${node} shows "${text}" as ${id}, and streams as ${known}`);
      }
    }
    world.count("messages in histories", shown.length);
  }
}
