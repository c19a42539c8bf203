/** A small story that the pictures show: four agents and two people look after a project. */
import assert from "node:assert/strict";
import { call, type Credentials, registerAgent } from "../../tests/support/api.ts";
import { exportGit } from "../../tests/support/git_history.ts";
import { IrcClient } from "../../tests/support/irc_client.ts";
import { McpAgent } from "../../tests/support/mcp_agent.ts";
import type { Program } from "../../tests/support/program.ts";
import { history } from "./repository.ts";

/** The project of the story. */
export const SLUG = "ferry";

const AGENTS = ["builder", "critic", "mapper", "scout"] as const;
type Nick = (typeof AGENTS)[number];

/** An agent: on IRC, and with a client of MCP. */
interface Agent {
  readonly irc: IrcClient;
  readonly mcp: McpAgent;
}

/** An entry of the landing queue. */
interface QueuedReview {
  readonly review: number;
  readonly ended_at: string | null;
}

/** The files of a commit, by their paths. */
type Files = Readonly<Record<string, string>>;

/** The story up to the point at which somebody looks at the pages. */
export class Story implements AsyncDisposable {
  readonly #program: Program;
  readonly #agents: ReadonlyMap<Nick, Agent>;
  readonly #bob: IrcClient;
  /** The ids of tickets, by the names under which the story knows them. */
  readonly #tickets = new Map<string, string>();

  private constructor(program: Program, agents: ReadonlyMap<Nick, Agent>, bob: IrcClient) {
    this.#program = program;
    this.#agents = agents;
    this.#bob = bob;
  }

  /** Makes the project, and lets agents and people come. */
  static async begin(program: Program): Promise<Story> {
    await registerAgent(program, "nightly", { channels: [] });
    await makeProject(program);
    const bob = await IrcClient.connect(program.irc);
    await bob.register({ nick: "bob" });
    await bob.join("#general");
    const agents = new Map<Nick, Agent>();
    for (const nick of AGENTS) {
      const type = nick === "scout" ? "orchestrator" : "worker";
      const credentials = await registerAgent(program, nick, { type, channels: ["general"] });
      await operate(program, "PUT", `/v1/projects/${SLUG}/members/${nick}`, { role: "write" });
      agents.set(nick, await connect(program, credentials));
    }
    return new Story(program, agents, bob);
  }

  /** Somebody says something in `#general`. */
  async say(nick: Nick | "bob", ...lines: string[]): Promise<void> {
    const irc = nick === "bob" ? this.#bob : this.#of(nick).irc;
    // An answer to the PING comes once the server has taken the lines.
    await irc.send(...lines.map((line) => `PRIVMSG #general :${line}`), "PING :said");
    await irc.expect(/PONG .*said/);
  }

  /** An agent answers a message of `#general` that it has not seen yet. */
  async answer(nick: Nick, said: RegExp, line: string): Promise<void> {
    const { irc } = this.#of(nick);
    const [, id = ""] = /msgid=([^; ]+)/.exec(await irc.expect(said)) ?? [];
    await irc.send(`@+draft/reply=${id} PRIVMSG #general :${line}`, "PING :said");
    await irc.expect(/PONG .*said/);
  }

