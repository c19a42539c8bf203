/** Decides which connections are accepted, before they send anything. */

import { BoundedMap } from "../../../kernel/bounded_map.ts";
import { TokenBucket } from "../../../kernel/token_bucket.ts";
import { banText } from "./bans.ts";
import { addressNetwork, isLoopback } from "../protocol/addresses.ts";
import type { ServerState } from "../state.ts";

/** Most networks whose rate is remembered; the one that connected longest ago is dropped first. */
const REMEMBERED = 10_000;

/** Why a connection is refused: there are too many, or the address is banned. */
export type RefusalKind = "connections" | "address" | "rate" | "ban";

export interface Refusal {
  readonly kind: RefusalKind;
  /** The text for the client. */
  readonly reason: string;
}

/** A new connection, and how many there are already. */
interface Newcomer {
  readonly network: string;
  /** Connections of the network, this one included. */
  readonly count: number;
  readonly open: number;
  readonly makeRoom: (network: string | null) => boolean;
}

const REASONS: Readonly<Record<Exclude<RefusalKind, "ban">, string>> = {
  connections: "Too many connections",
  address: "Too many connections from your address",
  rate: "Your address connects too often, try again in a minute",
};

/**
 * Counts connections by address and enforces the limits. At a limit, the oldest unregistered
 * connection is closed to make room for the new one, which may be about to log in. If all
 * connections are registered, the new one is refused.
 */
export class Admission {
  /** The number of refused connections, by reason. */
  readonly refused: Record<RefusalKind, number> = { connections: 0, address: 0, rate: 0, ban: 0 };

  readonly #state: ServerState;
  readonly #perNetwork = new Map<string, number>();
  /** By address, or IPv6 /64. */
  readonly #connects = new BoundedMap<string, TokenBucket>(REMEMBERED);

  constructor(state: ServerState) {
    this.#state = state;
  }

  /**
   * Counts a connection. Call {@linkcode leave} when it ends, even if it was refused.
   *
   * @param open the number of open connections that are not about to close
   * @param makeRoom closes the oldest unregistered connection, of the network or of all; returns false
   *   if there is none
   */
  enter(
    address: string,
    open: number,
    makeRoom: (network: string | null) => boolean,
  ): Refusal | null {
    const network = addressNetwork(address);
    const count = (this.#perNetwork.get(network) ?? 0) + 1;
    this.#perNetwork.set(network, count);
    const refusal = this.#refusalOf(address, { network, count, open, makeRoom });
    if (refusal !== null) this.refused[refusal.kind]++;
    return refusal;
  }

  /** Counts the end of a connection. */
  leave(address: string): void {
    const network = addressNetwork(address);
    const count = (this.#perNetwork.get(network) ?? 1) - 1;
    if (count === 0) this.#perNetwork.delete(network);
    else this.#perNetwork.set(network, count);
  }

  #refusalOf(
    address: string,
    { network, count, open, makeRoom }: Newcomer,
  ): Refusal | null {
    const { limits, options } = this.#state;
    const isFull = open >= (limits.connections ?? Infinity);
    if (!isLoopback(address)) {
      const ban = options.bans?.findByAddress(address) ?? null;
      if (ban !== null) return { kind: "ban", reason: banText(ban) };
      if (!this.#mayConnect(network)) return refusal("rate");
      const most = limits.connectionsPerAddress ?? Infinity;
      if (count > most) return makeRoom(network) ? null : refusal("address");
    }
    return !isFull || makeRoom(null) ? null : refusal("connections");
  }

  /** Counts a connection against the rate of its network: that of a minute may be used at once. */
  #mayConnect(network: string): boolean {
    const perMinute = this.#state.limits.connectsPerMinute;
    if (perMinute === null) return true;
    const now = this.#state.now();
    const rate = { perSecond: perMinute / 60, burst: perMinute };
    const bucket = this.#connects.use(network, () => new TokenBucket(rate, now));
    bucket.follow(rate, now);
    return bucket.tryTake(now) === 0;
  }
}

function refusal(kind: keyof typeof REASONS): Refusal {
  return { kind, reason: REASONS[kind] };
}
