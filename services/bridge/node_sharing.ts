import type { ReadOnTable } from "../database/mod.ts";
import { foldCase } from "../irc/mod.ts";
import type { Log } from "../log.ts";
import type { Scheduler } from "../scheduler.ts";
import type { Channel } from "./channel.ts";
import type { PeerBridges } from "./link_events.ts";
import type { SharedChannelStore } from "./shared_channels.ts";
import { SharedLines, type SharedLinesOptions } from "./shared_lines.ts";
import type { VisitStore } from "./shared_presence.ts";
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

export interface NodeSharingOptions extends
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
