import assert from "node:assert/strict";
import { call, type Credentials, type Server } from "../../support/api.ts";
import { type Cluster, readiness } from "../../support/real_cluster.ts";
import { Random } from "../../services/engines/fossil/support/random.ts";

/** How much takes part. */
export interface Sizes {
  /** Agents on IRC, as many over HTTP, and as many streams. */
  readonly agents: number;
  /** Channels, over which agents and streams are spread. */
  readonly channels: number;
  /** Projects to which somebody pushes. */
  readonly projects: number;
  /** How long they work, in seconds. */
  readonly seconds: number;
}

export interface WorldOptions {
  readonly cluster: Cluster;
  readonly sizes: Sizes;
  readonly seed: number;
  /** Says what goes wrong, when it does. */
  readonly tell: (line: string) => void;
}

/** An answer; status 0 if the node ended or broke off before it came. */
export interface Answer {
  readonly status: number;
  readonly text: string;
  /** The header `Retry-After`, or null. */
  readonly retryAfter: string | null;
}

/** What a tool answered. */
export interface ToolAnswer {
  readonly isError: boolean;
  readonly text: string;
}

/** How long an answer may take, in milliseconds. */
const ANSWER_LIMIT = 60_000;

/** Most faults that are told. */
const MAX_FAULTS = 50;

/** How many requests are sent at once to prepare the world. */
const AT_ONCE = 8;

/** The password of bearer tokens in the header. */
export function bearer(token: string): string {
  return `Bearer ${token}`;
}

/** The credentials of an agent in the header. */
export function basic({ nick, passphrase }: Credentials): string {
  return `Basic ${btoa(`${nick}:${passphrase}`)}`;
}

/** The cluster with its agents, channels and projects, and what all workers note. */
export class World {
  readonly cluster: Cluster;
  readonly sizes: Sizes;
  readonly random: Random;
  readonly onIrc: Credentials[] = [];
  readonly onHttp: Credentials[] = [];
  readonly channels: readonly string[];
  readonly projects: readonly string[];
  /** The nodes to which clients turn, as a load balancer would choose them. */
  readonly open: Set<string>;
  /** What must not have happened. */
  readonly faults: string[] = [];
  /** How often something was counted. */
  readonly counts = new Map<string, number>();
  readonly #tell: (line: string) => void;
  readonly #ending = new AbortController();

  constructor(options: WorldOptions) {
    const { cluster, sizes, seed } = options;
    this.cluster = cluster;
    this.#tell = options.tell;
    this.sizes = sizes;
    this.random = new Random(seed);
    this.channels = names("room", sizes.channels);
    this.projects = names("work", sizes.projects);
    this.open = new Set(cluster.names);
  }

  /** Whether the workers shall end. */
  get isEnding(): boolean {
    return this.#ending.signal.aborted;
  }

  end(): void {
    this.#ending.abort();
  }

  /** Makes channels, agents and projects. */
  async prepare(): Promise<void> {
    const { agents, projects } = this.sizes;
    for (const channel of this.channels) {
      await must(call(this.operator(), "POST", `/v1/channels/${channel}/join`), 204);
    }
    for (const [word, all] of [["irc", this.onIrc], ["http", this.onHttp]] as const) {
      await inTurns(names(word, agents), async (nick, index) => {
        all[index] = await this.#register(nick, this.channelOf(index));
      });
      this.#tell(`${all.length} agents for ${word} are registered`);
    }
    await inTurns(this.projects, async (slug, index) => {
      const at = this.operator(this.cluster.names[index % this.cluster.names.length]);
      await must(call(at, "POST", "/v1/projects", { slug }), 201);
      for (const { nick } of this.members) {
        const path = `/v1/projects/${slug}/members/${nick}`;
        await must(call(at, "PUT", path, { role: "write" }), 201);
      }
    });
    assert.equal(this.projects.length, projects);
  }

  /** The agents that work in projects. */
  get members(): readonly Credentials[] {
    return this.onHttp.slice(0, 6);
  }

  /** The channel of an agent by its number. */
  channelOf(index: number): string {
    return this.channels[index % this.channels.length] ?? "general";
  }

  /** A node as the operator sees it; by default, one that is open. */
  operator(name = this.#anyOpen()): Server {
    const { api, token } = this.cluster.node(name);
    return { api, token };
  }

  /** The API token, which is the same on every node. */
  get token(): string {
    return this.operator().token;
  }

