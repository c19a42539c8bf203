import { join } from "node:path";
import { call, order, registerAgent, type Server } from "../../tests/support/api.ts";
import {
  Cluster,
  clusterPeers,
  networkConfig,
  readiness,
  registerBridge,
} from "../../tests/support/real_cluster.ts";
import type { TestNetwork } from "../../tests/support/network.ts";
import { PostgresServer } from "../../tests/support/postgres_server.ts";
import { type Program, startProgram } from "../../tests/support/program.ts";
import { asked } from "../../tests/support/until.ts";
import { familySeconds } from "../process_usage.ts";
import type { Figure, Scenario, Sizes } from "../scenario.ts";
import { median } from "../statistics.ts";
import { type Measured, type Operation, OPERATIONS, repeat } from "./operations.ts";

/** What an operation on three nodes may cost at most, compared with one. */
const MOST = 1.5;

const ONE_NODE = "one node";

/**
 * How often each node does a read in a round, and a write, which takes longer: a node that has done
 * more is faster, because the runtime compiles what runs often.
 */
const [READS, WRITES] = [4000, 300];

/** The part of a round that is done before the first one. */
const WARM_UP = 1 / 4;

/** Tickets of each project. */
const TICKETS = 32;

/** A server or a cluster that is compared. */
interface Variant {
  readonly name: string;
  readonly at: Measured;
  /** All processes whose work belongs to it; those of PostgreSQL are its first one's. */
  readonly pids: readonly number[];
  /** Whether the operation makes sense there. */
  does(operation: Operation): boolean;
}

/** The processor time of an operation on servers that are alone, on one node and on three nodes. */
export const CLUSTER: Scenario = {
  name: "cluster",
  anyIrcServer: false,
  obstacle: () => clusterPeers().ignore ? "PostgreSQL, InspIRCd, Atheme or Caddy is missing" : null,
  describe: ({ rounds }) =>
    `CPU of an operation, of all threads of muster, PostgreSQL, InspIRCd and Atheme, with what they ` +
    `do meanwhile anyway; each node does ${READS} reads or ${WRITES} writes in each of ${rounds} ` +
    `rounds, in turns`,
  measure: async (sizes) => {
    await using cluster = await Cluster.start({ config: { bridge: { channels: ["#three"] } } });
    await using open = new AsyncDisposableStack();
    const variants = [
      await one(cluster, "sqlite", open),
      await one(cluster, "postgres", open),
      await oneNode(open),
      ...await three(cluster),
    ];
    for (const variant of variants) {
      for (const operation of OPERATIONS.filter((one) => variant.does(one))) {
        await repeat(operation, variant.at, timesOf(operation, variant) * WARM_UP);
      }
    }
    return figuresOf(await measureAll(variants, sizes));
  },
};

function timesOf({ isWrite }: Operation, { at: { apis } }: Variant): number {
  return apis.length * (isWrite ? WRITES : READS);
}

/** Microseconds of each round, by operation and variant. */
type Costs = ReadonlyMap<string, readonly number[]>;

async function measureAll(variants: readonly Variant[], { rounds }: Sizes): Promise<Costs> {
  const costs = new Map<string, number[]>();
  for (let round = 0; round < rounds; round++) {
    for (const operation of OPERATIONS) {
      for (const variant of variants.filter((one) => one.does(operation))) {
        const times = timesOf(operation, variant);
        const before = await familySeconds(variant.pids);
        await repeat(operation, variant.at, times);
        const seconds = await familySeconds(variant.pids) - before;
        const key = `${operation.name}, ${variant.name}`;
        costs.set(key, [...costs.get(key) ?? [], seconds / times * 1e6]);
      }
    }
  }
  return costs;
}

