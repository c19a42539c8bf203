import { Conflict, Forbidden, NotFound } from "../errors.ts";
import type { Caller, Principal } from "../identity/mod.ts";
import { type ChannelStanding, foldCase } from "../irc/mod.ts";
import type { Speakers } from "./options.ts";

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
