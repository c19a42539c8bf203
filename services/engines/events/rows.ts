import type { CompiledQuery, Selectable } from "kysely";
import type { AppendedEvent, Database, Tables } from "../database/mod.ts";

type EventRow = Selectable<Tables["events"]>;

/** An event from the log. */
export interface LoggedEvent {
  /** Its number, from which a reader can continue. */
  readonly seq: number;
  /** ISO 8601, UTC. */
  readonly time: string;
  readonly type: string;
  /** Kind and name of the actor, such as `operator` or `agent:coder-1`. */
  readonly actor: string;
  /** The actor's internal id, which its name may outlive. */
  readonly actor_id: string | null;
  /** The client's IP address. */
  readonly address: string | null;
  /** The id of the request that caused it. */
  readonly cause: string | null;
  readonly data: Readonly<Record<string, unknown>>;
  /** SHA-256 over this row and the hash of the row before it. */
  readonly hash: string;
}

/** A query of the log. */
export interface Span {
  /** Rows after this number ... */
  readonly after: number;
  /** ... up to this one. */
  readonly until: number;
  /** Names of types, each in full or ending in `*`. */
  readonly types: readonly string[];
  /** The internal id of a project; absent for all events. */
  readonly project?: string | undefined;
  readonly limit: number;
}

/** The number of an event, and its time in Unix milliseconds. */
export interface LastEvent {
  readonly seq: number;
  readonly time: number;
}

/** Types that one query reads through the index; more are read row by row. */
const MAX_INDEXED_TYPES = 100;

/** Most types searched for matches of a pattern. */
const MAX_TYPES = 500;

/** Reads rows of the log. */
export class EventRows {
  readonly #database: Database;
  readonly #next: CompiledQuery<EventRow>;

  constructor(database: Database) {
    this.#database = database;
    this.#next = database.tables.selectFrom("events").selectAll()
      .where("seq", ">", 0).orderBy("seq").limit(0).compile();
  }

