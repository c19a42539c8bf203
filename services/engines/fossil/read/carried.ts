import type { FileCard } from "../artifact/mod.ts";
import { mergeText } from "../merge/mod.ts";
import { compareTrees } from "./changes.ts";
import { contentOrReason } from "./content.ts";
import { isBinary } from "./file.ts";
import { treeOf } from "./manifests.ts";
import type { Reader } from "./reader.ts";
import type { FileDifference } from "./shapes.ts";
import { TextMap, TextSet } from "../text/mod.ts";

/** A file difference with the old content that it is shown against. */
export interface CarriedDifference {
  readonly difference: FileDifference;
  /** The old content, where no check-in has it; null for that of `prev_uuid`. */
  readonly before: Uint8Array | null;
}

/** Four trees: two versions of a change, each with its base. */
interface Trees {
  readonly oldBase: ReadonlyMap<string, FileCard>;
  readonly newBase: ReadonlyMap<string, FileCard>;
  readonly from: ReadonlyMap<string, FileCard>;
  readonly to: ReadonlyMap<string, FileCard>;
}

/**
 * Leaves out what two versions of a change owe to their bases alone. The old version is carried over to
 * the new base, file by file, by a three-way merge; what then differs from the new version is the work
 * of the change's author. A file that cannot be carried over, because both sides changed the same lines
 * or because it is renamed, binary or deleted, is shown as it is.
 */
export function carryOver(
  reader: Reader,
  differences: readonly FileDifference[],
  { from, to, oldBase, newBase }: Readonly<Record<keyof Trees, number>>,
): CarriedDifference[] {
  const trees: Trees = {
    oldBase: filesByName(reader, oldBase),
    newBase: filesByName(reader, newBase),
    from: filesByName(reader, from),
    to: filesByName(reader, to),
  };
  const shown = new TextSet(differences.map(({ name }) => name));
  const dropped = compareTrees(treeOf(reader, oldBase), treeOf(reader, newBase))
    .filter(({ name, uuid }) => !shown.has(name) && uuid !== trees.to.get(name)?.hash);
  return [...differences, ...dropped.map((difference) => undone(difference, trees))]
    .sort((one, other) => one.name < other.name ? -1 : 1)
    .flatMap((difference) => carried(reader, difference, trees));
}

/** The difference of a file in which the new version lacks what happened between the bases. */
function undone(difference: FileDifference, { from, to }: Trees): FileDifference {
  const { name } = difference;
  const [prev_uuid, uuid] = [from.get(name)?.hash ?? null, to.get(name)?.hash ?? null];
  return { ...difference, change_type: "modified", prev_name: null, uuid, prev_uuid };
}

function carried(reader: Reader, difference: FileDifference, trees: Trees): CarriedDifference[] {
  const { name, prev_name, prev_uuid: old, uuid } = difference;
  const asItIs = [{ difference, before: null }];
  if (prev_name !== null) return asItIs;
  const [oldBase, newBase] = [trees.oldBase, trees.newBase]
    .map((tree) => tree.get(name)?.hash ?? null);
  if (oldBase === newBase || oldBase === undefined || newBase === undefined) return asItIs;
  if (old === oldBase) return newBase === uuid ? [] : against(difference, newBase);
  if (old === newBase) return uuid === old ? [] : asItIs;
  if (old === null || oldBase === null || newBase === null) return uuid === old ? [] : asItIs;
  const [ancestor, ours, theirs] = [oldBase, newBase, old]
    .map((hash) => contentOrReason(reader, hash));
  const versions = [ancestor, ours, theirs]
    .filter((version) => version instanceof Uint8Array && !isBinary(version));
  const [first, second, third] = versions as Uint8Array[];
  if (first === undefined || second === undefined || third === undefined) return asItIs;
  const { content, conflicts } = mergeText(first, second, third);
  if (conflicts > 0) return uuid === old ? [] : asItIs;
  const now = uuid === null ? null : contentOrReason(reader, uuid);
  if (now instanceof Uint8Array && areEqual(now, content)) return [];
  return [{ difference, before: content }];
}

/** The difference against another old version. */
function against(difference: FileDifference, prev_uuid: string | null): CarriedDifference[] {
  const { uuid } = difference;
  const change_type = uuid === null ? "deleted" : prev_uuid === null ? "added" : "modified";
  return [{ difference: { ...difference, change_type, prev_uuid }, before: null }];
}

function filesByName(reader: Reader, rid: number): ReadonlyMap<string, FileCard> {
  return new TextMap(treeOf(reader, rid).map((file) => [file.name, file]));
}

function areEqual(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, index) => byte === other[index]);
}
