/** What `openapi_test.ts` does, for the endpoints of hosting. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { RepositoryPool } from "../../services/engines/fossil/front/mod.ts";
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
import { numberAt, textAt } from "../support/json.ts";
import { type Program, startProgram } from "../support/program.ts";

const BASE = "/projects/{slug}/fossil/api";
const ADMIN = { username: "root", password: "correct horse" };

/** What ends the walk. */
const LAST = new Set([
  "DELETE /v1/projects/{slug}",
  "DELETE /v1/projects/{slug}/members/{name}",
]);

/** Walks the repository API of the project `demo`: `GET /tickets/{uuid}`, with the ticket's id. */
class ProjectWalk {
  readonly #walk: ApiWalk;

  constructor(walk: ApiWalk) {
    this.#walk = walk;
  }

  step(request: string, { path = [], ...options }: StepOptions) {
    const [method, rest] = request.split(" ");
    return this.#walk.step(`${method} ${BASE}${rest}`, { ...options, path: ["demo", ...path] });
  }
}

Deno.test("every endpoint of hosting answers as the OpenAPI document says", async () => {
  await using program = await startProgram();
  const walk = new ApiWalk(program, await readDocument(program.api), isHosting);
  const token = await tokenOf(program, "caller");
  await registerAgent(program, "other");
  await walkProjects(walk, await aRepository(program));
  const project = new ProjectWalk(walk);
  await walkProject(project, token);
  await walkSync(walk);
  await walkCode(project);
  await walkDocuments(project);
  await walkWiki(project);
  await walkTickets(project);
  await walkWorkspaces(project);
  await walkRuns(project);
  await walkReviews(project);
  await walkReleases(project);
  await walkWebhooks(walk, "/v1/projects/{slug}/webhooks", ["demo"]);
  await walkWebhooks(walk, `${BASE}/webhooks`, ["demo"]);
  await walkWebhooks(walk, "/v1/webhooks", []);
  await walkMirror(walk, "/v1/projects/{slug}/mirror", ["demo"]);
  await walkMirror(walk, `${BASE}/mirror`, ["demo"]);
  // Bodies in Git's protocol are tested with `git`.
  for (const service of ["upload", "receive"]) {
    const request = `POST /projects/{repository}/git-${service}-pack`;
    await walk.step(request, { path: ["demo.git"], status: 400 });
  }
  await walkLfs(walk, token);
  await walk.rest({ slug: "demo", repository: "demo.git" }, LAST);
  const path = ["demo", "other"];
  await walk.step("DELETE /v1/projects/{slug}/members/{name}", { path, status: 204 });
  await walk.step("DELETE /v1/projects/{slug}", { path: ["demo"], status: 204 });
  walk.assertComplete();
});

/** The content of Git LFS. */
async function walkLfs(walk: ApiWalk, token: string): Promise<void> {
  const content = new TextEncoder().encode("content");
  const oid = new Uint8Array(await crypto.subtle.digest("SHA-256", content)).toHex();
  const base = "/projects/{repository}/info/lfs";
  const path = ["demo.git", oid];
  const object = { oid, size: content.length };
  const batch = { operation: "upload", objects: [object] };
  await walk.step(`POST ${base}/objects/batch`, { path, body: batch, token, status: 200 });
  await walk.step(`PUT ${base}/objects/{oid}`, { path, body: content, status: 200 });
  await walk.step(`POST ${base}/verify`, { path, body: object, status: 200 });
  await walk.step(`GET ${base}/objects/{oid}`, { path, status: 200 });
  await walk.step(`GET ${BASE}/lfs/{oid}`, { path: ["demo", oid], status: 200 });
}

