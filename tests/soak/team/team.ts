import assert from "node:assert/strict";
import { callAs, type Credentials, order, registerAgent } from "../../support/api.ts";
import { IrcClient } from "../../support/irc_client.ts";
import { McpAgent } from "../../support/mcp_agent.ts";
import type { TestNetwork } from "../../support/network.ts";
import type { Program } from "../../support/program.ts";
import { Sight } from "./sight.ts";

/** Agents of each kind. */
const [ON_IRC, ON_HTTP, ON_MCP] = [8, 8, 4];

/** The password of both people. */
export const PASSWORD = "correct-horse-battery";

/** The channels of the team. */
export const CHANNELS = ["#general", "#work", "#ops", "#moderation", "#deploys"] as const;

/** An agent with an IRC client. */
export interface IrcAgent extends Credentials {
  readonly irc: IrcClient;
}

/** An agent with a client of MCP. */
export interface ToolAgent extends Credentials {
  readonly tools: McpAgent;
}

/** An answer to a request of an agent. */
export interface Answered<Body> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

/** What waits in an inbox. */
export interface Entry {
  readonly id: string;
  readonly kind: string;
  readonly from: string;
  readonly text: string;
  readonly timestamp: string;
  /** The message that came back. */
  readonly message?: string;
}

/** Twenty agents over IRC, HTTP and MCP, and two people on IRC: `root` is an admin, `ann` is not. */
export class Team implements AsyncDisposable {
  readonly program: Program;
  /** The IRC network, if muster does not run the IRC server. */
  readonly network: TestNetwork | null;
  readonly onIrc: IrcAgent[] = [];
  readonly onHttp: Credentials[] = [];
  readonly onMcp: ToolAgent[] = [];
  readonly #open = new AsyncDisposableStack();
  #root!: IrcClient;
  #ann!: IrcClient;

  private constructor(program: Program, network: TestNetwork | null) {
    this.program = program;
    this.network = network;
  }

  static async gather(program: Program, network: TestNetwork | null): Promise<Team> {
    const team = new Team(program, network);
    try {
      await team.#gatherAll();
      return team;
    } catch (error) {
      await team[Symbol.asyncDispose]();
      throw error;
    }
  }

  get root(): IrcClient {
    return this.#root;
  }

  get ann(): IrcClient {
    return this.#ann;
  }

  get agents(): readonly Credentials[] {
    return [...this.onIrc, ...this.onHttp, ...this.onMcp];
  }

  /** One of several, by a number that may be any. */
  turn<One>(of: readonly One[], number: number): One {
    const one = of[number % of.length];
    assert.ok(one !== undefined);
    return one;
  }

  /** From now on, in the eyes of the people and the agents on IRC. */
  now(more: readonly IrcClient[] = []): Promise<Sight> {
    const agents = this.onIrc.map(({ irc }) => irc);
    return Sight.from(this.program, [this.#root, this.#ann, ...agents, ...more]);
  }

  /** What an IRC client gets when a bot speaks to it or to a channel. */
  saying(bot: string, target: string, text: string): RegExp {
    const [speaker, prefix] = this.network === null ? [bot, ""] : ["bridge", `\\[${bot}\\] `];
    return new RegExp(`^:${speaker}!\\S+ (?:PRIVMSG|NOTICE) ${target} :${prefix}.*${text}`);
  }

  /** Sends a request of the operator that must succeed. */
  async order<Answer>(request: string, body?: unknown): Promise<Answer> {
    return await order(this.program, request, body) as Answer;
  }

  /** Sends a request of an agent. */
  async as<Body>(agent: Credentials, request: string, body?: unknown): Promise<Answered<Body>> {
    const [method = "", path = ""] = request.split(" ");
    const response = await callAs(this.program, agent, method, path, body);
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.startsWith("application/json") ?? false;
    return {
      status: response.status,
      headers: response.headers,
      body: isJson ? JSON.parse(text) : text,
    };
  }

  /** What waits in the inbox of an agent. */
  async inbox(agent: Credentials): Promise<readonly Entry[]> {
    const path = `/v1/agents/${agent.nick}/messages`;
    const { status, body } = await this.as<readonly Entry[]>(agent, `GET ${path}`);
    assert.equal(status, 200, JSON.stringify(body));
    return body;
  }

  /** Connects a guest, who is in some channels. */
  async guest(nick: string, ...channels: string[]): Promise<IrcClient> {
    const guest = await IrcClient.connect(this.network?.address ?? this.program.irc);
    await guest.register({ nick });
    for (const channel of channels) await guest.join(channel);
    return guest;
  }

  /** Resolves when the server has handled what a client sent. */
  async settled(client: IrcClient): Promise<void> {
    const token = crypto.randomUUID();
    await client.send(`PING ${token}`);
    await client.expect(new RegExp(` PONG .*${token}`));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#open.disposeAsync();
  }

  async #gatherAll(): Promise<void> {
    const { program, network } = this;
    for (const channel of CHANNELS) {
      await this.order(`POST /v1/channels/${channel.slice(1)}/join`);
    }
    await this.order("POST /v1/admins", { username: "root", password: PASSWORD });
    if (network === null) {
      await this.order("POST /v1/irc/accounts", { account: "ann", password: PASSWORD });
    } else {
      for (const account of ["root", "ann"]) await network.register(account, PASSWORD);
    }
    this.#root = await this.#logIn("root", PASSWORD);
    this.#ann = await this.#logIn("ann", PASSWORD);
    const channels = CHANNELS.map((channel) => channel.slice(1));
    for (let number = 1; number <= ON_IRC; number++) {
      const agent = await registerAgent(program, `irc${number}`, { channels });
      this.onIrc.push({ ...agent, irc: await this.#logIn(agent.nick, agent.passphrase) });
    }
    for (let number = 1; number <= ON_HTTP; number++) {
      this.onHttp.push(await registerAgent(program, `http${number}`, { channels }));
    }
    for (let number = 1; number <= ON_MCP; number++) {
      const agent = await registerAgent(program, `mcp${number}`, { channels });
      const tools = this.#open.use(await McpAgent.connect(program, agent));
      this.onMcp.push({ ...agent, tools });
    }
  }

  async #logIn(nick: string, password: string): Promise<IrcClient> {
    const { program, network } = this;
    let client: IrcClient | null;
    if (network === null) {
      client = await IrcClient.connect(program.irc);
      await client.register({ nick, password });
    } else {
      client = await network.logIn(nick, password);
    }
    assert.ok(client !== null, `${nick} cannot log in`);
    this.#open.use(client);
    for (const channel of CHANNELS) await client.join(channel);
    return client;
  }
}
