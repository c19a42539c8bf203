import type { Selectable } from "kysely";
import {
  type Database,
  type Directory,
  type Statement,
  statement,
  type Tables,
  Unchanged,
} from "../../../engines/database/mod.ts";
import { Conflict, Invalid, NotFound, ServiceError } from "../../../kernel/errors.ts";
import { newEvent, type Origin } from "../../../engines/events/mod.ts";
import { type AccountDirectory, type Caller, originOf } from "../../../people/identity/mod.ts";
import { formatNetwork, type Network, parseNetwork, widen } from "../../../kernel/ip_network.ts";
import {
  type Ban,
  type Bans,
  type BanSubject,
  type BanWish,
  compileMask,
  completeMask,
  foldCase,
  isLoopback,
  type ObservedActor,
} from "../../../engines/irc/mod.ts";
import { newUlid } from "../../../kernel/ulid.ts";
import { ircOriginOf } from "../moderation.ts";
import type { BanRecord, BanRequest } from "./schemas.ts";

/** Most bans. */
const MAX_BANS = 1000;

export interface IrcBansOptions {
  readonly database: Database;
  readonly accounts: AccountDirectory;
  /** Unix milliseconds. */
  readonly clock: () => number;
}

/**
 * The bans from the IRC server. An acknowledged ban is on disk and has ended the sessions that it
 * matches. A ban on an account refers to the account's id, so it ends with the account.
 */
export class IrcBans implements Bans, Directory {
  readonly tables = ["irc_bans"] as const;
  readonly #options: IrcBansOptions;
  /** By id; may include expired ones. */
  readonly #bans = new Map<string, StoredBan>();
  #index = new BanIndex([]);
  #enforce: (bans: Pick<Bans, "find">) => void = () => {};

  private constructor(options: IrcBansOptions) {
    this.#options = options;
  }

  /** Reads all bans from the database. */
  static async open(options: IrcBansOptions): Promise<IrcBans> {
    const bans = new IrcBans(options);
    await options.database.keepCurrent(bans);
    options.accounts.onChanged((id, account) => {
      if (account === null) bans.#drop((ban) => ban.accountId === id);
    });
    return bans;
  }

  async load(): Promise<void> {
    const rows = await this.#options.database.tables.selectFrom("irc_bans").selectAll().execute();
    this.#bans.clear();
    for (const row of rows) this.#bans.set(row.id, banOf(row));
    this.#index = new BanIndex(this.#sorted());
  }

  /** Ends the sessions on a server that a new ban matches. */
  enforceOn(server: { enforceBans(bans: Pick<Bans, "find">): number }): void {
    this.#enforce = (bans) => void server.enforceBans(bans);
  }

  /** Every ban in force, the oldest first. */
  list(): BanRecord[] {
    return this.#holding().map(describe);
  }

  /**
   * Adds a ban, or changes the ban of the same mask. Sessions that it matches end at once.
   *
   * @throws Invalid if the mask is malformed or matches far too many
   * @throws NotFound if there is no such account, Conflict if there are too many bans or the
   * account is an agent's, which the registry manages
   */
  create(request: BanRequest, caller: Caller): Promise<BanRecord> {
    return this.#create(request, originOf(caller));
  }

  /**
   * Removes a ban.
   *
   * @param ban its id, or its mask in any form
   * @throws NotFound
   */
  async delete(ban: string, caller: Caller): Promise<void> {
    const found = this.#holding().find(({ id }) => id === ban) ?? this.#findByName(ban);
    await this.#delete(found, originOf(caller));
  }

  findByAddress(address: string): Ban | null {
    return this.#toBan(this.#index.findByAddress(address, this.#options.clock()));
  }

  find(subject: BanSubject): Ban | null {
    return this.#findIn(this.#index, subject);
  }

  all(): readonly Ban[] {
    return this.#holding().map((ban) => this.#toBan(ban));
  }

