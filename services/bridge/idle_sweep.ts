import type { Log } from "../log.ts";
import type { Scheduler } from "../scheduler.ts";
import type { Channel } from "./channel.ts";
import type { LastingChannels } from "./lasting_channels.ts";
import type { NodeChannels } from "./node_channels.ts";

/** The bridge leaves an unused channel after this time, unless it is configured. */
export const IDLE_MILLISECONDS = 60 * 60 * 1000;

/** How often the bridge checks for such channels. */
const SWEEP_MILLISECONDS = 60 * 1000;

export interface IdleSweepOptions {
  /** The channels that the bridge is in, enters or leaves, as of now. */
  channels(): Iterable<Channel>;
  readonly lasting: LastingChannels;
  /** Null without nodes. */
  readonly nodes: NodeChannels | null;
  /** Leaves a channel. */
  leave(name: string, reason: string): Promise<void>;
  /** Enters a channel, unless the bridge is in it. */
  enterAgain(name: string): void;
  readonly scheduler: Scheduler;
  readonly log: Log;
}

/** Leaves unused channels, and rejoins kept channels that the bridge was removed from. */
export class IdleSweep {
  readonly #options: IdleSweepOptions;
  #cancel: () => void = () => {};

  constructor(options: IdleSweepOptions) {
    this.#options = options;
  }

  start(): void {
    this.#cancel();
    this.#cancel = this.#options.scheduler.after(SWEEP_MILLISECONDS, () => this.#run());
  }

  stop(): void {
    this.#cancel();
  }

  #run(): void {
    const { channels, lasting, nodes, enterAgain, log } = this.#options;
    this.start();
    nodes?.noteUses(channels());
    for (const channel of [...channels()]) {
      if (!this.#isIdle(channel)) continue;
      this.#leaveIdle(channel.name).catch((error: unknown) => {
        log.warn("The bridge could not leave an idle channel", { channel: channel.name, error });
      });
    }
    for (const name of lasting.kept) enterAgain(name);
  }

  #isIdle({ name, log, usedAt, entering }: Channel): boolean {
    const { lasting, scheduler } = this.#options;
    if (lasting.keeps(name) || scheduler.now() - usedAt < IDLE_MILLISECONDS) return false;
    return log.followers === 0 && entering === null;
  }

  async #leaveIdle(name: string): Promise<void> {
    const { nodes, scheduler, leave } = this.#options;
    if (nodes !== null) {
      // Other nodes note uses once in a sweep.
      const after = scheduler.now() - IDLE_MILLISECONDS - 2 * SWEEP_MILLISECONDS;
      if (!await nodes.releaseIdle(name, after)) return;
    }
    await leave(name, "Nobody reads here");
  }
}
