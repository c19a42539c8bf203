import { Unavailable } from "../errors.ts";
import type { Log } from "../log.ts";
import type { MissingRight, NetworkAccounts } from "./network.ts";

export interface RightsOptions {
  readonly network: Pick<NetworkAccounts, "session" | "missingRights">;
  readonly log: Log;
}

/**
 * What muster may do on the network. The network is asked again whenever the operator's connection
 * is a new one, and as long as rights are missing.
 */
export class Rights {
  readonly #options: RightsOptions;
  /** The connection on which nothing was missing that changes of accounts need. */
  #session: number | null = null;
  #missing: readonly MissingRight[] = [];

  constructor(options: RightsOptions) {
    this.#options = options;
  }

  /** The names of the rights that are missing, as they were last seen. */
  get missing(): readonly string[] {
    return this.#missing.map(({ name }) => name);
  }

  /**
   * Makes sure that changes of accounts can be completed. Costs nothing while the operator's
   * connection lasts.
   *
   * @throws Unavailable where the network cannot be reached, refuses us or withholds a right
   */
  async assert(): Promise<void> {
    const { session } = this.#options.network;
    if (session === null || session !== this.#session) await this.check();
  }

  /**
   * Asks the network again, as its configuration may have changed.
   *
   * @throws Unavailable as {@link assert}
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
