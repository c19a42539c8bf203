import { Unavailable } from "../errors.ts";
import { startThread } from "../threads.ts";
import { PASSWORD_COSTS, type PasswordCosts } from "./password_costs.ts";
import type { PasswordRequest, PasswordResponse } from "./password_protocol.ts";

/** Passwords hashed at a time; each takes a core and 19 MiB for about 0.1 s. */
const WORKERS = 2;

/** Passwords that may wait for a worker; one more is refused, or replaces one. */
const MAX_WAITING = 64;

/** Longest password, in UTF-16 units: a longer one only costs time to hash. */
export const MAX_PASSWORD_LENGTH = 1024;

/** PHC string format, as written by this file and other programs. */
const HASH = /^\$argon2id\$v=19\$m=\d+,t=\d+,p=\d+\$[A-Za-z0-9+/]{11,}\$[A-Za-z0-9+/]{22,}$/;

interface Job {
  /** Who sent the password; see {@linkcode Passwords.verify}. */
  readonly from: string;
  readonly request: PasswordRequest;
  resolve(response: PasswordResponse): void;
  reject(error: unknown): void;
}

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
  readonly #idle: Worker[] = [];
  readonly #running = new Map<Worker, Job>();
  readonly #waiting: Job[] = [];
  #closed = false;

  /** @param cost what a new hash costs. */
  constructor(cost: PasswordCosts["argon2"] = PASSWORD_COSTS.argon2) {
    this.#cost = cost;
  }

  /** The passwords that workers hash, and that wait for one. */
  get load(): { readonly running: number; readonly queued: number } {
    return { running: this.#running.size, queued: this.#waiting.length };
  }

  /**
   * Hashes a password; returns the PHC string format.
   *
   * @param from as for {@linkcode verify}
   * @throws Unavailable if too many passwords wait
   */
  async hash(password: string, from = ""): Promise<string> {
    const normalized = password.normalize("NFC");
    const request = { kind: "hash", password: normalized, cost: this.#cost } as const;
    const response = await this.#submit(request, from);
    if (response.kind !== "hash") throw unexpected(response);
    return response.hash;
  }

  /**
   * Checks a password.
   *
   * @param hash the expected hash, or null for an unknown name: the answer is then no, and takes
   * the same time
   * @param from who sent it, such as a network: a sender of many passwords makes room for others
   * @throws Unavailable if too many passwords wait
   */
  async verify(password: string, hash: string | null, from = ""): Promise<boolean> {
    if (password === "" || password.length > MAX_PASSWORD_LENGTH) return false;
    if (hash === null || !isPasswordHash(hash)) {
      await this.hash(password, from);
      return false;
    }
    const normalized = password.normalize("NFC");
    const response = await this.#submit({ kind: "verify", password: normalized, hash }, from);
    if (response.kind !== "verify") throw unexpected(response);
    return response.matches;
  }

  /** Ends the workers. Rejects every check that still waits. */
  close(): void {
    this.#closed = true;
    const error = new Unavailable("Passwords are no longer checked");
    for (const job of [...this.#running.values(), ...this.#waiting]) job.reject(error);
    for (const worker of [...this.#running.keys(), ...this.#idle]) worker.terminate();
    this.#running.clear();
    this.#waiting.length = 0;
    this.#idle.length = 0;
  }

  #submit(request: PasswordRequest, from: string): Promise<PasswordResponse> {
    if (this.#closed || !this.#makeRoom(from)) return Promise.reject(tooMany());
    return new Promise((resolve, reject) => {
      this.#waiting.push({ from, request, resolve, reject });
      this.#advance();
    });
  }

  /** Refuses a waiting password of the sender that has most of them, if the queue is full. */
  #makeRoom(from: string): boolean {
    if (this.#waiting.length < MAX_WAITING) return true;
    const groups = Map.groupBy(this.#waiting, (job) => job.from);
    let most: readonly Job[] = [];
    for (const jobs of groups.values()) if (jobs.length > most.length) most = jobs;
    const last = most.at(-1);
    if (last === undefined || most.length <= (groups.get(from)?.length ?? 0) + 1) return false;
    this.#waiting.splice(this.#waiting.indexOf(last), 1);
    last.reject(tooMany());
    return true;
  }

  #advance(): void {
    if (this.#running.size >= WORKERS) return;
    const job = this.#waiting.shift();
    if (job === undefined) return;
    let worker: Worker;
    try {
      worker = this.#idle.pop() ?? this.#startWorker();
    } catch (error) {
      // A running worker takes it next.
      if (this.#running.size > 0) return void this.#waiting.unshift(job);
      job.reject(error);
      return this.#advance();
    }
    this.#running.set(worker, job);
    worker.postMessage(job.request);
  }

  /** @throws Unavailable if no thread can start */
  #startWorker(): Worker {
    const url = new URL("./password_worker.ts", import.meta.url);
    const worker = startThread(() => new Worker(url, { type: "module", name: "password hashing" }));
    worker.onmessage = ({ data }: MessageEvent<PasswordResponse>) => {
      const job = this.#running.get(worker);
      this.#running.delete(worker);
      this.#idle.push(worker);
      job?.resolve(data);
      this.#advance();
    };
    worker.onerror = (event) => {
      event.preventDefault();
      const job = this.#running.get(worker);
      this.#running.delete(worker);
      worker.terminate();
      job?.reject(new Unavailable("Passwords cannot be checked at the moment"));
      this.#advance();
    };
    return worker;
  }
}

function unexpected(response: PasswordResponse): Error {
  const reason = response.kind === "failed" ? response.message : "an answer to another question";
  return new Error(`Cannot hash the password: ${reason}`);
}

function tooMany(): Unavailable {
  return new Unavailable("Too many passwords are being checked at the moment");
}
