/** A statement for the process of queries. */
export interface QueryRequest {
  /** The repository file. */
  readonly path: string;
  readonly sql: string;
  readonly limits: QueryLimits;
}

/** What a statement may cost. */
export interface QueryLimits {
  readonly rows: number;
  /** Bytes of the rows as JSON in UTF-8. */
  readonly bytes: number;
  /** Bytes that SQLite may hold at once; temporary tables are in memory too. */
  readonly memory: number;
  /** How long the process may compute, in milliseconds; see `longestFor`. */
  readonly milliseconds: number;
}

/** A value of SQLite as JSON; see `shownValue`. */
export type QueryValue = null | number | string;

/** Which limit ended the reading of rows. */
export type QueryCut = "rows" | "bytes";

/** The rows of a statement. */
export interface QueryResult {
  readonly kind: "rows";
  readonly columns: readonly string[];
  readonly rows: readonly (readonly QueryValue[])[];
  /** Null if the rows are complete. */
  readonly cut: QueryCut | null;
}

/** Why a statement gave no rows. */
export interface QueryRefusal {
  /**
   * `forbidden`: it touches what nobody may read here. `invalid`: it is no statement that can run.
   * `memory`: it needs too much. `unavailable`: the file cannot be read now.
   */
  readonly kind: "forbidden" | "invalid" | "memory" | "unavailable";
  /** One sentence for the statement's author. */
  readonly message: string;
}

export type QueryAnswer = QueryResult | QueryRefusal;

/** Ends the work on a statement. */
export class Refusal extends Error {
  readonly kind: QueryRefusal["kind"];

  constructor(kind: QueryRefusal["kind"], message: string) {
    super(message);
    this.kind = kind;
  }
}
