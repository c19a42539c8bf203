/** How far each user has read each of its conversations (IRCv3 read-marker). */

import { MARKED_TARGETS, type ReadMarkerStore } from "../options.ts";
import { foldCase } from "../protocol/names.ts";
import type { Client } from "../members.ts";

/** Most users with markers in memory; the one who set a marker longest ago is dropped first. */
const MARKING_USERS = 1000;

/** Markers of accounts in a store, and markers of guests while they are connected. */
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

  /** How far an account has read, in Unix milliseconds; null if that is not known. */
  readOf(account: string, target: string): number | null {
    return this.#store.read(foldCase(account), foldCase(target));
  }

  /** Moves an account's marker, as {@link advance} does. */
  async advanceOf(account: string, target: string, time: number): Promise<number> {
    return await this.#store.advance(foldCase(account), foldCase(target), time);
  }

  /**
   * Moves a user's marker forward, never back, and resolves to its position. Rejects if the store
   * does.
   */
  async advance(client: Client, target: string, time: number): Promise<number> {
    const folded = foldCase(target);
    if (client.account !== null) {
      return await this.#store.advance(foldCase(client.account), folded, time);
    }
    const markers = this.#guests.get(client) ?? new Map<string, number>();
    this.#guests.set(client, markers);
    return moveOn(markers, folded, time);
  }

  /** Moves the markers of a renamed channel, except those of guests. */
  rename(from: string, to: string): void {
    this.#store.rename(foldCase(from), foldCase(to));
  }

  forget(account: string): void {
    this.#store.forget(foldCase(account));
  }
}

/** Keeps markers in memory while the server runs. */
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

/** Sets the marker, no earlier than before, and makes it the most recent one. */
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
