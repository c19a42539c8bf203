import {
  type Database,
  type Directory,
  type ReadOnTable,
  statement,
} from "../../engines/database/mod.ts";
import { foldCase } from "../../engines/irc/mod.ts";
import type { Log } from "../../kernel/log.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import type { Channel } from "./channel.ts";
import type { PeerBridges } from "./link_events.ts";
import { MAX_UNDERSCORES } from "./session.ts";
import type { SharedChannelStore } from "./shared_channels.ts";
import { SharedLines, type SharedLinesOptions } from "./shared_lines.ts";
import type { LineStore } from "./stored_lines.ts";

/** How often the leader removes what is old. */
const TIDY_MILLISECONDS = 60_000;

/** How long visits and uses are kept: longer than either counts. */
const VISIT_MILLISECONDS = 24 * 60 * 60_000;

/** What the bridges of several nodes share. */
export interface BridgeNodes {
  readonly peers: PeerBridges;
  readonly channels: SharedChannelStore;
  readonly lines: LineStore;
  /** The place of the newest line at the start. */
  readonly seen: number;
  readonly visits: VisitStore;
  readonly isLeading: () => boolean;
  /** As {@linkcode SharedLinesOptions.gatherMilliseconds}. */
  readonly gatherMilliseconds: number;
  /**
   * Calls a listener when another node has written visits; and each second or so, when it may have
   * written visits or lines.
   *
   * @returns a function that ends the subscription
   */
  readonly onWrote: (listener: (table: ReadOnTable | null) => void) => () => void;
}

interface NodeSharingOptions extends
  Pick<
    SharedLinesOptions,
    "find" | "onLine" | "onPast" | "bufferSize"
  > {
  readonly nodes: BridgeNodes;
  readonly webUserTtlMilliseconds: () => number;
  readonly scheduler: Scheduler;
  readonly log: Log;
}

/** A bridge's part in what the bridges of several nodes share: messages and presence over HTTP. */
export class NodeSharing {
  readonly lines: SharedLines;
  readonly #options: NodeSharingOptions;
  #unsubscribe: () => void = () => {};
  #cancelTimer: () => void = () => {};
  #reading: Promise<void> | null = null;

  constructor(options: NodeSharingOptions) {
    this.#options = options;
    const { nodes } = options;
    this.lines = new SharedLines({
      ...options,
      store: nodes.lines,
      seen: nodes.seen,
      isLeading: nodes.isLeading,
      gatherMilliseconds: nodes.gatherMilliseconds,
      isLeaderIn: (channel) => {
        const nick = nodes.peers.leader;
        return nick !== null && (options.find(channel)?.hasMember(nick) ?? false);
      },
      hasPeers: () => nodes.peers.nicks.length > 0,
    });
  }

  start(): void {
    const { nodes } = this.#options;
    const ends = [
      nodes.lines.onAdded((added) => this.lines.take(added)),
      nodes.onWrote((table) => {
        if (table === null) this.lines.wake();
        this.readPresence().catch(() => {});
      }),
    ];
    this.#unsubscribe = () => ends.forEach((end) => end());
    this.#tidyLater();
  }

  close(): void {
    this.#unsubscribe();
    this.#cancelTimer();
    this.lines.close();
  }

  /** Notes somebody's presence over HTTP in a channel, for all nodes. */
  async notePresence({ key: channel }: Channel, nick: string): Promise<void> {
    const { nodes, scheduler } = this.#options;
    await nodes.visits.note({ channel, nick, at: scheduler.now() });
  }

  /** Reads who was noted on other nodes. */
  async readPresence(): Promise<void> {
    // What is being read may be from before this call.
    await this.#reading;
    await (this.#reading ??= this.#readPresence().finally(() => this.#reading = null));
  }

  async #readPresence(): Promise<void> {
    const { nodes, find, scheduler, webUserTtlMilliseconds } = this.#options;
    const visits = await nodes.visits.after(scheduler.now() - webUserTtlMilliseconds());
    for (const { channel, nick, at } of visits) find(foldCase(channel))?.setPresent(nick, at);
  }

  #tidyLater(): void {
    const { scheduler, log } = this.#options;
    this.#cancelTimer = scheduler.after(TIDY_MILLISECONDS, () => {
      this.#tidyLater();
      this.#tidy().catch((error: unknown) => {
        log.warn("Old messages of channels could not be removed", { error });
      });
    });
  }

  async #tidy(): Promise<void> {
    const { nodes, scheduler } = this.#options;
    if (!nodes.isLeading()) return;
    await this.lines.trim();
    await nodes.visits.trim(scheduler.now() - VISIT_MILLISECONDS);
  }
}

