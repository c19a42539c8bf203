/** A tour of the pages: every address of `web/table.ts`, for each kind of visitor. */
import { PAGES } from "../../web/table.ts";
import type { ProjectPlaces } from "./filled_project.ts";
import type { FilledServer } from "./filled_server.ts";

/** Who looks: an admin, a person who may write in `demo`, or a guest. */
export type Looker = "admin" | "person" | "guest";

/** A page to look at. */
export interface Stop {
  readonly path: string;
  /** The status of its answer. */
  readonly status: number;
}

/** The addresses that answer no page, or only a refusal. */
export const NO_PAGES: ReadonlyMap<string, string> = new Map([
  ["/oauth/authorize", "has a page only for those whom a program sends"],
  ["/projects/:slug/timeline.atom", "is a feed"],
  ["/robots.txt", "is for robots"],
]);

/** The addresses of the table in its order, which decides as in the router. */
const PATTERNS = Object.keys(PAGES).map((address) => {
  const source = address.replace(/:\w+(?:\{([^}]+)\})?/g, (_, rest = "[^/]+") => rest);
  return [address, new RegExp(`^${source}$`)] as const;
});

/** The address of the table that answers a path; undefined if none does. */
export function addressOf(path: string): string | undefined {
  const { pathname } = new URL(path, "http://here");
  return PATTERNS.find(([, pattern]) => pattern.test(pathname))?.[0];
}

/** Pages that answer. */
function seen(paths: readonly string[]): readonly Stop[] {
  return paths.map((path) => ({ path, status: 200 }));
}

/** What an admin sees on a server on which nothing has happened. */
export const EMPTY_SERVER: readonly Stop[] = seen([
  "/",
  "/agents",
  "/channels",
  "/projects",
  "/settings/llm",
  "/settings/usage",
  "/settings/bans",
]);

const DEMO = "/projects/demo";
const EMPTY = "/projects/empty";

/** What each visitor looks at, once the server is filled. */
export function stopsOf(server: FilledServer): Readonly<Record<Looker, readonly Stop[]>> {
  const { project } = server;
  return {
    admin: [
      ...seen([...serverPaths(server), ...codePaths(project), ...workPaths(project)]),
      { path: "/nowhere", status: 404 },
      { path: "/oauth/authorize", status: 400 },
      { path: `${DEMO}/wiki/Missing`, status: 404 },
    ],
    person: [...seen(personPaths(project)), { path: "/people", status: 403 }],
    guest: [...seen(guestPaths(project)), { path: EMPTY, status: 404 }],
  };
}

/** Home, the agents, the talk, and what runs the server. */
function serverPaths({ webhook }: FilledServer): readonly string[] {
  return [
    "/",
    "/agents",
    "/agents/builder",
    "/agents/revoked",
    "/questions",
    "/questions?state=closed",
    "/questions/1",
    "/questions/2",
    "/events",
    "/metrics",
    "/people",
    "/people/ann",
    "/account",
    "/halt",
    "/settings",
    "/settings/tokens",
    "/settings/policies",
    "/settings/policies?bot=unknown",
    "/settings/llm",
    "/settings/usage",
    "/settings/usage?by=model",
    "/settings/bans",
    "/settings/clients",
    "/settings/webhooks",
    `/settings/webhooks/${webhook}`,
    "/settings/runners",
    "/settings/nodes",
    "/settings/configuration",
    "/settings/doctor",
    "/channels",
    "/channels/general",
    "/channels/general?q=morning",
    "/messages/scout",
    "/projects",
    "/projects/new",
    "/search",
    "/search?q=lines",
  ];
}