/** The operator's requests. */
async function walkProjects(walk: ApiWalk, repository: Uint8Array): Promise<void> {
  const path = ["demo"];
  await walk.step("POST /v1/projects", { body: { slug: "demo", name: "Demo" }, status: 201 });
  await walk.step("PUT /v1/projects/{slug}/repository", { path, body: repository, status: 200 });
  await walk.step("GET /v1/projects/{slug}/repository", { path, status: 200 });
  await walk.step("POST /v1/projects/{slug}/move", { path, body: { node: "two" }, status: 409 });
  await walk.step("PUT /v1/projects/{slug}/restore", { path, body: repository, status: 409 });
  await walk.step("POST /v1/projects/{slug}/accept", { path, status: 409 });
  await walk.step("GET /v1/projects", { status: 200 });
  await walk.step("GET /projects", { status: 200 });
  await walk.step("GET /search", { query: "?q=main", status: 200 });
  await walk.step("GET /v1/projects/{slug}", { path, status: 200 });
  const change = { description: "A project", visibility: "public" };
  await walk.step("PATCH /v1/projects/{slug}", { path, body: change, status: 200 });
  for (const name of ["caller", "other"]) {
    await walk.step("PUT /v1/projects/{slug}/members/{name}", {
      path: ["demo", name],
      body: { role: "write" },
      status: 201,
    });
  }
  await walk.step("GET /v1/projects/{slug}/members", { path, status: 200 });
  const rules = [{ pattern: "release-*", contexts: ["ci"], push: "admin" }];
  await walk.step("PUT /v1/projects/{slug}/protection", { path, body: rules, status: 200 });
  await walk.step("GET /v1/projects/{slug}/protection", { path, status: 200 });
}

/** @param token an account's, as only an account gives a star */
async function walkProject(project: ProjectWalk, token: string): Promise<void> {
  await project.step("GET ", { status: 200 });
  await project.step("GET /project", { status: 200 });
  await project.step("PUT /star", { token, status: 204 });
  await project.step("DELETE /star", { token, status: 204 });
  await project.step("GET /events", { status: 200 });
  await project.step("GET /protection", { status: 200 });
  const requests = [{ path: "/api/project" }, { path: "/api/file", params: { path: "a.txt" } }];
  await project.step("POST /batch", { body: { requests }, status: 200 });
}

async function walkSync(walk: ApiWalk): Promise<void> {
  const url = "/projects/{slug}/fossil";
  await walk.step(`GET ${url}`, { path: ["demo"], status: 200 });
  const body = new TextEncoder().encode("clone 3 1\n");
  const headers = { "content-type": "application/x-fossil-uncompressed" };
  await walk.step(`POST ${url}`, { path: ["demo"], body, headers, status: 200 });
}

async function walkCode(project: ProjectWalk): Promise<void> {
  const timeline = await project.step("GET /timeline", { status: 200 });
  const uuid = textAt(timeline, "checkins.0.uuid");
  await project.step("GET /checkin/{uuid}", { path: [uuid], status: 200 });
  await project.step("GET /tree", { status: 200 });
  await project.step("GET /activity", { query: "?kind=checkin", status: 200 });
  await project.step("GET /file", { query: "?path=a.txt", status: 200 });
  await project.step("GET /lines", { query: "?path=a.txt&first=1&count=2", status: 200 });
  await project.step("GET /diff", { query: `?to=${uuid}`, status: 200 });
  await project.step("GET /compare", { query: `?to=${uuid}`, status: 200 });
  await project.step("GET /blame", { query: "?path=a.txt", status: 200 });
  await project.step("GET /history", { query: "?path=a.txt", status: 200 });
  await project.step("GET /archive/{archive}", { path: ["trunk.zip"], status: 200 });
  await project.step("GET /search", { query: "?q=first", status: 200 });
  await project.step("POST /tags", { body: { name: "green" }, status: 201 });
  await project.step("GET /tags", { status: 200 });
  await project.step("GET /branches", { query: "?divergence=true", status: 200 });
  await project.step("GET /contributors", { status: 200 });
  const report = { checkin: uuid, context: "ci", state: "success" };
  await project.step("POST /status", { body: report, status: 201 });
  await project.step("GET /status", { query: `?checkin=${uuid}`, status: 200 });
  await project.step("GET /status/{checkin}/history", { path: ["trunk"], status: 200 });
  await project.step("GET /status/{checkin}/badge.svg", { path: ["trunk"], status: 200 });
}

