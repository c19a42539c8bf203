import { NotFound } from "../errors.ts";
import type { Diff, PooledRepository } from "../fossil/mod.ts";
import type { Round } from "./records.ts";

/** Largest diff in one response, in bytes. */
const MAX_DIFF_BYTES = 1024 * 1024;

/** One end of a diff between rounds. */
export interface DiffEnd {
  /** 0 is the base of the other end's round. */
  readonly round: number;
  readonly checkin: string;
}

/** The changes between two rounds of a review. */
export interface RoundDiff {
  readonly from: DiffEnd;
  readonly to: DiffEnd;
  /** The diffs of all files in sequence. */
  readonly diff: string;
  /** Whether a part of the diff is left out because of its size. */
  readonly isTruncated: boolean;
  readonly files: Diff["files"];
  /** The number of files that differ, also on other pages. */
  readonly total: number;
}

/** A part of a diff: one file or folder, and at most so many files. */
export interface DiffPart {
  readonly path?: string;
  readonly limit?: number;
  readonly offset?: number;
  /** Whether changes of white space within lines are left out. */
  readonly ignoresWhitespace?: boolean;
}

/**
 * The difference between two rounds.
 *
 * @param from 0 for the base of round `to`: the whole change
 * @throws NotFound if there is no such round
 */
export async function diffRounds(
  repository: PooledRepository,
  rounds: readonly Round[],
  { from, to, ...part }: DiffPart & { readonly from: number; readonly to: number },
): Promise<RoundDiff> {
  const end = roundAt(rounds, to);
  const earlier = from === 0 ? { base: end.base, tip: end.base } : roundAt(rounds, from);
  const start = earlier.tip;
  const diff = start === end.tip ? { files: [], total: 0 } : await repository.diff({
    from: start,
    to: end.tip,
    maxBytes: MAX_DIFF_BYTES,
    ...part,
    ...earlier.base === end.base ? {} : { bases: { from: earlier.base, to: end.base } },
  });
  return {
    from: { round: from, checkin: start },
    to: { round: to, checkin: end.tip },
    diff: diff.files.map((file) => file.diff).join(""),
    isTruncated: diff.files.some((file) => file.is_truncated),
    files: diff.files,
    total: diff.total,
  };
}

function roundAt(rounds: readonly Round[], number: number): Round {
  const found = rounds.find(({ round }) => round === number);
  if (found === undefined) throw new NotFound(`The review has no round ${number}`);
  return found;
}
