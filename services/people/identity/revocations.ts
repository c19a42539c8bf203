import type { Log } from "../../kernel/log.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import type { Principal } from "./principal.ts";

/**
 * What ended: the API token, an account, its password with everything opened by it, one token, or
 * one session of the web pages; or everything, because this node does not know what others end.
 */
export type Ending =
  | { readonly kind: "everything" }
  | { readonly kind: "operator" }
  | { readonly kind: "account"; readonly accountId: string }
  | { readonly kind: "password"; readonly accountId: string }
  | { readonly kind: "token"; readonly accountId: string | null; readonly tokenId: string }
  | { readonly kind: "session"; readonly accountId: string; readonly sessionId: string };

/** An ended credential. */
export interface Ended {
  /** Internal id of the account; null for the API token, and for everything. */
  readonly accountId: string | null;
  /** The token; null if it is not about a single one. */
  readonly tokenId: string | null;
  /** Whether everything ended because this node has lost touch with the others. */
  readonly isEverything: boolean;
  /**
   * Whether a principal was authenticated by it, so that what the principal opened must be closed.
   */
  covers(principal: Principal): boolean;
}

export type EndedListener = (ended: Ended) => void;

/** Announces ended credentials, so that the sessions and streams they opened end too. */
export class Revocations {
  readonly #listeners = new Set<EndedListener>();
  readonly #log: Log;
  #count = 0;

  constructor(log: Log) {
    this.#log = log;
  }

  /** The number of announcements since the start. */
  get count(): number {
    return this.#count;
  }

  /** @returns a function that ends the subscription */
  subscribe(listener: EndedListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  announce(ending: Ending): void {
    this.#count++;
    const ended: Ended = {
      accountId: "accountId" in ending ? ending.accountId : null,
      tokenId: ending.kind === "token" ? ending.tokenId : null,
      isEverything: ending.kind === "everything",
      covers: (principal) => covers(ending, principal),
    };
    for (const listener of [...this.#listeners]) {
      try {
        listener(ended);
      } catch (error) {
        this.#log.error("A listener for ended credentials failed", { error });
      }
    }
  }
}

function covers(ending: Ending, principal: Principal): boolean {
  switch (ending.kind) {
    case "everything":
      return true;
    case "operator":
      return principal.kind === "operator";
    case "account":
      return principal.id === ending.accountId;
    case "password":
      return principal.id === ending.accountId && principal.tokenId === null;
    case "token":
      return principal.tokenId === ending.tokenId;
    case "session":
      return principal.sessionId === ending.sessionId;
  }
}

/** Longest delay of one timer, in milliseconds; a longer one would overflow and run at once. */
const MAX_WAIT = 24 * 60 * 60_000;

interface ExpiriesOptions {
  readonly scheduler: Scheduler;
  readonly revocations: Revocations;
}

/**
 * Announces expired credentials, so that what they opened is closed at once, not at its next
 * request. One timer serves all of them.
 */
export class Expiries {
  readonly #scheduler: Scheduler;
  readonly #revocations: Revocations;
  readonly #waiting = new Map<string, { readonly time: number; readonly ending: Ending }>();
  #wakesAt = Infinity;
  #cancel: () => void = () => {};

  constructor(options: ExpiriesOptions) {
    this.#scheduler = options.scheduler;
    this.#revocations = options.revocations;
  }

  /**
   * Sets or changes when a credential expires.
   *
   * @param id the credential's own
   * @param time Unix milliseconds
   */
  set(id: string, time: number, ending: Ending): void {
    if (this.#waiting.get(id)?.time === time) return;
    this.#waiting.set(id, { time, ending });
    if (time < this.#wakesAt) this.#schedule(time);
  }

  /** Forgets a credential that has ended in another way. */
  delete(id: string): void {
    this.#waiting.delete(id);
  }

  /** Stops announcing. */
  close(): void {
    this.#waiting.clear();
    this.#cancel();
  }

  #schedule(time: number): void {
    this.#cancel();
    this.#wakesAt = time;
    const wait = Math.min(Math.max(0, time - this.#scheduler.now()), MAX_WAIT);
    this.#cancel = this.#scheduler.after(wait, () => this.#wake());
  }

  #wake(): void {
    this.#wakesAt = Infinity;
    const now = this.#scheduler.now();
    let earliest = Infinity;
    for (const [id, { time, ending }] of this.#waiting) {
      if (time > now) {
        earliest = Math.min(earliest, time);
      } else {
        this.#waiting.delete(id);
        this.#revocations.announce(ending);
      }
    }
    if (earliest < this.#wakesAt) this.#schedule(earliest);
  }
}