/** What the imported repository has. */
async function walkDocuments(project: ProjectWalk): Promise<void> {
  const technotes = await project.step("GET /technotes", { status: 200 });
  const id = textAt(technotes, "technotes.0.id");
  await project.step("GET /technotes/{id}", { path: [id], status: 200 });
  const note = { comment: "A note", content: "What happened" };
  const made = await project.step("POST /technotes", { body: note, status: 201 });
  const noteId = textAt(made, "id");
  const content = { content: "What really happened" };
  await project.step("PATCH /technotes/{id}", { path: [noteId], body: content, status: 200 });
  const html = { path: [noteId], query: "?html=true", status: 200 };
  await project.step("GET /technotes/{id}", html);
  const threads = await project.step("GET /forum", { status: 200 });
  const uuid = textAt(threads, "threads.0.uuid");
  await project.step("GET /forum/{uuid}", { path: [uuid], status: 200 });
  const thread = { title: "Disks", content: "Which ones?" };
  await project.step("POST /forum", { body: thread, status: 201 });
  const reply = { path: [uuid], body: { content: "Large ones" }, status: 201 };
  await project.step("POST /forum/{uuid}/replies", reply);
  const query = "?target=Page";
  const attachments = await project.step("GET /attachments", { query, status: 200 });
  const one = `${query}&name=${textAt(attachments, "attachments.0.name")}`;
  await project.step("GET /attachments/content", { query: one, status: 200 });
}

async function walkWiki(project: ProjectWalk): Promise<void> {
  const path = ["Home"];
  await project.step("PUT /wiki/{name}", { path, body: { content: "Welcome" }, status: 201 });
  await project.step("GET /wiki", { status: 200 });
  await project.step("GET /wiki/{name}", { path, status: 200 });
  await project.step("GET /wiki-history", { query: "?name=Home", status: 200 });
  await project.step("GET /wiki-diff", { query: "?name=Home", status: 200 });
  await project.step("DELETE /wiki/{name}", { path, status: 204 });
}

/** Tickets, their claims, and a workspace that goes from one claimant to the next. */
async function walkTickets(project: ProjectWalk): Promise<void> {
  const body = { title: "Crash", comment: "On an empty line" };
  const uuid = textAt(await project.step("POST /tickets", { body, status: 201 }), "uuid");
  const path = [uuid];
  await project.step("GET /tickets", { status: 200 });
  await project.step("GET /tickets/unclaimed", { status: 200 });
  await project.step("GET /tickets/struck", { status: 200 });
  await project.step("POST /tickets/fields", { body: { name: "team" }, status: 201 });
  await project.step("GET /tickets/fields", { status: 200 });
  await project.step("GET /tickets", { query: "?field=team&value=", status: 200 });
  await project.step("DELETE /tickets/fields/{name}", { path: ["team"], status: 204 });
  await project.step("PATCH /tickets/{uuid}", { path, body: { severity: "Minor" }, status: 200 });
  await project.step("POST /tickets/{uuid}/comments", {
    path,
    body: { comment: "Here too" },
    status: 201,
  });
  const [caller, other] = [{ agent_id: "caller" }, { agent_id: "other" }];
  await project.step("POST /tickets/{uuid}/claim", { path, body: caller, status: 201 });
  await project.step("GET /claims", { status: 200 });
  await project.step("GET /tickets/{uuid}", { path, query: "?html=true", status: 200 });
  await project.step("GET /tickets/{uuid}/changes", { path, status: 200 });
  await project.step("POST /workspaces/create", {
    body: { name: "crash", ticket: uuid, ...caller },
    status: 201,
  });
  await project.step("POST /tickets/{uuid}/release", { path, body: caller, status: 200 });
  await project.step("DELETE /tickets/{uuid}/strikes", { path, status: 204 });
  await project.step("POST /tickets/{uuid}/claim", { path, body: other, status: 201 });
  await project.step("POST /workspaces/{name}/takeover", {
    path: ["crash"],
    body: other,
    status: 200,
  });
  await project.step("POST /tickets/{uuid}/start", { path, body: other, status: 200 });
  const work = { summary: "Empty lines are skipped", workspace: "crash", ...other };
  await project.step("POST /tickets/{uuid}/submit", { path, body: work, status: 200 });
}

