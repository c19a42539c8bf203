import type { AccountChange } from "../agents/mod.ts";
import type { Database, Statement } from "../database/mod.ts";
import type { AccountSync } from "./account_sync.ts";
import type { Ledger, LedgerEntry } from "./ledger.ts";
import type { NameLocks } from "./name_locks.ts";

export interface NetworkChangeOptions {
  readonly database: Pick<Database, "commit">;
  readonly ledger: Ledger;
  readonly locks: NameLocks;
  readonly sync: Pick<AccountSync, "wake">;
  /** Unix milliseconds. */
  readonly clock: () => number;
}

/**
 * A change of one account on a network, from its turn to its end. While it lasts, no other change of
 * the account begins.
 *
 * The ledger notes a change before the network is asked for it. To undo it, {@link AccountSync}
 * brings the network back to what the database says.
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
   * Waits until earlier changes of the account are over.
   *
   * @throws Unavailable if too many changes wait
   */
  static async begin(name: string, options: NetworkChangeOptions): Promise<NetworkChange> {
    return new NetworkChange(name, await options.locks.acquire(name), options);
  }

  /** Notes that the account may change on the network; before the network is asked. */
  async note(entry: LedgerEntry): Promise<void> {
    const { database, ledger, clock } = this.#options;
    const unsettled = { ...entry, unsettledSince: clock() };
    await database.commit({ statements: [ledger.saving(unsettled)] });
    this.#isNoted = true;
  }

  /** Has the transaction save an entry, settled except for its status in channels and its mark. */
  save(entry: LedgerEntry, passphrase = ""): void {
    const { ledger, clock } = this.#options;
    this.#isOpen = entry.channels.length > 0 || !entry.marked;
    const unsettledSince = this.#isOpen ? clock() : null;
    this.name = entry.name;
    this.passphrase = passphrase;
    this.statements = [ledger.saving({ ...entry, nextSalt: null, unsettledSince })];
  }

  /** Has the transaction strike an entry out. */
  strike(entry: LedgerEntry): void {
    this.statements = [this.#options.ledger.striking(entry)];
  }

  settle(): void {
    this.#end(this.#isOpen);
  }

  [Symbol.dispose](): void {
    this.#end(this.#isNoted);
  }

  /** @param wakes whether the account is to be compared with the network */
  #end(wakes: boolean): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (wakes) this.#options.sync.wake();
    this.#lock[Symbol.dispose]();
  }
}