function figuresOf(costs: Costs): Figure[] {
  return [...costs].map(([name, values]) => {
    const [operation] = name.split(", ");
    const single = costs.get(`${operation}, ${ONE_NODE}`);
    const isSpread = name.includes("three nodes");
    return {
      name,
      value: median(values),
      unit: "µs",
      ...isSpread && single !== undefined ? { aim: Math.round(MOST * median(single)) } : {},
    };
  });
}

/** One server that is alone, on the same IRC network, in a channel of its own. */
async function one(
  { network, folder }: Cluster,
  store: "sqlite" | "postgres",
  open: AsyncDisposableStack,
): Promise<Variant> {
  const postgres = store === "sqlite"
    ? null
    : open.use(await PostgresServer.start(join(folder, "postgres-alone")));
  const home = join(folder, `alone-${store}`);
  await Deno.mkdir(home);
  const program = open.use(await startAlone(network, { store, home, url: postgres?.url ?? "" }));
  await asked(() => readiness(program.api), ({ status }) => status === 200);
  const at = await furnish(program, [program.api], store);
  return {
    name: `one server, ${store}`,
    at,
    pids: [...network.pids, program.pid, ...postgres === null ? [] : [postgres.pid ?? 0]],
    does: () => true,
  };
}

async function startAlone(
  network: TestNetwork,
  { store, home, url }: { readonly store: string; readonly home: string; readonly url: string },
): Promise<Program> {
  const nick = `bridge-${store}`;
  await registerBridge(network, nick);
  const sections = networkConfig(network, nick);
  const bridge = Object.assign({}, sections["bridge"], { nick, channels: [`#${store}`] });
  const config = { ...sections, bridge, database: { url } };
  return await startProgram({ folder: home, config: JSON.stringify(config) });
}

/** One node, with a network and a database of its own: three nodes are compared with it. */
async function oneNode(open: AsyncDisposableStack): Promise<Variant> {
  const cluster = open.use(
    await Cluster.start({ nodes: ["a"], config: { bridge: { channels: ["#single"] } } }),
  );
  const { network, postgres } = cluster;
  const at = await furnish(cluster.node("a"), [cluster.addressOf("a")], "single");
  const pids = [...network.pids, cluster.node("a").pid, postgres.pid ?? 0];
  return { name: ONE_NODE, at, pids, does: () => true };
}

/** Three nodes: all in turn, and for a project, its home alone and the others alone. */
async function three(cluster: Cluster): Promise<Variant[]> {
  const { network, postgres } = cluster;
  const apis = cluster.names.map((name) => cluster.addressOf(name));
  const at = await furnish(cluster.node("a"), apis, "three");
  const { node } = await order(cluster.node("a"), `GET /v1/projects/${at.slug}`) as {
    node: string;
  };
  const home = cluster.addressOf(node);
  const pids = [
    ...network.pids,
    ...cluster.programs.map(({ pid }) => pid),
    postgres.pid ?? 0,
  ];
  const ofProject = ({ isOfProject }: Operation) => isOfProject;
  const others = apis.filter((api) => api !== home);
  return [
    { name: "three nodes in turn", at, pids, does: () => true },
    { name: "home of three", at: { ...at, apis: [home] }, pids, does: ofProject },
    { name: "forwarded of three", at: { ...at, apis: others }, pids, does: ofProject },
  ];
}

/** Makes what the operations need. */
async function furnish(
  server: Server,
  apis: readonly string[],
  name: string,
): Promise<Measured> {
  const agent = await registerAgent(server, `bench-${name}`);
  await order(server, "POST /v1/projects", { slug: name });
  await order(server, `PUT /v1/projects/${name}/members/${agent.nick}`, { role: "write" });
  const tickets: string[] = [];
  for (let count = 0; count < TICKETS; count++) {
    const path = `/projects/${name}/fossil/api/tickets`;
    const response = await call(server, "POST", path, { title: `Ticket ${count}` });
    tickets.push((await response.json()).uuid);
  }
  return { apis, token: server.token, channel: name, slug: name, agent, tickets };
}