/** Two workspaces; what is merged of the first one is news to the second. */
async function walkWorkspaces(project: ProjectWalk): Promise<void> {
  const agent_id = "caller";
  for (const name of ["first", "fix"]) {
    await project.step("POST /workspaces/create", { body: { name, agent_id }, status: 201 });
    await project.step("POST /workspaces/{name}/commit", {
      path: [name],
      body: { message: "Work", changes: [{ path: `${name}.txt`, content: "new\n" }], agent_id },
      status: 200,
    });
  }
  await project.step("GET /workspaces", { status: 200 });
  await project.step("GET /workspaces/{name}", { path: ["fix"], status: 200 });
  await project.step("GET /workspaces/{name}/overlap", { path: ["fix"], status: 200 });
  const body = { agent_id };
  await project.step("POST /workspaces/{name}/merge", { path: ["first"], body, status: 200 });
  for (const request of ["POST /workspaces/{name}/update", "DELETE /workspaces/{name}/abandon"]) {
    await project.step(request, { path: ["fix"], body, status: 200 });
  }
  await project.step("POST /workspaces/{name}/restore", { path: ["fix"], body, status: 200 });
}

/** A run whose job nobody takes. */
async function walkRuns(project: ProjectWalk): Promise<void> {
  const agent_id = "caller";
  const content = "checks:\n  tests:\n    run: make test\n    on: [push]\n";
  const changes = [{ path: ".muster/checks.yaml", content }];
  await project.step("POST /workspaces/create", { body: { name: "ci", agent_id }, status: 201 });
  const path = ["ci"];
  const body = { message: "Checks", changes, agent_id };
  await project.step("POST /workspaces/{name}/commit", { path, body, status: 200 });
  await project.step("POST /workspaces/{name}/merge", { path, body: { agent_id }, status: 200 });
  const run = await project.step("POST /runs", { body: {}, status: 201 });
  const number = `${numberAt(run, "id")}`;
  await project.step("GET /runs", { status: 200 });
  await project.step("GET /runs/{run}", { path: [number], status: 200 });
  await project.step("POST /runs/{run}/cancel", { path: [number], status: 200 });
  await project.step("POST /runs/{run}/rerun", { path: [number], status: 200 });
  const checkin = textAt(run, "checkin");
  const log = await project.step("GET /check-log", { query: `?checkin=${checkin}`, status: 200 });
  const job = [textAt(log, "job")];
  await project.step("GET /jobs/{job}", { path: job, status: 200 });
  await project.step("GET /jobs/{job}/log", { path: job, status: 200 });
  await project.step("GET /jobs/{job}/log/raw", { path: job, status: 200 });
  await project.step("GET /jobs/{job}/log/stream", { path: job, status: 200 });
  await project.step("POST /jobs/{job}/cancel", { path: job, status: 200 });
  await project.step("POST /jobs/{job}/rerun", { path: job, status: 200 });
  await project.step("GET /check-figures", { status: 200 });
}

