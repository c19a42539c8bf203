import { Unavailable } from "../../kernel/errors.ts";
import type { Log } from "../../kernel/log.ts";
import type { MissingRight, NetworkAccounts } from "./network.ts";

export interface RightsOptions {
  readonly network: Pick<NetworkAccounts, "session" | "missingRights">;
  readonly log: Log;
}

/**
 * muster's rights on the network, checked again for each new connection of the operator, and while
 * any are missing.
 */
export class Rights {
  readonly #options: RightsOptions;
  /** The connection that had all rights for changes of accounts. */
  #session: number | null = null;
  #missing: readonly MissingRight[] = [];

  constructor(options: RightsOptions) {
    this.#options = options;
  }

  /** The names of the missing rights at the last check. */
  get missing(): readonly string[] {
    return this.#missing.map(({ name }) => name);
  }

  /**
   * Checks that changes of accounts can be completed. Costs nothing while the operator's connection
   * lasts.
   *
   * @throws Unavailable if the network cannot be reached, refuses us or withholds a right
   */
  async assert(): Promise<void> {
    const { session } = this.#options.network;
    if (session === null || session !== this.#session) await this.check();
  }

  /**
   * Checks again, because the network's configuration may have changed.
   *
   * @throws Unavailable like {@link assert}
   */
  async check(): Promise<void> {
    const { network, log } = this.#options;
    this.#session = null;
    const missing = await network.missingRights();
    const names = missing.map(({ name }) => name);
    if (names.length > 0 && names.join() !== this.missing.join()) {
      log.warn("muster lacks rights on the IRC network", { missing: names });
    }
    this.#missing = missing;
    const stopping = missing.filter(({ stops }) => stops === "accounts").map(({ name }) => name);
    if (stopping.length > 0) {
      throw new Unavailable(
        `muster lacks rights on the IRC network: ${stopping.join(", ")} (see docs/networks.md)`,
      );
    }
    this.#session = network.session;
  }
}
