import { FolderGit2 } from "lucide-static";
import { Invalid } from "../../services/kernel/errors.ts";
import type { Finding, FoundProject } from "../../services/work/search/mod.ts";
import { ProjectAddresses } from "../addresses.ts";
import { definePage, type View } from "../page.ts";
import { Icon } from "../parts/icon.tsx";
import { Empty } from "../parts/lists.tsx";
import { MatchEntry, SearchHint } from "../parts/matches.tsx";
import { SEARCH_KINDS, SearchEverywhere } from "../parts/project_search.tsx";
import { type Visit, withQuery } from "../visit.ts";

/** Full text search in all projects that the visitor may read. */
export const page = definePage({ opens: "anybody", show });

/** Projects that are shown because of their names. */
const MAX_NAMED = 5;

/** Characters of the words that the title repeats. */
const MAX_TITLE = 100;

type Kind = (typeof SEARCH_KINDS)[number][0];

/** What the visitor looks for. */
interface Sought {
  readonly q: string;
  readonly kind: Kind | undefined;
}

async function show(visit: Visit): Promise<View> {
  const q = visit.query("q")?.trim() ?? "";
  const [kind] = SEARCH_KINDS.find(([name]) => name === visit.query("kind")) ?? [];
  const sought = { q, kind };
  const after = visit.query("after");
  const finding = q === "" ? null : await findingOf(visit, sought, after);
  const body = (
    <>
      <h1>Search</h1>
      <SearchEverywhere {...sought} />
      <SearchHint>
        <a href="/channels">Channels</a> have a search of their own.
      </SearchHint>
      {finding instanceof Invalid && <p class="notice bad" role="alert">{finding.message}.</p>}
      {finding !== null && !(finding instanceof Invalid) && (
        <>
          {after === undefined && kind === undefined && <NamedProjects visit={visit} q={q} />}
          <Findings {...{ visit, finding, sought }} />
        </>
      )}
    </>
  );
  return {
    title: q === "" ? "Search" : `${q.slice(0, MAX_TITLE)} · Search`,
    status: finding instanceof Invalid ? 400 : 200,
    hasPlaces: true,
    body,
  };
}

/** What was found, or why the words are refused. */
async function findingOf(
  visit: Visit,
  { q: query, kind }: Sought,
  after: string | undefined,
): Promise<Finding | Invalid> {
  try {
    return await visit.services.hosting.search.search(visit.principal, { query, kind, after });
  } catch (error) {
    if (error instanceof Invalid) return error;
    throw error;
  }
}

/** Projects with the words in their names or descriptions. */
function NamedProjects({ visit, q }: { readonly visit: Visit; readonly q: string }) {
  const wanted = q.toLowerCase();
  const named = visit.reachable().filter(({ name, slug, description }) =>
    `${name}\n${slug}\n${description}`.toLowerCase().includes(wanted)
  );
  if (named.length === 0) return null;
  return (
    <section class="matches" aria-labelledby="named">
      <h2 id="named">Projects</h2>
      <ul class="list" data-keys="list">
        {named.slice(0, MAX_NAMED).map(({ slug, name, description }) => (
          <li>
            <div class="row">
              <Icon svg={FolderGit2} />
              <a class="strong" href={`/projects/${slug}`}>{name}</a>
            </div>
            {description !== "" && <p class="soft entry-text">{description}</p>}
          </li>
        ))}
      </ul>
      {named.length > MAX_NAMED && (
        <p>
          <a href={withQuery("/projects", { q })}>
            All {named.length.toLocaleString("en")} projects
          </a>
        </p>
      )}
    </section>
  );
}

function Findings({ visit, finding, sought }: {
  readonly visit: Visit;
  readonly finding: Finding;
  readonly sought: Sought;
}) {
  const { found, searched, unsearched, left, next } = finding;
  const shown = found.filter(({ total }) => total > 0);
  const isPartial = found.some(({ isComplete }) => !isComplete);
  return (
    <>
      {isPartial && <p class="notice">A project is being indexed: some matches can be missing.</p>}
      {unsearched.length > 0 && (
        <p class="notice">These could not be searched now: {unsearched.join(", ")}.</p>
      )}
      {shown.length === 0 && (
        <Empty>
          Nothing matches in {projectsOf(searched)}.{" "}
          {/^[\p{L}\p{N}_]+$/u.test(sought.q) && (
            <a href={withQuery("/search", { q: `${sought.q}*`, kind: sought.kind })}>
              Search for words that begin with {sought.q}
            </a>
          )}
        </Empty>
      )}
      {shown.map((project) => <InProject {...{ visit, project, sought }} />)}
      {next !== null && (
        <p>
          <a class="button" href={withQuery("/search", { ...sought, after: next })}>
            Search in {left.toLocaleString("en")} more
          </a>
        </p>
      )}
    </>
  );
}

/** The best matches in one project. */
function InProject({ visit, project: { held, matches, total }, sought }: {
  readonly visit: Visit;
  readonly project: FoundProject;
  readonly sought: Sought;
}) {
  const { slug, name } = held.project;
  const to = new ProjectAddresses(slug, visit.services.config.projects.scm);
  const heading = `in-${slug}`;
  return (
    <section class="matches" aria-labelledby={heading}>
      <h2 id={heading}>
        <a href={to.home}>{name}</a> <span class="badge">{total.toLocaleString("en")}</span>
      </h2>
      <ul class="list" data-keys="list">
        {matches.map((match) => (
          <MatchEntry to={to} match={match} isAmongOthers={sought.kind === undefined} />
        ))}
      </ul>
      {total > matches.length && (
        <p>
          <a href={to.at("/search", { ...sought })}>
            All {total.toLocaleString("en")} in {name}
          </a>
        </p>
      )}
    </section>
  );
}

function projectsOf(count: number): string {
  return count === 1 ? "one project" : `${count.toLocaleString("en")} projects`;
}
