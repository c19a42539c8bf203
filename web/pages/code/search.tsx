import type { Child } from "hono/jsx";
import type { z } from "zod";
import type { searchSchema } from "../../../routes/projects/search.ts";
import type { ProjectAddresses } from "../../addresses.ts";
import { definePage, type View } from "../../page.ts";
import { firstLine } from "../../parts/files.tsx";
import { Empty, Pager } from "../../parts/lists.tsx";
import { Time } from "../../parts/time.tsx";
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

/** A match in the form that the page shows. */
interface Match {
  readonly to: string;
  readonly title: string;
  readonly about: Child;
  readonly snippet: string;
  readonly highlights: readonly (readonly [number, number])[];
}

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
      project.read<Found>("/api/search", { q, kind: name, page: visit.pageNumber, per_page })
    ),
  );
  const total = answers.reduce((sum, answer) => sum + answer.total, 0);
  const isPartial = answers.some(({ is_complete }) => !is_complete);
  const body = (
    <>
      <h1>Search</h1>
      <ProjectSearch slug={project.slug} q={visit.query("q")} kind={kind?.[0] ?? ""} />
      <p class="hint">
        Finds whole words, and all of them must occur. <code>start*</code>{" "}
        finds words that begin so; <code>"a phrase"</code> and <code>-without</code> also work.
      </p>
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
        {matchesOf(project.to, answer, kind).map((match) => (
          <li>
            <div class="row">
              <a class="strong" href={match.to}>{match.title}</a>
              <span class="soft small">{match.about}</span>
            </div>
            <p class={name === "code" ? "snippet mono" : "snippet"}>
              {marked(match.snippet, match.highlights)}
            </p>
          </li>
        ))}
      </ul>
      {!isOnly && total > FEW && (
        <p>
          <a href={all}>All {total.toLocaleString("en")} in {words.toLowerCase()}</a>
        </p>
      )}
    </section>
  );
}

function matchesOf(to: ProjectAddresses, found: Found, [kind]: Kind): Match[] {
  switch (kind) {
    case "code":
      return (found.code ?? []).map((match) => ({
        ...match,
        to: withQuery(to.file(match.checkin, match.path), { line: match.line }),
        title: match.path,
        about: `line ${match.line}`,
      }));
    case "checkin":
      return (found.checkins ?? []).map((match) => ({
        ...match,
        to: to.checkin(match.uuid),
        title: firstLine(match.comment),
        about: (
          <>
            {match.user}, <Time at={match.timestamp} />
          </>
        ),
      }));
    case "ticket":
      return (found.tickets ?? []).map((match) => ({
        ...match,
        to: to.ticket(match.uuid),
        title: match.title || "(no title)",
        about: (
          <>
            {match.status}, <Time at={match.created} />
          </>
        ),
      }));
    case "wiki":
      return (found.wiki ?? []).map((match) => ({
        ...match,
        to: to.wiki(match.name),
        title: match.name,
        about: <Time at={match.last_modified} />,
      }));
    case "technote":
      return (found.technotes ?? []).map((match) => ({
        ...match,
        to: to.at(`/technotes/${match.id}`),
        title: firstLine(match.comment),
        about: <Time at={match.last_modified} />,
      }));
    case "forum":
      return (found.forum ?? []).map((match) => ({
        ...match,
        to: to.at(`/forum/${match.uuid}`),
        title: match.title,
        about: <Time at={match.last_modified} />,
      }));
  }
}

/** A text whose matching words are marked. */
function marked(text: string, highlights: Match["highlights"]): Child[] {
  const parts: Child[] = [];
  let end = 0;
  for (const [start, stop] of highlights) {
    if (start < end) continue;
    parts.push(text.slice(end, start), <mark>{text.slice(start, stop)}</mark>);
    end = stop;
  }
  return [...parts, text.slice(end)];
}
