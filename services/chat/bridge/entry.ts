import { Conflict, Forbidden, NotFound, Unavailable } from "../../kernel/errors.ts";
import type { Caller, Principal } from "../../people/identity/mod.ts";
import { type ChannelStanding, foldCase } from "../../engines/irc/mod.ts";
import type { Channel } from "./channel.ts";
import type { Channels, ChannelUse } from "./channels.ts";
import type { Readiness } from "./confirmation.ts";
import type { Speaker, Speakers } from "./types.ts";

interface ChannelEntryOptions {
  readonly readiness: Readiness;
  readonly access: ChannelAccess;
  readonly channels: Channels;
  /** Who of the callers is a user of the IRC server; absent if nobody is. */
  readonly speakers?: Speakers | undefined;
  /** Whether a channel has members; absent if only the bridge's own channels are known. */
  readonly hasChannel?: ((channel: string) => boolean) | undefined;
}

/**
 * Enters and leaves channels for callers: waits for the bridge to be up, checks the caller's access,
 * and lets the bridge join or leave.
 */
export class ChannelEntry {
  readonly #options: ChannelEntryOptions;

  constructor(options: ChannelEntryOptions) {
    this.#options = options;
  }

  /**
   * As `Bridge.join`, of the channel with this name.
   *
   * @throws Conflict if the channel refuses the caller, Forbidden if it would be new and the caller is
   * paused, and what {@link enter} throws
   */
  async join(wanted: string, caller: Caller | undefined): Promise<void> {
    const { readiness, channels, speakers } = this.#options;
    await readiness.wait();
    if (caller !== undefined && channels.get(wanted) === null) {
      speakers?.requireVoice(caller.principal);
    }
    const { name } = await this.enter(wanted, caller);
    const user = this.#userOf(caller);
    const refusal = user?.join(name) ?? null;
    if (refusal !== null) throw new Conflict(`${name} refuses you: ${refusal}`);
    if (await user?.settled() === false) throw unrecorded();
  }

  /**
   * As `Bridge.part`, of the channel with this name.
   *
   * @throws TimedOut, Unavailable
   */
  async part(name: string, caller: Caller | undefined): Promise<void> {
    const { readiness, access, channels } = this.#options;
    await readiness.wait();
    const user = this.#userOf(caller);
    user?.part(name);
    if (await user?.settled() === false) throw unrecorded();
    const id = agentOf(caller);
    const nick = caller?.principal.name ?? "";
    const isDone = id === null ||
      await channels.release(name, { id, nick }, access.watching(name, id));
    if (isDone) await channels.leave(name, "Asked to leave");
  }

  /**
   * Enters a channel for a caller that joins it or posts to it.
   *
   * @throws Conflict if the channel refuses the caller or the bridge, TooMany, TimedOut,
   * Unavailable
   */
  async enter(name: string, caller: Caller | undefined): Promise<Channel> {
    const { readiness, access, channels } = this.#options;
    if (!readiness.up) await readiness.wait();
    access.assertJoinable(name, caller);
    return await channels.enter(name, { agent: agentOf(caller), lasting: true });
  }

  /**
   * Enters a channel for a caller that reads it. Returns null and does nothing if it is empty.
   *
   * @throws NotFound if the caller may not know of it, Forbidden if it refuses the caller, and what
   * {@link enter} throws
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
   * Enters a channel for a stream. Only the operator's stream creates a new channel.
   *
   * @throws NotFound if an agent asks for an empty channel, and what {@link visit} throws
   */
  async visitOrMake(name: string, caller: Caller | undefined): Promise<Channel> {
    const entered = await this.visit(name, caller);
    if (entered !== null) return entered;
    if (agentOf(caller) === null) return await this.enter(name, caller);
    throw new NotFound(`There is no channel ${name}: join it or speak in it first`);
  }

  /** Whether a channel has members, as far as the bridge knows. */
  exists(name: string): boolean {
    const { channels, hasChannel } = this.#options;
    return channels.has(name) || (hasChannel?.(name) ?? false);
  }

  /** The caller as a user of the IRC server; null if the bridge has to speak for it. */
  #userOf(caller: Caller | undefined): Speaker | null {
    return caller === undefined ? null : this.#options.speakers?.speaker(caller.principal) ?? null;
  }
}

/**
 * The internal id of a caller that acts as itself: an agent, or a person or an admin on the web
 * pages. Null for all others, who count as the operator.
 */
