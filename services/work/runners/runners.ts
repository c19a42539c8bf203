import type { Selectable } from "kysely";
import {
  type Database,
  type Directory,
  Duplicate,
  statement,
  type Tables,
  Unchanged,
} from "../../engines/database/mod.ts";
import { newEvent } from "../../engines/events/mod.ts";
import { foldCase } from "../../engines/irc/mod.ts";
import { Conflict, NotFound } from "../../kernel/errors.ts";
import type { Log } from "../../kernel/log.ts";
import { newUlid } from "../../kernel/ulid.ts";
import {
  type Caller,
  type Identity,
  OPERATOR,
  originOf,
  type Principal,
  type Scope,
  sha256,
  type TokenKey,
  type TokenSource,
} from "../../people/identity/mod.ts";
import type { Projects } from "../projects/mod.ts";
import type { Leases } from "./leases.ts";
import type { NewRunner, RunnerView } from "./schemas.ts";

/** Most runners of a server. */
const MAX_RUNNERS = 1000;

/** How exact the time is at which a runner was last seen, in milliseconds. */
const SEEN_EVERY = 30_000;

const SCOPES: ReadonlySet<Scope> = new Set(["write"]);

const BY_MUSTER: Caller = { principal: OPERATOR, address: null, requestId: null };

const PURPOSE = "muster runner token ";

export interface RunnersOptions {
  readonly database: Database;
  readonly projects: Pick<Projects, "find" | "get">;
  readonly identity: Pick<Identity, "accept" | "ended">;
  readonly leases: Pick<Leases, "countOf" | "expiringAllOf">;
  readonly key: TokenKey;
  readonly log: Log;
  /** Unix milliseconds. */
  readonly clock: () => number;
}

/** A program that runs checks. */
export interface Runner {
  readonly id: string;
  readonly name: string;
  readonly labels: ReadonlySet<string>;
  /** The ids of the projects whose jobs it takes; null for all. */
  readonly projects: ReadonlySet<string> | null;
  readonly isPaused: boolean;
}

interface HeldRunner extends Runner {
  readonly digest: string;
}

/** Says that a runner was resumed, paused or removed. Must not throw. */
type RunnerListener = () => void;

/** The programs that run checks, and their tokens. All are in memory. */
export class Runners implements Directory, TokenSource {
  readonly tables = ["runners"] as const;
  readonly #options: RunnersOptions;
  readonly #byId = new Map<string, HeldRunner>();
  readonly #byDigest = new Map<string, HeldRunner>();
  /** When each was last seen and what it said of itself, as far as that is on disk. */
  readonly #seen = new Map<string, { readonly at: number; readonly about: string }>();
  readonly #listeners = new Set<RunnerListener>();
  #gone: readonly string[] = [];

  private constructor(options: RunnersOptions) {
    this.#options = options;
  }

  /** Reads all runners from the database, and lets their tokens in. */
  static async open(options: RunnersOptions): Promise<Runners> {
    const runners = new Runners(options);
    await options.database.keepCurrent(runners);
    options.identity.accept(runners);
    return runners;
  }

