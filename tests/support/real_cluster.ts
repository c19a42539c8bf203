/**
 * A cluster of real programs on this machine: PostgreSQL, InspIRCd with Atheme, nodes of muster, and
 * Caddy in front of them. Everything is in one folder and ends with it.
 */
import { join } from "node:path";
import { freePort } from "./free_port.ts";
import { networkPeers, TestNetwork } from "./network.ts";
import { peer } from "./peers.ts";
import { PostgresServer } from "./postgres_server.ts";
import { type Program, startProgram } from "./program.ts";
import { adapt, untilListening } from "./proxy.ts";
import { asked } from "./until.ts";

const CADDYFILE = new URL("../../deploy/cluster/Caddyfile", import.meta.url);

/** The services of the network. */
const SERVICES = "atheme";

const BRIDGE_PASSWORD = "password-of-a-bridge";

/** What every node has the same of, in its data folder. */
const KEYS = ["token_key", "event_key", "network_key", "cloak_key"] as const;

export interface ClusterOptions {
  /** The names of the nodes, which start one after the other; by default, `a`, `b` and `c`. */
  readonly nodes?: readonly string[];
  /** More keys of every node's configuration, by section. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** Whether Caddy stands in front of the nodes; by default, not. */
  readonly balanced?: boolean;
}

/** Options for `Deno.test` of a test that needs a cluster. */
export function clusterPeers(): { ignore: boolean } {
  const peers = [networkPeers(SERVICES), peer("postgres"), peer("caddy")];
  return { ignore: peers.some(({ ignore }) => ignore) };
}

/** What a node answers to `/readyz`. */
export async function readiness(url: string): Promise<{ status: number; text: string }> {
  const response = await fetch(`${url}/readyz`);
  return { status: response.status, text: await response.text() };
}

/** A cluster that runs. */
export class Cluster implements AsyncDisposable {
  readonly folder: string;
  readonly postgres: PostgresServer;
  readonly network: TestNetwork;
  readonly #config: Readonly<Record<string, unknown>>;
  readonly #addresses = new Map<string, string>();
  readonly #programs = new Map<string, Program>();
  #balancer: Balancer | null = null;

  private constructor(
    folder: string,
    servers: Pick<Cluster, "postgres" | "network">,
    config: Readonly<Record<string, unknown>>,
  ) {
    const { postgres, network } = servers;
    this.folder = folder;
    this.postgres = postgres;
    this.network = network;
    this.#config = config;
  }

