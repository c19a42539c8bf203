/** How far users have read, each in each of its conversations (IRCv3 read-marker). */

import type { Client } from "../client.ts";
import { foldCase } from "../protocol/names.ts";

/** Conversations of one user of which it is kept; what was read longest ago goes first. */
export const MARKED_TARGETS = 1000;

/** Users whose markers the memory of the server holds; who marked something longest ago goes first. */
const MARKING_USERS = 1000;

/**
 * Keeps the markers of accounts. Names of accounts and targets are folded, times are those of
 * messages in Unix milliseconds. Of one account at least {@linkcode MARKED_TARGETS} are kept.
 */
export interface ReadMarkerStore {
  /** The time of the last message that was read; null if that is not known. */
  read(account: string, target: string): number | null;
  /**
   * Moves a marker on, never back. Resolves when it is kept, rejects if it cannot be.
   *
   * @returns the marker's position afterwards
   */
  advance(account: string, target: string, time: number): Promise<number>;
  /** Moves the markers of a channel to its new name. */
  rename(from: string, to: string): void;
  forget(account: string): void;
}

/** Markers of accounts in a store, and of users without an account as long as they are connected. */
export class ReadMarkers {
  readonly #store: ReadMarkerStore;
  readonly #guests = new WeakMap<Client, Map<string, number>>();

  constructor(store: ReadMarkerStore = new MemoryReadMarkers()) {
    this.#store = store;
  }

  /** How far a user has read, in Unix milliseconds; null if that is not known. */
  read(client: Client, target: string): number | null {
    const folded = foldCase(target);
    return client.account === null
      ? this.#guests.get(client)?.get(folded) ?? null
      : this.#store.read(foldCase(client.account), folded);
  }

  /** Moves a user's marker on, never back, and says where it is then. Rejects as the store does. */
  async advance(client: Client, target: string, time: number): Promise<number> {
    const folded = foldCase(target);
    if (client.account !== null) {
      return await this.#store.advance(foldCase(client.account), folded, time);
    }
    const markers = this.#guests.get(client) ?? new Map<string, number>();
    this.#guests.set(client, markers);
    return moveOn(markers, folded, time);
  }

  /** Lets the markers of a channel follow its name. A guest's do not. */
  rename(from: string, to: string): void {
    this.#store.rename(foldCase(from), foldCase(to));
  }

  forget(account: string): void {
    this.#store.forget(foldCase(account));
  }
}

/** Keeps markers in memory, as long as the server runs. */
class MemoryReadMarkers implements ReadMarkerStore {
  readonly #accounts = new Map<string, Map<string, number>>();

  read(account: string, target: string): number | null {
    return this.#accounts.get(account)?.get(target) ?? null;
  }

  advance(account: string, target: string, time: number): Promise<number> {
    const markers = this.#accounts.get(account) ?? new Map<string, number>();
    this.#accounts.delete(account);
    this.#accounts.set(account, markers);
    dropFirst(this.#accounts, MARKING_USERS);
    return Promise.resolve(moveOn(markers, target, time));
  }

  rename(from: string, to: string): void {
    for (const markers of this.#accounts.values()) {
      const time = markers.get(from);
      if (time === undefined) continue;
      markers.delete(from);
      markers.set(to, time);
    }
  }

  forget(account: string): void {
    this.#accounts.delete(account);
  }
}

/** Puts the marker at the end of what was marked, and no earlier than it was. */
function moveOn(markers: Map<string, number>, target: string, time: number): number {
  const moved = Math.max(time, markers.get(target) ?? 0);
  markers.delete(target);
  markers.set(target, moved);
  dropFirst(markers, MARKED_TARGETS);
  return moved;
}

function dropFirst(entries: Map<string, unknown>, limit: number): void {
  const [first] = entries.keys();
  if (entries.size > limit && first !== undefined) entries.delete(first);
}