/** The code of `demo`, and the same pages of a project without any. */
function codePaths({ tip, parent }: ProjectPlaces): readonly string[] {
  return [
    DEMO,
    `${DEMO}/tree/trunk`,
    `${DEMO}/tree/${tip}/src`,
    `${DEMO}/file/trunk/src/main.ts`,
    `${DEMO}/file/trunk/src/wide.txt`,
    `${DEMO}/file/trunk/docs/logo.svg`,
    `${DEMO}/blame/trunk/src/main.ts`,
    `${DEMO}/history/src/main.ts`,
    `${DEMO}/timeline`,
    `${DEMO}/timeline?type=all`,
    `${DEMO}/checkin/${parent}`,
    `${DEMO}/checkin/${tip}?layout=split`,
    `${DEMO}/compare`,
    `${DEMO}/compare/greeting...trunk`,
    `${DEMO}/branches`,
    `${DEMO}/contributors`,
    `${DEMO}/tags`,
    `${DEMO}/releases`,
    `${DEMO}/search?q=main`,
    EMPTY,
  ];
}

const SETTINGS = [
  ...["general", "members", "protection", "tickets", "checks", "webhooks", "mirror", "tokens"],
  "repository",
];

/** The work on `demo`, and the same pages of a project without any. */
function workPaths(project: ProjectPlaces): readonly string[] {
  const { ticket, technote, thread, reviews, webhook, checks } = project;
  return [
    `${DEMO}/settings`,
    ...SETTINGS.slice(1).map((part) => `${DEMO}/settings/${part}`),
    `${DEMO}/settings/webhooks?webhook=${webhook}`,
    `${DEMO}/tickets`,
    `${DEMO}/tickets?view=board`,
    `${DEMO}/tickets/new`,
    `${DEMO}/tickets/${ticket}`,
    `${DEMO}/tickets/${ticket}?view=edit`,
    `${DEMO}/workspaces`,
    `${DEMO}/workspaces/skip`,
    `${DEMO}/reviews`,
    `${DEMO}/reviews/${reviews.landing}`,
    `${DEMO}/reviews/${reviews.landing}?view=changes&at=new:1:src/main.ts`,
    `${DEMO}/reviews/${reviews.landing}?view=changes&layout=split`,
    `${DEMO}/reviews/${reviews.pending}`,
    `${DEMO}/landing`,
    `${DEMO}/runs`,
    `${DEMO}/runs/1`,
    `${DEMO}/jobs/${checks.failed}`,
    `${DEMO}/jobs/${checks.failed}?q=ok`,
    `${DEMO}/jobs/${checks.running}`,
    `${DEMO}/edit/trunk`,
    `${DEMO}/edit/trunk/docs/guide.md`,
    `${DEMO}/technotes`,
    `${DEMO}/technotes?view=new`,
    `${DEMO}/technotes/${technote}`,
    `${DEMO}/technotes/${technote}?view=edit`,
    `${DEMO}/forum`,
    `${DEMO}/forum?view=new`,
    `${DEMO}/forum/${thread}`,
    `${DEMO}/forum/${thread}?answer=${thread}`,
    `${DEMO}/wiki`,
    `${DEMO}/wiki/Home`,
    `${DEMO}/wiki/Guide`,
    `${DEMO}/wiki/Home?view=edit`,
    `${DEMO}/wiki/Home?view=history`,
    `${DEMO}/wiki/Home?view=diff`,
    ...["tickets", "runs", "settings/webhooks", "settings/mirror"].map((page) =>
      `${EMPTY}/${page}`
    ),
  ];
}

/** What a person sees who is no admin: fewer places, and forms for those who write. */
function personPaths({ reviews }: ProjectPlaces): readonly string[] {
  return [
    "/",
    "/account",
    "/people/ann",
    "/channels/general",
    DEMO,
    `${DEMO}/reviews/${reviews.pending}`,
  ];
}

/** What a guest sees: pages without forms, and the login. */
function guestPaths({ reviews }: ProjectPlaces): readonly string[] {
  return [
    "/login",
    "/enter",
    "/projects",
    "/search?q=main",
    DEMO,
    `${DEMO}/tickets?view=board`,
    `${DEMO}/reviews/${reviews.landing}?view=changes`,
  ];
}
