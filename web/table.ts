import type { Page } from "./page.ts";

/** Loads a page at its first visit, so that the start does not wait for it. */
type Loader = () => Promise<{ readonly page: Page }>;

/**
 * The address of every page, as the router writes it. People share these addresses: they stay as
 * they are.
 */
export const PAGES: Readonly<Record<string, Loader>> = {
  "/": () => import("./pages/home.tsx"),
  "/agents": () => import("./pages/agents.tsx"),
  "/agents/:nick": () => import("./pages/agent.tsx"),
  "/questions": () => import("./pages/questions.tsx"),
  "/questions/:id": () => import("./pages/question.tsx"),
  "/events": () => import("./pages/events.tsx"),
  "/metrics": () => import("./pages/metrics.tsx"),
  "/halt": () => import("./pages/halt.tsx"),
  "/people": () => import("./pages/people.tsx"),
  "/settings": () => import("./pages/settings/index.ts"),
  "/settings/tokens": () => import("./pages/settings/tokens.tsx"),
  "/settings/policies": () => import("./pages/settings/policies.tsx"),
  "/settings/llm": () => import("./pages/settings/llm.tsx"),
  "/settings/bans": () => import("./pages/settings/bans.tsx"),
  "/settings/clients": () => import("./pages/settings/clients.tsx"),
  "/settings/webhooks": () => import("./pages/settings/webhooks.tsx"),
  "/settings/webhooks/:id": () => import("./pages/settings/webhook.tsx"),
  "/settings/configuration": () => import("./pages/settings/configuration.tsx"),
  "/login": () => import("./pages/login.tsx"),
  "/enter": () => import("./pages/login.tsx"),

  "/channels": () => import("./pages/channels.tsx"),
  "/channels/:name": () => import("./pages/channel.tsx"),
  "/messages/:nick": () => import("./pages/conversation.tsx"),

  "/projects/new": () => import("./pages/project_new.tsx"),
  "/projects/:slug/settings": () => import("./pages/project_settings/page.tsx"),
  "/projects/:slug/settings/:part": () => import("./pages/project_settings/page.tsx"),
  "/projects/:slug/tickets": () => import("./pages/tickets/list.tsx"),
  "/projects/:slug/tickets/new": () => import("./pages/tickets/new.tsx"),
  "/projects/:slug/tickets/:uuid": () => import("./pages/tickets/ticket.tsx"),
  "/projects/:slug/workspaces": () => import("./pages/workspaces/list.tsx"),
  "/projects/:slug/workspaces/:name": () => import("./pages/workspaces/workspace.tsx"),
  "/projects/:slug/reviews": () => import("./pages/reviews/list.tsx"),
  "/projects/:slug/reviews/:id": () => import("./pages/reviews/review.tsx"),
  "/projects/:slug/landing": () => import("./pages/landing/landing.tsx"),
  "/projects/:slug/edit/:checkin": () => import("./pages/edit/file.tsx"),
  "/projects/:slug/edit/:checkin/:path{[\\s\\S]+}": () => import("./pages/edit/file.tsx"),
  "/projects/:slug/technotes": () => import("./pages/documents/technotes.tsx"),
  "/projects/:slug/technotes/:id": () => import("./pages/documents/technote.tsx"),
  "/projects/:slug/forum": () => import("./pages/documents/forum.tsx"),
  "/projects/:slug/forum/:uuid": () => import("./pages/documents/thread.tsx"),
  "/projects/:slug/wiki": () => import("./pages/wiki/list.tsx"),
  "/projects/:slug/wiki/:name{[\\s\\S]+}": () => import("./pages/wiki/page.tsx"),

  "/projects": () => import("./pages/code/projects.tsx"),
  "/projects/:slug": () => import("./pages/code/project.tsx"),
  "/projects/:slug/tree/:checkin": () => import("./pages/code/tree.tsx"),
  "/projects/:slug/tree/:checkin/:path{[\\s\\S]+}": () => import("./pages/code/tree.tsx"),
  "/projects/:slug/file/:checkin/:path{[\\s\\S]+}": () => import("./pages/code/file.tsx"),
  "/projects/:slug/blame/:checkin/:path{[\\s\\S]+}": () => import("./pages/code/blame.tsx"),
  "/projects/:slug/history/:path{[\\s\\S]+}": () => import("./pages/code/file_history.tsx"),
  "/projects/:slug/timeline": () => import("./pages/code/timeline.tsx"),
  "/projects/:slug/timeline.atom": () => import("./pages/code/timeline_atom.ts"),
  "/projects/:slug/checkin/:uuid": () => import("./pages/code/checkin.tsx"),
  "/projects/:slug/compare": () => import("./pages/code/compare.tsx"),
  "/projects/:slug/compare/:range{[\\s\\S]+}": () => import("./pages/code/compare.tsx"),
  "/projects/:slug/contributors": () => import("./pages/code/contributors.tsx"),
  "/projects/:slug/branches": () => import("./pages/code/branches.tsx"),
  "/projects/:slug/tags": () => import("./pages/code/tags.tsx"),
  "/projects/:slug/releases": () => import("./pages/code/releases.tsx"),
  "/projects/:slug/search": () => import("./pages/code/search.tsx"),
  "/robots.txt": () => import("./pages/robots.ts"),
};
