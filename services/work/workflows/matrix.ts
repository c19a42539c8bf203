/** The combinations of a matrix. */
import { isList, type Value, wordsOf } from "./expressions.ts";

/** Most combinations of a matrix, and most jobs of a workflow. */
export const MAX_JOBS = 256;

/** One combination: the value of each variable. */
export type Combination = Readonly<Record<string, Value>>;

/** A matrix that means nothing; the message is a phrase that follows its key. */
export class MatrixFault extends Error {}

/**
 * The combinations of a matrix: every one of its lists, without those that `exclude` names, each
 * with what `include` adds.
 *
 * @param matrix with all its expressions evaluated
 * @throws {MatrixFault}
 */
export function combinationsOf(matrix: Value): Combination[] {
  if (!isRecord(matrix)) throw new MatrixFault("must have a list of values for each variable");
  const { include = [], exclude = [], ...lists } = matrix;
  const variables = Object.entries(lists).map(([name, values]) => {
    if (!isList(values)) throw new MatrixFault(`${name} must be a list`);
    return { name, values };
  });
  const excluded = recordsOf(exclude, "exclude");
  const product = variables.length === 0 ? [] : productOf(variables);
  const isSame = comparing();
  const base = product.filter((own) =>
    !excluded.some((one) => Object.keys(one).every((name) => isSame(one[name], own[name])))
  );
  const all = included(base, recordsOf(include, "include"), isSame);
  if (all.length > MAX_JOBS) throw tooMany();
  return all;
}

/** A combination as the name of its job shows it: `linux, 22`. */
export function labelOf(combination: Combination): string {
  return Object.values(combination).map(leavesOf).join(", ");
}

function leavesOf(value: Value): string {
  return value !== null && typeof value === "object"
    ? Object.values(value).map(leavesOf).join(", ")
    : wordsOf(value);
}

function productOf(
  variables: readonly { readonly name: string; readonly values: readonly Value[] }[],
): Combination[] {
  const size = variables.reduce((product, { values }) => product * values.length, 1);
  if (size > MAX_JOBS) throw tooMany();
  let combinations: Combination[] = [{}];
  for (const { name, values } of variables) {
    combinations = combinations.flatMap((combination) =>
      values.map((value) => ({ ...combination, [name]: value }))
    );
  }
  return combinations;
}

/** An entry is added to all combinations whose own values it leaves as they are, or stands alone. */
function included(
  base: readonly Combination[],
  entries: readonly Combination[],
  isSame: Compare,
): Combination[] {
  const all: Combination[] = [...base];
  for (const entry of entries) {
    let isAdded = false;
    for (const [place, own] of base.entries()) {
      const shared = Object.keys(entry).filter((name) => Object.hasOwn(own, name));
      if (!shared.every((name) => isSame(entry[name], own[name]))) continue;
      all[place] = { ...all[place], ...entry };
      isAdded = true;
    }
    if (!isAdded) all.push(entry);
  }
  return all;
}

type Compare = (one: Value | undefined, other: Value | undefined) => boolean;

/** Compares values by what they hold, and looks into each of them once. */
function comparing(): Compare {
  const texts = new Map<Value | undefined, string>();
  const textOf = (value: Value | undefined) => {
    if (value === null || typeof value !== "object") return value;
    const text = texts.get(value) ?? JSON.stringify(value);
    texts.set(value, text);
    return text;
  };
  return (one, other) => typeof one === typeof other && textOf(one) === textOf(other);
}

function recordsOf(value: Value, name: string): Combination[] {
  const records = value === null ? [] : isList(value) ? value : [value];
  if (records.length > MAX_JOBS) throw tooMany();
  return records.map((record) => {
    if (isRecord(record)) return record;
    throw new MatrixFault(`${name} must be a list of variables with values`);
  });
}

function isRecord(value: Value): value is Combination {
  return value !== null && typeof value === "object" && !isList(value);
}

function tooMany(): MatrixFault {
  return new MatrixFault(`must make at most ${MAX_JOBS} jobs`);
}