/** The review of the workspace `fix`, which waits in the landing queue for CI, and one to close. */
async function walkReviews(project: ProjectWalk): Promise<void> {
  const [caller, other] = [{ agent_id: "caller" }, { agent_id: "other" }];
  const work = { title: "Fix", workspace: "fix", ...caller };
  const review = await project.step("POST /reviews/create", { body: work, status: 201 });
  const path = [`${numberAt(review, "id")}`];
  const act = (action: string, body: unknown, status = 200) =>
    project.step(`POST /reviews/{id}/${action}`, { path, body, status });
  await act("reviewers", { reviewers: ["other"] });
  await project.step("DELETE /reviews/{id}/reviewers/{name}", {
    path: [...path, "other"],
    status: 200,
  });
  await act("comment", { body: "Hm", file_path: "fix.txt", line_number: 1, ...other }, 201);
  await act("request-changes", { comment: "No", ...other });
  await act("approve", other);
  await project.step("GET /reviews", { status: 200 });
  await project.step("GET /reviews/{id}", { path, status: 200 });
  await project.step("GET /reviews/{id}/diff", { path, status: 200 });

  const rules = [{ pattern: "trunk", contexts: ["ci"] }];
  await project.step("PUT /protection", { body: rules, status: 200 });
  await act("land", caller, 202);
  await project.step("GET /landing", { status: 200 });
  await project.step("DELETE /reviews/{id}/land", { path, body: caller, status: 200 });
  await project.step("PUT /protection", { body: [], status: 200 });
  await act("merge", caller);

  const diff = { title: "Other", diff: "--- a\n+++ b\n", ...caller };
  const second = await project.step("POST /reviews/create", { body: diff, status: 201 });
  await project.step("POST /reviews/{id}/close", {
    path: [`${numberAt(second, "id")}`],
    body: caller,
    status: 200,
  });
}

async function walkReleases(project: ProjectWalk): Promise<void> {
  const body = { tag_name: "v1", name: "One" };
  await project.step("POST /releases", { body, status: 201 });
  await project.step("PATCH /releases/{tag}", {
    path: ["v1"],
    body: { body: "What is new" },
    status: 200,
  });
  const asset = ["v1", "a.txt"];
  const content = new TextEncoder().encode("hello");
  const assets = "/releases/{tag}/assets/{file}";
  await project.step(`PUT ${assets}`, { path: asset, body: content, status: 201 });
  await project.step(`GET ${assets}`, { path: asset, status: 200 });
  const { length } = content;
  const metadata = `filename ${btoa("b.txt")}`;
  await project.step("POST /releases/{tag}/assets", {
    path: ["v1"],
    headers: { "upload-length": `${length}`, "upload-metadata": metadata },
    status: 201,
  });
  const uploads = await project.step("GET /uploads", { status: 200 });
  const upload = { path: [textAt(uploads, "uploads.0.id")] };
  await project.step("GET /uploads/{id}", { ...upload, status: 200 });
  const type = { "content-type": "application/offset+octet-stream" };
  const headers = { ...type, "upload-offset": "0" };
  await project.step("PATCH /uploads/{id}", { ...upload, headers, body: content, status: 204 });
  await project.step("DELETE /uploads/{id}", { ...upload, status: 204 });
  await project.step("GET /releases", { status: 200 });
  await project.step("GET /releases/{tag}", { path: ["v1"], status: 200 });
  await project.step(`DELETE ${assets}`, { path: asset, status: 204 });
  await project.step("DELETE /releases/{tag}", { path: ["v1"], status: 204 });
}

/** A mirror on a remote that nothing listens to. */
async function walkMirror(walk: ApiWalk, base: string, path: readonly string[]): Promise<void> {
  const body = { git: { url: "http://127.0.0.1:9/demo.git" } };
  await walk.step(`PUT ${base}`, { path, body, status: 201 });
  await walk.step(`GET ${base}`, { path, status: 200 });
  await walk.step(`POST ${base}/run`, { path, status: 202 });
  await walk.step(`DELETE ${base}`, { path, status: 204 });
}

