import assert from "node:assert/strict";
import { readTables } from "../../../../../services/operation/doctor/derived_tables.ts";
import { Repository } from "../../../../../services/engines/fossil/mod.ts";
import { Scratch } from "./fossil.ts";
import { judges } from "./judges.ts";

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

/** Asserts that the tables are those `fossil rebuild` makes of a copy, and our own rebuild too. */
export function assertRebuilds(path: string): void {
  const ours = `${path}.ours`;
  Deno.copyFileSync(path, ours);
  using repository = Repository.open(ours);
  repository.rebuild();
  const [tables, rebuilt] = [dumpTables(path), dumpTables(ours)];
  for (const program of judges()) {
    using judge = new Scratch(program);
    const theirs = judge.path("theirs.fossil");
    Deno.copyFileSync(path, theirs);
    judge.fossil(["rebuild", theirs]);
    const expected = dumpTables(theirs);
    assert.deepEqual(difference(tables, expected), [], program);
    assert.deepEqual(difference(rebuilt, expected), [], program);
  }
}
