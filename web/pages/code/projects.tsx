import { FolderGit2, Star } from "lucide-static";
import type { LastEvent } from "../../../services/engines/events/mod.ts";
import { definePage, type View } from "../../page.ts";
import { Icon } from "../../parts/icon.tsx";
import { Empty, Pager } from "../../parts/lists.tsx";
import { Time } from "../../parts/time.tsx";
import { type Visit, withQuery } from "../../visit.ts";

/** The projects that the visitor sees. */
export const page = definePage({ opens: "anybody", show });

const PER_PAGE = 50;

type Reachable = ReturnType<Visit["reachable"]>[number];

/** A project with its last event, if the log has one. */
type Listed = readonly [project: Reachable, last: LastEvent | undefined];

async function show(visit: Visit): Promise<View> {
  const all = visit.reachable();
  const wanted = visit.query("q")?.trim().toLowerCase() ?? "";
  const order = visit.query("sort") ?? "name";
  const found = all.filter((project) => matches(project, wanted));
  const sorted = inOrder(await withActivity(visit, found), order);
  const pages = Math.max(1, Math.ceil(sorted.length / PER_PAGE));
  const page = Math.min(visit.pageNumber, pages);
  const body = (
    <>
      <div class="page-head">
        <h1>Projects</h1>
        {visit.isAdmin && <a class="button primary" href="/projects/new">New project</a>}
      </div>
      <form class="row search-row" role="search">
        <label class="hidden-text" for="q">Search projects</label>
        <input
          id="q"
          name="q"
          type="search"
          value={visit.query("q")}
          placeholder="Search projects"
        />
        <label class="hidden-text" for="sort">Order</label>
        <select id="sort" name="sort">
          <option value="name">By name</option>
          <option value="activity" selected={order === "activity"}>By last activity</option>
          <option value="stars" selected={order === "stars"}>By stars</option>
        </select>
        <button type="submit">Search</button>
      </form>
      <p class="hint">
        Searches names and descriptions.{" "}
        <a href={withQuery("/search", { q: wanted || undefined })}>Search in all projects</a>
      </p>
      {sorted.length === 0
        ? <NoProjects visit={visit} isSearch={wanted !== ""} />
        : (
          <ul class="list" data-keys="list">
            {sorted.slice((page - 1) * PER_PAGE, page * PER_PAGE).map((listed) => (
              <li>
                <ProjectEntry listed={listed} />
              </li>
            ))}
          </ul>
        )}
      <Pager visit={visit} page={page} pages={pages} />
      <ClosedProjects visit={visit} reachable={all} />
    </>
  );
  return { title: "Projects", hasPlaces: true, body };
}

function matches({ name, slug, description }: Reachable, wanted: string): boolean {
  return wanted === "" || `${name}\n${slug}\n${description}`.toLowerCase().includes(wanted);
}

async function withActivity(visit: Visit, projects: readonly Reachable[]): Promise<Listed[]> {
  const { eventLog, hosting } = visit.services;
  const last = await eventLog.lastOfProjects();
  return projects.map((project) => {
    const id = hosting.projects.find(project.slug)?.project.id ?? "";
    return [project, last.get(id)];
  });
}

function inOrder(listed: readonly Listed[], order: string): readonly Listed[] {
  if (order === "stars") return listed.toSorted(([one], [two]) => two.star_count - one.star_count);
  if (order === "activity") {
    return listed.toSorted(([, one], [, two]) => (two?.seq ?? 0) - (one?.seq ?? 0));
  }
  return listed;
}

function ProjectEntry({ listed: [project, last] }: { readonly listed: Listed }) {
  const { slug, name, description, visibility, star_count, archived } = project;
  return (
    <>
      <div class="row">
        <Icon svg={FolderGit2} />
        <a class="strong" href={`/projects/${slug}`}>{name}</a>
        <span class="badge">{visibility}</span>
        {archived && <span class="badge warn">archived</span>}
        <span class="soft small end">
          {last !== undefined && (
            <span>
              active <Time at={new Date(last.time).toISOString()} />
            </span>
          )} <Icon svg={Star} /> {star_count}
          <span class="hidden-text">{star_count === 1 ? " star" : " stars"}</span>
        </span>
      </div>
      {description !== "" && <p class="soft entry-text">{description}</p>}
    </>
  );
}

/** The projects that an admin manages without a role in them, which would open them. */
function ClosedProjects({ visit, reachable }: {
  readonly visit: Visit;
  readonly reachable: readonly Reachable[];
}) {
  if (!visit.isAdmin) return null;
  const open = new Set(reachable.map(({ slug }) => slug));
  const closed = visit.services.hosting.projects.all()
    .map(({ project }) => project).filter(({ slug }) => !open.has(slug));
  if (closed.length === 0) return null;
  return (
    <section aria-labelledby="closed">
      <h2 id="closed">Projects that you are not a member of</h2>
      <p class="soft">Make yourself a member to see them.</p>
      <ul class="list" data-keys="list">
        {closed.slice(0, PER_PAGE).map(({ slug, name }) => (
          <li class="row">
            <Icon svg={FolderGit2} /> {name}
            <a class="end" href={`/projects/${slug}/settings/members`}>
              Members<span class="hidden-text">of {name}</span>
            </a>
          </li>
        ))}
      </ul>
      {closed.length > PER_PAGE && <p class="soft small">and {closed.length - PER_PAGE} more</p>}
    </section>
  );
}

function NoProjects({ visit, isSearch }: { readonly visit: Visit; readonly isSearch: boolean }) {
  if (isSearch) {
    return (
      <Empty>
        No project matches. <a href="/projects">Show all</a>
      </Empty>
    );
  }
  if (visit.isAdmin) {
    return (
      <Empty>
        There is no project yet.{" "}
        <a href="/projects/new">Make the first one</a>, empty or from a repository of Git or Fossil.
      </Empty>
    );
  }
  return (
    <Empty>
      There is no project that you may see.{" "}
      {visit.session === null && <a href="/login?next=%2Fprojects">Log in to see more</a>}
    </Empty>
  );
}