/** Somebody's presence over HTTP in a channel. */
interface Visit {
  /** The channel's folded name. */
  readonly channel: string;
  readonly nick: string;
  /** Unix milliseconds. */
  readonly at: number;
}

/** Presence over HTTP that was noted on any node. */
interface VisitStore {
  /**
   * Notes a visit. Resolves when it is on disk.
   *
   * @throws Unavailable if the database cannot be written
   */
  note(visit: Visit): Promise<void>;
  /** The newest visit of each nick to each channel after a time, in Unix milliseconds. */
  after(time: number): Promise<Visit[]>;
  /**
   * Removes what is older than a time, in Unix milliseconds.
   *
   * @throws Unavailable if the database cannot be written
   */
  trim(time: number): Promise<void>;
}

/** The visits in the database that nodes share. */
export class StoredVisits implements VisitStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async note({ channel, nick, at }: Visit): Promise<void> {
    const visitor = foldCase(nick);
    const row = { channel, kind: "presence", visitor, nick, at } as const;
    await this.#database.commit({
      statements: [
        statement(
          this.#database.tables.insertInto("channel_visits").values(row)
            .onConflict((conflict) =>
              conflict.columns(["channel", "kind", "visitor"]).doUpdateSet({ nick, at })
            ),
        ),
      ],
    });
  }

  async after(time: number): Promise<Visit[]> {
    return await this.#database.tables.selectFrom("channel_visits")
      .select(["channel", "nick", "at"]).where("kind", "=", "presence").where("at", ">", time)
      .orderBy("at").execute();
  }

  async trim(time: number): Promise<void> {
    const removal = this.#database.tables.deleteFrom("channel_visits").where("at", "<", time);
    await this.#database.commit({ statements: [statement(removal)] });
  }
}

/** The bridge of a node. */
export interface NodeBridge {
  readonly node: string;
  /** As configured; while it is in use by somebody else, underscores follow it. */
  readonly nick: string;
  /** Its account on the network; null if it logs in to none. */
  readonly account: string | null;
}

interface NodeBridgesOptions {
  readonly database: Database;
  readonly self: NodeBridge;
}

/**
 * The bridges of all nodes, in memory. Each node records its own, so a line is believed only from an
 * account that a node has named.
 */
export class NodeBridges implements PeerBridges, Directory {
  readonly tables = ["node_bridges"] as const;
  readonly #options: NodeBridgesOptions;
  #all: readonly NodeBridge[] = [];

  private constructor(options: NodeBridgesOptions) {
    this.#options = options;
  }

  /** Records the bridge of this node, which has joined the others, and reads all of them. */
  static async open(options: NodeBridgesOptions): Promise<NodeBridges> {
    const { database, self: { node, nick, account } } = options;
    const insertion = database.tables.insertInto("node_bridges").values({ node, nick, account })
      .onConflict((conflict) => conflict.column("node").doUpdateSet({ nick, account }));
    await database.commit({ statements: [statement(insertion)] });
    const bridges = new NodeBridges(options);
    await database.keepCurrent(bridges);
    return bridges;
  }

  async load(): Promise<void> {
    this.#all = await this.#options.database.tables.selectFrom("node_bridges").selectAll()
      .orderBy("node").execute();
  }

  isAccount(account: string): boolean {
    const folded = foldCase(account);
    return this.#all.some((bridge) =>
      bridge.account !== null && foldCase(bridge.account) === folded
    );
  }

  isNick(nick: string): boolean {
    const folded = foldCase(nick);
    return this.#others.some((bridge) => {
      const own = foldCase(bridge.nick);
      const rest = folded.startsWith(own) ? folded.slice(own.length) : null;
      return rest !== null && rest.length <= MAX_UNDERSCORES && /^_*$/.test(rest);
    });
  }

  get leader(): string | null {
    const node = this.#options.database.peers?.leader;
    return this.#all.find((bridge) => bridge.node === node)?.nick ?? null;
  }

  get nicks(): readonly string[] {
    return this.#others.map(({ nick }) => nick);
  }

  get #others(): readonly NodeBridge[] {
    const { self } = this.#options;
    return this.#all.filter(({ node }) => node !== self.node);
  }
}
