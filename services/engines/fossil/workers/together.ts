/** Writes that came together: one transaction, one wait for the disk, and one answer. */
import { FossilError } from "../error.ts";
import { readReceived, type ReceivedOptions } from "../read/mod.ts";
import type { Received } from "../read/received_shapes.ts";
import { type Failure, failureOf } from "./failures.ts";
import type { WriteName } from "./operation_names.ts";
import type { Context } from "./context.ts";
import { Interrupted } from "./watch.ts";

/** One of several writes. */
export interface JoinedWrite {
  readonly operation: WriteName;
  readonly input: unknown;
}

export interface JoinedWrites {
  /** In their order. */
  readonly writes: readonly JoinedWrite[];
  /** Where the answer begins to tell what the repository has received. */
  readonly after: ReceivedOptions["after"];
}

/** What became of one of several writes. */
export type WriteOutcome = { readonly kind: "done"; readonly value: unknown } | Failure;

export interface WrittenTogether {
  /** Of each write. */
  readonly outcomes: readonly WriteOutcome[];
  /** What the repository has received since a place, with what these writes left. */
  readonly received: Received;
}

/**
 * Makes writes as one transaction. Each is judged after those before it, and refused by itself. If
 * one that is refused would have to be undone, each gets a transaction of its own.
 *
 * @param write makes one of them
 */
export function writeTogether(
  context: Context,
  { writes, after }: JoinedWrites,
  write: (write: JoinedWrite) => unknown,
): WrittenTogether {
  const outcomes = outcomesOf(context, writes.map((one) => () => write(one)));
  return { outcomes, received: readReceived(context.reader, { after }) };
}

function outcomesOf(
  { repository, distrust }: Context,
  writes: readonly (() => unknown)[],
): readonly WriteOutcome[] {
  const [only] = writes;
  if (only !== undefined && writes.length === 1) return [outcomeOf(only)];
  try {
    return repository.together(() => writes.map(outcomeOf));
  } catch (error) {
    if (error instanceof Interrupted) throw error;
    // One of them is refused after it has changed something, or all do not fit on the disk.
    return writes.map((write) => {
      try {
        return outcomeOf(write);
      } catch (error) {
        if (error instanceof Interrupted) throw error;
        distrust();
        return failureOf(error);
      }
    });
  }
}

/** @throws what says nothing about the write alone */
function outcomeOf(write: () => unknown): WriteOutcome {
  try {
    return { kind: "done", value: write() };
  } catch (error) {
    if (error instanceof FossilError) return failureOf(error);
    throw error;
  }
}
