/** Values of users and channels by key (IRCv3 metadata). They end with their target. */

import { METADATA_KEYS, METADATA_SUBSCRIPTIONS } from "../protocol/capabilities.ts";
import { TokenBucket } from "../../../kernel/token_bucket.ts";
import type { Channel, Client } from "../members.ts";

/** Limits of one client's changes and synchronisations. */
const CHANGE_RATE = { perSecond: 0.5, burst: 20 } as const;

const KEY = /^[a-z0-9_./-]{1,32}$/;

/** Whether the text may be a key. */
export function isMetadataKey(text: string): boolean {
  return KEY.test(text);
}

export type MetadataTarget = Client | Channel;

const NO_VALUES: ReadonlyMap<string, string> = new Map();
const NO_KEYS: ReadonlySet<string> = new Set();

/** The values of users and channels, and the subscriptions of each client. */
export class Metadata {
  readonly #values = new WeakMap<MetadataTarget, Map<string, string>>();
  readonly #subscriptions = new WeakMap<Client, Set<string>>();
  readonly #buckets = new WeakMap<Client, TokenBucket>();

  /** The values of a user or a channel by key, in the order in which they were first set. */
  valuesOf(target: MetadataTarget): ReadonlyMap<string, string> {
    return this.#values.get(target) ?? NO_VALUES;
  }

  /** Sets a value. False if the target has the maximum number of keys. */
  set(target: MetadataTarget, key: string, value: string): boolean {
    const values = this.#values.get(target) ?? new Map<string, string>();
    if (!values.has(key) && values.size >= METADATA_KEYS) return false;
    this.#values.set(target, values.set(key, value));
    return true;
  }

  /** Removes a value. False if there was none. */
  unset(target: MetadataTarget, key: string): boolean {
    return this.#values.get(target)?.delete(key) ?? false;
  }

  /** Removes all values of a target. Returns the keys that it had. */
  clear(target: MetadataTarget): string[] {
    const keys = [...this.valuesOf(target).keys()];
    this.#values.delete(target);
    return keys;
  }

  /** The keys that a client has subscribed to. */
  subscriptionsOf(client: Client): ReadonlySet<string> {
    return this.#subscriptions.get(client) ?? NO_KEYS;
  }

  /** Adds a subscription. False if the client has the maximum number. */
  subscribe(client: Client, key: string): boolean {
    const keys = this.#subscriptions.get(client) ?? new Set<string>();
    if (!keys.has(key) && keys.size >= METADATA_SUBSCRIPTIONS) return false;
    this.#subscriptions.set(client, keys.add(key));
    return true;
  }

  unsubscribe(client: Client, key: string): void {
    this.#subscriptions.get(client)?.delete(key);
  }

  /**
   * Counts a change against the client's limit.
   *
   * @param now Unix milliseconds
   * @returns milliseconds after which it may try again; 0 if it may now
   */
  take(client: Client, now: number): number {
    const bucket = this.#buckets.get(client) ?? new TokenBucket(CHANGE_RATE, now);
    this.#buckets.set(client, bucket);
    return bucket.tryTake(now);
  }
}