function agentOf(caller: Caller | undefined): ChannelUse["agent"] {
  const { kind, id = null, sessionId = null } = caller?.principal ?? {};
  return kind === "agent" || sessionId !== null ? id : null;
}

function unrecorded(): Unavailable {
  return new Unavailable("The channels that you are in cannot be stored at the moment: try again");
}

/** A reader with an open stream, which ends when the reader loses access to the channel. */
interface Watched {
  readonly channel: string;
  readonly principal: Principal;
  end(reason: string): void;
}

/**
 * Decides who may read and join which channels: IRC's rules for agents, everything for the operator.
 */
export class ChannelAccess {
  readonly #speakers: Speakers | null;
  /** Open streams of agents, by the channel's folded name. */
  readonly #watched = new Map<string, Set<Watched>>();
  /** Folded names of channels whose readers must be checked. */
  readonly #changed = new Set<string>();
  readonly #stopListening: () => void;

  constructor(speakers: Speakers | null) {
    this.#speakers = speakers;
    this.#stopListening = speakers?.onAccessChanged((channel) => this.#note(channel)) ?? (() => {});
  }

  /** Whether the caller may know that a channel exists. */
  sees(channel: string, caller: Caller | undefined): boolean {
    return this.#standing(channel, caller)?.visible ?? true;
  }

  /** Whether the caller may read a channel. */
  mayRead(channel: string, caller: Caller | undefined): boolean {
    const standing = this.#standing(channel, caller);
    return standing === null || (standing.visible && standing.refusal === null);
  }

  /**
   * Checks that the caller may read the channel, or could if it existed.
   *
   * @throws NotFound if the caller may not know of it, Forbidden if the channel refuses the caller
   */
  assertReadable(channel: string, caller: Caller | undefined): void {
    const standing = this.#standing(channel, caller);
    if (standing === null) return;
    if (!standing.visible) throw new NotFound(`There is no channel ${channel}`);
    if (!standing.exists || standing.refusal === null) return;
    throw new Forbidden(`${channel} refuses you: ${standing.refusal}`);
  }

  /**
   * Checks that the caller could join a channel.
   *
   * @throws Conflict
   */
  assertJoinable(channel: string, caller: Caller | undefined): void {
    const refusal = this.#standing(channel, caller)?.refusal ?? null;
    if (refusal !== null) throw new Conflict(`${channel} refuses you: ${refusal}`);
  }

  /**
   * Ends a reader when it may no longer read the channel.
   *
   * @returns a function that ends the watch
   */
  watch(channel: string, caller: Caller | undefined, end: (reason: string) => void): () => void {
    if (caller === undefined || this.#standing(channel, caller) === null) return () => {};
    const folded = foldCase(channel);
    const watched = { channel, principal: caller.principal, end };
    const readers = this.#watched.get(folded) ?? new Set<Watched>();
    this.#watched.set(folded, readers.add(watched));
    return () => {
      readers.delete(watched);
      if (readers.size === 0 && this.#watched.get(folded) === readers) {
        this.#watched.delete(folded);
      }
    };
  }

  /** The number of an agent's open streams of a channel. */
  watching(channel: string, agentId: string): number {
    let count = 0;
    for (const { principal } of this.#watched.get(foldCase(channel)) ?? []) {
      if (principal.id === agentId) count++;
    }
    return count;
  }

  close(): void {
    this.#stopListening();
  }

  #standing(channel: string, caller: Caller | undefined): ChannelStanding | null {
    if (caller === undefined) return null;
    return this.#speakers?.standing(caller.principal, channel) ?? null;
  }

  /** Checks the readers after the current task, which may change several things. */
  #note(channel: string): void {
    const folded = foldCase(channel);
    if (!this.#watched.has(folded)) return;
    if (this.#changed.size === 0) queueMicrotask(() => this.#recheck());
    this.#changed.add(folded);
  }

  #recheck(): void {
    const changed = [...this.#changed];
    this.#changed.clear();
    for (const folded of changed) {
      for (const { channel, principal, end } of [...this.#watched.get(folded) ?? []]) {
        const standing = this.#speakers?.standing(principal, channel) ?? null;
        if (standing === null || (standing.visible && standing.refusal === null)) continue;
        end(`${channel} refuses you`);
      }
    }
  }
}
