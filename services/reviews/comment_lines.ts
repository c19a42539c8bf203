import type { PooledRepository } from "../fossil/mod.ts";
import { Invalid } from "../errors.ts";
import type { Comment, Round } from "./records.ts";
import type { NewComment } from "./schemas.ts";

/** The newest rounds whose comments are carried over. */
const MAX_ROUNDS = 20;

/** The line of a comment in the newest round. */
export interface LinePlace {
  readonly path: string;
  readonly line: number;
}

/** The lines that a unified diff without context leaves unchanged. */
class KeptLines {
  readonly #hunks: { readonly from: number; readonly count: number; readonly shift: number }[] = [];

  constructor(diff: string) {
    let shift = 0;
    for (const [, start, length, , added] of diff.matchAll(HUNK)) {
      const count = Number(length ?? 1);
      // A hunk that deletes nothing names the line before it.
      const from = Number(start) + (count === 0 ? 1 : 0);
      shift += Number(added ?? 1) - count;
      this.#hunks.push({ from, count, shift });
    }
  }

  /** The number of a line after the change; null if the line is changed or gone. */
  after(line: number): number | null {
    let shift = 0;
    for (const hunk of this.#hunks) {
      if (line < hunk.from) break;
      if (line < hunk.from + hunk.count) return null;
      ({ shift } = hunk);
    }
    return line + shift;
  }
}

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/gm;

/**
 * Finds the lines of comments in the newest round; keys are the comments' numbers. A comment is
 * absent if its line has changed or gone.
 *
 * Each round with such comments costs one comparison per side.
 */
export async function placesOf(
  repository: PooledRepository,
  comments: readonly Comment[],
  rounds: readonly Round[],
): Promise<ReadonlyMap<number, LinePlace>> {
  const places = new Map<number, LinePlace>();
  const newest = rounds.at(-1);
  if (newest === undefined) return places;
  const groups = Map.groupBy(
    comments.filter(({ path, line }) => path !== null && line !== null),
    ({ round, side }) => `${side} ${round}`,
  );
  for (const group of groups.values()) {
    const [{ round: number, side }] = group as [Comment];
    const round = rounds.find((one) => one.round === number);
    if (round === undefined || number <= newest.round - MAX_ROUNDS) continue;
    const [from, to] = side === "old" ? [round.base, newest.base] : [round.tip, newest.tip];
    const { files } = from === to ? { files: [] } : await repository.diff({ from, to, context: 0 });
    for (const { number, path, line } of group) {
      const file = files.find(({ name, prev_name }) => (prev_name ?? name) === path);
      const place = placeAfter(file, { path: path ?? "", line: line ?? 0 });
      if (place !== null) places.set(number, place);
    }
  }
  return places;
}

/**
 * Requires that a comment names a line of a file that its round changes.
 *
 * @throws Invalid
 */
export async function requireLine(
  repository: PooledRepository,
  { base, tip }: Round,
  { file_path: path, line_number: line, side }: NewComment,
): Promise<void> {
  const { files } = await repository.diff({ from: base, to: tip, context: 0 });
  const file = files.find(({ name, prev_name }) => name === path || prev_name === path);
  if (file === undefined) throw new Invalid(`"file_path": the review does not change "${path}"`);
  if (line === null) return;
  const isThere = side === "old" ? file.prev_uuid !== null : file.uuid !== null;
  const checkin = side === "old" ? base : tip;
  const held = side === "old" ? file.prev_name ?? file.name : file.name;
  const lines = isThere ? linesIn((await repository.file({ path: held, checkin })).content) : 0;
  if (line <= lines) return;
  const limit = lines === 0 ? "has no line" : `ends at line ${lines}`;
  throw new Invalid(`"line_number": "${held}" ${limit} on the side "${side}"`);
}

function linesIn(content: Uint8Array): number {
  const NEWLINE = 10;
  const ends = content.reduce((count, byte) => byte === NEWLINE ? count + 1 : count, 0);
  return content.length > 0 && content.at(-1) !== NEWLINE ? ends + 1 : ends;
}

type ChangedFile = Awaited<ReturnType<PooledRepository["diff"]>>["files"][number];

function placeAfter(file: ChangedFile | undefined, place: LinePlace): LinePlace | null {
  if (file === undefined) return place;
  const { uuid, prev_uuid, name, diff, is_binary, is_truncated, unreadable } = file;
  if (uuid === null || is_binary || is_truncated || unreadable !== null) return null;
  const line = uuid === prev_uuid ? place.line : new KeptLines(diff).after(place.line);
  return line === null ? null : { path: name, line };
}
