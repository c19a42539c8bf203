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

/** Most users remembered; the oldest is dropped first. */
const REMEMBERED_USERS = 1000;

/** A former user of a nick. */
interface FormerUser {
  readonly nick: string;
  readonly user: string;
  readonly host: string;
  readonly address: string;
  readonly realname: string;
  /** Unix time in milliseconds when it gave up the nick. */
  readonly leftAt: number;
}

/** Users who left or changed their nick, for WHOWAS. */
export class FormerUsers {
  readonly #users: FormerUser[] = [];

  add({ nick, user, host, realname, transport }: Client, leftAt: number): void {
    this.#users.push({ nick, user, host, realname, address: transport.address, leftAt });
    if (this.#users.length > REMEMBERED_USERS) this.#users.shift();
  }

  /** Former users of the nick, the last one first, up to a limit. */
  find(nick: string, count: number): FormerUser[] {
    const folded = foldCase(nick);
    return this.#users.filter((user) => foldCase(user.nick) === folded).reverse().slice(0, count);
  }
}