  add({ mask, reason, duration, spares }: BanWish, actor: ObservedActor): Promise<string | null> {
    return refusalOf(async () => {
      const { banRequestSchema } = await import("./schemas.ts");
      const duration_seconds = duration === null ? null : Math.ceil(duration / 1000);
      const request = banRequestSchema.safeParse({ mask, reason, duration_seconds });
      if (!request.success) throw new Invalid(`"mask" ${request.error.issues[0]?.message}`);
      await this.#create(request.data, ircOriginOf(this.#options.accounts, actor), spares);
    });
  }

  remove(mask: string, actor: ObservedActor): Promise<string | null> {
    return refusalOf(async () => {
      await this.#delete(this.#findByName(mask), ircOriginOf(this.#options.accounts, actor));
    });
  }

  async #create(request: BanRequest, origin: Origin, spares?: BanSubject): Promise<BanRecord> {
    const { database, clock } = this.#options;
    const mask = parseBanMask(request.mask);
    const { text, accountId } = this.#resolve(mask);
    const now = clock();
    const ends = request.duration_seconds === null ? null : now + request.duration_seconds * 1000;
    const ban: StoredBan = {
      id: newUlid(now),
      mask: text,
      accountId,
      reason: request.reason,
      setBy: origin.actor,
      createdAt: now,
      expiresAt: ends,
    };
    const added = new BanIndex([ban]);
    if (spares !== undefined && this.#findIn(added, spares) !== null) {
      throw new Invalid("This ban would hit you");
    }
    const others = this.#holding().filter((other) => foldCase(other.mask) !== foldCase(text));
    if (others.length >= MAX_BANS) {
      throw new Conflict(`There are already ${MAX_BANS} bans, which is the limit`);
    }
    const record = describe(ban);
    const { reason, expires_at } = record;
    await database.commit({
      statements: this.#replacement(ban, now),
      events: [newEvent("irc.banned", { mask: text, reason, expires_at }, origin, now)],
    });
    this.#enforce({ find: (subject) => this.#findIn(added, subject) });
    return record;
  }

  #findIn(index: BanIndex, { masks, address, account }: BanSubject): Ban | null {
    const now = this.#options.clock();
    const accountId = account === null ? null : this.#options.accounts.find(account)?.id ?? null;
    const found = index.findByAccount(accountId, now) ??
      (isLoopback(address) ? null : index.findByAddress(address, now)) ??
      index.findByMask(masks, now);
    return this.#toBan(found);
  }

  /** The stored form of the mask; that of an account has the account's id. */
  #resolve(mask: BanMask): { text: string; accountId: string | null } {
    if (mask.kind !== "account") return { text: mask.text, accountId: null };
    const account = this.#options.accounts.find(mask.name);
    if (account === null) throw new NotFound(`There is no account "${mask.name}"`);
    if (account.kind === "agent") {
      throw new Conflict(`"${account.name}" is an agent: pause it or revoke it in the registry`);
    }
    return { text: `account:${account.name}`, accountId: account.id };
  }

  /** The ban of this mask, in any spelling. */
  #findByName(mask: string): StoredBan | undefined {
    const written = foldCase(canonicalForm(mask));
    return this.#holding().find((ban) => foldCase(ban.mask) === written);
  }

  async #delete(ban: StoredBan | undefined, origin: Origin): Promise<void> {
    const { database, clock } = this.#options;
    if (ban === undefined) throw noSuchBan();
    const query = database.tables.deleteFrom("irc_bans").where("id", "=", ban.id);
    const committed = () => this.#drop(({ id }) => id === ban.id);
    try {
      await database.commit({
        statements: [statement(query, { mustChange: true, committed })],
        events: [newEvent("irc.unbanned", { mask: ban.mask }, origin, clock())],
      });
    } catch (error) {
      throw error instanceof Unchanged ? noSuchBan() : error;
    }
  }

  #holding(): StoredBan[] {
    const now = this.#options.clock();
    return this.#sorted().filter(({ expiresAt }) => expiresAt === null || expiresAt > now);
  }

  #sorted(): StoredBan[] {
    return [...this.#bans.values()].sort((one, other) => one.id < other.id ? -1 : 1);
  }

  /** The statements that replace the ban of the same mask, and remove expired ones. */
  #replacement(ban: StoredBan, now: number): Statement[] {
    const { tables } = this.#options.database;
    const folded = foldCase(ban.mask);
    const same = tables.deleteFrom("irc_bans").where("mask_folded", "=", folded);
    const over = tables.deleteFrom("irc_bans").where("expires_at", "<=", now);
    return [
      statement(same, { committed: () => this.#drop(({ mask }) => foldCase(mask) === folded) }),
      statement(over, {
        committed: () => this.#drop(({ expiresAt }) => expiresAt !== null && expiresAt <= now),
      }),
      statement(tables.insertInto("irc_bans").values(toRow(ban)), {
        committed: () => {
          this.#bans.set(ban.id, ban);
          this.#index = new BanIndex(this.#sorted());
        },
      }),
    ];
  }

  /** Forgets bans that the database no longer has. */
  #drop(isGone: (ban: StoredBan) => boolean): void {
    const before = this.#bans.size;
    for (const ban of this.#bans.values()) {
      if (isGone(ban)) this.#bans.delete(ban.id);
    }
    if (this.#bans.size < before) this.#index = new BanIndex(this.#sorted());
  }

  #toBan(ban: StoredBan): Ban;
  #toBan(ban: StoredBan | null): Ban | null;
  #toBan(ban: StoredBan | null): Ban | null {
    if (ban === null) return null;
    const { mask, reason, setBy, createdAt: setAt, expiresAt } = ban;
    return { mask, reason, setBy, setAt, expiresAt };
  }
}