  /** An open node, by its name; other than one, if there is another. */
  choose(other?: string): string {
    const others = [...this.open].filter((name) => name !== other);
    return others.length === 0 ? this.#anyOpen() : this.random.pick(others);
  }

  /** Sends `METHOD path` to a node. */
  async send(node: string, who: string, request: string, body?: unknown): Promise<Answer> {
    const [method = "", path = ""] = request.split(" ");
    try {
      const response = await fetch(`${this.cluster.addressOf(node)}${path}`, {
        method,
        headers: { authorization: who },
        signal: AbortSignal.timeout(ANSWER_LIMIT),
        ...body === undefined ? {} : { body: JSON.stringify(body) },
      });
      const text = await response.text();
      this.count(`answers ${response.status}`);
      if (response.status === 500) this.fault(`${node}: ${request}: ${text}`);
      return { status: response.status, text, retryAfter: response.headers.get("retry-after") };
    } catch (error) {
      this.count("answers broken off");
      const isLate = error instanceof DOMException && error.name === "TimeoutError";
      if (isLate) this.fault(`${node}: ${request} was not answered for a minute`);
      return { status: 0, text: String(error), retryAfter: null };
    }
  }

  /** Calls an MCP tool of a node. */
  async callTool(node: string, who: string, name: string, input: object): Promise<ToolAnswer> {
    try {
      const response = await fetch(this.cluster.node(node).mcp, {
        method: "POST",
        headers: { authorization: who },
        signal: AbortSignal.timeout(ANSWER_LIMIT),
        body: JSON.stringify({
          jsonrpc: "2.0",
          id: 1,
          method: "tools/call",
          params: { name, arguments: input },
        }),
      });
      const text = await response.text();
      this.count(`answers of tools ${response.status}`);
      if (response.status !== 200) return { isError: true, text };
      const { isError, content } = JSON.parse(text).result;
      return { isError, text: content[0].text };
    } catch (error) {
      this.count("answers of tools broken off");
      return { isError: true, text: String(error) };
    }
  }

  /** Notes what must not happen. */
  fault(text: string): void {
    if (this.faults.length < MAX_FAULTS) {
      this.faults.push(text);
      this.#tell(`FAULT  ${text}`);
    }
    this.count("faults");
  }

  count(what: string, by = 1): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + by);
  }

  /** Lets some milliseconds pass, or ends early at the end. */
  async pause(milliseconds: number): Promise<void> {
    const { signal } = this.#ending;
    if (signal.aborted) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(done, milliseconds);
      function done() {
        clearTimeout(timer);
        signal.removeEventListener("abort", done);
        resolve();
      }
      signal.addEventListener("abort", done);
    });
  }

  /** Lets clients turn to a node once it is ready, as a load balancer does. */
  async admit(name: string): Promise<void> {
    await this.cluster.ready(name);
    this.open.add(name);
  }

  /** Whether a node takes part. */
  async isReady(name: string): Promise<boolean> {
    const { status } = await readiness(this.cluster.node(name).api).catch(() => ({ status: 0 }));
    return status === 200;
  }

  /** Registers an agent whose rate is no bound here, with patience for a slow network. */
  async #register(nick: string, channel: string): Promise<Credentials> {
    const rate = { messages_per_second: 100, burst: 1000 };
    const body = { nick, channels: [channel], rate_limit: rate };
    for (;;) {
      const request = "POST /v1/agents/register";
      const answer = await this.send(this.choose(), bearer(this.token), request, body);
      if (answer.status === 200) return JSON.parse(answer.text).credentials;
      assert.ok([503, 504].includes(answer.status), `${request}: ${answer.text}`);
      this.count("registrations that were repeated");
    }
  }

  #anyOpen(): string {
    const [first] = this.open;
    assert.ok(first !== undefined, "No node is open");
    return first;
  }
}

/** Names with numbers, from 0. */
function names(word: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${word}${index}`);
}

/** The text of an answer that must have a status. */
export async function must(answer: Promise<Response>, status: number): Promise<string> {
  const response = await answer;
  const text = await response.text();
  assert.equal(response.status, status, `${response.url}: ${text}`);
  return text;
}

/** Does something for each item, a few at once. */
export async function inTurns<Item>(
  items: readonly Item[],
  act: (item: Item, index: number) => Promise<void>,
): Promise<void> {
  const waiting = items.entries();
  const worker = async () => {
    for (const [index, item] of waiting) await act(item, index);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}
