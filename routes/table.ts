import type { SERVER_OPERATIONS } from "../services/operation/daemon/server_operations.ts";
import type { Resource } from "../services/people/identity/mod.ts";
import {
  OPERATION_ROUTES,
  OPERATIONS_WHILE_FULL,
  OPERATIONS_WHILE_HALTED,
} from "./operation_table.ts";

/**
 * The resource of a route, on which `authorize` decides: GET needs the right to read it, every
 * other method the right to write. `session` is open to callers who are logged in to the web pages.
 * `nothing` and `anybody` are open to everybody; with `anybody`, the answer depends on the caller.
 */
export type Opens =
  | Exclude<Resource["kind"], "project">
  | "session"
  | "session or nothing"
  | "anybody"
  | "nothing";

/**
 * Lets clients that cannot set the header `Authorization` send their credential in the query
 * parameter `token`: always, or only if the client accepts an event stream.
 */
export type QueryToken = "token" | "token of streams";

/**
 * Whether a route accepts a token in the query, a body that its handler reads within its own
 * bounds, or one of a request to a model, which may be long, or slashes in its last parameter.
 */
export type Trait = QueryToken | "file body" | "model body" | "slashes";

/** Every route: its group (in `groups.ts`), its resource, and its trait, if any. */
export const ROUTES = {
  ...OPERATION_ROUTES,
  "GET /healthz": ["health", "nothing"],
  "GET /readyz": ["health", "nothing"],
  "GET /llms.txt": ["guide", "nothing"],
  "GET /schemas/checks.json": ["checkSchema", "nothing"],
  "GET /clients/{archive}": ["clientPackages", "nothing"],
  "GET /.well-known/oauth-authorization-server": ["oauth", "nothing"],
  "GET /.well-known/oauth-protected-resource/mcp": ["oauth", "nothing"],
  "POST /oauth/token": ["oauth", "nothing"],
  "POST /oauth/revoke": ["oauth", "nothing"],
  "GET /openapi.json": ["openapi", "nothing"],
  "GET /docs": ["openapi", "nothing"],
  "POST /login": ["login", "nothing"],
  "POST /logout": ["login", "session or nothing"],
  "GET /session": ["login", "session"],

  "GET /projects": ["projectList", "anybody"],
  "GET /search": ["search", "anybody"],

  "GET /projects/{repository}/info/refs": ["git", "anybody"],
  "POST /projects/{repository}/git-upload-pack": ["git", "anybody", "file body"],
  "POST /projects/{repository}/git-receive-pack": ["git", "anybody", "file body"],

  "POST /projects/{repository}/info/lfs/objects/batch": ["lfs", "anybody"],
  "GET /projects/{repository}/info/lfs/objects/{oid}": ["lfs", "anybody"],
  "PUT /projects/{repository}/info/lfs/objects/{oid}": ["lfs", "anybody", "file body"],
  "POST /projects/{repository}/info/lfs/verify": ["lfs", "anybody"],

  "POST /api/actions/{service}/{method}": ["actions", "nothing", "file body"],
  "GET /api/actions_pipeline/_apis/pipelines/workflows/{run}/artifacts": [
    "actionArtifacts",
    "nothing",
  ],
  "POST /api/actions_pipeline/_apis/pipelines/workflows/{run}/artifacts": [
    "actionArtifacts",
    "nothing",
  ],
  "PATCH /api/actions_pipeline/_apis/pipelines/workflows/{run}/artifacts": [
    "actionArtifacts",
    "nothing",
  ],
  "PUT /api/actions_pipeline/files": ["actionArtifacts", "nothing", "file body"],
  "GET /api/actions_pipeline/files": ["actionArtifacts", "nothing"],
  "GET /api/actions_pipeline/file": ["actionArtifacts", "nothing"],
  "GET /api/actions/git/{owner}/{name}/info/refs": ["actions", "nothing"],
  "POST /api/actions/git/{owner}/{name}/git-upload-pack": ["actions", "nothing", "file body"],

  "GET /v1/metrics": ["metrics", "server"],
  "GET /v1/events": ["events", "server", "token of streams"],

  "GET /v1/channels/{channel}/stream": ["channelStream", "coordination", "token"],

  "POST /webhooks/{name}": ["heraldWebhooks", "nothing", "file body"],

  "PUT /v1/runner/jobs/{id}/artifacts": ["runnerFiles", "runner", "file body"],
  "GET /v1/runner/jobs/{id}/cache": ["runnerFiles", "runner"],
  "PUT /v1/runner/jobs/{id}/cache": ["runnerFiles", "runner", "file body"],

  "GET /v1/projects/{slug}/repository": ["repositories", "server"],
  "PUT /v1/projects/{slug}/repository": ["repositories", "server", "file body"],
  "PUT /v1/projects/{slug}/restore": ["repositories", "server", "file body"],

  "POST /v1/llm/complete": ["completions", "models", "model body"],
  "POST /v1/llm/openai/chat/completions": ["openai", "models", "model body"],
  "POST /v1/llm/openai/responses": ["openai", "models", "model body"],
  "POST /v1/llm/openai/embeddings": ["openai", "models", "model body"],
  "GET /v1/llm/openai/models": ["openai", "models"],
  "GET /v1/llm/openai/models/{model}": ["openai", "models", "slashes"],
  "POST /v1/llm/anthropic/v1/messages": ["anthropic", "models", "model body"],
  "POST /v1/llm/anthropic/v1/messages/count_tokens": ["anthropic", "models", "model body"],
  "GET /v1/llm/anthropic/v1/models": ["anthropic", "models"],
  "GET /v1/llm/anthropic/v1/models/{model}": ["anthropic", "models", "slashes"],
  "POST /v1/llm/otlp/v1/logs": ["otlp", "models", "model body"],
  "POST /v1/llm/otlp/v1/traces": ["otlp", "models", "model body"],
  "POST /v1/llm/otlp/v1/metrics": ["otlp", "models", "model body"],
} as const satisfies Record<
  string,
  readonly [group: string, opens: Opens, trait?: Trait]
>;

/**
 * Requests other than GET that halted agents may still send: they only read, or tell what has
 * happened already.
 */
export const WHILE_HALTED: ReadonlySet<Endpoint> = new Set<Endpoint>([
  ...OPERATIONS_WHILE_HALTED,
  "POST /v1/llm/otlp/v1/logs",
  "POST /v1/llm/otlp/v1/traces",
  "POST /v1/llm/otlp/v1/metrics",
]);

/**
 * Requests other than GET and DELETE that are answered while the disk is nearly full: they free
 * space, keep somebody out, or are what an operator does about it.
 */
export const WHILE_FULL: ReadonlySet<Endpoint> = new Set<Endpoint>([
  ...OPERATIONS_WHILE_FULL,
]);

/** A route's name in the table, such as `GET /v1/agents/{nick}`. */
export type Endpoint = keyof typeof ROUTES;

/** The groups that answer routes. */
export type Group = (typeof ROUTES)[Endpoint][0] | keyof typeof SERVER_OPERATIONS;
