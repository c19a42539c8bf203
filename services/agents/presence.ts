import type { Database } from "../database/mod.ts";
import { DeferredTimes } from "../identity/mod.ts";
import type { Log } from "../log.ts";
import type { Roster } from "./roster.ts";

/** How long an agent counts as present after a call over HTTP or MCP, in milliseconds. */
export const PRESENCE = 2 * 60_000;

export interface PresenceOptions {
  readonly database: Pick<Database, "commit">;
  readonly roster: Pick<Roster, "seen">;
  /** Unix milliseconds. */
  readonly clock: () => number;
  readonly log: Log;
}

/** When agents were last seen, by their internal ids. */
export class Presence {
  readonly #database: Pick<Database, "commit">;
  readonly #roster: Pick<Roster, "seen">;
  readonly #clock: () => number;
  readonly #lastSeen: DeferredTimes;
  readonly #lastCall = new Map<string, number>();

  constructor(options: PresenceOptions) {
    this.#database = options.database;
    this.#roster = options.roster;
    this.#clock = options.clock;
    this.#lastSeen = new DeferredTimes({ write: (times) => this.#write(times), log: options.log });
  }

  /** Records a call over HTTP or MCP, which makes the agent present for a while. */
  called(id: string): void {
    this.#lastCall.set(id, this.#clock());
    this.seen(id);
  }

  /** Records that the agent was seen, for example when its IRC session begins or ends. */
  seen(id: string): void {
    this.#lastSeen.set(id, this.#clock());
  }

  isPresent(id: string): boolean {
    const time = this.#lastCall.get(id);
    return time !== undefined && this.#clock() - time < PRESENCE;
  }

  /** @param written the time in the database */
  lastSeen(id: string, written: number | null): number | null {
    return this.#lastSeen.latest(id, written);
  }

  /** Forgets an agent that can no longer call. */
  forget(id: string): void {
    this.#lastCall.delete(id);
  }

  /** Writes what is not written yet. */
  async close(): Promise<void> {
    await this.#lastSeen.flush();
  }

  #write(times: ReadonlyMap<string, number>): Promise<unknown> {
    return this.#database.commit({
      statements: Array.from(times, ([id, time]) => this.#roster.seen(id, time)),
    });
  }
}
