import { readTables } from "../../../../services/doctor/derived_tables.ts";

/** Every row of the derived tables as a line of text, sorted in each table. */
export function dumpTables(path: string, skip: readonly string[] = []): string[] {
  const lines = new Map<string, string[]>();
  readTables(path, skip, (table, line) => {
    const held = lines.get(table) ?? [];
    held.push(`${table} ${line}`);
    lines.set(table, held);
  });
  return [...lines.values()].flatMap((held) => held.sort());
}

/** Lines that only one of two dumps has, shortened, at most as many as a failed test can show. */
export function difference(left: readonly string[], right: readonly string[]): string[] {
  const [lefts, rights] = [new Set(left), new Set(right)];
  const onlyLeft = left.filter((line) => !rights.has(line)).map((line) => `${line} <`);
  const onlyRight = right.filter((line) => !lefts.has(line)).map((line) => `${line} >`);
  const lines = [...onlyLeft, ...onlyRight].sort().slice(0, MAX_DIFFERENCES);
  return lines.map((line) => line.replace(/\b([0-9a-f]{10})[0-9a-f]{30,54}\b/g, "$1"));
}

const MAX_DIFFERENCES = 16;
