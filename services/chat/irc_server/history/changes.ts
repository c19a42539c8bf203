/** The changes of the archive, and their form on the way to its worker. */

import type { HistoryKind, HistoryTarget, NewHistoryRecord } from "../../../engines/irc/mod.ts";

/** A change of the archive. Changes are executed in order. */
export type Operation =
  & Numbered
  & (
    /** `sequence` is also the record's place; a second one for the same place changes nothing. */
    | { readonly kind: "append"; readonly record: NewHistoryRecord }
    | { readonly kind: "redact"; readonly id: string }
    | { readonly kind: "confine" | "forgetConfined"; readonly target: HistoryTarget }
    /** Forgets records older than `before`, in Unix milliseconds; null for all. */
    | { readonly kind: "forgetAccount"; readonly account: string; readonly before: number | null }
    | {
      readonly kind: "rename";
      readonly from: HistoryTarget;
      readonly to: HistoryTarget;
      readonly title: string;
    }
  );

/** Changes are numbered in their order, without a gap. */
interface Numbered {
  readonly sequence: number;
}

type Append = Operation & { readonly kind: "append" };

/**
 * The form in which operations are copied to the worker: each value of a record on its own. Copying
 * an object takes longer for its field names than for its values.
 */
export type PackedOperations = readonly (
  | Exclude<Operation, Append>
  | string
  | number
  | boolean
  | null
)[];

/** The number of values of a record. */
const RECORD_VALUES = 9;

export function packOperations(operations: readonly Operation[]): PackedOperations {
  const packed: PackedOperations[number][] = [];
  for (const operation of operations) {
    if (operation.kind !== "append") {
      packed.push(operation);
      continue;
    }
    const { sequence, record: { target, title, time, id, kind, confined, content } } = operation;
    packed.push(sequence, target.account, target.name, title, time, id, kind, confined, content);
  }
  return packed;
}

/** The inverse of {@link packOperations}. */
export function unpackOperations(packed: PackedOperations): Operation[] {
  const operations: Operation[] = [];
  for (let index = 0; index < packed.length;) {
    const first = packed[index];
    if (typeof first === "object" && first !== null) {
      operations.push(first);
      index++;
    } else {
      operations.push(appendOf(packed.slice(index, index + RECORD_VALUES) as RecordValues));
      index += RECORD_VALUES;
    }
  }
  return operations;
}

type RecordValues = [
  sequence: number,
  account: string | null,
  name: string,
  title: string,
  time: number,
  id: string,
  kind: HistoryKind,
  confined: boolean,
  content: string,
];

function appendOf(
  [sequence, account, name, title, time, id, kind, confined, content]: RecordValues,
): Append {
  const record = { target: { account, name }, title, time, id, kind, confined, content };
  return { kind: "append", sequence, record };
}
