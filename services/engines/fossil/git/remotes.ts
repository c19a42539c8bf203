/** Leaves out what a clone remembers of its remotes. */
import { FossilError } from "../error.ts";
import type { Intake } from "./intake.ts";
import type { NoticeLog } from "./notices.ts";

const REMOTES = "refs/remotes/";

/** The references and commits of a completely read stream. */
interface ReadNames {
  readonly intake: Pick<Intake, "refs" | "tags">;
  /** Parents by commit, parents before children. */
  readonly parents: readonly (readonly number[])[];
  readonly notices: NoticeLog;
}

/** Commits that are not imported. */
export interface LeftOut {
  readonly size: number;
  has(commit: number): boolean;
}

/**
 * Removes the references of remotes, and finds the commits that only these reach. They are as old
 * as the last `git fetch`, and nobody can merge or close them here. Each removed reference with
 * such commits gets a notice.
 *
 * @throws {FossilError} `invalid` if nothing else is in the stream.
 */
export function leaveOutRemotes({ intake, parents, notices }: ReadNames): LeftOut {
  const { refs, tags } = intake;
  const remotes = [...refs].filter(([ref]) => ref.startsWith(REMOTES));
  if (remotes.length === 0) return { size: 0, has: () => false };
  for (const [ref] of remotes) refs.delete(ref);
  const [remote, kept] = [new Uint8Array(parents.length), new Uint8Array(parents.length)];
  for (const [, tip] of remotes) remote[tip] = 1;
  for (const tip of refs.values()) kept[tip] = 1;
  for (const { commit } of tags.values()) kept[commit] = 1;
  let size = 0;
  for (let commit = parents.length - 1; commit >= 0; commit--) {
    if (remote[commit] === 0) kept[commit] = 1;
    if (kept[commit] === 0) size++;
    for (const parent of parents[commit]!) {
      if (kept[commit] === 1) kept[parent] = 1;
      else remote[parent] = 1;
    }
  }
  if (size === parents.length) {
    throw new FossilError(
      "invalid",
      'The stream has only branches of remotes: export a clone made with "git clone --mirror"',
    );
  }
  for (const [ref, tip] of remotes) {
    if (kept[tip] === 1) continue;
    const message = 'A branch of a remote was left out; "git clone --mirror" makes it a branch';
    notices.add("ref", ref, message);
  }
  return { size, has: (commit) => kept[commit] === 0 };
}
