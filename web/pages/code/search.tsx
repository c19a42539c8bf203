import type { z } from "zod";
import { searchProject } from "../../../services/work/search/operations.ts";
import type { searchSchema } from "../../../services/work/search/schemas.ts";
import type { SearchMatch } from "../../../services/engines/fossil/mod.ts";
import { definePage, type View } from "../../page.ts";
import { Empty, Pager } from "../../parts/lists.tsx";
import { MatchEntry, SearchHint } from "../../parts/matches.tsx";
import { ProjectSearch, SEARCH_KINDS } from "../../parts/project_search.tsx";
import { CodeProject } from "../../code_project.ts";
import { type Visit, withQuery } from "../../visit.ts";

/** Full text search in everything that a repository holds. */
export const page = definePage({
  opens: "anybody",
  show,
  json: (visit) => withQuery("/api/search", { q: visit.query("q"), kind: visit.query("kind") }),
});

type Found = z.output<typeof searchSchema>;

type Kind = (typeof SEARCH_KINDS)[number];

/** Matches of each kind where all are shown, and of a page of one kind. */
const [FEW, PER_PAGE] = [5, 25];

async function show(visit: Visit): Promise<View> {
  const project = new CodeProject(visit);
  const q = visit.query("q")?.trim() ?? "";
  const kind = SEARCH_KINDS.find(([name]) => name === visit.query("kind"));
  const kinds = kind === undefined ? SEARCH_KINDS : [kind];
  const per_page = kind === undefined ? FEW : PER_PAGE;
  const answers = q === "" ? [] : await Promise.all(
    kinds.map(([name]) =>
      project.invoke(searchProject, { q, kind: name, page: visit.pageNumber, per_page })
    ),
  );
  const total = answers.reduce((sum, answer) => sum + answer.total, 0);
  const isPartial = answers.some(({ is_complete }) => !is_complete);
  const body = (
    <>
      <h1>Search</h1>
      <ProjectSearch slug={project.slug} q={visit.query("q")} kind={kind?.[0] ?? ""} />
      <SearchHint>
        <a href={withQuery("/search", { q: q || undefined, kind: kind?.[0] })}>
          Search in all projects
        </a>
      </SearchHint>
      {isPartial && (
        <p class="notice">The repository is being indexed: some matches can be missing.</p>
      )}
      {q !== "" && total === 0 && (
        <Empty>
          Nothing matches.{" "}
          {/^[\p{L}\p{N}_]+$/u.test(q) && (
            <a href={project.to.at("/search", { q: `${q}*`, kind: kind?.[0] })}>
              Search for words that begin with {q}
            </a>
          )}
        </Empty>
      )}
      {kinds.map((one, index) => {
        const answer = answers[index];
        if (answer === undefined || answer.total === 0) return null;
        return groupOf({ project, answer, q, kind: one, isOnly: kind !== undefined });
      })}
      {kind !== undefined && answers[0] !== undefined && (
        <Pager visit={visit} page={answers[0].page} pages={answers[0].total_pages} />
      )}
    </>
  );
  return {
    title: `${q === "" ? "Search" : q} · ${project.view.name}`,
    body,
    project: project.place("search"),
  };
}

function groupOf({ project, answer, kind, q, isOnly }: {
  readonly project: CodeProject;
  readonly answer: Found;
  readonly kind: Kind;
  readonly q: string;
  readonly isOnly: boolean;
}) {
  const [name, , words] = kind;
  const { total } = answer;
  const all = project.to.at("/search", { q, kind: name });
  return (
    <section class="matches">
      <h2>
        {words} <span class="badge">{total.toLocaleString("en")}</span>
      </h2>
      <ul class="list" data-keys="list">
        {matchesOf(answer, kind).map((match) => <MatchEntry to={project.to} match={match} />)}
      </ul>
      {!isOnly && total > FEW && (
        <p>
          <a href={all}>All {total.toLocaleString("en")} in {words.toLowerCase()}</a>
        </p>
      )}
    </section>
  );
}

/** The matches of one kind. */
function matchesOf(found: Found, [kind]: Kind): readonly SearchMatch[] {
  switch (kind) {
    case "code":
      return (found.code ?? []).map((match) => ({ ...match, kind }));
    case "checkin":
      return (found.checkins ?? []).map((match) => ({ ...match, kind }));
    case "ticket":
      return (found.tickets ?? []).map((match) => ({ ...match, kind }));
    case "wiki":
      return (found.wiki ?? []).map((match) => ({ ...match, kind }));
    case "technote":
      return (found.technotes ?? []).map((match) => ({ ...match, kind }));
    case "forum":
      return (found.forum ?? []).map((match) => ({ ...match, kind }));
  }
}
