import { foldCase } from "../protocol/names.ts";
import type { Client } from "../members.ts";

/** Nicks that one client may watch; announced as `MONITOR`. */
export const MONITORED_NICKS = 100;

/** Who watches which nicks, used or not (IRCv3 monitor). */
export class Monitors {
  /** Watchers by folded nick. */
  readonly #watchers = new Map<string, Set<Client>>();
  /** What each client watches: the nicks as it wrote them, by folded nick. */
  readonly #nicks = new Map<Client, Map<string, string>>();

  /** Adds a nick. False if the client watches the maximum number. */
  add(client: Client, nick: string): boolean {
    const folded = foldCase(nick);
    const nicks = this.#nicks.get(client) ?? new Map<string, string>();
    if (nicks.has(folded)) return true;
    if (nicks.size >= MONITORED_NICKS) return false;
    nicks.set(folded, nick);
    this.#nicks.set(client, nicks);
    const watchers = this.#watchers.get(folded) ?? new Set();
    this.#watchers.set(folded, watchers.add(client));
    return true;
  }

  remove(client: Client, nick: string): void {
    const folded = foldCase(nick);
    const nicks = this.#nicks.get(client);
    const watchers = this.#watchers.get(folded);
    nicks?.delete(folded);
    watchers?.delete(client);
    if (nicks?.size === 0) this.#nicks.delete(client);
    if (watchers?.size === 0) this.#watchers.delete(folded);
  }

  clear(client: Client): void {
    for (const nick of this.nicksOf(client)) this.remove(client, nick);
  }

  nicksOf(client: Client): string[] {
    return [...this.#nicks.get(client)?.values() ?? []];
  }

  watchersOf(nick: string): ReadonlySet<Client> {
    return this.#watchers.get(foldCase(nick)) ?? NOBODY;
  }
}

const NOBODY: ReadonlySet<Client> = new Set();
