import assert from "node:assert/strict";
import type { Random } from "../services/engines/fossil/support/random.ts";
import type { Client } from "./client.ts";
import type { Fact, Facts } from "./facts.ts";
import {
  assetOf,
  contextsOf,
  pageOf,
  reportOf,
  reviewOf,
  tagOf,
  ticketOf,
  workspaceOf,
} from "./states.ts";

export const API = "/projects/soak/fossil/api";

/** Most releases of a worker: a project has at most 1,000, and eight workers. */
const MAX_RELEASES = 100;

/** What the workers of one run have in common. */
export interface Shared {
  readonly facts: Facts;
  readonly random: Random;
  /** Tickets that all workers claim at once. */
  readonly contested: string[];
  /** `TICKET GENERATION` of every claim of them that was answered 201, and whose it is. */
  readonly won: Map<string, string>;
}

interface Workspace {
  readonly name: string;
  readonly fact: Fact;
  commits: number;
  review: { readonly id: number; readonly fact: Fact } | null;
}

interface Ticket {
  readonly uuid: string;
  readonly fact: Fact;
  status: string;
  severity: string;
  holder: string | null;
  comments: number;
}

/** An agent that changes a project in every way, one request after the other. */
export class Worker {
  readonly #shared: Shared;
  readonly #name: string;
  readonly #page: Fact;
  #count = 0;
  #releases = 0;
  #client!: Client;
  #reviewer!: Client;
  #ticket: Ticket | null = null;
  #workspace: Workspace | null = null;
  #release: { readonly tag: string; readonly asset: Fact } | null = null;
  #checkin: string | null = null;
  #contexts: Fact | null = null;

  constructor(shared: Shared, name: string) {
    this.#shared = shared;
    this.#name = name;
    this.#page = shared.facts.add(`page of ${name}`, pageOf(name));
  }

  /**
   * Sends requests until the server is killed.
   *
   * @param client the agent's, and one of another agent for its approvals
   * @param operator sets the project's rules; null for a worker that does not
   */
  async work(client: Client, reviewer: Client, operator: Client | null): Promise<void> {
    this.#client = client;
    this.#reviewer = reviewer;
    // What a killed request has left is checked and not built upon.
    this.#ticket = null;
    this.#workspace = null;
    this.#release = null;
    const kinds = [
      () => this.#useTicket(),
      () => this.#useTicket(),
      () => this.#useWorkspace(),
      () => this.#useWorkspace(),
      () => this.#claimContested(),
      () => this.#writePage(),
      () => this.#useRelease(),
      () => this.#report(),
      () => this.#tag(),
      ...(operator === null ? [] : [() => this.#protect(operator)]),
    ];
    while (await this.#shared.random.pick(kinds)());
  }

  /** Makes a name that nothing has yet. */
  #next(): string {
    return `${this.#name}-${++this.#count}`;
  }

  /** Sends a request that changes one fact. */
  async #change(fact: Fact, asked: string, request: string, body?: unknown): Promise<boolean> {
    const send = () => this.#client.send(request, body);
    return await this.#shared.facts.change([[fact, asked]], send) !== null;
  }

  async #writePage(): Promise<boolean> {
    const content = `Version ${this.#next()}`;
    return await this.#change(this.#page, content, `PUT ${API}/wiki/${this.#name}`, { content });
  }

