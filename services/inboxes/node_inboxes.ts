import type { Roster, RosterEntry } from "../agents/mod.ts";
import type { ChannelMessage, HeardMessage } from "../bridge/mod.ts";
import { inBackground } from "../background.ts";
import { Unavailable } from "../errors.ts";
import type { Principal } from "../identity/mod.ts";
import type { ObservedMessage } from "../irc/mod.ts";
import type { Log } from "../log.ts";
import type { Scheduler } from "../scheduler.ts";
import { Sweep } from "../sweep.ts";
import type { Delivery, Sending } from "./arrivals.ts";
import { type InboxPosts, notificationOf } from "./inbox_posts.ts";
import type { Acknowledgement, InboxDoor, Inboxes, InboxQuery, Notification } from "./inboxes.ts";
import type { Missed, MissedMessages } from "./missed_messages.ts";

/** Posted entries that are taken at once. */
const AT_ONCE = 200;

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

  seen(nick: string, ids: readonly string[], principal: Principal): void {
    this.#here().seen(nick, ids, principal);
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
      const rows = await posts.waiting(AT_ONCE);
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
