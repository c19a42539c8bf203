import type { Log } from "../log.ts";
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
