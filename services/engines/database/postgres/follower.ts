// @ts-types="./pg.d.ts"
import type { Client } from "pg";
import type { Scheduler } from "../../../kernel/scheduler.ts";
import { FOLLOWED, type FollowedTable, LATER, type ReadOnTable, TOLD } from "../followed.ts";
import type { AppendedEvent, Statement } from "../protocol.ts";
import { Unavailable } from "../../../kernel/errors.ts";
import type { PeerListener, PeerNotes, Peers, Told } from "../store.ts";
import { Confirmations, type Unconfirmed } from "./confirmations.ts";
import { connectListener, type ListenerOptions } from "./listener.ts";
import { Election } from "./election.ts";
import {
  beginning,
  CLOCK,
  ending,
  LEASE_MILLISECONDS,
  LeaseClock,
  MARGIN_MILLISECONDS,
  renewal,
  resigning,
  stillLeading,
} from "./lease.ts";
import { type Commit, type Found, isAwaited, LOOK, OTHERS, type ToldCommit } from "./messages.ts";
import { Telling } from "./telling.ts";
import { LOG_LOCK } from "./postgres_journal.ts";

/** How often to look without having been woken, in milliseconds. */
const POLL_MILLISECONDS = 1_000;

/** How long other tables than those of {@linkcode LATER} may be loaded first, in milliseconds. */
const LATER_MILLISECONDS = 100;

/** How long changes are kept, in milliseconds: far longer than a lease. */
const KEPT_MILLISECONDS = 600_000;

/** How often old changes are removed, in milliseconds. */
const TRIM_MILLISECONDS = 60_000;

const EVERY_TABLE = Object.keys(FOLLOWED) as FollowedTable[];

export interface FollowerOptions extends ListenerOptions {
  /** The first connection. It has missed nothing that was said after {@linkcode seen}. */
  readonly client: Client;
  /** The change up to which the node is current; its lease runs. */
  readonly seen: number;
  readonly scheduler: Scheduler;
}

/**
 * Follows what other nodes commit. They tell it, and it says what it has seen. It also looks each
 * second, and when it has missed something, for notifications get lost with a connection. Each look
 * ends with the renewal of the node's lease: so a lease that runs means that the node is current.
 * While no lease runs, others write without waiting for the node. So a new lease begins under the
 * writers' lock.
 */
export class Follower implements Peers {
  readonly #options: FollowerOptions;
  readonly #confirmations: Confirmations;
  readonly #telling: Telling;
  #client: Promise<Client> | null;
  #listener: PeerListener | null = null;
  #seen: number;
  /** When it last looked up to there, by the clock of the lease. */
  #seenAt: number;
  /** The newest event that the listener knows of. */
  #told = 0;
  #trimmedAt: number;
  readonly #clock: LeaseClock;
  /** Until when this node serves, by that clock. */
  #heldUntil: number;
  readonly #election: Election;
  #working: Promise<void> | null = null;
  #isWoken = false;
  /** What it was told since the last look. */
  #commits: ToldCommit[] = [];
  #cancelPoll: () => void = () => {};
  /** Tables of {@linkcode LATER} that others have changed, and that are not loaded again yet. */
  readonly #later = new Set<FollowedTable>();
  #isLaterDue = false;
  #cancelLater: () => void = () => {};
  /** Who waits for the next look. */
  #waiting: PromiseWithResolvers<void>[] = [];
  #isClosed = false;