function describe({ id, mask, reason, setBy, createdAt, expiresAt }: StoredBan): BanRecord {
  return {
    id,
    mask,
    reason,
    set_by: setBy,
    created_at: new Date(createdAt).toISOString(),
    expires_at: expiresAt === null ? null : new Date(expiresAt).toISOString(),
  };
}

function banOf(row: Selectable<Tables["irc_bans"]>): StoredBan {
  return {
    id: row.id,
    mask: row.mask,
    accountId: row.account_id,
    reason: row.reason,
    setBy: row.set_by,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  };
}

function toRow({ id, mask, accountId, reason, setBy, createdAt, expiresAt }: StoredBan) {
  return {
    id,
    mask,
    reason,
    mask_folded: foldCase(mask),
    account_id: accountId,
    set_by: setBy,
    created_at: createdAt,
    expires_at: expiresAt,
  };
}

function noSuchBan(): NotFound {
  return new NotFound("There is no such ban");
}

/** Runs a request of an IRC operator; returns the error text if it is refused. */
async function refusalOf(run: () => Promise<void>): Promise<string | null> {
  try {
    await run();
    return null;
  } catch (error) {
    if (error instanceof ServiceError) return error.message;
    throw error;
  }
}

/** A stored ban. */
interface StoredBan {
  readonly id: string;
  /** In its canonical form. */
  readonly mask: string;
  /** The banned account; null for a ban on a mask or a network. */
  readonly accountId: string | null;
  readonly reason: string;
  readonly setBy: string;
  /** Times are Unix milliseconds. */
  readonly createdAt: number;
  readonly expiresAt: number | null;
}

/**
 * Finds the ban that matches a client. Accounts and networks are looked up in constant time; masks
 * are searched one by one.
 */
class BanIndex {
  readonly #byAccount = new Map<string, StoredBan>();
  /** By the length of their prefix, then by the network. */
  readonly #byNetwork = new Map<string, { sample: Network; bans: Map<bigint, StoredBan> }>();
  readonly #masks: { readonly ban: StoredBan; readonly matches: (text: string) => boolean }[] = [];

