import { NotFound } from "../errors.ts";
import type { Caller } from "../identity/mod.ts";
import type { ChannelAccess } from "./access.ts";
import type { Channel } from "./channel.ts";
import type { Channels, ChannelUse } from "./channels.ts";
import type { Readiness } from "./readiness.ts";

export interface ChannelEntryOptions {
  readonly readiness: Readiness;
  readonly access: ChannelAccess;
  readonly channels: Channels;
  /** Whether anybody is in a channel; absent where only the bridge's own channels are known. */
  readonly hasChannel?: ((channel: string) => boolean) | undefined;
}

/**
 * Takes callers into channels: it waits for the bridge to be up, asks whether the caller may, and has
 * the bridge join.
 */
export class ChannelEntry {
  readonly #options: ChannelEntryOptions;

  constructor(options: ChannelEntryOptions) {
    this.#options = options;
  }

  /**
   * Enters a channel for a caller that joins it or posts to it.
   *
   * @throws Conflict where the channel refuses the caller or the bridge, TooMany, TimedOut,
   * Unavailable
   */
  async enter(name: string, caller: Caller | undefined): Promise<Channel> {
    const { readiness, access, channels } = this.#options;
    await readiness.wait();
    access.assertJoinable(name, caller);
    return await channels.enter(name, { agent: agentOf(caller), lasting: true });
  }

  /**
   * Enters a channel for a caller that reads it. Returns null and does nothing if nobody is in it.
   *
   * @throws NotFound where the caller may not know of it, Forbidden where it refuses the caller, and
   * what {@link enter} throws
   */
  async visit(name: string, caller: Caller | undefined): Promise<Channel | null> {
    const { readiness, access, channels } = this.#options;
    await readiness.wait();
    access.assertReadable(name, caller);
    if (!this.exists(name)) return null;
    const entered = await channels.enter(name, { agent: agentOf(caller), lasting: false });
    access.assertReadable(name, caller);
    return entered;
  }

  /**
   * Enters a channel for a stream, which makes a new one for the operator only.
   *
   * @throws NotFound where an agent asks for a channel that nobody is in, and what {@link visit}
   * throws
   */
  async visitOrMake(name: string, caller: Caller | undefined): Promise<Channel> {
    const entered = await this.visit(name, caller);
    if (entered !== null) return entered;
    if (agentOf(caller) === null) return await this.enter(name, caller);
    throw new NotFound(`There is no channel ${name}: join it or speak in it first`);
  }

  /** Whether anybody is in a channel, as far as the bridge knows. */
  exists(name: string): boolean {
    const { channels, hasChannel } = this.#options;
    return channels.has(name) || (hasChannel?.(name) ?? false);
  }
}

/** The internal id of the agent that calls; null for others, whom the operator stands for. */
export function agentOf(caller: Caller | undefined): ChannelUse["agent"] {
  const { kind, id = null } = caller?.principal ?? {};
  return kind === "agent" ? id : null;
}
