import assert from "node:assert/strict";
import { call, registerAgent } from "../support/api.ts";
import {
  type Endpoint,
  endpointsOf,
  fillPath,
  isHosting,
  readDocument,
} from "../support/api_document.ts";
import { ApiWalk, type StepOptions } from "../support/api_walk.ts";
import { DocumentedAnswers } from "../support/documented_answers.ts";
import { type Program, startProgram } from "../support/program.ts";

/** A request that succeeds, and with what. */
interface Step extends StepOptions {
  /** Method and path as the document writes them. */
  readonly endpoint: string;
}

const ADMIN = { username: "root", password: "correct horse" };

/**
 * Endpoints outside of hosting that need more than their examples, in an order in which all of them
 * succeed. The others are called as the document says.
 */
const STEPS: readonly Step[] = [
  { endpoint: "POST /v1/agents/register", body: { nick: "scout" }, status: 200 },
  { endpoint: "POST /v1/agents/{nick}/rotate", path: ["scout"], status: 200 },
  { endpoint: "POST /v1/agents/{nick}/pause", path: ["scout"], body: {}, status: 204 },
  { endpoint: "POST /v1/questions", body: { text: "Well?" }, status: 201 },
  { endpoint: "POST /v1/questions", body: { text: "Well?" }, status: 200 },
  { endpoint: "GET /v1/questions/{id}", path: ["1"], status: 200 },
  {
    endpoint: "POST /v1/questions/{id}/answer",
    path: ["1"],
    body: { answer: "yes" },
    status: 200,
  },
  { endpoint: "DELETE /v1/questions/{id}", path: ["1"], status: 409 },
  { endpoint: "POST /v1/halt", body: { agents: ["scout"], reason: "drill" }, status: 200 },
  { endpoint: "DELETE /v1/halt", status: 200 },
  { endpoint: "POST /v1/agents/{nick}/resume", path: ["scout"], status: 204 },
  {
    endpoint: "PATCH /v1/agents/{nick}",
    path: ["scout"],
    body: { rate_limit: { messages_per_second: 5, burst: 10 } },
    status: 200,
  },
  {
    endpoint: "POST /v1/agents/{nick}/messages",
    path: ["scout"],
    body: { text: "hello", client_id: "one" },
    status: 204,
  },
  { endpoint: "GET /v1/agents/{nick}/messages", path: ["scout"], status: 200 },
  {
    endpoint: "POST /v1/agents/{nick}/messages/acknowledge",
    path: ["scout"],
    body: { up_to: "2026-01-01T00:00:00Z" },
    status: 200,
  },
  {
    endpoint: "POST /v1/irc/accounts",
    body: { account: "ann", password: "correct horse" },
    status: 201,
  },
  {
    endpoint: "PUT /v1/irc/accounts/{account}/password",
    path: ["bob"],
    body: { password: "another horse" },
    status: 204,
  },
  { endpoint: "POST /v1/irc/bans", body: { mask: "192.0.2.0/24" }, status: 201 },
  { endpoint: "DELETE /v1/irc/bans/{ban}", path: ["192.0.2.0%2F24"], status: 204 },
  { endpoint: "POST /v1/agents/{nick}/adopt", path: ["ann"], body: {}, status: 200 },
  { endpoint: "POST /v1/agents/{nick}/revoke", path: ["scout"], status: 204 },
  { endpoint: "DELETE /v1/agents/{nick}", path: ["scout"], status: 204 },
  { endpoint: "DELETE /v1/irc/accounts/{account}", path: ["bob"], status: 204 },
  { endpoint: "PUT /v1/log", body: { level: "warning" }, status: 200 },
  { endpoint: "POST /v1/doctor", status: 200 },
  { endpoint: "GET /v1/doctor", status: 200 },
  {
    endpoint: "POST /v1/tokens",
    body: { owner: "ann", name: "laptop", scopes: ["read"] },
    status: 201,
  },
  { endpoint: "POST /v1/channels/{channel}/join", path: ["dev"], status: 204 },
  {
    endpoint: "POST /v1/channels/{channel}/messages",
    path: ["dev"],
    body: { nick: "ann", text: "hello" },
    status: 204,
  },
  { endpoint: "GET /v1/channels/{channel}/messages", path: ["dev"], status: 200 },
  { endpoint: "GET /v1/channels/{channel}/stream", path: ["dev"], status: 200 },
  {
    endpoint: "POST /v1/channels/{channel}/presence",
    path: ["dev"],
    body: { nick: "ann" },
    status: 204,
  },
  { endpoint: "GET /v1/channels/{channel}/users", path: ["dev"], status: 200 },
  { endpoint: "DELETE /v1/channels/{channel}", path: ["dev"], status: 204 },
  {
    endpoint: "PUT /v1/settings/policies",
    body: { oracle: { enabled: true, backend: "main" } },
    status: 200,
  },
  { endpoint: "POST /v1/herald", body: { text: "hello" }, status: 409 },
  {
    endpoint: "POST /v1/herald/sources",
    body: { name: "code", kind: "github" },
    status: 201,
  },
  { endpoint: "POST /webhooks/{name}", path: ["code"], body: {}, status: 401 },
  { endpoint: "POST /oauth/token", body: {}, status: 400 },
  { endpoint: "DELETE /v1/herald/sources/{name}", path: ["code"], status: 204 },
  {
    endpoint: "POST /v1/llm/backends",
    body: { name: "main", provider: "openai", base_url: "http://127.0.0.1:9", api_key_env: "" },
    status: 201,
  },
  {
    endpoint: "PUT /v1/llm/backends/{name}",
    path: ["main"],
    body: { base_url: "http://127.0.0.1:9/v1" },
    status: 200,
  },
  { endpoint: "GET /v1/llm/backends/{name}/models", path: ["main"], status: 502 },
  {
    endpoint: "POST /v1/llm/complete",
    body: { messages: [{ role: "user", content: "hello" }], backend: "main", model: "any" },
    status: 502,
  },
  {
    endpoint: "POST /v1/llm/openai/chat/completions",
    body: { messages: [{ role: "user", content: "hello" }], model: "main/any" },
    status: 502,
  },
  { endpoint: "GET /v1/llm/openai/models/{model}", path: ["main/any"], status: 404 },
  {
    endpoint: "POST /v1/llm/openai/responses",
    body: { input: "hello", model: "main/any" },
    status: 502,
  },
  {
    endpoint: "POST /v1/llm/openai/embeddings",
    body: { input: "hello", model: "main/any" },
    status: 502,
  },
  {
    endpoint: "POST /v1/llm/anthropic/v1/messages",
    body: { messages: [{ role: "user", content: "hello" }], model: "main/any", max_tokens: 9 },
    status: 502,
  },
  {
    endpoint: "POST /v1/llm/anthropic/v1/messages/count_tokens",
    body: { messages: [{ role: "user", content: "hello" }], model: "main/any" },
    status: 200,
  },
  { endpoint: "GET /v1/llm/anthropic/v1/models/{model}", path: ["main/any"], status: 404 },
  {
    endpoint: "PUT /v1/llm/budgets/{budget}",
    path: ["all.day"],
    body: { max_cost_micro_usd: 5_000_000 },
    status: 200,
  },
  { endpoint: "DELETE /v1/llm/budgets/{budget}", path: ["all.day"], status: 204 },
  { endpoint: "DELETE /v1/llm/backends/{name}", path: ["main"], status: 204 },
  { endpoint: "POST /v1/admins", body: ADMIN, status: 201 },
  {
    endpoint: "PUT /v1/admins/{username}/password",
    path: ["root"],
    body: { password: ADMIN.password },
    status: 204,
  },
  {
    endpoint: "POST /api/actions/{service}/{method}",
    path: ["ping.v1.PingService", "Ping"],
    headers: { "content-type": "application/proto" },
    body: new Uint8Array(0),
    status: 200,
  },
  {
    endpoint: "GET /api/actions/git/{owner}/{name}/info/refs",
    path: ["actions", "checkout"],
    status: 200,
  },
  {
    endpoint: "POST /api/actions/git/{owner}/{name}/git-upload-pack",
    path: ["actions", "checkout"],
    body: new TextEncoder().encode("0000"),
    status: 200,
  },
  { endpoint: "POST /v1/runners", body: { name: "east-1" }, status: 201 },
  { endpoint: "PATCH /v1/runners/{name}", path: ["east-1"], body: { paused: true }, status: 200 },
  { endpoint: "DELETE /v1/runners/{name}", path: ["east-1"], status: 204 },
  { endpoint: "POST /login", body: ADMIN, status: 200 },
  { endpoint: "POST /logout", status: 204 },
  { endpoint: "DELETE /v1/admins/{username}", path: ["root"], status: 204 },
];