/** A webhook that nothing listens to, so that its deliveries stay. */
async function walkWebhooks(walk: ApiWalk, base: string, owner: readonly string[]): Promise<void> {
  const body = { url: "http://127.0.0.1:9/hook", types: ["release"] };
  const webhook = await walk.step(`POST ${base}`, { path: owner, body, status: 201 });
  const path = [...owner, textAt(webhook, "id")];
  await walk.step(`GET ${base}`, { path: owner, status: 200 });
  await walk.step(`GET ${base}/{id}`, { path, status: 200 });
  await walk.step(`PATCH ${base}/{id}`, { path, body: { types: [] }, status: 200 });
  await walk.step(`POST ${base}/{id}/rotate`, { path, status: 200 });
  const delivery = await walk.step(`POST ${base}/{id}/ping`, { path, status: 202 });
  await walk.step(`GET ${base}/{id}/deliveries`, { path, status: 200 });
  const whole = [...path, textAt(delivery, "id")];
  const one = `${base}/{id}/deliveries/{delivery}`;
  await walk.step(`GET ${one}`, { path: whole, status: 200 });
  await walk.step(`POST ${one}/redeliver`, { path: whole, status: 202 });
  await walk.step(`DELETE ${base}/{id}`, { path, status: 204 });
}

Deno.test("every endpoint of hosting refuses callers that the OpenAPI document does not name", async () => {
  await using program = await startProgram();
  const document = await readDocument(program.api);
  const answers = new DocumentedAnswers(document, []);
  await aProject(program, "open", "public");
  const credentials = await credentialsOf(program);
  // Who may push is the project's to say, after the credential: that is tested with `git`.
  const isPush = ({ method, path }: { readonly method: string; readonly path: string }) =>
    path.endsWith("/git-receive-pack") || (method === "PUT" && path.includes("/info/lfs/"));
  for (const endpoint of endpointsOf(document).filter((one) => isHosting(one) && !isPush(one))) {
    const schemes = new Set(endpoint.security.flatMap(Object.keys));
    const opensToAll = endpoint.security.some((one) => Object.keys(one).length === 0);
    // A slug of nobody's keeps the project from what the operator may do to it.
    const isGit = endpoint.path.includes("{repository}");
    const open = endpoint.path.startsWith(BASE) ? ["open"] : isGit ? ["open.git"] : [];
    const path = fillPath(endpoint.path, open);
    for (const [scheme, headers] of credentials) {
      const { method } = endpoint;
      const response = await fetch(program.api + path, { method, headers });
      const { status } = response;
      const label = `${scheme}: ${method} ${endpoint.path} ${status}`;
      const opens = scheme === "none" ? opensToAll : schemes.has(scheme);
      const refusals = scheme === "none" || scheme === "invalid" ? [401] : [401, 403];
      if (opens) assert.ok(status !== 401 && status !== 403, label);
      else assert.ok(refusals.includes(status), label);
      await answers.check(endpoint, method, response);
    }
  }
});

Deno.test("a project that the caller may not see is 404, and an archived one does not change", async () => {
  await using program = await startProgram();
  const document = await readDocument(program.api);
  const answers = new DocumentedAnswers(document, []);
  await aProject(program, "hidden", "private");
  await aProject(program, "old", "public");
  await call(program, "PATCH", "/v1/projects/old", { archived: true });
  const outsider = await tokenOf(program, "outsider");
  const member = await tokenOf(program, "member");
  await call(program, "PUT", "/v1/projects/old/members/member", { role: "admin" });
  const send = async (endpoint: Endpoint, slug: string, token: string | null) => {
    const response = await fetch(program.api + fillPath(endpoint.path, [slug]), {
      method: endpoint.method,
      headers: token === null ? {} : { authorization: `Bearer ${token}` },
    });
    await answers.check(endpoint, endpoint.method, response);
    return response.status;
  };
  for (const endpoint of endpointsOf(document).filter(({ path }) => path.startsWith(BASE))) {
    const { method, path } = endpoint;
    const label = `${method} ${path}`;
    assert.equal(await send(endpoint, "hidden", null), method === "GET" ? 404 : 401, label);
    assert.equal(await send(endpoint, "hidden", outsider), 404, label);
    const changes = method !== "GET" && !/\/(?:star|batch)$/.test(path);
    if (changes) assert.equal(await send(endpoint, "old", member), 409, label);
    if (!endpoint.security.some((one) => "queryToken" in one)) continue;
    const stream = `${fillPath(path, ["hidden"])}?token=${program.token}`;
    const response = await fetch(program.api + stream, {
      headers: { accept: "text/event-stream" },
    });
    assert.equal(response.status, path.includes("{job}") ? 404 : 200, label);
    await answers.check(endpoint, method, response);
  }
});

