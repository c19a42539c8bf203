import { z } from "zod";
import type { SearchKind, SearchMatch } from "../../engines/fossil/mod.ts";
import type { ProjectRepositories } from "../projects/mod.ts";
import { operation, RepositoryRead } from "../projects/operation.ts";
import { pageOf, pageParameters, rangeOf } from "../projects/schemas.ts";
import { requireWords } from "./project_search.ts";
import { GROUPS, searchParameters, searchSchema } from "./schemas.ts";

/** The kinds of a search that names none. */
const DEFAULT_KINDS: readonly SearchKind[] = ["checkin", "ticket", "wiki"];

export const searchProject = operation({
  http: "GET /api/search",
  needs: "read",
  summary: "Full text search, best matches first",
  description: 'All words must occur; `"a phrase"`, `prefix*` and `-without` also work. Searches ' +
    "check-in comments, tickets with their comments, and wiki pages, or only one `kind`; `code` is " +
    "the files at the tip of the main branch. Each group has its own pages.",
  input: z.object({ ...pageParameters, ...searchParameters }),
  ok: { schema: searchSchema, description: "The matches" },
  isRead: true,
}, (
  { hosting: { repositories: { indexes } } }: {
    readonly hosting: { readonly repositories: Pick<ProjectRepositories, "indexes"> };
  },
  { q = "", kind, ...page },
  { project },
) => {
  const query = requireWords(q);
  const kinds = kind === undefined ? DEFAULT_KINDS : [kind];
  return new RepositoryRead(
    async (repository) => {
      const results = await repository.searchEach({ query, kinds, ...rangeOf(page) });
      const is_complete = results.every((result) => result.is_complete);
      if (!is_complete) indexes.update(project);
      const groups = results.map(({ kind, matches }) => [GROUPS[kind], matches.map(withoutKind)]);
      const totals = results.map(({ kind, total }) => [GROUPS[kind], total] as const);
      const { total_pages } = pageOf(page, Math.max(...totals.map(([, total]) => total)));
      const total = totals.reduce((sum, [, count]) => sum + count, 0);
      return {
        ...Object.fromEntries(groups),
        is_complete,
        totals: Object.fromEntries(totals),
        ...pageOf(page, total),
        total_pages,
      };
    },
    "all",
    { isProvisional: ({ is_complete }) => !is_complete },
  );
});

function withoutKind({ kind: _, ...match }: SearchMatch) {
  return match;
}