  constructor(bans: readonly StoredBan[]) {
    for (const ban of bans) this.#add(ban);
  }

  /** @param now Unix milliseconds, here and below */
  findByAccount(accountId: string | null, now: number): StoredBan | null {
    return accountId === null ? null : holding(this.#byAccount.get(accountId), now);
  }

  findByAddress(address: string, now: number): StoredBan | null {
    if (this.#byNetwork.size === 0) return null;
    const network = parseNetwork(address);
    if (network === null) return null;
    for (const { sample, bans } of this.#byNetwork.values()) {
      if (sample.bits !== network.bits) continue;
      const found = holding(bans.get(widen(network, sample.prefix).value), now);
      if (found !== null) return found;
    }
    return null;
  }

  findByMask(texts: readonly string[], now: number): StoredBan | null {
    for (const { ban, matches } of this.#masks) {
      if (holding(ban, now) !== null && texts.some(matches)) return ban;
    }
    return null;
  }

  #add(ban: StoredBan): void {
    if (ban.accountId !== null) {
      this.#byAccount.set(ban.accountId, ban);
      return;
    }
    const mask = parseBanMask(ban.mask);
    if (mask.kind === "mask") this.#masks.push({ ban, matches: mask.matches });
    if (mask.kind !== "network") return;
    const { network } = mask;
    const key = `${network.bits}/${network.prefix}`;
    const group = this.#byNetwork.get(key) ?? { sample: network, bans: new Map() };
    group.bans.set(network.value, ban);
    this.#byNetwork.set(key, group);
  }
}

function holding(ban: StoredBan | undefined, now: number): StoredBan | null {
  return ban === undefined || (ban.expiresAt !== null && ban.expiresAt <= now) ? null : ban;
}

/**
 * Characters that a mask must have beside `*`, `?`, `.`, `!` and `@`, so that it does not match
 * everybody.
 */
const LEAST_LITERALS = 3;

/** Shortest prefix of a network that can be banned. */
const LEAST_PREFIX = { 32: 8, 128: 16 } as const;

const ACCOUNT = "account:";

/** What a ban matches. `text` is the canonical form, which is unique. */
type BanMask =
  | { readonly kind: "account"; readonly text: string; readonly name: string }
  | { readonly kind: "network"; readonly text: string; readonly network: Network }
  | {
    readonly kind: "mask";
    readonly text: string;
    readonly matches: (text: string) => boolean;
  };

/**
 * Parses the mask of a ban.
 *
 * @throws Invalid if it is malformed or matches far too many
 */
function parseBanMask(text: string): BanMask {
  if (text.toLowerCase().startsWith(ACCOUNT)) {
    const name = text.slice(ACCOUNT.length);
    return { kind: "account", text: ACCOUNT + name, name };
  }
  const network = parseNetwork(text.replace(/^(?:\*!)?\*@(?=[^*?]*$)/, ""));
  if (network !== null) return networkMask(network);
  if (!/[@!]/.test(text) || /[\s,\p{Cc}]/u.test(text) || text.includes("/")) {
    throw new Invalid(
      `"mask" must be user@host, nick!user@host, an address, a network such as 192.0.2.0/24, or ` +
        "account:name",
    );
  }
  const complete = completeMask(text);
  if (complete.replaceAll(/[*?.!@]/g, "").length < LEAST_LITERALS) throw tooWide();
  return { kind: "mask", text: complete, matches: compileMask(complete) };
}

/** The stored form of this mask; a malformed mask stays unchanged. */
function canonicalForm(mask: string): string {
  try {
    return parseBanMask(mask).text;
  } catch (error) {
    if (error instanceof Invalid) return mask;
    throw error;
  }
}

function networkMask(network: Network): BanMask {
  if (network.prefix < LEAST_PREFIX[network.bits]) throw tooWide();
  return { kind: "network", text: formatNetwork(network), network };
}

function tooWide(): Invalid {
  return new Invalid('"mask" is far too wide; make it more specific');
}
