/** Tasks: calls that others must end, also when the server ends first. */
import assert from "node:assert/strict";
import { call } from "../support/api.ts";
import { startWithProject } from "../support/driven_project.ts";
import { type Program, startProgram } from "../support/program.ts";

const TASKS = { "io.modelcontextprotocol/tasks": {} };

interface Answer {
  readonly result?: Record<string, unknown> & { readonly taskId: string };
  readonly error?: { readonly code: number; readonly data?: unknown };
}

/** A client of 2026-07-28 that declares these capabilities. */
function clientOf(program: Program, token: string, capabilities: object = { extensions: TASKS }) {
  return async (method: string, params: Readonly<Record<string, unknown>>): Promise<Answer> => {
    const response = await fetch(program.mcp, {
      method: "POST",
      headers: {
        authorization: `Bearer ${token}`,
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": method,
        "mcp-name": String(params["name"] ?? params["taskId"]),
      },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method,
        params: {
          ...params,
          _meta: {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": capabilities,
          },
        },
      }),
    });
    return await response.json();
  };
}

type Client = ReturnType<typeof clientOf>;

async function begin(client: Client, name: string, input: object): Promise<string> {
  const { result } = await client("tools/call", { name, arguments: input });
  assert.equal(result?.["resultType"], "task", JSON.stringify(result));
  assert.equal(result?.["status"], "working");
  return String(result?.taskId);
}

async function see(client: Client, taskId: string): Promise<Record<string, unknown>> {
  const { result, error } = await client("tasks/get", { taskId });
  assert.ok(result, JSON.stringify(error));
  return result;
}

/** The code of the refusal, for each way to touch a task. */
async function refusals(client: Client, taskId: string): Promise<unknown[]> {
  const codes: unknown[] = [];
  for (const method of ["tasks/get", "tasks/update", "tasks/cancel"]) {
    const { error } = await client(method, { taskId, inputResponses: {} });
    codes.push(error?.code);
  }
  return codes;
}

/** The id of a task that somebody has changed. */
function withPart(id: string, part: object): string {
  const key: unknown = JSON.parse(atob(id.slice(id.indexOf(".") + 1)));
  return `x.${btoa(JSON.stringify(Object.assign({}, key, part)))}`.replaceAll("=", "");
}

async function tokenFor(program: Program, owner: string): Promise<string> {
  const request = { owner, name: "other", scopes: ["read", "write"] };
  return (await (await call(program, "POST", "/v1/tokens", request)).json()).token;
}