  /** Starts all of it. */
  static async start(options: ClusterOptions = {}): Promise<Cluster> {
    await using started = new AsyncDisposableStack();
    const folder = await Deno.makeTempDir({ prefix: "muster-cluster-" });
    started.defer(() => Deno.remove(folder, { recursive: true }));
    await Deno.chmod(folder, 0o755);
    const postgres = started.use(await PostgresServer.start(join(folder, "postgres")));
    const network = started.use(await TestNetwork.start({ services: SERVICES }));
    const cluster = new Cluster(folder, { postgres, network }, options.config ?? {});
    started.defer(() => cluster.#stopPrograms());
    const names = options.nodes ?? ["a", "b", "c"];
    for (const name of names) {
      cluster.#addresses.set(name, `127.0.0.1:${freePort()}`);
      await registerBridge(network, `bridge-${name}`);
    }
    for (const name of names) await cluster.startNode(name);
    for (const name of names) await cluster.ready(name);
    if (options.balanced ?? false) {
      cluster.#balancer = await Balancer.start(folder, [...cluster.#addresses.values()]);
    }
    const running = started.move();
    cluster.#end = () => running.disposeAsync();
    return cluster;
  }

  #end: () => Promise<void> = () => Promise.resolve();

  /** The names of the nodes. */
  get names(): readonly string[] {
    return [...this.#addresses.keys()];
  }

  /** The nodes that were started and not stopped. */
  get programs(): readonly Program[] {
    return [...this.#programs.values()];
  }

  /** Whether a node was started and not stopped. */
  runs(name: string): boolean {
    return this.#programs.has(name);
  }

  /** A node that runs. */
  node(name: string): Program {
    const program = this.#programs.get(name);
    if (program === undefined) throw new Error(`Node ${name} does not run`);
    return program;
  }

  /** The base URL of a node's API, which may be stopped. */
  addressOf(name: string): string {
    return `http://${this.#addresses.get(name)}`;
  }

  /** The URL of the load balancer. */
  get url(): string {
    if (this.#balancer === null) throw new Error("There is no load balancer");
    return this.#balancer.url;
  }

  /** The processes of muster and its surroundings that run, by name. */
  get pids(): ReadonlyMap<string, number> {
    const pids = new Map([...this.#programs].map(([name, { pid }]) => [name, pid]));
    const { pid } = this.postgres;
    if (pid !== null) pids.set("postgres", pid);
    return pids;
  }

  /** Starts a node: for the first time, with the keys of a node that runs; or again. */
  async startNode(name: string): Promise<Program> {
    const address = this.#addresses.get(name) ?? `127.0.0.1:${freePort()}`;
    if (!this.#addresses.has(name)) await registerBridge(this.network, `bridge-${name}`);
    this.#addresses.set(name, address);
    const folder = join(this.folder, name);
    await Deno.mkdir(join(folder, "data"), { recursive: true, mode: 0o700 });
    const [first] = this.#programs.values();
    if (first !== undefined) await copyKeys(first.folder, folder);
    const program = await startProgram({
      folder,
      config: JSON.stringify(this.#configOf(name, address), null, 2),
      environment: { MUSTER_API_ADDR: address },
    });
    this.#programs.set(name, program);
    return program;
  }

  /** Resolves when a node takes part. */
  async ready(name: string): Promise<void> {
    await asked(() => readiness(this.node(name).api), ({ status }) => status === 200);
  }

  /** Ends a node: with SIGTERM, as an operator does, or otherwise. */
  async stopNode(name: string, signal: Deno.Signal = "SIGTERM"): Promise<void> {
    const program = this.node(name);
    this.#programs.delete(name);
    await program.stop(signal);
  }

  /**
   * Stops PostgreSQL, and starts it again.
   *
   * @param away how long it is stopped, in milliseconds
   */
  async restartPostgres(how: "fast" | "crash" = "fast", away = 0): Promise<void> {
    await this.postgres.stop(how);
    await new Promise((resolve) => setTimeout(resolve, away));
    await this.postgres.start();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#balancer?.stop();
    await this.#end();
  }

  #configOf(name: string, address: string): Record<string, unknown> {
    const sections = {
      database: { url: this.postgres.url },
      node: { name, url: `http://${address}` },
      trusted_proxies: ["127.0.0.1"],
      ...networkConfig(this.network, `bridge-${name}`),
    };
    return merge(sections, this.#config);
  }

  async #stopPrograms(): Promise<void> {
    const programs = [...this.#programs.values()];
    this.#programs.clear();
    await Promise.all(programs.map((program) => program.stop("SIGKILL")));
  }
}

/**
 * The configuration of a muster on the network of {@linkcode networkPeers}.
 *
 * @param account of its bridge, which {@linkcode registerBridge} has registered
 */
export function networkConfig(
  { plan, servicesPassword }: TestNetwork,
  account: string,
): Record<string, unknown> {
  return {
    irc: {
      mode: "external",
      addr: `127.0.0.1:${plan.port}`,
      services: {
        kind: SERVICES,
        account: plan.servicesAccount,
        password: servicesPassword,
        oper: plan.operator.name,
        oper_password: plan.operator.password,
      },
    },
    bridge: { account, password: BRIDGE_PASSWORD, lines_per_second: 0 },
  };
}

/** Registers the account of a bridge. */
export async function registerBridge(network: TestNetwork, account: string): Promise<void> {
  await network.register(account, BRIDGE_PASSWORD);
}

/** Caddy with `deploy/cluster/Caddyfile`, on a free port, without TLS. */
class Balancer {
  readonly url: string;
  readonly #process: Deno.ChildProcess;

  private constructor(url: string, process: Deno.ChildProcess) {
    this.url = url;
    this.#process = process;
  }

  static async start(folder: string, nodes: readonly string[]): Promise<Balancer> {
    const port = freePort();
    const file = join(folder, "Caddyfile");
    const text = adapt(await Deno.readTextFile(CADDYFILE), [
      ["\n{\n", "\n{\n\tadmin off\n\tauto_https off\n"],
      ["{$MUSTER_SITE:localhost} {", `http://127.0.0.1:${port} {`],
      ["muster-a:8080 muster-b:8080 muster-c:8080", nodes.join(" ")],
      ["output stdout", `output file ${join(folder, "caddy.log")}`],
    ]);
    await Deno.writeTextFile(file, text);
    const process = new Deno.Command("caddy", {
      args: ["run", "--config", file, "--adapter", "caddyfile"],
      env: { HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).spawn();
    const balancer = new Balancer(`http://127.0.0.1:${port}`, process);
    try {
      await untilListening(port, process.status);
      return balancer;
    } catch (error) {
      await balancer.stop();
      throw error;
    }
  }

  async stop(): Promise<void> {
    try {
      this.#process.kill("SIGTERM");
    } catch {
      // It has ended already.
    }
    await this.#process.status;
  }
}

/** Gives a node's folder what all nodes have the same of. */
async function copyKeys(from: string, to: string): Promise<void> {
  for (const name of KEYS) {
    const copy = join(to, "data", name);
    await Deno.copyFile(join(from, "data", name), copy);
    await Deno.chmod(copy, 0o600);
  }
}

/** Sections of a configuration, with more keys over those of each. */
function merge(
  sections: Readonly<Record<string, unknown>>,
  more: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const merged: Record<string, unknown> = { ...sections };
  for (const [key, value] of Object.entries(more)) {
    const before = merged[key];
    merged[key] = isSection(before) && isSection(value) ? merge(before, value) : value;
  }
  return merged;
}

function isSection(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
