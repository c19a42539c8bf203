import type { Action } from "../../services/identity/mod.ts";

/**
 * Every route of the repository API, below `/projects/{slug}/{scm}`: the group that answers it (in
 * `mod.ts`), and the right that it needs in the project.
 */
export const PROJECT_ROUTES = {
  "GET /api": ["index", "read"],
  "GET /api/project": ["project", "read"],
  "PUT /api/star": ["project", "read"],
  "DELETE /api/star": ["project", "read"],
  "GET /api/timeline": ["timeline", "read"],
  "GET /api/branches": ["names", "read"],
  "GET /api/tags": ["names", "read"],
  "GET /api/wiki": ["wiki", "read"],
  "GET /api/wiki/{name}": ["wiki", "read"],
  "PUT /api/wiki/{name}": ["wiki", "write"],
  "DELETE /api/wiki/{name}": ["wiki", "write"],
  "GET /api/wiki-history": ["wiki", "read"],
} as const satisfies Record<string, readonly [group: string, needs: Action]>;

/** A route as the table names it, such as `GET /api/tickets/{uuid}`. */
export type ProjectEndpoint = keyof typeof PROJECT_ROUTES;

/** The groups that answer routes. */
export type ProjectGroup = (typeof PROJECT_ROUTES)[ProjectEndpoint][0];
