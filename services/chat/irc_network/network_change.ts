import type { AccountChange } from "../../people/agents/mod.ts";
import type { Database, Statement } from "../../engines/database/mod.ts";
import type { AccountSync } from "./account_sync.ts";
import type { Ledger, LedgerEntry } from "./ledger.ts";
import type { NameLocks } from "./name_leases.ts";

export interface NetworkChangeOptions {
  readonly database: Pick<Database, "commit">;
  readonly ledger: Ledger;
  readonly locks: NameLocks;
  readonly sync: Pick<AccountSync, "wake">;
  /** Unix milliseconds. */
  readonly clock: () => number;
}

/**
 * A change of one account on a network. No other change of the account starts before it ends.
 *
 * The ledger records a change before it is requested from the network. To undo it, {@link
 * AccountSync} makes the network agree with the database again.
 */
export class NetworkChange implements AccountChange {
  name: string;
  passphrase = "";
  statements: readonly Statement[] = [];
  readonly #options: NetworkChangeOptions;
  readonly #lock: Disposable;
  /** Whether the network may have changed. */
  #isNoted = false;
  /** Whether there is more to do on the network once the change is in the database. */
  #isOpen = false;
  #isOver = false;

  private constructor(name: string, lock: Disposable, options: NetworkChangeOptions) {
    this.name = name;
    this.#lock = lock;
    this.#options = options;
  }

  /**
   * Waits for earlier changes of the account.
   *
   * @throws Unavailable if too many changes wait
   */
  static async begin(name: string, options: NetworkChangeOptions): Promise<NetworkChange> {
    return new NetworkChange(name, await options.locks.acquire(name), options);
  }

  /** Records that the account may change on the network. Call this before the request. */
  async note(entry: LedgerEntry): Promise<void> {
    const { database, ledger, clock } = this.#options;
    const unsettled = { ...entry, unsettledSince: clock() };
    await database.commit({ statements: [ledger.saving(unsettled)] });
    this.#isNoted = true;
  }

  /** Adds an entry to the transaction, settled except for its channel statuses and its mark. */
  save(entry: LedgerEntry, passphrase = ""): void {
    const { ledger, clock } = this.#options;
    this.#isOpen = entry.channels.length > 0 || !entry.marked;
    const unsettledSince = this.#isOpen ? clock() : null;
    this.name = entry.name;
    this.passphrase = passphrase;
    this.statements = [ledger.saving({ ...entry, nextSalt: null, unsettledSince })];
  }

  /** Adds the removal of an entry to the transaction. */
  strike(entry: LedgerEntry): void {
    this.statements = [this.#options.ledger.striking(entry)];
  }

  settle(): void {
    this.#end(this.#isOpen);
  }

  [Symbol.dispose](): void {
    this.#end(this.#isNoted);
  }

  /** @param wakes whether to compare the account with the network */
  #end(wakes: boolean): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (wakes) this.#options.sync.wake();
    this.#lock[Symbol.dispose]();
  }
}
