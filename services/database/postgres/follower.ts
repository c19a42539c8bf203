// @ts-types="./pg.d.ts"
import type { Client } from "pg";
import type { Scheduler } from "../../scheduler.ts";
import { FOLLOWED, type FollowedTable, type ReadOnTable, TOLD, type ToldRow } from "../followed.ts";
import type { Statement } from "../protocol.ts";
import { Unavailable } from "../../errors.ts";
import type { PeerListener, Peers, Told } from "../store.ts";
import { Confirmations, type Unconfirmed } from "./confirmations.ts";
import { connectListener, type ListenerOptions } from "./listener.ts";
import {
  ending,
  LEADER,
  leading,
  LEASE_MILLISECONDS,
  MARGIN_MILLISECONDS,
  renewal,
  resigning,
  RUNNING,
  stillLeading,
} from "./lease.ts";
import { LeaseClock } from "./lease_clock.ts";
import { CLOCK } from "./cluster_setup.ts";

/** How often to look without having been woken, in milliseconds. */
const POLL_MILLISECONDS = 1_000;

/** How long changes are kept, in milliseconds: far longer than a lease. */
const KEPT_MILLISECONDS = 600_000;

/** How often old changes are removed, in milliseconds. */
const TRIM_MILLISECONDS = 60_000;

/** What the other nodes have changed after a change, and how far the log of events goes. */
const LOOK = `
  SELECT (SELECT coalesce(max(id), 0) FROM changes) AS last,
    (SELECT coalesce(max(seq), 0) FROM events) AS newest,
    (SELECT coalesce(json_agg(DISTINCT source), '[]') FROM changes
      WHERE id > $1 AND node <> $2) AS sources`;

/** The newest change, and the other nodes that must see it. */
const NOW = `
  SELECT (SELECT coalesce(max(id), 0) FROM changes) AS change,
    (SELECT coalesce(json_agg(node), '[]') FROM leases
      WHERE node <> $1 AND expires_at > ${CLOCK}) AS nodes`;

const EVERY_TABLE = Object.keys(FOLLOWED) as FollowedTable[];

export interface FollowerOptions extends ListenerOptions {
  /** The first connection. It has missed nothing that was said after {@linkcode seen}. */
  readonly client: Client;
  /** The change up to which the node is current; its lease runs. */
  readonly seen: number;
  readonly scheduler: Scheduler;
}

interface Found {
  readonly last: number;
  readonly newest: number;
  readonly sources: readonly FollowedTable[];
}

/** What a node tells all nodes of a transaction. */
interface Commit {
  /** The newest change before it, and its own newest; null if it notes none. */
  readonly previous: number | null;
  readonly last: number | null;
  readonly sources: readonly FollowedTable[];
  /** The newest event. */
  readonly newest: number;
  /** The nodes that must see it, beside the one that committed it; null if there are too many. */
  readonly nodes: readonly string[] | null;
  /** The rows that it added to {@linkcode TOLD}; null if there are too many. */
  readonly rows: readonly ToldRow[] | null;
}

/** A transaction of which this node was told. */
interface ToldCommit extends Commit {
  /** Whether it is this node's own. */
  readonly isOwn: boolean;
}

/** What a node tells the others when it has committed something; a {@linkcode Commit} follows it. */
export function committedMessage(node: string): string {
  return `committed ${node} `;
}

function sawMessage(node: string, change: number): string {
  return `saw ${node} ${change}`;
}

/**
 * Follows what other nodes commit. They tell it, and it says what it has seen. It also looks each
 * second, and when it has missed something, for notifications get lost with a connection. Each look
 * ends with the renewal of the node's lease: so a lease that runs means that the node is current.
 */
export class Follower implements Peers {
  readonly #options: FollowerOptions;
  readonly #confirmations: Confirmations;
  #client: Promise<Client> | null;
  #listener: PeerListener | null = null;
  #seen: number;
  /** The newest event that the listener knows of. */
  #told = 0;
  #trimmedAt: number;
  readonly #clock: LeaseClock;
  /** Until when this node serves, by that clock. */
  #heldUntil: number;
  #running: ReadonlySet<string> = new Set();
  #leader: string | null = null;
  /** Until when this node leads, in the same way. */
  #leadsUntil = -Infinity;
  #isCandidate = false;
  /** When it last looked at the others. */
  #surveyedAt = -Infinity;
  #working: Promise<void> | null = null;
  #isWoken = false;
  /** What it was told since the last look. */
  #commits: ToldCommit[] = [];
  #cancelPoll: () => void = () => {};
  #isClosed = false;