  async load(): Promise<void> {
    const rows = await this.#options.database.tables.selectFrom("runners").selectAll().execute();
    const before = [...this.#byId.keys()];
    this.#byId.clear();
    this.#byDigest.clear();
    for (const row of rows) this.#hold(row);
    this.#gone = before.filter((id) => !this.#byId.has(id));
  }

  announce(): void {
    for (const id of this.#gone) this.#options.identity.ended(id);
    this.#gone = [];
    this.#tell();
  }

  /** Calls a listener when what a runner may take has changed. */
  onChanged(listener: RunnerListener): void {
    this.#listeners.add(listener);
  }

  ownerOf(digest: string): Principal | null {
    const runner = this.#byDigest.get(digest);
    if (runner === undefined) return null;
    const { id, name } = runner;
    return {
      kind: "runner",
      id,
      name,
      scopes: SCOPES,
      project: null,
      tokenId: id,
      sessionId: null,
    };
  }

  /** A runner by its id; null if it was removed. */
  get(id: string): Runner | null {
    return this.#byId.get(id) ?? null;
  }

  /** All runners, in no order. */
  all(): readonly Runner[] {
    return [...this.#byId.values()];
  }

  /**
   * Makes a runner and its token.
   *
   * @throws Conflict if there is one of this name, or too many; NotFound if a project does not exist
   */
  async create(
    { name, labels, projects: slugs }: NewRunner,
    caller: Caller,
  ): Promise<RunnerView & { readonly token: string }> {
    const { database, projects, clock } = this.#options;
    if (this.#byId.size >= MAX_RUNNERS) throw new Conflict(`There are ${MAX_RUNNERS} runners`);
    const ids = slugs?.map((slug) => {
      const held = projects.find(slug);
      if (held === null) throw new NotFound(`There is no project "${slug}"`);
      return held.project.id;
    }) ?? null;
    const now = clock();
    const id = newUlid(now);
    const token = await this.#tokenOf(id);
    const row: Selectable<Tables["runners"]> = {
      id,
      name,
      name_folded: foldCase(name),
      token_hash: sha256(token),
      labels: JSON.stringify([...new Set(labels)]),
      declared: "[]",
      projects: ids === null ? null : JSON.stringify([...new Set(ids)]),
      paused_at: null,
      version: "",
      isolation: "[]",
      created_by: caller.principal.name,
      created_at: now,
      last_seen: null,
    };
    const insertion = statement(database.tables.insertInto("runners").values(row), {
      committed: () => this.#hold(row),
    });
    try {
      await database.commit({
        statements: [insertion],
        events: [newEvent("runner.created", { name, labels }, originOf(caller), now)],
      });
    } catch (error) {
      if (!(error instanceof Duplicate)) throw error;
      throw new Conflict(`There is a runner "${name}": remove it, or choose another name`);
    }
    return { ...this.#viewOf(row), token };
  }

  /** The token of the runner that a server starts itself, which is made if there is none. */
  async tokenOfOwn(name: string): Promise<string> {
    const own = this.#byId.values().find((runner) => foldCase(runner.name) === foldCase(name));
    if (own !== undefined) return await this.#tokenOf(own.id);
    const { token } = await this.create({ name, labels: [], projects: null }, BY_MUSTER);
    return token;
  }

  /** All runners, by name. */
  async list(): Promise<RunnerView[]> {
    const { tables } = this.#options.database;
    const rows = await tables.selectFrom("runners").selectAll().orderBy("name_folded").execute();
    return rows.map((row) => this.#viewOf(row));
  }

  /**
   * Lets a runner take no more jobs, or again.
   *
   * @throws NotFound
   */
  async pause(name: string, isPaused: boolean, caller: Caller): Promise<RunnerView> {
    const { database, clock } = this.#options;
    const row = await this.#require(name);
    const now = clock();
    const paused_at = isPaused ? row.paused_at ?? now : null;
    const changed = { ...row, paused_at };
    const update = database.tables.updateTable("runners").set({ paused_at }).where(
      "id",
      "=",
      row.id,
    );
    const type = isPaused ? "runner.paused" : "runner.resumed";
    try {
      await database.commit({
        statements: [
          statement(update, { mustChange: true, committed: () => this.#hold(changed) }),
        ],
        events: [newEvent(type, { name: row.name }, originOf(caller), now)],
      });
    } catch (error) {
      throw error instanceof Unchanged ? noSuchRunner(name) : error;
    }
    this.#tell();
    return this.#viewOf(changed);
  }

  /**
   * Removes a runner. Its token ends at once, and the jobs that it has run elsewhere.
   *
   * @throws NotFound
   */
  async remove(name: string, caller: Caller): Promise<void> {
    const { database, clock, identity, leases } = this.#options;
    const row = await this.#require(name);
    const removal = database.tables.deleteFrom("runners").where("id", "=", row.id);
    try {
      await database.commit({
        statements: [
          statement(removal, { mustChange: true, committed: () => this.#drop(row.id) }),
          leases.expiringAllOf(row.id),
        ],
        events: [newEvent("runner.removed", { name: row.name }, originOf(caller), clock())],
      });
    } catch (error) {
      throw error instanceof Unchanged ? noSuchRunner(name) : error;
    }
    identity.ended(row.id);
    this.#tell();
  }

  /**
   * Takes the labels that a runner of Forgejo says to have. They count if it was given none when it was
   * made.
   */
  async declare(id: string, labels: readonly string[]): Promise<Runner> {
    const { database } = this.#options;
    const row = await database.tables.selectFrom("runners").selectAll().where("id", "=", id)
      .executeTakeFirst();
    if (row === undefined) throw new NotFound("The runner was removed");
    const changed = { ...row, declared: JSON.stringify([...new Set(labels)]) };
    if (changed.declared !== row.declared) {
      const update = database.tables.updateTable("runners").set({ declared: changed.declared })
        .where("id", "=", id);
      await database.commit({
        statements: [
          statement(update, { mustChange: true, committed: () => this.#hold(changed) }),
        ],
      });
      this.#tell();
    }
    return this.#byId.get(id) ?? this.#hold(changed);
  }

  /** Notes that a runner was here, and what it says of itself. */
  note(id: string, about?: { readonly version: string; readonly isolation: readonly string[] }) {
    const { database, clock, log } = this.#options;
    const now = clock();
    const known = this.#seen.get(id);
    const said = about === undefined ? known?.about ?? "" : JSON.stringify(about);
    if (known !== undefined && now - known.at < SEEN_EVERY && known.about === said) return;
    this.#seen.set(id, { at: now, about: said });
    const update = database.tables.updateTable("runners").set({
      last_seen: now,
      ...about === undefined
        ? {}
        : { version: about.version, isolation: JSON.stringify(about.isolation) },
    }).where("id", "=", id);
    database.commitLater({ statements: [statement(update)] }).catch((error: unknown) => {
      log.warn("When a runner was last seen is not stored", { runner: id, error });
    });
  }

  async #tokenOf(id: string): Promise<string> {
    return (await this.#options.key.mac(PURPOSE, id)).slice(0, 40);
  }

  async #require(name: string): Promise<Selectable<Tables["runners"]>> {
    const row = await this.#options.database.tables.selectFrom("runners").selectAll()
      .where("name_folded", "=", foldCase(name)).executeTakeFirst();
    if (row === undefined) throw noSuchRunner(name);
    return row;
  }

  #hold(row: Selectable<Tables["runners"]>): HeldRunner {
    const { id, name, token_hash: digest } = row;
    const held: HeldRunner = {
      id,
      name,
      digest,
      labels: labelsOf(row),
      projects: row.projects === null ? null : new Set<string>(JSON.parse(row.projects)),
      isPaused: row.paused_at !== null,
    };
    this.#byId.set(id, held);
    this.#byDigest.set(digest, held);
    return held;
  }

  #drop(id: string): void {
    const held = this.#byId.get(id);
    this.#byId.delete(id);
    this.#seen.delete(id);
    if (held !== undefined) this.#byDigest.delete(held.digest);
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }

  #viewOf(row: Selectable<Tables["runners"]>): RunnerView {
    const { name, version, created_by } = row;
    const ids: readonly string[] | null = row.projects === null ? null : JSON.parse(row.projects);
    return {
      name,
      labels: [...labelsOf(row)],
      projects: ids?.flatMap((id) => this.#options.projects.get(id)?.project.slug ?? []) ?? null,
      paused: row.paused_at !== null,
      jobs: this.#options.leases.countOf(row.id),
      isolation: JSON.parse(row.isolation),
      version,
      created_by,
      created_at: new Date(row.created_at).toISOString(),
      last_seen: row.last_seen === null ? null : new Date(row.last_seen).toISOString(),
    };
  }
}

function labelsOf(
  { labels, declared }: Pick<Selectable<Tables["runners"]>, "labels" | "declared">,
): ReadonlySet<string> {
  const given: readonly string[] = JSON.parse(labels);
  return new Set(given.length > 0 ? given : JSON.parse(declared));
}

function noSuchRunner(name: string): NotFound {
  return new NotFound(`There is no runner "${name}"`);
}
