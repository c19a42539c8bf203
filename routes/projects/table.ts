import type { Action } from "../../services/people/identity/mod.ts";
import {
  OPERATION_ROUTES,
  OPERATIONS_WHILE_FULL,
  OPERATIONS_WHILE_HALTED,
} from "./operation_table.ts";

/**
 * The callers that a route accepts, if not all: only those with an account; none with a session;
 * none with a passphrase, whose scopes lack `admin`; or also clients of event streams with a token
 * in the query.
 */
export type Callers = "accounts" | "no session" | "no passphrase" | "token of streams";

/** What sets a route apart: the callers that it accepts, or a file of any length as its body. */
export type ProjectTrait = Callers | "file body";

/**
 * Every route of the repository API, below `/projects/{slug}/{scm}`: the group that answers it (in
 * `mod.ts`), the right that it needs in the project, and its trait, if any.
 */
export const PROJECT_ROUTES = {
  "GET ": ["sync", "read"],
  "POST ": ["sync", "read", "file body"],
  "GET /api": ["index", "read"],
  ...OPERATION_ROUTES,
  "GET /api/archive/{archive}": ["archives", "read"],
  "POST /api/batch": ["batch", "read"],
  "GET /api/events": ["events", "read", "token of streams"],
  "GET /api/status/{checkin}/badge.svg": ["badges", "read"],
  "POST /api/releases/{tag}/assets": ["uploads", "write", "file body"],
  "GET /api/uploads/{id}": ["uploads", "write"],
  "PATCH /api/uploads/{id}": ["uploads", "write", "file body"],
  "DELETE /api/uploads/{id}": ["uploads", "write"],
  "GET /api/jobs/{job}/log/raw": ["jobFiles", "read"],
  "GET /api/jobs/{job}/log/stream": ["jobFiles", "read", "token of streams"],
  "GET /api/jobs/{job}/artifact": ["jobFiles", "read"],
  "GET /api/lfs/{oid}": ["lfs", "read"],
  "GET /api/releases/{tag}/assets/{file}": ["assets", "read"],
  "PUT /api/releases/{tag}/assets/{file}": ["assets", "write", "file body"],
} as const satisfies Record<string, readonly [group: string, needs: Action, trait?: ProjectTrait]>;

/**
 * Requests other than GET that halted agents may still send: items of a batch are reads, and sync
 * refuses a push itself, so that a pull goes on.
 */
export const PROJECT_WHILE_HALTED: ReadonlySet<ProjectEndpoint> = new Set<ProjectEndpoint>([
  "POST ",
  "POST /api/batch",
  ...OPERATIONS_WHILE_HALTED,
]);

/**
 * Requests other than GET and DELETE that are answered while the disk is nearly full: they end work,
 * or only read. Sync refuses a push itself.
 */
export const PROJECT_WHILE_FULL: ReadonlySet<ProjectEndpoint> = new Set<ProjectEndpoint>([
  "POST ",
  "POST /api/batch",
  ...OPERATIONS_WHILE_FULL,
]);

/** A route as the table names it, such as `GET /api/tickets/{uuid}`. */
export type ProjectEndpoint = keyof typeof PROJECT_ROUTES;

/** The groups that answer routes. */
export type ProjectGroup = (typeof PROJECT_ROUTES)[ProjectEndpoint][0];
