import { z } from "zod";
import { foldCase } from "../../irc/mod.ts";

/** Most nicks that somebody asked to watch. */
const MAX_WATCHED = 200;

/** Where a nick is. */
export type Presence = "here" | "away" | "gone";

/** A change of a watched nick that somebody wants to know. */
export interface PresenceChange {
  readonly nick: string;
  readonly kind: "gone" | "away" | "back";
}

export const watchedSchema = z.object({
  /** The nicks that WATCH added. */
  nicks: z.array(z.string()).max(MAX_WATCHED),
  /** Where each nick was last seen, by its folded form; unknown nicks were never seen. */
  last: z.record(z.string(), z.enum(["here", "away", "gone"])),
});
export type WatchedState = z.infer<typeof watchedSchema>;

/**
 * The watched nicks: those of the settings and those that somebody added. One that was never seen
 * causes no alarm.
 */
export class Watched {
  /** By folded nick. */
  readonly #added = new Map<string, string>();
  readonly #last = new Map<string, Presence>();
  #revision = 0;

  constructor(state: WatchedState | null) {
    for (const nick of state?.nicks ?? []) this.#added.set(foldCase(nick), nick);
    for (const [nick, presence] of Object.entries(state?.last ?? {})) {
      this.#last.set(nick, presence);
    }
  }

  /** For the next start. */
  get state(): WatchedState {
    return { nicks: [...this.#added.values()], last: Object.fromEntries(this.#last) };
  }

  /** Grows with each change of the state. */
  get revision(): number {
    return this.#revision;
  }

  /** Adds a nick. Returns false if it is watched already; null if there are too many. */
  add(nick: string): boolean | null {
    if (this.#added.has(foldCase(nick))) return false;
    if (this.#added.size >= MAX_WATCHED) return null;
    this.#added.set(foldCase(nick), nick);
    return true;
  }

  /** Removes an added nick. Returns whether it was one. */
  remove(nick: string): boolean {
    this.#last.delete(foldCase(nick));
    return this.#added.delete(foldCase(nick));
  }

  /** All watched nicks, with those of the settings, sorted. */
  nicks(configured: readonly string[]): string[] {
    const all = new Map([
      ...configured.map((nick) => [foldCase(nick), nick] as const),
      ...this.#added,
    ]);
    return [...all.entries()].sort(([one], [other]) => one < other ? -1 : 1)
      .slice(0, MAX_WATCHED).map(([, nick]) => nick);
  }

  /** Where a nick was last seen; null if it was never seen. */
  lastOf(nick: string): Presence | null {
    return this.#last.get(foldCase(nick)) ?? null;
  }

  /**
   * Compares where the nicks are with where they were.
   *
   * @param isSettling whether the program has just started: a missing nick may be on its way back
   */
  compare(
    nicks: readonly string[],
    presenceOf: (nick: string) => Presence,
    isSettling: boolean,
  ): PresenceChange[] {
    const changes: PresenceChange[] = [];
    for (const nick of nicks) {
      const before = this.#last.get(foldCase(nick));
      const now = presenceOf(nick);
      if (now === before || (now === "gone" && (before === undefined || isSettling))) continue;
      this.#last.set(foldCase(nick), now);
      this.#revision++;
      if (now === "gone" || now === "away") changes.push({ nick, kind: now });
      else if (before !== undefined) changes.push({ nick, kind: "back" });
    }
    this.#forgetAllBut(nicks);
    return changes;
  }

  #forgetAllBut(nicks: readonly string[]): void {
    const kept = new Set(nicks.map(foldCase));
    for (const nick of this.#last.keys()) {
      if (!kept.has(nick)) this.#last.delete(nick);
    }
  }
}
