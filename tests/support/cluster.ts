/** Several nodes of muster: real programs with one database of PostgreSQL and a fake IRC network. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { call, callAs, type Credentials } from "./api.ts";
import { FakeErgo } from "./fake_ergo.ts";
import { FakeErgoIrc } from "./fake_ergo_irc.ts";
import { freePort } from "./free_port.ts";
import { peer } from "./peers.ts";
import { postgresOf } from "./postgres.ts";
import { type Finished, type Program, runMuster, startProgram } from "./program.ts";
import { withFolder } from "./temporary.ts";
import { asked } from "./until.ts";

/** The API token of every node. */
const TOKEN = "0123456789abcdef".repeat(4);

/** The keys that all nodes share, each in a file of its own. */
const KEYS = ["token_key", "event_key", "network_key", "cloak_key"];

/** Nodes that start, end and start again. */
export class TestCluster implements AsyncDisposable {
  readonly ergo = new FakeErgo();
  readonly #irc = new FakeErgoIrc(this.ergo);
  readonly #folder: string;
  readonly #url: string;
  readonly #running = new Map<string, Program>();
  readonly #ports = new Map<string, number>();

  private constructor(folder: string, url: string) {
    this.#folder = folder;
    this.#url = url;
  }

  /** A cluster without a node. */
  static async create(folder: string): Promise<TestCluster> {
    return new TestCluster(folder, await postgresOf(folder));
  }

  /** The URL of the database. */
  get database(): string {
    return this.#url;
  }

  /** The folder of a node, with its data in `data`. */
  folderOf(name: string): string {
    return join(this.#folder, name);
  }

  /** Starts a node, or starts it again with the data that it has. */
  async start(name: string, environment: Readonly<Record<string, string>> = {}): Promise<Program> {
    const folder = this.folderOf(name);
    const data = join(folder, "data");
    await Deno.mkdir(data, { recursive: true });
    for (const key of KEYS) {
      await Deno.writeTextFile(join(data, key), "fedcba9876543210".repeat(4), { mode: 0o600 });
    }
    const program = await startProgram({
      folder,
      environment: Object.assign(this.#environmentOf(name), environment),
    });
    this.#running.set(name, program);
    return program;
  }

  /** Lets a node finish its work and end. */
  async stop(name: string): Promise<void> {
    const program = this.#running.get(name) ?? assert.fail(`The node "${name}" does not run`);
    this.#running.delete(name);
    assert.equal(await program.stop(), 0);
  }

  /** Runs a command with the configuration and the data of a node. */
  run(name: string, ...args: string[]): Promise<Finished> {
    return runMuster(args, {
      folder: this.folderOf(name),
      environment: this.#environmentOf(name),
    });
  }

  #environmentOf(name: string): Record<string, string> {
    const port = this.#ports.get(name) ?? freePort();
    this.#ports.set(name, port);
    return {
      MUSTER_API_TOKEN: TOKEN,
      MUSTER_API_ADDR: `127.0.0.1:${port}`,
      MUSTER_NODE_NAME: name,
      MUSTER_NODE_URL: `http://127.0.0.1:${port}`,
      MUSTER_DATABASE_URL: this.#url,
      MUSTER_IRC_MODE: "external",
      MUSTER_IRC_ADDR: this.#irc.address,
      MUSTER_IRC_ERGO_API_ADDR: `http://${this.ergo.address}`,
      MUSTER_IRC_ERGO_API_TOKEN: this.ergo.token,
      MUSTER_IRC_SERVICES_OPER: this.#irc.operator.name,
      MUSTER_IRC_SERVICES_OPER_PASSWORD: this.#irc.operator.password,
      MUSTER_BRIDGE_ENABLED: "false",
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#running.values()].map((program) => program.stop("SIGKILL")));
    await this.#irc[Symbol.asyncDispose]();
    await this.ergo[Symbol.asyncDispose]();
  }
}

/** A test of several nodes. Without a server of PostgreSQL it is ignored. */
export function testCluster(name: string, run: (cluster: TestCluster) => Promise<void>): void {
  Deno.test(name, peer("postgres server"), () =>
    withFolder(async (folder) => {
      await using cluster = await TestCluster.create(folder);
      await run(cluster);
    }));
}

/** Waits until a node knows that the node with a project runs. */
export async function reaches(node: Program, slug: string): Promise<void> {
  const status = async () => {
    const response = await call(node, "GET", `/projects/${slug}/fossil/api/tickets`);
    await response.body?.cancel();
    return response.status;
  };
  await asked(status, (one) => one === 200);
}

/** Moves a project to a node, once the nodes know of each other. */
export async function moveProject(program: Program, slug: string, node: string): Promise<void> {
  const move = async () => {
    const response = await call(program, "POST", `/v1/projects/${slug}/move`, { node });
    const text = await response.text();
    if (!response.ok) assert.match(text, /(does not run|is silent) at the moment/);
    return response.status;
  };
  await asked(move, (status) => status < 300);
}

/**
 * Sends a POST to one node after the other while the project is on its way, and returns what was
 * acknowledged.
 */
export async function insist(
  nodes: readonly Program[],
  agent: Credentials,
  path: string,
  body: unknown,
): Promise<Record<string, unknown>> {
  let attempt = 0;
  const send = async () => {
    const node = nodes[attempt++ % nodes.length] ?? assert.fail();
    const response = await callAs(node, agent, "POST", path, body);
    const text = await response.text();
    if (!response.ok) {
      assert.equal(response.status, 503, `${path}: ${text}`);
      assert.ok(response.headers.has("retry-after"), `${path}: ${text}`);
    }
    return { isDone: response.ok, text };
  };
  const { text } = await asked(send, ({ isDone }) => isDone);
  return JSON.parse(text);
}
