import { asked, Cluster } from "../../support/real_cluster.ts";
import { order } from "../../support/api.ts";
import { Talk } from "./channels.ts";
import { Mail } from "./mail.ts";
import { Pushes } from "./pushes.ts";
import { Tickets } from "./tickets.ts";
import { TokenTrial } from "./tokens.ts";
import { type Sizes, World } from "./world.ts";

/** Parts of the load. */
export const PARTS = ["talk", "mail", "tickets", "pushes", "tokens"] as const;
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

/** Something that works until the end, and is then compared with what was acknowledged. */
interface Work {
  run(): Promise<void>;
  check?(node: string): Promise<void>;
}

/**
 * Runs three nodes under a mixed load. In the middle it kills the leader, drains another node,
 * restarts PostgreSQL, and starts the killed node again. Nothing acknowledged may be lost or
 * duplicated.
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
  const talk = new Talk(world);
  using pushes = new Pushes(world);
  if (has("talk")) await talk.gather();
  if (has("pushes")) await pushes.prepare();
  const works: Work[] = [
    ...has("mail") ? [new Mail(world)] : [],
    ...has("tickets") ? [new Tickets(world)] : [],
    ...has("pushes") ? [pushes] : [],
    ...has("tokens") ? [new TokenTrial(world)] : [],
  ];
  say("Everybody is connected");
  const reading = has("talk") ? talk.read() : Promise.resolve();
  const working = [...has("talk") ? [talk.run()] : [], ...works.map((work) => work.run())];
  await shake(world, say);
  world.end();
  await Promise.all(working);
  say("The load has ended");
  await waitUntilRead(world, talk, has("talk"));
  say("Readers have read");
  await talk.end();
  await reading;
  for (const node of cluster.names) {
    for (const work of works) await work.check?.(node);
    if (has("talk")) await checkHistory(world, talk, node);
  }
  say("Everything is compared");
  return { faults: world.faults, counts: world.counts };
}

/** What goes wrong, spread over the run. */
async function shake(world: World, say: (line: string) => void): Promise<void> {
  const { cluster, sizes: { seconds } } = world;
  const part = seconds * 1000 / 6;
  await world.pause(part);
  const victim = await leaderOf(world);
  const [drained = "", other = ""] = cluster.names.filter((name) => name !== victim);
  world.open.delete(victim);
  await cluster.stopNode(victim, "SIGKILL");
  say(`${victim}, which led, is killed`);
  await world.pause(part);
  await order(world.operator(other), `POST /v1/nodes/${drained}/drain`);
  world.open.delete(drained);
  say(`${drained} is drained; ${await leaderOf(world)} leads`);
  await world.pause(part);
  await cluster.restartPostgres("crash");
  say("PostgreSQL was ended as by a crash, and started again");
  await asked(() => world.isReady(other), (isReady) => isReady);
  say(`${other} is ready again`);
  await world.pause(part);
  await cluster.startNode(victim);
  await world.admit(victim);
  say(`${victim} is back`);
  await world.pause(part);
  await order(world.operator(other), `POST /v1/nodes/${drained}/resume`);
  await world.admit(drained);
  say(`${drained} takes work again`);
  await world.pause(part);
}

/** The node that leads, once one does. */
async function leaderOf(world: World): Promise<string> {
  const ask = async () =>
    (await order(world.operator(), "GET /v1/nodes") as { name: string; leader: boolean }[])
      .find(({ name, leader }) => leader && world.cluster.runs(name))?.name ?? "";
  return await asked(ask, (name) => name !== "");
}

async function waitUntilRead(world: World, talk: Talk, isTalking: boolean): Promise<void> {
  if (!isTalking) return;
  for (const start = performance.now(); performance.now() - start < READ_LIMIT;) {
    if (talk.isRead) return;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  world.count("waits for readers that ended late");
}

/** Compares what a node has kept of the channels with what readers saw. */
async function checkHistory(world: World, talk: Talk, node: string): Promise<void> {
  const { token } = world.operator(node);
  for (const channel of world.channels) {
    const request = `GET /v1/channels/${channel}/messages`;
    const { status, text } = await world.send(node, `Bearer ${token}`, request);
    if (status !== 200) {
      world.fault(`${node}: ${request}: ${status} ${text}`);
      continue;
    }
    const shown = JSON.parse(text) as { id: string; text: string }[];
    const said = talk.said(channel);
    const ids = new Set<string>();
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