  /** An agent that leads sets the topic of `#general`. */
  async setTopic(nick: Nick, topic: string): Promise<void> {
    const { irc } = this.#of(nick);
    await irc.send(`TOPIC #general :${topic}`);
    await irc.expect(/ TOPIC #general /);
  }

  /** An agent writes to somebody alone. */
  async write(nick: Nick, to: string, text: string): Promise<void> {
    await this.#use(nick, "send_direct", { to, text });
  }

  /** An agent sends a typed message to others. */
  async sendTask(nick: Nick, to: Nick, title: string): Promise<void> {
    await this.#use(nick, "send_message", {
      channel: "#general",
      type: "task.create",
      payload: { title, project: SLUG },
      to: [to],
    });
  }

  /** An agent files a ticket. */
  async file(name: string, by: Nick, fields: Readonly<Record<string, string>>): Promise<void> {
    const { uuid } = await this.#use(by, "create_ticket", { slug: SLUG, body: "", ...fields });
    this.#tickets.set(name, String(uuid));
  }

  /** An agent claims a ticket. */
  async claim(nick: Nick, name: string): Promise<void> {
    await this.#use(nick, "claim_ticket", { slug: SLUG, uuid: this.#tickets.get(name) });
  }

  /** An agent claims a ticket and gives it back. */
  async giveUp(nick: Nick, name: string): Promise<void> {
    await this.claim(nick, name);
    await this.#use(nick, "release_ticket", { slug: SLUG, uuid: this.#tickets.get(name) });
  }

  /** An agent commits to its workspace, which is made by the first commit; returns the check-in. */
  async commit(nick: Nick, workspace: string, message: string, files: Files): Promise<string> {
    const { workspaces } = await this.#use(nick, "list_workspaces", { slug: SLUG });
    if (!(workspaces as { name: string }[]).some(({ name }) => name === workspace)) {
      await this.#use(nick, "create_workspace", { slug: SLUG, name: workspace });
    }
    const changes = Object.entries(files).map(([path, content]) => ({ path, content }));
    const input = { slug: SLUG, workspace, message, changes };
    return String((await this.#use(nick, "commit_files", input))["uuid"]);
  }

  /** An agent hands in the work on its ticket; returns the number of the review. */
  async submit(
    nick: Nick,
    { name, workspace, summary, reviewers }: {
      readonly name: string;
      readonly workspace: string;
      readonly summary: string;
      readonly reviewers: readonly string[];
    },
  ): Promise<number> {
    const uuid = this.#tickets.get(name);
    const input = { slug: SLUG, uuid, summary, workspace, reviewers };
    return Number((await this.#use(nick, "submit_work", input))["review"]);
  }

  /** An agent opens a review of a workspace that is for no ticket; returns its number. */
  async propose(nick: Nick, workspace: string, title: string): Promise<number> {
    return Number((await this.#use(nick, "create_review", { slug: SLUG, workspace, title }))["id"]);
  }

  /** An agent comments on a line of the newest round, or on the review. */
  async comment(nick: Nick, id: number, body: string, place: object = {}): Promise<void> {
    await this.#use(nick, "comment_review", { slug: SLUG, id, body, ...place });
  }

  /** From now on, a check must pass before something lands on the main branch. */
  async protect(context: string): Promise<void> {
    await operate(this.#program, "PUT", `/projects/${SLUG}/fossil/api/protection`, [{
      pattern: "trunk",
      contexts: [context],
    }]);
  }

  /** An agent approves a review and puts it into the landing queue. */
  async queue(nick: Nick, id: number): Promise<void> {
    await this.#use(nick, "approve_review", { slug: SLUG, id });
    await this.#use(nick, "land_review", { slug: SLUG, id });
  }

  /** Like {@linkcode queue}; resolves once the landing has ended. */
  async land(nick: Nick, id: number): Promise<void> {
    await this.queue(nick, id);
    for (let isEnded = false; !isEnded;) {
      const { landing } = await this.#use(nick, "get_landing_queue", { slug: SLUG });
      isEnded = (landing as QueuedReview[])
        .some(({ review, ended_at }) => review === id && ended_at !== null);
    }
  }

  async requestChanges(nick: Nick, id: number, comment: string): Promise<void> {
    await this.#use(nick, "request_changes", { slug: SLUG, id, comment });
  }

  /** An agent reports a check. */
  async report(
    nick: Nick,
    check: { readonly checkin: string; readonly context: string; readonly state: string },
    description = "",
  ): Promise<void> {
    await this.#use(nick, "report_ci_status", { slug: SLUG, ...check, description });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { irc, mcp } of this.#agents.values()) {
      await mcp[Symbol.asyncDispose]();
      await irc[Symbol.asyncDispose]();
    }
    await this.#bob[Symbol.asyncDispose]();
  }

  #of(nick: Nick): Agent {
    const agent = this.#agents.get(nick);
    assert.ok(agent !== undefined);
    return agent;
  }

  #use(nick: Nick, tool: string, input: Record<string, unknown>) {
    return this.#of(nick).mcp.call(tool, input);
  }
}

async function connect(program: Program, credentials: Credentials): Promise<Agent> {
  const irc = await IrcClient.connect(program.irc);
  const { nick, passphrase: password } = credentials;
  await irc.register({ nick, password, capabilities: ["message-tags"] });
  await irc.join("#general");
  return { irc, mcp: await McpAgent.connect(program, credentials) };
}

/** The project, filled from a Git repository. Its admin is `ann`. */
async function makeProject(program: Program): Promise<void> {
  await operate(program, "POST", "/v1/projects", {
    slug: SLUG,
    name: "Ferry",
    description: "Departures of small harbours, as JSON over HTTP",
    visibility: "public",
  });
  const response = await fetch(`${program.api}/v1/projects/${SLUG}/repository`, {
    method: "PUT",
    headers: { authorization: `Bearer ${program.token}` },
    body: await exportGit(history(Date.now())),
  });
  assert.ok(response.ok, await response.text());
  await operate(program, "PUT", `/v1/projects/${SLUG}/members/ann`, { role: "admin" });
}

/** Calls the API as the operator; the call must succeed. */
async function operate(
  program: Program,
  method: string,
  path: string,
  body: unknown,
): Promise<void> {
  const response = await call(program, method, path, body);
  const text = await response.text();
  assert.ok(response.ok, `${method} ${path}: ${text}`);
}
