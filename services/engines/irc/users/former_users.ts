import { foldCase } from "../protocol/names.ts";
import type { Client } from "../members.ts";

/** Most users remembered; the oldest is dropped first. */
const REMEMBERED_USERS = 1000;

/** A former user of a nick. */
export interface FormerUser {
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
