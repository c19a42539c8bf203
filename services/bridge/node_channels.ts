import { foldCase } from "../irc/mod.ts";
import type { Log } from "../log.ts";
import type { Scheduler } from "../scheduler.ts";
import type { Channel } from "./channel.ts";
import type { BridgeNodes } from "./node_sharing.ts";
import type { ChannelsChange } from "./shared_channels.ts";
import type { StoredChannel } from "./stored_channels.ts";

/** What this bridge does when another node has entered or left a channel. */
export interface FollowingChannels {
  /** A channel that the bridge is in, was in or enters, by its folded name. */
  find(folded: string): Channel | null;
  /** Enters a channel, if there is room and a connection. */
  enterAlong(channel: StoredChannel): Channel | null;
  leaveAlong(channel: Channel): Promise<void>;
  /** Keeps a channel no longer, by its folded name. */
  release(folded: string): void;
}

export interface NodeChannelsOptions {
  readonly nodes: Pick<BridgeNodes, "channels" | "peers" | "isLeading">;
  readonly following: FollowingChannels;
  readonly scheduler: Scheduler;
  readonly log: Log;
}

/** Keeps the channels of a bridge equal to those of other nodes, and agrees with them on leaving. */
export class NodeChannels {
  readonly #options: NodeChannelsOptions;

  constructor(options: NodeChannelsOptions) {
    this.#options = options;
    options.nodes.channels.follow((change) => this.#follow(change));
  }

  /** All of them, as of now. */
  get current(): readonly StoredChannel[] {
    return this.#options.nodes.channels.current;
  }

  /** The nicks of the other bridges. */
  get nicks(): readonly string[] {
    return this.#options.nodes.peers.nicks;
  }

  /** Notes that an agent, or with null the operator, uses a channel. */
  used(name: string, agent: string | null): void {
    const { nodes, scheduler } = this.#options;
    nodes.channels.used(name, agent, scheduler.now());
  }

  /** Records uses of channels that have no agent, such as open streams. */
  noteUses(channels: Iterable<Channel>): void {
    const { nodes, scheduler, log } = this.#options;
    for (const channel of channels) {
      const at = channel.log.followers > 0 ? scheduler.now() : channel.anonymousUse;
      if (at !== null) nodes.channels.used(channel.name, null, at);
    }
    nodes.channels.flush().catch((error: unknown) => {
      log.warn("The use of channels could not be stored", { error });
    });
  }

  /** As {@link SharedChannelStore.release}, for an agent that leaves. */
  async release(name: string, agent: string, after: number): Promise<boolean> {
    return await this.#options.nodes.channels.release(name, agent, after);
  }

  /** The same for an idle channel: the leader decides, for all nodes. */
  async releaseIdle(name: string, after: number): Promise<boolean> {
    const { nodes } = this.#options;
    return nodes.isLeading() && await nodes.channels.release(name, null, after);
  }

  #follow({ current, removed }: ChannelsChange): void {
    const { following, log } = this.#options;
    for (const stored of current) {
      const channel = following.find(foldCase(stored.name)) ?? following.enterAlong(stored);
      if (channel === null) continue;
      channel.opener = stored.opener;
      channel.stored ??= Promise.resolve();
    }
    for (const folded of removed) {
      following.release(folded);
      const channel = following.find(folded);
      if (channel === null) continue;
      following.leaveAlong(channel).catch((error: unknown) => {
        log.warn("The bridge could not leave a channel", { channel: channel.name, error });
      });
    }
  }
}