  async #protect(operator: Client): Promise<boolean> {
    const { facts } = this.#shared;
    this.#contexts ??= facts.add("protection", contextsOf());
    const contexts = [this.#next()];
    const rules = [{ pattern: "release/*", contexts }];
    const send = () => operator.send("PUT /v1/projects/soak/protection", rules);
    const changes = [[this.#contexts, JSON.stringify(contexts)]] as const;
    return await facts.change(changes, send) !== null;
  }

  async #claimContested(): Promise<boolean> {
    const { contested, random, won } = this.#shared;
    const ticket = random.pick(contested);
    const claimed = await this.#client.send<{ generation: number }>(
      `POST ${API}/tickets/${ticket}/claim`,
      {},
    );
    if (claimed === null) return false;
    if (claimed.status === 201) {
      const key = `${ticket} ${claimed.body.generation}`;
      assert.equal(won.get(key), undefined, `two agents hold ${key}`);
      won.set(key, this.#name);
      if (random.below(2) === 0) return true;
      return await this.#client.send(`POST ${API}/tickets/${ticket}/release`, {}) !== null;
    }
    assert.ok([200, 409].includes(claimed.status), `claim: ${claimed.status}`);
    return true;
  }

  async #useTicket(): Promise<boolean> {
    const ticket = this.#ticket;
    if (ticket === null) return await this.#makeTicket();
    const path = `${API}/tickets/${ticket.uuid}`;
    const change = async (changed: Partial<Ticket>, request: string, body: unknown) => {
      const { status, severity, holder, comments } = Object.assign({ ...ticket }, changed);
      const asked = JSON.stringify([status, severity, holder, comments]);
      const isDone = await this.#change(ticket.fact, asked, request, body);
      if (isDone) Object.assign(ticket, changed);
      return isDone;
    };
    const comments = ticket.comments + 1;
    switch (this.#shared.random.below(ticket.holder === null ? 3 : 5)) {
      case 0:
        return await change({ comments }, `POST ${path}/comments`, { comment: this.#next() });
      case 1: {
        const severity = this.#next();
        return await change({ severity }, `PATCH ${path}`, { severity });
      }
      case 2:
        return await change({ holder: this.#name }, `POST ${path}/claim`, {});
      case 3:
        return await change({ holder: null }, `POST ${path}/release`, {});
      default: {
        const done = { holder: null, comments, status: "Review" };
        const isDone = await change(done, `POST ${path}/submit`, { summary: this.#next() });
        this.#ticket = null;
        return isDone;
      }
    }
  }

  async #makeTicket(): Promise<boolean> {
    const title = this.#next();
    const made = await this.#client.send<{ uuid: string }>(`POST ${API}/tickets`, {
      title,
      severity: "Minor",
    });
    if (made === null) return false;
    assert.equal(made.status, 201, JSON.stringify(made.body));
    const { uuid } = made.body;
    const fact = this.#shared.facts.add(`ticket ${title}`, ticketOf(uuid));
    const state = { status: "Open", severity: "Minor", holder: null, comments: 0 };
    fact.known = JSON.stringify(Object.values(state));
    this.#ticket = { uuid, fact, ...state };
    return true;
  }

  async #useWorkspace(): Promise<boolean> {
    const workspace = this.#workspace;
    if (workspace === null) return await this.#makeWorkspace();
    if (workspace.review !== null) return await this.#finishReview(workspace, workspace.review);
    const { name, fact, commits } = workspace;
    const path = `${API}/workspaces/${name}`;
    const choice = commits === 0 ? 0 : this.#shared.random.below(6);
    if (choice < 3) return await this.#commit(workspace);
    if (choice === 3) return await this.#review(workspace);
    this.#workspace = null;
    const status = choice === 4 ? "merged" : "abandoned";
    const request = choice === 4 ? `POST ${path}/merge` : `DELETE ${path}/abandon`;
    return await this.#change(fact, stateOf(status, commits), request, {});
  }

  async #makeWorkspace(): Promise<boolean> {
    const name = this.#next();
    const fact = this.#shared.facts.add(`workspace ${name}`, workspaceOf(name));
    this.#workspace = { name, fact, commits: 0, review: null };
    return await this.#change(fact, stateOf("active", 0), `POST ${API}/workspaces/create`, {
      name,
    });
  }

  async #commit(workspace: Workspace): Promise<boolean> {
    const { name, fact } = workspace;
    const commits = workspace.commits + 1;
    const body = {
      message: `Commit ${commits} of ${name}`,
      changes: [{ path: `${name}/file`, content: `${commits}\n` }],
    };
    const answer = await this.#shared.facts.change(
      [[fact, stateOf("active", commits)]],
      () => this.#client.send<{ uuid: string }>(`POST ${API}/workspaces/${name}/commit`, body),
    );
    if (answer === null) return false;
    workspace.commits = commits;
    this.#checkin = answer.body.uuid;
    return true;
  }

  async #review(workspace: Workspace): Promise<boolean> {
    const { name } = workspace;
    const body = { title: `Review of ${name}`, workspace: name };
    const made = await this.#client.send<{ id: number }>(`POST ${API}/reviews/create`, body);
    if (made === null) return false;
    assert.equal(made.status, 201, JSON.stringify(made.body));
    const { id } = made.body;
    const fact = this.#shared.facts.add(`review ${id}`, reviewOf(id));
    fact.known = "pending";
    workspace.review = { id, fact };
    return true;
  }

  async #finishReview(
    { fact, commits }: Workspace,
    { id, fact: review }: { readonly id: number; readonly fact: Fact },
  ): Promise<boolean> {
    const { facts } = this.#shared;
    const path = `${API}/reviews/${id}`;
    const approve = () => this.#reviewer.send(`POST ${path}/approve`, {});
    if (review.known === "pending") {
      return await facts.change([[review, "approved"]], approve) !== null;
    }
    this.#workspace = null;
    const merge = () => this.#client.send(`POST ${path}/merge`, {});
    const merged = [[review, "merged"], [fact, stateOf("merged", commits)]] as const;
    return await facts.change(merged, merge) !== null;
  }

  async #useRelease(): Promise<boolean> {
    const release = this.#release;
    if (release === null) {
      if (this.#releases === MAX_RELEASES) return await this.#report();
      const tag = this.#next();
      const made = await this.#client.send(`POST ${API}/releases`, { tag_name: tag });
      if (made === null) return false;
      assert.equal(made.status, 201, JSON.stringify(made.body));
      this.#releases++;
      this.#release = { tag, asset: this.#shared.facts.add(`asset of ${tag}`, assetOf(tag)) };
      return true;
    }
    if (this.#shared.random.below(3) === 0) this.#release = null;
    const content = this.#next();
    const request = `PUT ${API}/releases/${release.tag}/assets/file`;
    return await this.#change(release.asset, content, request, content);
  }

  async #report(): Promise<boolean> {
    const checkin = this.#checkin;
    if (checkin === null) return true;
    const context = this.#next();
    const fact = this.#shared.facts.add(`report ${context}`, reportOf(checkin, context));
    const body = { checkin, context, state: "success" };
    return await this.#change(fact, "success", `POST ${API}/status`, body);
  }

  async #tag(): Promise<boolean> {
    const checkin = this.#checkin;
    if (checkin === null) return true;
    const name = `tag-${this.#next()}`;
    const fact = this.#shared.facts.add(`tag ${name}`, tagOf(name));
    return await this.#change(fact, checkin, `POST ${API}/tags`, { name, checkin });
  }
}

/** The state of a workspace, as `states.ts` reads it. */
function stateOf(status: string, commits: number): string {
  return JSON.stringify([status, commits, commits === 0 ? null : `${commits}\n`]);
}
