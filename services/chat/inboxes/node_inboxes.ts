import type { Selectable } from "kysely";
import type { Roster, RosterEntry } from "../../people/agents/mod.ts";
import { inBackground, Sweep } from "../../kernel/sweep.ts";
import type { ChannelMessage, HeardMessage } from "../bridge/mod.ts";
import {
  type Database,
  type Directory,
  statement,
  type Tables,
} from "../../engines/database/mod.ts";
import { Unavailable } from "../../kernel/errors.ts";
import type { Principal } from "../../people/identity/mod.ts";
import type { ObservedMessage } from "../../engines/irc/mod.ts";
import type { Log } from "../../kernel/log.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import type { Delivery, Sending } from "./arrivals.ts";
import type {
  Acknowledgement,
  InboxDoor,
  Inboxes,
  InboxQuery,
  Missed,
  Notification,
} from "./inboxes.ts";

/** Posted entries that are taken at once. */
const POSTED_AT_ONCE = 200;

/** Pause before another attempt after a failure, in milliseconds. */
const RETRY_MS = 5000;

/** After how many seconds to try again what only the node that leads can do. */
const RETRY_SECONDS = 2;

/** Why readers end when another node takes the inboxes over. */
const MOVED = "The inboxes are on another node now; try again";

export interface NodeInboxesOptions {
  /** Makes the inboxes anew, from the database. */
  readonly make: () => Inboxes;
  readonly posts: InboxPosts;
  readonly missed: MissedMessages;
  readonly roster: Pick<Roster, "find" | "get">;
  /** Whether an agent receives the messages of a channel. */
  readonly hears: (agent: RosterEntry, channel: string) => boolean;
  readonly scheduler: Scheduler;
  readonly log: Log;
}

/**
 * The inboxes on one of several nodes. The node that leads keeps them, like a server that is alone;
 * the others keep what they hear, in case that they lead next, and post their entries to it.
 */
export class NodeInboxes implements InboxDoor {
  readonly #options: NodeInboxesOptions;
  readonly #sweep: Sweep;
  /** Null on a node that does not lead. */
  #inboxes: Inboxes | null = null;
  /** How long messages are kept; undefined before that is changed. */
  #age: number | null | undefined;
  #cancelRetry = () => {};

