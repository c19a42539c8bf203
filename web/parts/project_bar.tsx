import { ServiceError } from "../../services/kernel/errors.ts";
import { accessOf } from "../../services/work/projects/mod.ts";
import type { ProjectPlace } from "../page.ts";
import type { Visit } from "../visit.ts";

/** The parts of a project. */
const TABS = [
  ["code", "", "Code"],
  ["timeline", "/timeline", "Timeline"],
  ["tickets", "/tickets", "Tickets"],
  ["reviews", "/reviews", "Reviews"],
  ["workspaces", "/workspaces", "Workspaces"],
  ["landing", "/landing", "Landing"],
  ["runs", "/runs", "Checks"],
  ["wiki", "/wiki", "Wiki"],
  ["branches", "/branches", "Branches"],
  ["tags", "/tags", "Tags"],
  ["releases", "/releases", "Releases"],
  ["search", "/search", "Search"],
  ["settings", "/settings", "Settings"],
] as const;

/** The name of a tab. */
export type ProjectTab = (typeof TABS)[number][0];

/** The tabs of pages whose addresses do not begin with the name of one. */
const TABS_OF_PAGES: Readonly<Record<string, ProjectTab>> = {
  checkin: "timeline",
  contributors: "timeline",
  technotes: "wiki",
  forum: "wiki",
  compare: "branches",
  jobs: "runs",
};

/** The tab of a page, by the part of its address behind the project. */
export function tabOf(part: string): ProjectTab {
  const own = TABS.find(([id]) => id === part);
  return own?.[0] ?? TABS_OF_PAGES[part] ?? "code";
}

/** How much waits behind a tab: the words for it, and the events after which it may have changed. */
const COUNTED = {
  tickets: { words: "open", on: "ticket" },
  reviews: { words: "open", on: "review" },
  branches: { words: "not merged", on: "checkin tag workspace" },
} as const satisfies Partial<Record<ProjectTab, unknown>>;

type Counts = Readonly<Partial<Record<ProjectTab, number>>>;

/** The head of every page of a project: its name, and the way to its parts. */
export async function ProjectBar({ visit, place }: {
  readonly visit: Visit;
  readonly place: ProjectPlace;
}) {
  const { slug, name, visibility, tab, mayAdmin = true } = place;
  const counts = await countsOf(visit, slug);
  return (
    <header class="project-bar">
      <p class="project-name">
        <a href={`/projects/${slug}`}>{name}</a> <span class="badge">{visibility}</span>
      </p>
      <nav aria-label="Project">
        <ul>
          {TABS.filter(([id]) => id !== "settings" || mayAdmin).map(([id, path, words]) => (
            <li>
              <a href={`/projects/${slug}${path}`} aria-current={id === tab ? "page" : undefined}>
                {words}
                <Count tab={id} counts={counts} />
              </a>
            </li>
          ))}
        </ul>
      </nav>
    </header>
  );
}

/** The number beside a tab; nothing for 0. */
function Count({ tab, counts }: { readonly tab: ProjectTab; readonly counts: Counts }) {
  if (!isCounted(tab)) return null;
  const { words, on } = COUNTED[tab];
  const count = counts[tab] ?? 0;
  return (
    <span class="tab-count" data-live-part={`count-${tab}`} data-live-on={on}>
      {count > 0 && (
        <>
          {" "}
          <span class="badge">
            {count.toLocaleString("en")}
            <span class="hidden-text">{` ${words}`}</span>
          </span>
        </>
      )}
    </span>
  );
}

function isCounted(tab: ProjectTab): tab is keyof typeof COUNTED {
  return Object.hasOwn(COUNTED, tab);
}

/** What waits in a project; nothing if the visitor may not read it, or it cannot be read now. */
async function countsOf({ services, principal }: Visit, slug: string): Promise<Counts> {
  const { projects, repositories: { openWork }, reviews } = services.hosting;
  const held = projects.find(slug);
  if (held === null || !accessOf(held, principal).may("read")) return {};
  try {
    const [{ open_tickets: tickets, unmerged_branches: branches }, open] = await Promise.all([
      openWork.of(held.project),
      reviews.openCounts.of(held.project),
    ]);
    return { tickets, branches, reviews: open };
  } catch (error) {
    // The page itself says why it has no project to show.
    if (error instanceof ServiceError) return {};
    throw error;
  }
}