async function aProject(program: Program, slug: string, visibility: string): Promise<void> {
  const response = await call(program, "POST", "/v1/projects", { slug, name: slug, visibility });
  assert.equal(response.status, 201, await response.text());
}

/** Registers an agent; gives a token of it with every scope. */
async function tokenOf(program: Program, owner: string): Promise<string> {
  await registerAgent(program, owner);
  return await newToken(program, owner);
}

async function newToken(program: Program, owner: string): Promise<string> {
  const body = { owner, name: "test", scopes: ["read", "write", "admin"] };
  const response = await call(program, "POST", "/v1/tokens", body);
  const { token } = await response.json();
  assert.equal(response.status, 201);
  return token;
}

/** Headers for each security scheme, of callers who administer the project, and two for none. */
async function credentialsOf(
  program: Program,
): Promise<readonly (readonly [string, Record<string, string>])[]> {
  const { nick, passphrase } = await registerAgent(program, "caller");
  await call(program, "POST", "/v1/admins", ADMIN);
  for (const name of [nick, ADMIN.username]) {
    await call(program, "PUT", `/v1/projects/open/members/${name}`, { role: "admin" });
  }
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
  return [
    ["none", {}],
    ["invalid", bearer("0".repeat(64))],
    ["apiToken", bearer(program.token)],
    ["adminToken", bearer(await newToken(program, ADMIN.username))],
    ["agentToken", bearer(await newToken(program, nick))],
    ["passphrase", { authorization: `Basic ${btoa(`${nick}:${passphrase}`)}` }],
    ["session", await logIn(program)],
  ];
}

/** The headers of a browser that is logged in. */
async function logIn({ api }: Program): Promise<Record<string, string>> {
  const response = await fetch(`${api}/login`, { method: "POST", body: JSON.stringify(ADMIN) });
  assert.equal(response.status, 200, await response.text());
  const cookies = response.headers.getSetCookie().map((line) => line.split(";")[0] ?? "");
  const csrf = cookies.find((cookie) => cookie.startsWith("muster_csrf="))?.split("=")[1] ?? "";
  return { cookie: cookies.join("; "), "x-csrf-token": csrf };
}

/** A repository file with a check-in, a technote, a thread of the forum and an attachment. */
async function aRepository({ folder }: Program): Promise<Uint8Array> {
  const path = join(folder, "seed.fossil");
  const stamp = { user: "ann", date: Date.parse("2026-11-20T12:00:00Z") };
  const pool = new RepositoryPool({ workers: 1 });
  const repository = await pool.create(path, { admin: stamp.user, date: stamp.date });
  const { uuid: parent } = await repository.resolveCheckin("trunk");
  const content = new TextEncoder().encode("first\n");
  const changes = [{ kind: "write", path: "a.txt", content }] as const;
  await repository.commit({ ...stamp, parent, comment: "The first file", changes });
  await repository.changeTechnote({
    ...stamp,
    eventDate: stamp.date,
    comment: "Release day",
    text: "We released",
  });
  await repository.post({
    ...stamp,
    place: { title: "How?" },
    text: "How?",
    mimetype: "text/plain",
  });
  await repository.changeWiki({ ...stamp, title: "Page", text: "Hello" });
  await repository.attach({ ...stamp, target: "Page", name: "a.txt", content });
  await pool.close();
  return await Deno.readFile(path);
}