  /** @param options of a node whose lease began no earlier than this call */
  constructor(options: FollowerOptions) {
    this.#options = options;
    this.#client = Promise.resolve(this.#hear(options.client));
    this.#seen = options.seen;
    this.#clock = new LeaseClock(options.scheduler);
    const now = this.#clock.now();
    this.#trimmedAt = now;
    this.#heldUntil = now + LEASE_MILLISECONDS - MARGIN_MILLISECONDS;
    this.#confirmations = new Confirmations(() => this.#clock.now());
  }

  get isCurrent(): boolean {
    return this.currentFor > 0;
  }

  get currentFor(): number {
    return Math.max(0, this.#heldUntil - this.#clock.now());
  }

  get self(): string {
    return this.#options.node;
  }

  get running(): ReadonlySet<string> {
    return this.#running;
  }

  get leader(): string | null {
    return this.#leader === this.self && !this.isLeading ? null : this.#leader;
  }

  get isLeading(): boolean {
    return this.isCurrent && this.#clock.now() < this.#leadsUntil;
  }

  get whileLeading(): Statement {
    const [sql, parameters = []] = stillLeading(this.self);
    return { sql, parameters, mustChange: true };
  }

  stand(isCandidate: boolean): void {
    if (this.#isCandidate === isCandidate) return;
    this.#isCandidate = isCandidate;
    if (!isCandidate) this.#leadsUntil = -Infinity;
    this.#surveyedAt = -Infinity;
    this.#wake();
  }

  listen(listener: PeerListener): void {
    this.#listener = listener;
    this.#wake();
  }

  /** Resolves when nodes have seen a change; see {@linkcode Confirmations.wait}. */
  seenBy(change: Unconfirmed): Promise<void> {
    return this.#confirmations.wait(change);
  }

  async confirm(): Promise<void> {
    let now: Unconfirmed | undefined;
    try {
      const client = await this.#connection();
      now = (await client.query<Unconfirmed>(NOW, [this.self])).rows[0];
    } catch {
      throw new Unavailable("The database cannot be read at the moment");
    }
    if (now !== undefined) await this.seenBy(now);
  }

  /** Ends it, and the lease with it: nobody waits for this node any more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelPoll();
    this.#confirmations.close();
    await this.#working;
    this.#heldUntil = -Infinity;
    const client = await this.#client?.catch(() => null);
    for (const query of [resigning, ending]) {
      await client?.query(...query(this.#options.node)).catch(() => {});
    }
    await this.#disconnect();
  }

  #wake(): void {
    this.#isWoken = true;
    this.#work();
  }

  #work(): void {
    if (!this.#isClosed) this.#working ??= this.#followAll();
  }

  async #followAll(): Promise<void> {
    while ((this.#isWoken || this.#commits.length > 0) && !this.#isClosed) await this.#follow();
    this.#working = null;
  }

  /** Takes what it was told, or looks. */
  async #follow(): Promise<void> {
    const commits = this.#commits.splice(0);
    const looks = this.#isWoken || !this.#continuesWith(commits);
    this.#isWoken = false;
    try {
      await (looks ? this.#look() : this.#take(commits));
    } catch {
      // PostgreSQL cannot be reached: the lease runs out unless a later look succeeds.
      await this.#disconnect();
    }
    if (!looks) return;
    this.#confirmations.expire();
    this.#listener?.looked();
    this.#cancelPoll();
    if (this.#isClosed) return;
    this.#cancelPoll = this.#options.scheduler.after(POLL_MILLISECONDS, () => this.#wake());
  }

  /** Whether nothing is missing between what it has seen and what it was told. */
  #continuesWith(commits: readonly Commit[]): boolean {
    // Without a lease it may have missed changes that are removed already.
    if (!this.isCurrent) return false;
    let seen = this.#seen;
    return commits.every(({ previous, last }) => {
      if (last === null || last <= seen) return true;
      const continues = (previous ?? 0) <= seen;
      seen = last;
      return continues;
    });
  }

  async #take(commits: readonly ToldCommit[]): Promise<void> {
    const news = commits.filter(({ last }) => last !== null && last > this.#seen);
    const others = news.filter(({ isOwn }) => !isOwn);
    await this.#passOn(others.flatMap(({ sources }) => sources));
    for (const commit of news) {
      if (commit.sources.includes(TOLD)) await this.#listener?.told(this.#toldOf(commit));
    }
    this.#seen = news.at(-1)?.last ?? this.#seen;
    const last = others.at(-1)?.last ?? null;
    if (last !== null) await this.#say(await this.#connection(), last);
    this.#tell(Math.max(...commits.map(({ newest }) => newest)));
  }

  /** Lets the listener load what others have changed. */
  async #passOn(sources: readonly FollowedTable[]): Promise<void> {
    const tables = new Set(sources);
    tables.delete(TOLD);
    if (tables.size > 0) await this.#listener?.changed(tables);
  }

  #toldOf({ last, nodes, rows }: Commit): Told | null {
    if (rows === null) return null;
    const others = nodes?.filter((node) => node !== this.self);
    return {
      rows,
      confirmed: () =>
        others === undefined ? this.confirm() : this.seenBy({ change: last ?? 0, nodes: others }),
    };
  }