  /** @param options of a node whose lease began no earlier than this call */
  constructor(options: FollowerOptions) {
    this.#options = options;
    const connection = () => this.#connection();
    this.#telling = new Telling({ ...options, connection, hear: this.#heard.bind(this) });
    this.#client = Promise.resolve(this.#hear(options.client));
    this.#seen = options.seen;
    this.#clock = new LeaseClock(options.scheduler);
    const now = this.#clock.now();
    this.#trimmedAt = now;
    this.#seenAt = now;
    this.#heldUntil = now + LEASE_MILLISECONDS - MARGIN_MILLISECONDS;
    this.#confirmations = new Confirmations(() => this.#clock.now());
    this.#election = new Election({
      node: options.node,
      clock: this.#clock,
      scheduler: options.scheduler,
      onEnded: () => this.#listener?.looked(),
    });
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
    return this.#election.running;
  }

  get leader(): string | null {
    const { leader } = this.#election;
    return leader === this.self && !this.isLeading ? null : leader;
  }

  get isLeading(): boolean {
    return this.isCurrent && this.#election.isWon;
  }

  get whileLeading(): Statement {
    const [sql, parameters = []] = stillLeading(this.self);
    return { sql, parameters, mustChange: true };
  }

  stand(isCandidate: boolean): void {
    if (this.#election.stand(isCandidate)) this.#wake();
  }

  listen(listener: PeerListener): void {
    this.#listener = listener;
    this.#wake();
  }

  use(notes: PeerNotes): void {
    this.#telling.use(notes);
  }

  /** The other nodes that notes reach. */
  get reached(): readonly string[] {
    return this.#telling.reached;
  }

  /**
   * Tells nodes what this one has committed, in the place of PostgreSQL. All nodes that notes reach
   * are told: one whose lease has ended may come back.
   */
  tell(told: string, nodes: readonly string[]): void {
    if (this.#isClosed) return;
    // Other nodes find the change when they look.
    this.#telling.tell([...nodes, ...this.reached], "committed", told).catch(() => {});
    this.#heard(this.self, "committed", told);
  }

  /** Resolves when nodes have seen a change; see {@linkcode Confirmations.wait}. */
  seenBy(change: Unconfirmed): Promise<void> {
    return this.#confirmations.wait(change);
  }

  catchUp(): Promise<void> {
    if (this.#isClosed) return Promise.reject(unreadable());
    const waiting = Promise.withResolvers<void>();
    this.#waiting.push(waiting);
    this.#wake();
    return waiting.promise;
  }

  async confirm(): Promise<void> {
    const others = await this.#others();
    await Promise.all(others.map(({ node, change }) => this.seenBy({ change, nodes: [node] })));
  }

  /** Ends it, and the lease with it: nobody waits for this node any more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelPoll();
    this.#election.close();
    this.#cancelLater();
    this.#confirmations.close();
    await this.#working;
    for (const { reject } of this.#waiting.splice(0)) reject(unreadable());
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
    const hasWork = () => this.#isWoken || this.#isLaterDue || this.#commits.length > 0;
    while (hasWork() && !this.#isClosed) await this.#follow();
    this.#working = null;
  }

  /** Takes what it was told, or looks. */
  async #follow(): Promise<void> {
    const commits = this.#commits.splice(0);
    const looks = this.#isWoken || !this.#continuesWith(commits);
    const waiting = looks ? this.#waiting.splice(0) : [];
    this.#isWoken = false;
    try {
      await (looks ? this.#look() : this.#take(commits));
      for (const { resolve } of waiting) resolve();
    } catch {
      // PostgreSQL cannot be reached: the lease runs out unless a later look succeeds.
      await this.#disconnect();
      for (const { reject } of waiting) reject(unreadable());
    }
    if (!looks) return;
    this.#confirmations.expire();
    // Apart, so that an error of a listener does not end the follower.
    queueMicrotask(() => this.#listener?.looked());
    this.#cancelPoll();
    if (this.#isClosed) return;
    this.#cancelPoll = this.#options.scheduler.after(POLL_MILLISECONDS, () => this.#wake());
  }

  /** Whether nothing is missing between what it has seen and what it was told. */
  #continuesWith(commits: readonly Commit[]): boolean {
    // A look renews the lease that has ended.
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
    const others = news.filter(({ node }) => node !== this.self);
    await this.#passOn(new Set(others.flatMap(({ sources }) => sources)));
    for (const commit of news) {
      if (commit.sources.includes(TOLD)) await this.#listener?.told(this.#toldOf(commit));
    }
    this.#seen = news.at(-1)?.last ?? this.#seen;
    const said = news.findLast(({ node, sources }) =>
      node === this.self ? sources.includes(TOLD) : isAwaited(sources)
    );
    const last = said?.last ?? null;
    if (last !== null) await this.#telling.tell(this.#aliveIn(news), "saw", String(last));
    for (const { newest, events } of commits) this.#tell(newest, events);
  }

  /** The nodes that were alive when something was committed, as far as is known. */
  #aliveIn(commits: readonly ToldCommit[]): ReadonlySet<string> {
    return new Set(commits.flatMap(({ node, nodes }) => [node, ...nodes ?? this.running]));
  }

  /** Lets the listener load what others have changed, at once or later. */
  async #passOn(sources: ReadonlySet<FollowedTable>): Promise<void> {
    const others = sources.difference(LATER).difference(new Set([TOLD]));
    for (const table of sources.intersection(LATER)) this.#later.add(table);
    if (others.size > 0 || this.#isLaterDue) return await this.#load(others);
    if (this.#later.size === 0) return;
    this.#cancelLater();
    this.#cancelLater = this.#options.scheduler.after(LATER_MILLISECONDS, () => {
      this.#isLaterDue = true;
      this.#work();
    });
  }

  /** Lets the listener load tables, and those that wait. */
  async #load(tables: ReadonlySet<FollowedTable>): Promise<void> {
    const all = tables.union(this.#later);
    if (all.size > 0) await this.#listener?.changed(all);
    this.#later.clear();
    this.#isLaterDue = false;
    this.#cancelLater();
  }

  #toldOf({ node: writer, last, nodes, rows }: ToldCommit): Told | null {
    if (rows === null) return null;
    const others = nodes === null
      ? undefined
      : [writer, ...nodes].filter((node) => node !== this.self);
    return {
      rows,
      confirmed: () =>
        others === undefined ? this.confirm() : this.seenBy({ change: last ?? 0, nodes: others }),
    };
  }

  async #others(): Promise<readonly { readonly node: string; readonly change: number }[]> {
    try {
      const client = await this.#connection();
      const { rows } = await client.query<{ node: string; change: number }>(OTHERS, [this.self]);
      return rows;
    } catch {
      throw unreadable();
    }
  }

  #tell(newest: number, events: readonly AppendedEvent[] | null): void {
    if (newest > this.#told) this.#listener?.appended(this.#told = newest, events);
  }

  async #look(): Promise<void> {
    const client = await this.#connection();
    const before = this.#seen;
    let began = this.#clock.now();
    let found = await find(client, this.self, this.#seen);
    await this.#catchUpTo(found, began);
    if (!await renew(client, this.self, this.#seen)) {
      began = this.#clock.now();
      found = await comeBack(client, this.self, this.#seen);
      await this.#catchUpTo(found, began);
      // It took longer than the new lease, so it looks again.
      if (!await renew(client, this.self, this.#seen)) return void (this.#isWoken = true);
    }
    this.#heldUntil = began + LEASE_MILLISECONDS - MARGIN_MILLISECONDS;
    if (this.#seen > before) await this.#telling.notify("saw", String(this.#seen));
    this.#tell(found.newest, null);
    if (!this.#confirmations.isEmpty || this.#election.isDue(began)) {
      this.#confirmations.compare(await this.#election.hold(client, began));
    }
    if (began - this.#trimmedAt >= TRIM_MILLISECONDS) await this.#trim(client, began);
  }

  /** Has the listener load what has changed. */
  async #catchUpTo({ last, sources }: Found, began: number): Promise<void> {
    // It may have missed changes that are removed already.
    const isKept = began - this.#seenAt < KEPT_MILLISECONDS / 2;
    const changed = isKept ? sources : EVERY_TABLE;
    await this.#load(new Set(changed).difference(new Set([TOLD])));
    if (changed.includes(TOLD)) await this.#listener?.told(null);
    this.#seen = last;
    this.#seenAt = began;
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
    client.on("notification", ({ payload = "" }) => this.#telling.take(payload));
    return client;
  }

  async #disconnect(): Promise<void> {
    const client = this.#client;
    this.#client = null;
    await (await client?.catch(() => null))?.end().catch(() => {});
  }

  #heard(node: string, kind: string, told: string): void {
    if (kind === "committed") {
      this.#commits.push({ ...JSON.parse(told) as Commit, node });
      this.#work();
    } else if (node === this.self) return;
    else if (kind === "saw") this.#confirmations.saw(node, Number(told));
    else if (kind === "wrote") this.#listener?.wrote(told as ReadOnTable);
  }
}

function unreadable(): Unavailable {
  return new Unavailable("PostgreSQL cannot be read at the moment");
}

/**
 * Finds what was written since a change.
 *
 * @throws Unavailable if PostgreSQL says nothing
 */
async function find(client: Client, node: string, seen: number): Promise<Found> {
  const { rows: [found] } = await client.query<Found>(LOOK, [seen, node]);
  if (found === undefined) throw new Unavailable("The database says nothing of other nodes");
  return found;
}

/**
 * Begins a lease after the last one has ended, and finds what was written since a change. All that is
 * written later waits for this node.
 */
async function comeBack(client: Client, node: string, seen: number): Promise<Found> {
  await client.query("BEGIN");
  await client.query(...LOG_LOCK);
  const found = await find(client, node, seen);
  await client.query(...beginning(node, seen));
  await client.query("COMMIT");
  return found;
}

/** Extends the lease of a node that is current up to a change; resolves to false if it has ended. */
async function renew(client: Client, node: string, seen: number): Promise<boolean> {
  const { rowCount } = await client.query(...renewal(node, seen));
  return rowCount === 1;
}