/** Endpoints whose success another request must prepare, each tested where it belongs. */
const ELSEWHERE: ReadonlySet<string> = new Set([
  "GET /api/actions_pipeline/_apis/pipelines/workflows/{run}/artifacts",
  "POST /api/actions_pipeline/_apis/pipelines/workflows/{run}/artifacts",
  "PATCH /api/actions_pipeline/_apis/pipelines/workflows/{run}/artifacts",
  "PUT /api/actions_pipeline/files",
  "GET /api/actions_pipeline/files",
  "GET /api/actions_pipeline/file",
  "GET /session",
  "DELETE /v1/pauses/{id}",
  "DELETE /v1/tokens/{id}",
  "POST /v1/tokens/api/rotate",
  // Only a runner that has a job.
  "POST /v1/runner/jobs",
  "POST /v1/runner/jobs/{id}/renew",
  "POST /v1/runner/jobs/{id}/log",
  "POST /v1/runner/jobs/{id}/finish",
  "PUT /v1/runner/jobs/{id}/artifacts",
  "GET /v1/runner/jobs/{id}/cache",
  "PUT /v1/runner/jobs/{id}/cache",
]);

Deno.test("every endpoint of the OpenAPI document answers as it says", async () => {
  await using program = await startProgram();
  const isPart = (endpoint: Endpoint) => !isHosting(endpoint);
  const walk = new ApiWalk(program, await readDocument(program.api), isPart);
  await call(program, "POST", "/v1/irc/accounts", { account: "bob", password: "correct horse" });
  for (const { endpoint, ...step } of STEPS) await walk.step(endpoint, step);
  await walk.rest({ nick: "ann" }, ELSEWHERE);
  walk.assertComplete(ELSEWHERE);
});

