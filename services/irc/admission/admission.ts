/** Decides which connections are accepted, before they send anything. */

import { banText } from "./bans.ts";
import { addressNetwork, isLoopback } from "./cloak.ts";
import { ConnectRate } from "./connect_rate.ts";
import type { ServerState } from "../state.ts";

/** Why a connection is refused: there are too many, or the address is banned. */
export type RefusalKind = "connections" | "address" | "rate" | "ban";

export interface Refusal {
  readonly kind: RefusalKind;
  /** The text for the client. */
  readonly reason: string;
}

/** A new connection, and how many there are already. */
interface Arrival {
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
  readonly #connects = new ConnectRate();

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
    { network, count, open, makeRoom }: Arrival,
  ): Refusal | null {
    const { limits, options } = this.#state;
    const isFull = open >= (limits.connections ?? Infinity);
    if (!isLoopback(address)) {
      const ban = options.bans?.findByAddress(address) ?? null;
      if (ban !== null) return { kind: "ban", reason: banText(ban) };
      const inTime = this.#connects.take(network, limits.connectsPerMinute, this.#state.now());
      if (!inTime) return refusal("rate");
      const most = limits.connectionsPerAddress ?? Infinity;
      if (count > most) return makeRoom(network) ? null : refusal("address");
    }
    return !isFull || makeRoom(null) ? null : refusal("connections");
  }
}

function refusal(kind: keyof typeof REASONS): Refusal {
  return { kind, reason: REASONS[kind] };
}
