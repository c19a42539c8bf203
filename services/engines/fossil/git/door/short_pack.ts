/** Packs that are so short that they are made at once, in memory. */
import { joinBytes } from "../../codec/mod.ts";
import type { GitCompanion } from "./companion.ts";
import type { Negotiation } from "./negotiation.ts";
import { type PackOptions, writePack } from "./packing.ts";
import { marked, rowsOf } from "./rows.ts";
import { type PackWishes, planCommits, planPack } from "./plan.ts";

/** Most commits, and most trees and files together. */
const [MAX_COMMITS, MAX_OBJECTS] = [50, 1000];
/** Most bytes of files before they are packed, and of the pack. */
const [MAX_FILE_BYTES, MAX_PACK_BYTES] = [4 * 1024 * 1024, 96 * 1024];

/** Ends the writing of a pack. */
class TooLong extends Error {}

/** Writes a pack, if it is short; else null. Needs an update of the companion before. */
export function writeShortPack(
  companion: GitCompanion,
  negotiation: Negotiation,
  wishes: PackWishes & Omit<PackOptions, "kept">,
): Uint8Array | null {
  const planned = planCommits(companion, negotiation, wishes);
  if (planned.commits.length > MAX_COMMITS) return null;
  const plan = planPack(companion, negotiation, wishes, planned);
  if (plan.treeCount + plan.fileCount > MAX_OBJECTS) return null;
  let fileBytes = 0;
  const sizes = "SELECT size FROM file WHERE rid IN (?)";
  for (const { size } of rowsOf<{ size: number }>(companion.db, sizes, marked(plan.files))) {
    fileBytes += size;
  }
  if (fileBytes > MAX_FILE_BYTES) return null;
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  try {
    writePack(companion, plan, { ...wishes, kept: null }, (piece) => {
      bytes += piece.length;
      if (bytes > MAX_PACK_BYTES) throw new TooLong();
      pieces.push(piece.slice());
    });
  } catch (error) {
    if (error instanceof TooLong) return null;
    throw error;
  }
  return joinBytes(pieces);
}
