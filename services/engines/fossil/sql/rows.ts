import type { QueryLimits, QueryResult, QueryValue } from "./types.ts";
import { Refusal } from "./types.ts";

/** A value as SQLite gives it, with integers as bigint. */
type Value = null | number | bigint | string | Uint8Array;

/** A row of `node:sqlite`. */
export type Row = Readonly<Record<string, Value>>;

const MAX_SAFE = BigInt(Number.MAX_SAFE_INTEGER);

/**
 * Reads rows until a limit is reached.
 *
 * @param columns their names; null if the rows name them
 * @throws {Refusal} A single row is larger than all may be.
 */
export function collectRows(
  source: Iterable<Row>,
  columns: readonly string[] | null,
  limits: QueryLimits,
): QueryResult {
  const rows: QueryValue[][] = [];
  let names = columns;
  let bytes = 0;
  for (const row of source) {
    names ??= Object.keys(row);
    if (rows.length === limits.rows) return { kind: "rows", columns: names, rows, cut: "rows" };
    const values = Object.values(row).map((value) => shownValue(value, limits));
    bytes += sizeOf(values);
    if (bytes > limits.bytes) {
      if (rows.length === 0) throw tooLarge(limits);
      return { kind: "rows", columns: names, rows, cut: "bytes" };
    }
    rows.push(values);
  }
  return { kind: "rows", columns: names ?? [], rows, cut: null };
}

/**
 * A value as JSON: an integer that JavaScript cannot hold exactly and an infinity become text, a
 * BLOB becomes a literal of SQL such as `x'00ff'`.
 */
function shownValue(value: Value, limits: QueryLimits): QueryValue {
  if (typeof value === "bigint") {
    return value <= MAX_SAFE && value >= -MAX_SAFE ? Number(value) : String(value);
  }
  if (typeof value === "number") return Number.isFinite(value) ? value : String(value);
  if (value === null) return null;
  if (value.length > limits.bytes) throw tooLarge(limits);
  return typeof value === "string" ? value : `x'${hexOf(value)}'`;
}

function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function sizeOf(values: readonly QueryValue[]): number {
  return new TextEncoder().encode(JSON.stringify(values)).length;
}

function tooLarge({ bytes }: QueryLimits): Refusal {
  const limit = `${bytes / 2 ** 20} MiB`;
  const message = `One row is larger than ${limit}: select fewer columns, or a part with substr()`;
  return new Refusal("memory", message);
}