async function land(program: Program, token: string, other: string): Promise<number> {
  const api = "/projects/demo/fossil/api";
  const as = async (token: string, path: string, body: object) => {
    const response = await fetch(`${program.api}${api}/${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    assert.ok(response.ok, `${path}: ${response.status}`);
    return await response.json();
  };
  await as(token, "workspaces/create", { name: "work" });
  const changes = [{ path: "seed.txt", content: "three\n" }];
  await as(token, "workspaces/work/commit", { message: "Change", changes });
  const { id } = await as(token, "reviews/create", { title: "Change", workspace: "work" });
  await as(other, `reviews/${id}/approve`, {});
  return id;
}

/** Reports a check of the newest check-in of the main branch. */
async function report(program: Program, state: string): Promise<void> {
  const api = "/projects/demo/fossil/api";
  const { checkins: [{ uuid: checkin }] } = await (await call(program, "GET", `${api}/timeline`))
    .json();
  const body = { checkin, context: "ci/build", state };
  assert.ok((await call(program, "POST", `${api}/status`, body)).ok);
}

Deno.test("a task outlasts the server, and is seen by its caller alone", async (t) => {
  const first = await startWithProject();
  const { token } = first;
  const { folder, api, mcp } = first.program;
  const question = { text: "Release it?", choices: ["yes", "no"], wait_seconds: 60 };
  const asked = await begin(clientOf(first.program, token), "ask_human", question);
  const withdrawn = await begin(clientOf(first.program, token), "ask_human", {
    text: "And then?",
    wait_seconds: 1,
  });
  await report(first.program, "pending");
  const checks = await begin(clientOf(first.program, token), "wait_checks", { checkin: "trunk" });
  await first.program.stop("SIGKILL");
  const environment = { MUSTER_API_ADDR: new URL(api).host, MUSTER_MCP_ADDR: new URL(mcp).host };
  await using program = await startProgram({ folder, environment });
  const client = clientOf(program, token);

  await t.step("it goes on", async () => {
    const { status, ttlMs, pollIntervalMs } = await see(client, asked);
    assert.equal(status, "working");
    assert.ok(Number.isInteger(ttlMs) && Number.isInteger(pollIntervalMs));
  });

  await t.step("another agent, and a client without tasks, are refused", async () => {
    const other = clientOf(program, await tokenFor(program, "other"));
    assert.deepEqual(await refusals(other, asked), [-32602, -32602, -32602]);
    assert.deepEqual(await refusals(clientOf(program, token, {}), asked), [-32021, -32021, -32021]);
    const madeUp = [
      { at: Number.MAX_SAFE_INTEGER },
      { at: Number.MIN_SAFE_INTEGER },
      { tool: "land_review" },
      { tool: "get_status" },
    ];
    for (
      const id of [
        "",
        "ask_human.e30",
        "ask_human.%%",
        `land_review.${"x".repeat(5000)}`,
        ...madeUp.map((part) => withPart(asked, part)),
      ]
    ) {
      assert.deepEqual(await refusals(client, id), [-32602, -32602, -32602], id);
    }
    assert.equal((await see(client, asked))["status"], "working");
  });

  await t.step(
    "the user of the client can answer, and a form that is declined ends nothing",
    async () => {
      const forms = clientOf(program, token, { extensions: TASKS, elicitation: { form: {} } });
      const { status, inputRequests } = await see(forms, asked);
      assert.equal(status, "input_required");
      assert.deepEqual(Object.keys(inputRequests as object), ["answer"]);
      const declined = { taskId: asked, inputResponses: { answer: { action: "decline" } } };
      assert.deepEqual((await forms("tasks/update", declined)).error, undefined);
      assert.equal((await see(client, asked))["status"], "working");
    },
  );

  await t.step("the answer of somebody else completes it", async () => {
    assert.ok((await call(program, "POST", "/v1/questions/1/answer", { answer: "yes" })).ok);
    const { status, result } = await see(client, asked);
    assert.equal(status, "completed");
    const { structuredContent } = result as { structuredContent: unknown };
    assert.deepEqual(structuredContent, {
      id: 1,
      state: "answered",
      answer: "yes",
      answered_by: "operator",
    });
    assert.equal((await client("tasks/cancel", { taskId: asked })).error, undefined);
    assert.equal((await see(client, asked))["status"], "completed");
  });

  await t.step("a question that is cancelled is withdrawn", async () => {
    await client("tasks/cancel", { taskId: withdrawn });
    const { state } = await (await call(program, "GET", "/v1/questions/2")).json();
    assert.equal(state, "withdrawn");
  });

  await t.step("a wait for checks goes on, and says which one failed", async () => {
    const awaited = await see(client, checks);
    assert.equal(awaited["status"], "working");
    await client("tasks/cancel", { taskId: checks });
    await report(program, "failure");
    const { status, result } = await see(client, checks);
    assert.equal(status, "completed");
    const { structuredContent } = result as { structuredContent: Record<string, unknown> };
    const { state, failed, waiting_for } = structuredContent;
    assert.deepEqual({ state, failed, waiting_for }, {
      state: "failing",
      failed: ["ci/build"],
      waiting_for: [],
    });
    const again = await client("tools/call", {
      name: "wait_checks",
      arguments: { checkin: "trunk" },
    });
    assert.equal(again.result?.["resultType"], "complete");
  });

  await t.step("who does not wait gets the answer at once", async () => {
    const { result } = await client("tools/call", {
      name: "ask_human",
      arguments: { text: "Later?" },
    });
    assert.equal(result?.["resultType"], "complete");
  });

  await t.step("a landing is a task until it has landed", async () => {
    const id = await land(program, token, await tokenFor(program, "other"));
    const landing = await begin(client, "land_review", { id });
    let seen = await see(client, landing);
    while (seen["status"] === "working") seen = await see(client, landing);
    assert.equal(seen["status"], "completed");
    const { structuredContent } = seen["result"] as { structuredContent: unknown };
    assert.deepEqual(structuredContent, { id, status: "landed", position: null });
  });
});
