import { z } from "zod";
import { searchProject } from "../../services/work/search/operations.ts";
import { GROUPS } from "../../services/work/search/schemas.ts";
import { Invalid } from "../../services/kernel/errors.ts";
import { listCut, partShape } from "../parts.ts";
import { type Tool, tool } from "../tool.ts";

const KINDS = ["code", "checkin", "ticket", "wiki", "technote", "forum"] as const;

/** What a call that names no kind searches. */
const DEFAULT_KINDS = ["code", "checkin", "ticket", "wiki"] as const;

const match = z.looseObject({ snippet: z.string().describe("Text around the match") });

const searchCode = tool({
  name: "search_project",
  description:
    "Searches files, check-in comments, tickets and wiki pages for words, best matches " +
    'first. All words must occur; "a phrase", prefix* and -without also work. Then ' +
    "get_file, get_ticket or get_wiki_page.",
  does: searchProject,
  input: {
    query: z.string().min(1).max(1000).describe("Words to look for"),
    kind: z.enum(KINDS).optional().describe("Search only this; with it, offset reads on"),
    ...partShape(25),
  },
  output: {
    code: z.array(match.extend({ path: z.string(), line: z.int() })).optional(),
    checkins: z.array(match.extend({ uuid: z.string() })).optional(),
    tickets: z.array(match.extend({ uuid: z.string(), title: z.string() })).optional(),
    wiki: z.array(match.extend({ name: z.string() })).optional(),
    technotes: z.array(match).optional(),
    forum: z.array(match).optional(),
    totals: z.record(z.string(), z.int()).describe("All matches of each kind"),
    is_complete: z.boolean()
      .describe("False while the repository is being indexed: matches can be missing"),
  },
  async run({ query, kind, limit, offset }, project) {
    const totals: Record<string, number> = {};
    const found: Record<string, readonly unknown[]> = {};
    let isComplete = true;
    if (query.trim() === "") throw new Invalid('"query" must have a word');
    const kinds = kind === undefined ? DEFAULT_KINDS : [kind];
    for (const searched of kinds) {
      const group = GROUPS[searched];
      const { answer, entries } = await project.part(
        { limit, offset },
        (page) => project.invoke(searchProject, { q: query, kind: searched, ...page }),
        (answer) => (answer[group] ?? []).map(withoutHighlights),
      );
      isComplete &&= answer.is_complete;
      totals[group] = answer.total;
      found[group] = entries;
    }
    const groups = Object.keys(found);
    return {
      data: { ...found, totals, is_complete: isComplete },
      cuts: groups.toReversed().map((group) => {
        const part = { first: offset, total: totals[group] ?? 0 };
        const cut = listCut(group, `matches in ${group}`, part);
        if (kind !== undefined) return cut;
        const ownKind = kinds.find((one) => GROUPS[one] === group);
        return { ...cut, next: (position) => ({ kind: ownKind, offset: position }) };
      }),
    };
  },
});

function withoutHighlights({ highlights: _, ...match }: { readonly highlights: unknown }) {
  return match;
}

/** `search_project`. */
export const searchTools: readonly Tool[] = [searchCode];
