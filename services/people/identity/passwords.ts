import { Unavailable } from "../../kernel/errors.ts";
import {
  processorTime,
  startThread,
  WorkerPool,
  type WorkerPort,
} from "../../kernel/worker_pool.ts";

/** Passwords hashed at a time; each takes a core and 19 MiB for about 0.1 s. */
const WORKERS = 2;

/** Passwords that may wait for a worker; one more is refused, or replaces one. */
const MAX_WAITING = 64;

/** How long a password may take a worker, in milliseconds: others' hashes may cost more than ours. */
const LIMIT_MS = 60_000;

/** Longest password, in UTF-16 units: a longer one only costs time to hash. */
export const MAX_PASSWORD_LENGTH = 1024;

/** PHC string format, as written by this file and other programs. */
const HASH = /^\$argon2id\$v=19\$m=\d+,t=\d+,p=\d+\$[A-Za-z0-9+/]{11,}\$[A-Za-z0-9+/]{22,}$/;

/** Whether the text is a password hash that {@link Passwords} can check against. */
export function isPasswordHash(text: string): boolean {
  return HASH.test(text);
}

/**
 * Hashes passwords that people chose with argon2id (RFC 9106), in workers. Passwords that differ
 * only in their Unicode composition are the same (RFC 8265, section 4.2.1).
 */
export class Passwords {
  readonly #cost: PasswordCosts["argon2"];
  readonly #pool: WorkerPool<PasswordRequest, PasswordAnswer>;
  readonly #limitMs: number;

  /**
   * @param cost what a new hash costs
   * @param options how to start a worker, and how long it may take for a password, in milliseconds
   */
  constructor(
    cost: PasswordCosts["argon2"] = PASSWORD_COSTS.argon2,
    options: { readonly startWorker?: () => WorkerPort; readonly limitMs?: number } = {},
  ) {
    const { startWorker = startPasswordWorker, limitMs = LIMIT_MS } = options;
    this.#cost = cost;
    this.#limitMs = limitMs;
    this.#pool = new WorkerPool({
      start: startWorker,
      workers: WORKERS,
      maxWaiting: MAX_WAITING,
      // A sender of many passwords makes room for others.
      displaces: true,
      computed: processorTime,
      full: tooMany,
      closed: () => new Unavailable("Passwords are no longer checked"),
      lost: cannotCheck,
      unusable: cannotCheck,
    });
  }

  /** The passwords that workers hash, and that wait for one. */
  get load(): { readonly running: number; readonly queued: number } {
    return this.#pool.load;
  }

  /**
   * Hashes a password; returns the PHC string format.
   *
   * @param from as for {@linkcode verify}
   * @throws Unavailable if too many passwords wait, or no worker answers in time
   */
  async hash(password: string, from = ""): Promise<string> {
    const normalized = password.normalize("NFC");
    const request = { kind: "hash", password: normalized, cost: this.#cost } as const;
    const answer = await this.#call(request, from);
    if (answer.kind !== "hash") throw unexpected();
    return answer.hash;
  }

  /**
   * Checks a password.
   *
   * @param hash the expected hash, or null for an unknown name: the answer is then no, and takes
   * the same time
   * @param from who sent it, such as a network: a sender of many passwords makes room for others
   * @throws Unavailable if too many passwords wait, or no worker answers in time
   */
  async verify(password: string, hash: string | null, from = ""): Promise<boolean> {
    if (password === "" || password.length > MAX_PASSWORD_LENGTH) return false;
    if (hash === null || !isPasswordHash(hash)) {
      await this.hash(password, from);
      return false;
    }
    const normalized = password.normalize("NFC");
    const request = { kind: "verify", password: normalized, hash } as const;
    const answer = await this.#call(request, from);
    if (answer.kind !== "verify") throw unexpected();
    return answer.matches;
  }

  #call(request: PasswordRequest, from: string): Promise<PasswordAnswer> {
    return this.#pool.call(request, { key: from, limitMs: this.#limitMs });
  }

  /** Ends the workers. Rejects every check that still waits. */
  close(): void {
    this.#pool.close();
  }
}

/** @throws Unavailable if no thread can start */
function startPasswordWorker(): Worker {
  const url = new URL("./password_worker.ts", import.meta.url);
  return startThread(() => new Worker(url, { type: "module", name: "password hashing" }));
}

function unexpected(): TypeError {
  return new TypeError("The worker of passwords answered another question");
}

function tooMany(): Unavailable {
  return new Unavailable("Too many passwords are being checked at the moment");
}

function cannotCheck(): Unavailable {
  return new Unavailable("Passwords cannot be checked at the moment");
}

/** How much work it is to check a guess at a password that a person chose. */
export interface PasswordCosts {
  /** Memory in KiB, passes and lanes of argon2id (RFC 9106). */
  readonly argon2: {
    readonly memorySize: number;
    readonly iterations: number;
    readonly parallelism: number;
  };
  /** Rounds of PBKDF2 for SCRAM-SHA-256. */
  readonly scramRounds: number;
}

/**
 * The second choice of RFC 9106, as scaled down by OWASP, and as many rounds of PBKDF2 as make a
 * guess cost the same (OWASP).
 */
export const PASSWORD_COSTS: PasswordCosts = {
  argon2: { memorySize: 19_456, iterations: 2, parallelism: 1 },
  scramRounds: 600_000,
};

/** A request to a password worker: to hash a password, or to check one. */
export type PasswordRequest =
  | { readonly kind: "hash"; readonly password: string; readonly cost: PasswordCosts["argon2"] }
  | { readonly kind: "verify"; readonly password: string; readonly hash: string };

/** The worker's answer: a hash, or the result of a check. */
export type PasswordAnswer =
  | { readonly kind: "hash"; readonly hash: string }
  | { readonly kind: "verify"; readonly matches: boolean };
