import type { ProjectPlace } from "../page.ts";

/** The parts of a project. */
const TABS = [
  ["code", "", "Code"],
  ["timeline", "/timeline", "Timeline"],
  ["tickets", "/tickets", "Tickets"],
  ["reviews", "/reviews", "Reviews"],
  ["workspaces", "/workspaces", "Workspaces"],
  ["landing", "/landing", "Landing"],
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
};

/** The tab of a page, by the part of its address behind the project. */
export function tabOf(part: string): ProjectTab {
  const own = TABS.find(([id]) => id === part);
  return own?.[0] ?? TABS_OF_PAGES[part] ?? "code";
}

/** The head of every page of a project: its name, and the way to its parts. */
export function ProjectBar(
  { slug, name, visibility, tab, mayAdmin = true }: ProjectPlace & { readonly isHeading: boolean },
) {
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
              </a>
            </li>
          ))}
        </ul>
      </nav>
    </header>
  );
}
