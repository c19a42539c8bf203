import type { Client } from "../client.ts";
import { foldCase } from "../protocol/names.ts";

/** Users that are remembered; the oldest goes first. */
const REMEMBERED_USERS = 1000;

/** Somebody who had a nick. */
export interface FormerUser {
  readonly nick: string;
  readonly user: string;
  readonly host: string;
  readonly address: string;
  readonly realname: string;
  /** Unix time in milliseconds at which it had the nick for the last time. */
  readonly leftAt: number;
}

/** Those who went, or took another nick, for WHOWAS. */
export class FormerUsers {
  readonly #users: FormerUser[] = [];

  add({ nick, user, host, realname, transport }: Client, leftAt: number): void {
    this.#users.push({ nick, user, host, realname, address: transport.address, leftAt });
    if (this.#users.length > REMEMBERED_USERS) this.#users.shift();
  }

  /** Those who had the nick, the last one first; at most so many. */
  find(nick: string, count: number): FormerUser[] {
    const folded = foldCase(nick);
    return this.#users.filter((user) => foldCase(user.nick) === folded).reverse().slice(0, count);
  }
}