  #tell(newest: number): void {
    if (newest > this.#told) this.#listener?.appended(this.#told = newest);
  }

  /** Tells the others how far this node has seen. */
  async #say(client: Client, seen: number): Promise<void> {
    const { node, channel } = this.#options;
    const values = [channel, sawMessage(node, seen)];
    await client.query({ name: "saw", text: "SELECT pg_notify($1, $2)", values });
  }

  async #look(): Promise<void> {
    const { node } = this.#options;
    const client = await this.#connection();
    const began = this.#clock.now();
    const { rows: [found] } = await client.query<Found>(LOOK, [this.#seen, node]);
    if (found === undefined) return;
    const { last, newest } = found;
    // Without a lease it may have missed changes that are removed already.
    const sources = this.isCurrent ? found.sources : EVERY_TABLE;
    await this.#passOn(sources);
    if (sources.includes(TOLD)) await this.#listener?.told(null);
    const hasSeen = last > this.#seen;
    this.#seen = last;
    await client.query(...renewal(node, last));
    this.#heldUntil = began + LEASE_MILLISECONDS - MARGIN_MILLISECONDS;
    if (hasSeen) await this.#say(client, last);
    this.#tell(newest);
    if (this.#isSurveyDue(began)) await this.#survey(client, began);
    if (began - this.#trimmedAt >= TRIM_MILLISECONDS) await this.#trim(client, began);
  }

  #isSurveyDue(now: number): boolean {
    return !this.#confirmations.isEmpty || now - this.#surveyedAt >= POLL_MILLISECONDS;
  }

  /** Looks which nodes run and which one leads, and leads if it may and nobody does. */
  async #survey(client: Client, now: number): Promise<void> {
    const { node } = this.#options;
    const isCandidate = this.#isCandidate;
    const standing = isCandidate ? leading(node) : resigning(node);
    if (isCandidate || this.#leader === node) await client.query(...standing);
    const { rows } = await client.query<{ node: string; seen: number }>(...RUNNING);
    const { rows: [leader] } = await client.query<{ node: string }>(...LEADER);
    this.#surveyedAt = now;
    this.#running = new Set(rows.map(({ node }) => node));
    this.#leader = leader?.node ?? null;
    this.#leadsUntil = isCandidate && this.#isCandidate && this.#leader === node
      ? now + LEASE_MILLISECONDS - MARGIN_MILLISECONDS
      : -Infinity;
    this.#confirmations.compare(new Map(rows.map(({ node, seen }) => [node, seen])));
  }

  async #trim(client: Client, now: number): Promise<void> {
    this.#trimmedAt = now;
    await client.query(`DELETE FROM changes WHERE noted_at < ${CLOCK} - ${KEPT_MILLISECONDS}`);
  }

  #connection(): Promise<Client> {
    return this.#client ??= this.#connect();
  }

  async #connect(): Promise<Client> {
    return this.#hear(await connectListener(this.#options));
  }

  #hear(client: Client): Client {
    client.on("error", () => {
      if (!this.#isClosed) this.#wake();
    });
    client.on("notification", ({ payload = "" }) => this.#notified(payload));
    return client;
  }

  async #disconnect(): Promise<void> {
    const client = this.#client;
    this.#client = null;
    await (await client?.catch(() => null))?.end().catch(() => {});
  }

  #notified(payload: string): void {
    const [what, node = "", ...rest] = payload.split(" ");
    const isOwn = node === this.#options.node;
    const told = rest.join(" ");
    if (what === "committed") {
      this.#commits.push({ ...JSON.parse(told) as Commit, isOwn });
      this.#work();
    } else if (isOwn) return;
    else if (what === "saw") this.#confirmations.saw(node, Number(told));
    else if (what === "wrote") this.#listener?.wrote(told as ReadOnTable);
  }
}
