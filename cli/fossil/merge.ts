import { amount } from "../../services/kernel/words.ts";
import {
  branchOf,
  type MergePreview,
  type MergeResult,
  previewMerge,
  previewPick,
  resolveCheckin,
  writeMerge,
  writePick,
} from "../../services/engines/fossil/mod.ts";
import { CommandFailed, print, table, visible } from "../output.ts";
import { printJson, reading, type Session, type WriteOptions, writingAs } from "./session.ts";

interface MergeOptions extends WriteOptions {
  readonly into?: string;
  readonly message?: string;
  readonly integrate?: boolean;
  readonly cherrypick?: boolean;
  readonly backout?: boolean;
  readonly dryRun?: boolean;
}

/** `muster fossil merge`: merges a branch or check-in, picks one or backs one out. */
export async function merge(file: string, name: string, options: MergeOptions): Promise<void> {
  const result = options.dryRun === true
    ? await reading(
      file,
      (session) => ({ checkin: null, preview: preview(session, name, options) }),
    )
    : await write(file, name, options);
  const { checkin, preview: { isMerged, conflicts, files } } = result;
  if (options.json === true) printJson({ uuid: checkin, files, conflicts });
  else printResult(result);
  if (isMerged) throw new CommandFailed(`"${name}" is already merged`);
  if (conflicts.length > 0) {
    throw new CommandFailed(`Nothing is merged: ${amount(conflicts.length, "file")} in conflict`);
  }
}

function write(file: string, name: string, options: MergeOptions): Promise<MergeResult> {
  const { cherrypick = false, backout = false, integrate = false, message } = options;
  return writingAs(file, options, (session, author) => {
    const { ours, theirs } = sidesOf(session, name, options);
    const comment = message === undefined ? {} : { comment: message };
    return cherrypick || backout
      ? writePick(session.repository, {
        ...author,
        ...comment,
        onto: ours,
        checkin: theirs,
        backout,
      })
      : writeMerge(session.repository, { ...author, ...comment, ours, theirs, integrate });
  });
}

function preview(session: Session, name: string, options: MergeOptions): MergePreview {
  const { repository } = session;
  const { ours, theirs } = sidesOf(session, name, options);
  const { cherrypick = false, backout = false } = options;
  return cherrypick || backout
    ? previewPick(repository, { onto: ours, checkin: theirs, backout })
    : previewMerge(repository, { ours, theirs });
}

/** Hashes of the tip to merge into, and of the check-in to merge. */
function sidesOf(
  { reader, repository }: Session,
  name: string,
  { into }: MergeOptions,
): { ours: string; theirs: string } {
  const ours = resolveCheckin(reader, into).uuid;
  if (into !== undefined && branchOf(repository, ours) !== into) {
    throw new CommandFailed(`There is no branch "${into}"`);
  }
  return { ours, theirs: resolveCheckin(reader, name).uuid };
}

function printResult({ checkin, preview: { files, conflicts } }: MergeResult): void {
  if (checkin !== null) print(checkin);
  else if (conflicts.length > 0) {
    print(table(["CONFLICT", "FILE"], conflicts.map(({ kind, path }) => [kind, path])));
  } else {
    for (const { kind, path } of files) print(`${kind} ${visible(path)}`);
  }
}
