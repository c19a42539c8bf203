import type { LinePlace, PooledRepository } from "../fossil/mod.ts";
import { Invalid } from "../errors.ts";
import type { Comment, Round } from "./records.ts";
import type { NewComment } from "./schemas.ts";

/** The newest rounds whose comments are carried over. */
const MAX_ROUNDS = 20;

/**
 * Finds the lines of comments in the newest round; keys are the comments' numbers. A comment is
 * absent if its line has changed or gone.
 *
 * Each round with such comments costs one comparison per side, of the files with comments.
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
    const lines = group.map(({ path, line }) => ({ path: path ?? "", line: line ?? 0 }));
    const found = from === to ? lines : await repository.linePlaces({ from, to, lines });
    for (const [index, { number }] of group.entries()) {
      const place = found[index] ?? null;
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
  // Without their lines: a change may be long.
  const names = new Set([path]);
  const { files } = await repository.diff({ from: base, to: tip, names, maxBytes: 0 });
  const [file] = files;
  if (file === undefined) throw new Invalid(`"file_path": the review does not change "${path}"`);
  if (line === null) return;
  const isThere = side === "old" ? file.prev_uuid !== null : file.uuid !== null;
  const checkin = side === "old" ? base : tip;
  const held = side === "old" ? file.prev_name ?? file.name : file.name;
  const lines = isThere
    ? (await repository.fileLines({ path: held, checkin, count: 1 })).total_lines
    : 0;
  if (line <= lines) return;
  const limit = lines === 0 ? "has no line" : `ends at line ${lines}`;
  throw new Invalid(`"line_number": "${held}" ${limit} on the side "${side}"`);
}
