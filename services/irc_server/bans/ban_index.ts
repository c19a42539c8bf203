import { parseBanMask } from "./mask.ts";
import { type Network, parseNetwork, widen } from "../../identity/mod.ts";

/** A stored ban. */
export interface StoredBan {
  readonly id: string;
  /** In its canonical form. */
  readonly mask: string;
  /** The banned account; null for a ban on a mask or a network. */
  readonly accountId: string | null;
  readonly reason: string;
  readonly setBy: string;
  /** Times are Unix milliseconds. */
  readonly createdAt: number;
  readonly expiresAt: number | null;
}

/**
 * Finds the ban that matches a client. Accounts and networks are looked up in constant time; masks
 * are searched one by one.
 */
export class BanIndex {
  readonly #byAccount = new Map<string, StoredBan>();
  /** By the length of their prefix, then by the network. */
  readonly #byNetwork = new Map<string, { sample: Network; bans: Map<bigint, StoredBan> }>();
  readonly #masks: { readonly ban: StoredBan; readonly matches: (text: string) => boolean }[] = [];

  constructor(bans: readonly StoredBan[]) {
    for (const ban of bans) this.#add(ban);
  }

  /** @param now Unix milliseconds, here and below */
  findByAccount(accountId: string | null, now: number): StoredBan | null {
    return accountId === null ? null : holding(this.#byAccount.get(accountId), now);
  }

  findByAddress(address: string, now: number): StoredBan | null {
    if (this.#byNetwork.size === 0) return null;
    const network = parseNetwork(address);
    if (network === null) return null;
    for (const { sample, bans } of this.#byNetwork.values()) {
      if (sample.bits !== network.bits) continue;
      const found = holding(bans.get(widen(network, sample.prefix).value), now);
      if (found !== null) return found;
    }
    return null;
  }

  findByMask(texts: readonly string[], now: number): StoredBan | null {
    for (const { ban, matches } of this.#masks) {
      if (holding(ban, now) !== null && texts.some(matches)) return ban;
    }
    return null;
  }

  #add(ban: StoredBan): void {
    if (ban.accountId !== null) {
      this.#byAccount.set(ban.accountId, ban);
      return;
    }
    const mask = parseBanMask(ban.mask);
    if (mask.kind === "mask") this.#masks.push({ ban, matches: mask.matches });
    if (mask.kind !== "network") return;
    const { network } = mask;
    const key = `${network.bits}/${network.prefix}`;
    const group = this.#byNetwork.get(key) ?? { sample: network, bans: new Map() };
    group.bans.set(network.value, ban);
    this.#byNetwork.set(key, group);
  }
}

function holding(ban: StoredBan | undefined, now: number): StoredBan | null {
  return ban === undefined || (ban.expiresAt !== null && ban.expiresAt <= now) ? null : ban;
}
