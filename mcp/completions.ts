import type { ProjectApi } from "../routes/projects/project_api.ts";
import type { Principal } from "../services/people/identity/mod.ts";

/** Most values of one answer, as the protocol has it. */
const MAX_VALUES = 100;

/** Most projects that are searched for those with a beginning. */
const MAX_SEARCHED = 1000;

/** The values that an argument may take. */
export interface Completion {
  readonly values: string[];
  readonly hasMore: boolean;
}

/**
 * Completes an argument of a prompt or a part of a resource's URI: the slug of a project. For other
 * arguments there are no values.
 *
 * @param argument its name, and what the user has written of it
 */
export function completionOf(
  { name, value }: { readonly name: string; readonly value: string },
  principal: Principal,
  api: Pick<ProjectApi, "reachable">,
): Completion {
  if (name !== "slug") return { values: [], hasMore: false };
  const { projects } = api.reachable(principal, { limit: MAX_SEARCHED, offset: 0 });
  const found = projects.map(({ slug }) => slug).filter((slug) => slug.startsWith(value));
  return { values: found.slice(0, MAX_VALUES), hasMore: found.length > MAX_VALUES };
}