  constructor(options: NodeInboxesOptions) {
    this.#options = options;
    const { log } = options;
    const name = "take entries of other nodes";
    this.#sweep = new Sweep({ log, name, task: () => this.#takePosts() });
    options.posts.onPosted(() => this.#sweep.start());
  }

  /** Keeps the inboxes from now on, with what no node may have kept. */
  async start(): Promise<void> {
    const inboxes = this.#options.make();
    if (this.#age !== undefined) inboxes.retain(this.#age);
    this.#inboxes = inboxes;
    inboxes.start();
    this.#sweep.start();
    await this.#takeMissed(inboxes, this.#options.missed.take());
  }

  /** Leaves the inboxes to another node. */
  async stop(): Promise<void> {
    const inboxes = this.#inboxes;
    this.#inboxes = null;
    this.#cancelRetry();
    inboxes?.close(MOVED);
    await this.#sweep.idle();
    await inboxes?.stop();
  }

  take(message: ObservedMessage): void {
    this.#inboxes?.take(message);
  }

  takeHeard(message: HeardMessage): void {
    if (this.#inboxes === null) this.#options.missed.add({ kind: "heard", message });
    else this.#inboxes.takeHeard(message);
  }

  takePosted(channel: string, message: ChannelMessage): void {
    if (this.#inboxes === null) this.#options.missed.add({ kind: "posted", channel, message });
    else this.#inboxes.takePosted(channel, message);
  }

  forgetMessage(id: string): void {
    if (this.#inboxes === null) this.#options.missed.add({ kind: "redacted", id });
    else this.#inboxes.forgetMessage(id);
  }

  async notify(entries: readonly Notification[]): Promise<void> {
    if (this.#inboxes === null) await this.#options.posts.post(entries);
    else await this.#inboxes.notify(entries);
  }

  reaches(nick: string, channel: string): boolean | null {
    const agent = this.#options.roster.find(nick);
    return agent === null ? null : this.#options.hears(agent, channel);
  }

  retain(age: number | null): void {
    this.#age = age;
    this.#inboxes?.retain(age);
  }

  async flush(): Promise<void> {
    await this.#inboxes?.flush();
  }

  get arrived(): number {
    return this.#inboxes?.arrived ?? 0;
  }

  async settled(): Promise<void> {
    await this.#inboxes?.settled();
  }

  close(): void {
    this.#inboxes?.close();
  }

  deliver(agent: RosterEntry, delivery: Delivery, sending?: Sending | null): string {
    return this.#here().deliver(agent, delivery, sending);
  }

  showing<Result>(send: () => Result): Result {
    return this.#inboxes === null ? send() : this.#inboxes.showing(send);
  }

  async requireRoom(agent: RosterEntry, units: number): Promise<void> {
    await this.#here().requireRoom(agent, units);
  }

  delivered(agent: RosterEntry, id: string): void {
    this.#inboxes?.delivered(agent, id);
  }

  async read(nick: string, query: InboxQuery, principal: Principal) {
    return await this.#here().read(nick, query, principal);
  }

  async seen(nick: string, ids: readonly string[], principal: Principal) {
    return await this.#here().seen(nick, ids, principal);
  }

  async acknowledge(nick: string, what: Acknowledgement, principal: Principal) {
    return await this.#here().acknowledge(nick, what, principal);
  }

  async counts(nick: string, principal: Principal) {
    return await this.#here().counts(nick, principal);
  }

  async sent(sending: Sending) {
    return await this.#here().sent(sending);
  }

  async copies(id: string) {
    return await this.#here().copies(id);
  }

  /** @throws Unavailable on a node that does not lead */
  #here(): Inboxes {
    if (this.#inboxes !== null) return this.#inboxes;
    throw new Unavailable(MOVED, { retryAfterSeconds: RETRY_SECONDS });
  }

  /** Takes what this node heard before it led; again and again, if the database is away. */
  async #takeMissed(inboxes: Inboxes, all: readonly Missed[]): Promise<void> {
    const { missed, log, scheduler } = this.#options;
    if (this.#inboxes !== inboxes) return all.forEach((one) => missed.add(one));
    try {
      await inboxes.takeMissed(all);
    } catch (error) {
      log.warn("Messages of IRC are not in the inboxes yet", { error });
      scheduler.after(RETRY_MS, () => {
        inBackground(log, "take missed messages", () => this.#takeMissed(inboxes, all));
      });
    }
  }

  /** Takes what other nodes have posted. Each entry has an id, and is in its inbox once. */
  async #takePosts(): Promise<void> {
    const { posts, roster, log, scheduler } = this.#options;
    const inboxes = this.#inboxes;
    if (inboxes === null) return;
    try {
      const rows = await posts.waiting(POSTED_AT_ONCE);
      if (rows.length === 0) return;
      await inboxes.notify(rows.flatMap((row) => notificationOf(row, roster) ?? []));
      await posts.remove(rows);
      this.#sweep.start();
    } catch (error) {
      if (this.#inboxes === null) return;
      log.warn("Entries of other nodes are not in the inboxes yet", { error });
      this.#cancelRetry();
      this.#cancelRetry = scheduler.after(RETRY_MS, () => this.#sweep.start());
    }
  }
}

/** Rows that one statement inserts. */
const AT_ONCE = 100;

type Row = Selectable<Tables["inbox_posts"]>;

/** Entries that other nodes have written, until the node that keeps the inboxes takes them. */
export class InboxPosts implements Directory {
  readonly tables = ["inbox_posts"] as const;
  readonly #database: Database;
  #onPosted: () => void = () => {};

  private constructor(database: Database) {
    this.#database = database;
  }

  static async open(database: Database): Promise<InboxPosts> {
    const posts = new InboxPosts(database);
    await database.keepCurrent(posts);
    return posts;
  }

  /** It holds no rows: who takes them reads them. */
  load(): Promise<void> {
    return Promise.resolve();
  }

  announce(): void {
    this.#onPosted();
  }

  /** Sets what is called when another node has posted something. */
  onPosted(listener: () => void): void {
    this.#onPosted = listener;
  }

  /**
   * Posts entries. Resolves when they are on disk.
   *
   * @throws Unavailable
   */
  async post(entries: readonly Notification[]): Promise<void> {
    const { tables } = this.#database;
    for (let at = 0; at < entries.length; at += AT_ONCE) {
      const rows = entries.slice(at, at + AT_ONCE).map(({ agent, time, entry }) => ({
        account_id: agent.id,
        id: entry.id,
        time,
        entry: JSON.stringify(entry),
      }));
      const insertion = tables.insertInto("inbox_posts").values(rows)
        .onConflict((conflict) => conflict.columns(["account_id", "id"]).doNothing());
      await this.#database.commit({ statements: [statement(insertion)] });
    }
  }

  /** The first entries that wait. */
  async waiting(limit: number): Promise<readonly Row[]> {
    return await this.#database.tables.selectFrom("inbox_posts").selectAll()
      .orderBy("time").orderBy("id").limit(limit).execute();
  }

  /** Removes entries that are in the inboxes. */
  async remove(rows: readonly Row[]): Promise<void> {
    const { tables } = this.#database;
    await this.#database.commit({
      statements: rows.map(({ account_id, id }) =>
        statement(
          tables.deleteFrom("inbox_posts").where("account_id", "=", account_id)
            .where("id", "=", id),
        )
      ),
    });
  }
}

/** The entry of a row; null if its agent is gone. */
function notificationOf(
  { account_id: accountId, time, entry }: Row,
  roster: Pick<Roster, "get">,
): Notification | null {
  const agent = roster.get(accountId);
  return agent === null ? null : { agent, time, entry: JSON.parse(entry) };
}

/** How long a message is kept while another node leads, in milliseconds: far longer than a lease. */
const KEPT_MS = 120_000;

/** Most messages that are kept; the oldest make room. */
const MAX_KEPT = 20_000;

interface MissedMessagesOptions {
  /** Whether another node leads, which has these messages too. */
  readonly isLed: () => boolean;
  /** Unix milliseconds. */
  readonly clock: () => number;
}

/**
 * What a node heard while another one led, or none did. If it leads next, these messages are in an
 * inbox already, or they were lost with the earlier leader.
 */
export class MissedMessages {
  readonly #options: MissedMessagesOptions;
  #kept: { readonly at: number; readonly missed: Missed }[] = [];

  constructor(options: MissedMessagesOptions) {
    this.#options = options;
  }

  add(missed: Missed): void {
    this.#kept.push({ at: this.#options.clock(), missed });
    if (this.#kept.length >= 2 * MAX_KEPT) this.#kept = this.#kept.slice(-MAX_KEPT);
    const { clock, isLed } = this.#options;
    const [oldest] = this.#kept;
    const isOld = oldest !== undefined && oldest.at < clock() - 2 * KEPT_MS;
    if (isOld && isLed()) this.#kept = this.#kept.filter(({ at }) => at >= clock() - KEPT_MS);
  }

  /** All of them, oldest first; they are no longer kept. */
  take(): readonly Missed[] {
    const missed = this.#kept.slice(-MAX_KEPT).map((one) => one.missed);
    this.#kept = [];
    return missed;
  }
}
