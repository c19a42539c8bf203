/** Checks whether a stream without `done` at its end may have been cut short. */
import { FossilError } from "../error.ts";
import type { Intake } from "./intake.ts";
import type { NoticeLog } from "./notices.ts";

/** A completely read stream. */
export interface ReadStream {
  readonly intake: Intake;
  /** Parents by commit, parents before children. */
  readonly parents: readonly (readonly number[])[];
  readonly notices: NoticeLog;
}

const ADVICE = "make it anew with git for-each-ref --format='%(refname)' refs/heads refs/tags | " +
  "git fast-export --stdin --mark-tags --use-done-feature --signed-tags=verbatim --reencode=yes";
const PARTIAL_ADVICE = "or import it as it is with --partial";

/**
 * Looks for signs that a stream without `done` ended too early. `git fast-export` writes the
 * commits first, often under the name of a tag, and then where the branches and tags point.
 *
 * @param isAccepted true imports such a stream anyway, with a notice; false refuses it and names
 * the option that would import it; undefined only refuses it.
 * @throws {FossilError} `invalid` if it is not.
 */
export function checkCompleteness(stream: ReadStream, isAccepted: boolean | undefined): void {
  const sign = signOfLoss(stream);
  if (sign === null) return;
  const message = `The stream ends without "done" and ${sign}`;
  if (isAccepted !== true) {
    const advice = isAccepted === undefined ? ADVICE : `${ADVICE}, ${PARTIAL_ADVICE}`;
    throw new FossilError("invalid", `${message}: ${advice}`);
  }
  stream.notices.add("partial", "end of the stream", message);
}

function signOfLoss({ intake, parents }: ReadStream): string | null {
  const branches = [...intake.refs].filter(([ref]) => ref.startsWith("refs/heads/"));
  if (branches.length === 0) return "has no branch";
  const reached = new Uint8Array(parents.length);
  for (const [, tip] of branches) reached[tip] = 1;
  for (const tip of intake.namedTips()) reached[tip] = 1;
  let lost = 0;
  for (let commit = parents.length - 1; commit >= 0; commit--) {
    if (reached[commit] === 0) lost++;
    else for (const parent of parents[commit]!) reached[parent] = 1;
  }
  return lost === 0 ? null : `no branch reaches ${lost} of its ${parents.length} commits`;
}