Deno.test("every endpoint refuses callers that the OpenAPI document does not name", async () => {
  await using program = await startProgram();
  const document = await readDocument(program.api);
  const answers = new DocumentedAnswers(document, []);
  const credentials = await credentialsOf(program);
  for (const endpoint of endpointsOf(document)) {
    if (isHosting(endpoint)) continue;
    const schemes = new Set(endpoint.security.flatMap(Object.keys));
    if (schemes.size === 0 || schemes.has("session")) continue;
    for (const [scheme, authorization] of credentials) {
      const response = await fetch(program.api + fillPath(endpoint.path), {
        method: endpoint.method,
        headers: authorization === "" ? {} : { authorization },
      });
      const opens = schemes.has(scheme);
      const { status } = response;
      const label = `${scheme}: ${endpoint.method} ${endpoint.path} ${status}`;
      if (scheme === "none" || scheme === "invalid") assert.equal(status, 401, label);
      else if (opens) assert.ok(status !== 401 && status !== 403, label);
      else assert.equal(status, 403, label);
      await answers.check(endpoint, endpoint.method, response);
    }
  }
});

/** A credential for each security scheme, and two for none. */
async function credentialsOf(program: Program): Promise<readonly [string, string][]> {
  const { passphrase } = await registerAgent(program, "caller");
  const scopes = ["read", "write"];
  const body = { owner: "caller", name: "test", scopes };
  const { token } = await (await call(program, "POST", "/v1/tokens", body)).json();
  return [
    ["none", ""],
    ["invalid", `Bearer ${"0".repeat(64)}`],
    ["agentToken", `Bearer ${token}`],
    ["passphrase", `Basic ${btoa(`caller:${passphrase}`)}`],
  ];
}
