/**
 * Judges a statement by its compiled program, which names everything that it touches: tables by
 * their root pages, virtual tables by their address, functions by their names. Views, aliases and
 * sub-selects are resolved in it.
 *
 * @see {@link https://www.sqlite.org/opcode.html}
 */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import {
  closedFunction,
  closedFunctionTable,
  closedTable,
  isReadableTable,
  notReadOnly,
  TABLE_FUNCTIONS,
} from "./readable.ts";
import { Refusal } from "./types.ts";

/** A step of a program. */
interface Step {
  readonly opcode: string;
  readonly p1: number;
  readonly p2: number;
  readonly p3: number;
  readonly p4: string | null;
  readonly p5: number;
}

/** What a program tells about its statement. */
export interface Judgement {
  /** The number of columns of its rows. */
  readonly columns: number;
}

/** The steps that change nothing outside of the statement itself. */
const HARMLESS: ReadonlySet<string> = new Set(
  `Add AddImm Affinity AggFinal And BeginSubrtn BitAnd BitNot BitOr Blob Cast Close ClrSubtype
  CollSeq Column ColumnsUsed Compare Concat Copy Count CursorLock CursorUnlock DecrJumpZero
  DeferredSeek Delete Divide ElseEq EndCoroutine Eq Explain Filter FilterAdd FinishSeek Found Ge
  GetSubtype Gosub Goto Gt Halt HaltIfNull IdxDelete IdxGE IdxGT IdxInsert IdxLE IdxLT IdxRowid If
  IfEmpty IfNoHope IfNot IfNotOpen IfNotZero IfNullRow IfPos IfSizeBetween IfSmaller Init
  InitCoroutine Insert Int64 IntCopy Integer IsNull IsTrue IsType Jump Last Le Lt MakeRecord MemMax
  Move Multiply MustBeInt Ne NewRowid Next NoConflict Noop Not NotExists NotFound NotNull Null
  NullRow Offset OffsetLimit Once OpenAutoindex OpenDup OpenEphemeral OpenPseudo Or Permutation Prev
  ReadCookie Real RealAffinity ReleaseReg Remainder ResetSorter ResultRow Return Rewind RowCell
  RowData RowSetAdd RowSetRead RowSetTest Rowid SCopy SeekGE SeekGT SeekHit SeekLE SeekLT SeekRowid
  SeekScan Sequence SequenceTest SetSubtype ShiftLeft ShiftRight SoftNull Sort SorterCompare
  SorterData SorterInsert SorterNext SorterOpen SorterSort String String8 Subtract TableLock Trace
  TypeCheck VColumn VFilter VInitIn VNext Yield ZeroOrNull`.split(/\s+/),
);

/** The steps that run a function, named in P4 with its number of arguments. */
const CALLS: ReadonlySet<string> = new Set([
  "AggFinal",
  "AggInverse",
  "AggStep",
  "AggStep1",
  "AggValue",
  "Function",
  "PureFunc",
]);

/** The database of a step: the repository, and not the temporary one. */
const MAIN = 0;
/** P5 of a step that takes the root page from a register. */
const PAGE_IN_REGISTER = 0x10;
/** The flag of functions that only a direct call may run, such as `load_extension`. */
const DIRECT_ONLY = 0x80000;

/** The page of the table that describes all tables. */
const SCHEMA_PAGE = 1;

/** Judges programs of one connection. Valid as long as its transaction. */
export class ProgramJudge {
  readonly #database: DatabaseSync;
  /** The tables by the root pages of them and their indexes. */
  readonly #tables = new Map<number, string>([[SCHEMA_PAGE, "sqlite_schema"]]);
  readonly #functions: ReadonlySet<string>;
  /** The harmless virtual tables, as P4 of `VOpen` names them. */
  readonly #virtual = new Set<string>();
  /** Keep the virtual tables where they are. */
  readonly #held: StatementSync[] = [];

  constructor(database: DatabaseSync) {
    this.#database = database;
    const tables = database.prepare(
      "SELECT rootpage, tbl_name AS name FROM sqlite_schema WHERE rootpage > 0",
    ).all() as { rootpage: number; name: string }[];
    for (const { rootpage, name } of tables) this.#tables.set(rootpage, name);
    const functions = database.prepare(
      `SELECT DISTINCT lower(name) AS name FROM pragma_function_list
       WHERE builtin AND NOT flags & ${DIRECT_ONLY}`,
    ).all() as { name: string }[];
    this.#functions = new Set(functions.map(({ name }) => name));
    for (const name of TABLE_FUNCTIONS) this.#learn(`SELECT 1 FROM ${name}('x')`);
    this.#learn("SELECT 1 FROM pragma_table_list");
  }

  /**
   * Judges the program of a query.
   *
   * @throws {Refusal} It touches what it may not.
   * @throws {Error} SQLite's, if it cannot be compiled
   */
  judge(query: string): Judgement {
    let columns = 0;
    for (const step of this.#stepsOf(query)) {
      this.#check(step);
      if (step.opcode === "ResultRow") columns = step.p2;
    }
    return { columns };
  }

  #learn(query: string): void {
    this.#held.push(this.#database.prepare(query));
    for (const { opcode, p4 } of this.#stepsOf(query)) {
      if (opcode === "VOpen" && p4 !== null) this.#virtual.add(p4);
    }
  }

  #stepsOf(query: string): Step[] {
    return this.#database.prepare(`EXPLAIN ${query}`).all() as unknown as Step[];
  }

  #check({ opcode, p1, p2, p3, p4, p5 }: Step): void {
    if (CALLS.has(opcode)) return this.#checkFunction(p4);
    switch (opcode) {
      case "OpenRead":
      case "ReopenIdx": {
        const table = p3 === MAIN && (p5 & PAGE_IN_REGISTER) === 0 ? this.#tables.get(p2) : null;
        if (table === null || table === undefined || !isReadableTable(table)) {
          throw closedTable(table ?? null);
        }
        return;
      }
      case "VOpen":
        if (p4 === null || !this.#virtual.has(p4)) throw closedFunctionTable(null);
        return;
      case "Transaction":
        if (p1 > 1 || p2 !== 0) throw notReadOnly();
        return;
      case "Variable":
        throw new Refusal(
          "invalid",
          "Parameters have no values here: write them into the statement",
        );
      default:
        if (!HARMLESS.has(opcode)) throw notReadOnly();
    }
  }

  #checkFunction(called: string | null): void {
    const name = (called ?? "").replace(/\(-?\d+\)$/, "").toLowerCase();
    if (!this.#functions.has(name)) throw closedFunction(name);
  }
}
