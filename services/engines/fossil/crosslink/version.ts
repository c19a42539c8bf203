import type { ForumPost, Technote, Wiki } from "../artifact/mod.ts";
import type { LinkContext } from "./context.ts";
import { linkParents } from "./plink.ts";
import { propagateAll } from "./tag.ts";

/** Links a version of a document to those before it. Returns the row of the first, or 0. */
export function linkVersions(
  ctx: LinkContext,
  rid: number,
  { parents, date }: Wiki | Technote | ForumPost,
): number {
  const prior = linkParents(ctx, rid, parents, date);
  if (prior !== 0) propagateAll(ctx, prior);
  return prior;
}