  /** The numbers of the oldest and the newest row; 0 if there is none. */
  async ends(): Promise<{ oldest: number; newest: number }> {
    const row = await this.#database.tables.selectNoFrom((builder) => [
      builder.selectFrom("events").select(({ fn }) => fn.min("seq").as("seq")).as("oldest"),
      builder.selectFrom("events").select(({ fn }) => fn.max("seq").as("seq")).as("newest"),
    ]).executeTakeFirst();
    return { oldest: row?.oldest ?? 0, newest: row?.newest ?? 0 };
  }

  /**
   * The first rows after a number, of every type. The query is compiled once, because each commit
   * runs it.
   */
  async next(after: number, limit: number): Promise<LoggedEvent[]> {
    const query: CompiledQuery<EventRow> = { ...this.#next, parameters: [after, limit] };
    const { rows } = await this.#database.tables.executeQuery(query);
    return rows.map(readRow);
  }

  /**
   * Finds the types of the log that a span includes.
   *
   * @returns null if it includes all, a project's, or more than the index serves
   */
  async typesOf({ types: patterns, project }: Span): Promise<readonly string[] | null> {
    if (patterns.includes("*") || project !== undefined) return null;
    const isExact = patterns.every((pattern) => !pattern.endsWith("*"));
    const known = isExact ? [...new Set(patterns)] : await this.#types();
    const types = known.filter((type) => matchesType(type, patterns));
    return known.length === MAX_TYPES || types.length > MAX_INDEXED_TYPES ? null : types;
  }

  /** The types of the log: one look-up in the index finds each next type. */
  async #types(): Promise<string[]> {
    const rows = await this.#database.tables.withRecursive(
      "found(type)",
      (db) =>
        db.selectFrom("events").select(({ fn }) => fn.min<string | null>("type").as("type"))
          .unionAll(
            db.selectFrom("found").where("found.type", "is not", null).select(({ selectFrom }) =>
              selectFrom("events").select(({ fn }) =>
                fn.min<string | null>("events.type").as("type")
              )
                .whereRef("events.type", ">", "found.type").as("type")
            ),
          ),
    ).selectFrom("found").select("type").where("type", "is not", null).limit(MAX_TYPES)
      .execute();
    return rows.flatMap(({ type }) => type ?? []);
  }

  /** The last event of each project: two look-ups in the index for each. */
  async lastOfProjects(): Promise<Map<string, LastEvent>> {
    const rows = await this.#database.tables.withRecursive(
      "found(project_id)",
      (db) =>
        db.selectFrom("events").where("project_id", "is not", null)
          .select(({ fn }) => fn.min<string | null>("project_id").as("project_id"))
          .unionAll(
            db.selectFrom("found").where("found.project_id", "is not", null)
              .select(({ selectFrom }) =>
                selectFrom("events").select(({ fn }) =>
                  fn.min<string | null>("events.project_id").as("project_id")
                )
                  .whereRef("events.project_id", ">", "found.project_id").as("project_id")
              ),
          ),
    ).selectFrom("found").innerJoin("events", (join) =>
      join.on(({ eb, selectFrom }) =>
        eb(
          "events.seq",
          "=",
          selectFrom("events as own").select(({ fn }) => fn.max("own.seq").as("seq"))
            .whereRef("own.project_id", "=", "found.project_id"),
        )
      ))
      .select(["found.project_id", "events.seq", "events.time"]).execute();
    return new Map(rows.map(({ project_id, seq, time }) => [project_id ?? "", { seq, time }]));
  }

  /**
   * The first rows of a span, oldest first.
   *
   * @param indexed the result of {@link typesOf}
   */
  async first(span: Span, indexed: readonly string[] | null): Promise<LoggedEvent[]> {
    const query = this.#matching(span, indexed);
    return (await query?.orderBy("seq").execute() ?? []).map(readRow);
  }

  /** The last rows of a span, oldest first. */
  async last(span: Span, indexed: readonly string[] | null): Promise<LoggedEvent[]> {
    const query = this.#matching(span, indexed);
    return (await query?.orderBy("seq", "desc").execute() ?? []).map(readRow).reverse();
  }

  /** The rows of each type come in index order, so SQLite merges and never sorts. */
  #matching(span: Span, indexed: readonly string[] | null) {
    const [first, ...others] = indexed?.map((type) => this.#span(span).where("type", "=", type)) ??
      [this.#filtered(span)];
    return others.reduce((all, one) => all?.unionAll(one), first)?.limit(span.limit);
  }

  #span({ after, until, project }: Span) {
    const span = this.#database.tables.selectFrom("events").selectAll()
      .where("seq", ">", after).where("seq", "<=", until);
    return project === undefined ? span : span.where("project_id", "=", project);
  }

  #filtered(span: Span) {
    const { types } = span;
    if (types.includes("*")) return this.#span(span);
    return this.#span(span).where(({ or, eb, fn, val }) =>
      or(types.map((type) => {
        if (!type.endsWith("*")) return eb("type", "=", type);
        const prefix = type.slice(0, -1);
        return eb(fn<string>("substr", ["type", val(1), val(prefix.length)]), "=", prefix);
      }))
    );
  }
}

/** Whether a span includes an event. */
export function matches(
  { type, data }: LoggedEvent,
  { types, project }: Pick<Span, "types" | "project">,
): boolean {
  if (project !== undefined && data["project_id"] !== project) return false;
  return matchesType(type, types);
}

function matchesType(type: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) =>
    pattern.endsWith("*") ? type.startsWith(pattern.slice(0, -1)) : type === pattern
  );
}

/** A row of the log, as the API shows it. */
export function readRow({ time, data, ...row }: AppendedEvent): LoggedEvent {
  const { seq, type, actor, actor_id, address, cause, hash } = row;
  const iso = new Date(time).toISOString();
  return { seq, time: iso, type, actor, actor_id, address, cause, data: readData(data), hash };
}

/** The data of a row. Verification reports corrupted data. */
function readData(text: string): LoggedEvent["data"] {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
