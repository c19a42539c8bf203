import type { ReviewServices } from "../../work/reviews/mod.ts";
import type { Claims } from "../../work/tickets/mod.ts";
import type { Workspaces } from "../../work/workspaces/mod.ts";

/**
 * What an account works on in all projects: its claims from memory, its active workspaces and open
 * reviews in one query each.
 *
 * @param key of the account
 * @param limit most entries of each list
 */
export async function workloadOf(
  { claims, workspaces, reviews }: Pick<ReviewServices, "reviews"> & {
    readonly claims: Pick<Claims, "heldBy">;
    readonly workspaces: Pick<Workspaces, "activeOf">;
  },
  key: string,
  limit: number,
) {
  const [opened, asked] = await Promise.all([
    workspaces.activeOf(key, limit),
    reviews.store.openBy(key, limit),
  ]);
  return { claims: claims.heldBy(key).slice(0, limit), workspaces: opened, reviews: asked };
}
