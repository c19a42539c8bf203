/**
 * SQLite's own guard, which it asks while it compiles a statement. Deno has it from 2.9 on. It
 * stands beside the judgement of the program, which every runtime has.
 *
 * @see {@link https://www.sqlite.org/c3ref/set_authorizer.html}
 */
import type { DatabaseSync } from "node:sqlite";
import {
  closedFunction,
  closedFunctionTable,
  closedPragma,
  closedTable,
  isHarmlessPragma,
  isReadableFunctionTable,
  isReadableTable,
  notReadOnly,
} from "./readable.ts";
import type { Refusal } from "./types.ts";

/** Action codes. */
const PRAGMA = 19;
const READ = 20;
const SELECT = 21;
const FUNCTION = 31;
const RECURSIVE = 33;

/** Answers. */
const ALLOW = 0;
const DENY = 1;

type Authorizer = (action: number, first: string | null, second: string | null) => number;

/** A connection of a runtime with the guard. */
interface Guarded {
  setAuthorizer(authorizer: Authorizer | null): void;
}

/** Asks about each statement of one connection, while it is on. */
export class Guard {
  readonly #database: Guarded | null;
  /** Views, in lower case; what they read is asked for too. */
  readonly #views: ReadonlySet<string>;
  /** Why it refused the last statement; null if it did not. */
  refusal: Refusal | null = null;

  constructor(database: DatabaseSync) {
    this.#database = isGuarded(database) ? database : null;
    const views = database.prepare("SELECT name FROM sqlite_schema WHERE type='view'").all();
    this.#views = new Set(views.map(({ name }) => String(name).toLowerCase()));
  }

  /** Judges every statement that is prepared inside the task. */
  during<Result>(task: () => Result): Result {
    this.refusal = null;
    this.#database?.setAuthorizer((action, first, second) => {
      if (action === READ && this.#views.has(first?.toLowerCase() ?? "")) return ALLOW;
      const refusal = refuse(action, first, second);
      this.refusal ??= refusal;
      return refusal === null ? ALLOW : DENY;
    });
    try {
      return task();
    } finally {
      this.#database?.setAuthorizer(null);
    }
  }
}

function isGuarded(database: DatabaseSync): database is DatabaseSync & Guarded {
  return "setAuthorizer" in database;
}

function refuse(action: number, first: string | null, second: string | null): Refusal | null {
  switch (action) {
    case SELECT:
    case RECURSIVE:
      return null;
    case READ:
      return refuseRead(first ?? "", second ?? "");
    case FUNCTION:
      return second?.toLowerCase() === "load_extension" ? closedFunction("load_extension") : null;
    case PRAGMA: {
      const name = (first ?? "").toLowerCase();
      return isHarmlessPragma(name, second !== null) ? null : closedPragma();
    }
    default:
      return notReadOnly();
  }
}

/** A read without a column may be of a common table expression; the program tells what it is. */
function refuseRead(table: string, column: string): Refusal | null {
  if (column === "" || isReadableTable(table) || isReadableFunctionTable(table)) return null;
  if (/^sqlite_temp_/i.test(table)) return closedTable(null);
  return /^(?:dbstat|pragma_|sqlite_dbpage)/i.test(table)
    ? closedFunctionTable(table)
    : closedTable(table);
}
