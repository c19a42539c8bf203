/** A halted agent reads, and changes nothing, on any route, with any tool and any IRC command. */
import assert from "node:assert/strict";
import { createMcpHandler } from "../../mcp/mod.ts";
import { createApi } from "../../routes/app.ts";
import { accessOf } from "../../routes/access.ts";
import {
  PROJECT_ROUTES,
  PROJECT_WHILE_HALTED,
  type ProjectEndpoint,
} from "../../routes/projects/table.ts";
import { type Endpoint, ROUTES, WHILE_HALTED } from "../../routes/table.ts";
import { Bridge } from "../../services/chat/bridge/mod.ts";
import type { Services } from "../../services/operation/daemon/mod.ts";
import { Receiver } from "../services/work/webhooks/receiver.ts";
import { TestMetrics } from "../support/metrics.ts";
import { type TestProject, withProject } from "../support/projects.ts";
import { withApi } from "../support/scenarios.ts";
import { anAgent, BY_OPERATOR } from "../support/services.ts";

const REASON = "wrong branch";
const HALTED = /All agents are halted: wrong branch/;

/** What may change something: every request of a table but those that read. */
function writesOf<Name extends string>(table: Readonly<Record<Name, unknown>>): Name[] {
  return (Object.keys(table) as Name[]).filter((name) => !name.startsWith("GET "));
}

/** A path of a route, with a value for each parameter. */
function filled(name: string): string {
  return name.replace(/\{nick\}|\{channel\}/g, "caller").replace(/\{\w+\}/g, "abcdef0123");
}

function haltAll({ api }: Pick<TestProject, "api">) {
  return api.answer("POST /v1/halt", { reason: REASON });
}

Deno.test("nothing that changes something says that halted agents may do it", () => {
  const inProjects: ProjectEndpoint[] = ["POST ", "POST /api/batch"];
  // What calls have taken already is in the ledger, also while their agent is halted.
  const reports: Endpoint[] = [
    "POST /v1/llm/otlp/v1/logs",
    "POST /v1/llm/otlp/v1/traces",
    "POST /v1/llm/otlp/v1/metrics",
  ];
  assert.deepEqual([...WHILE_HALTED], reports);
  assert.deepEqual([...PROJECT_WHILE_HALTED], inProjects);
});

Deno.test("a halted agent is refused every change below /v1/, and reads on", async () => {
  await withApi(async (plain) => {
    const api = plain.with({ bridge: Object.create(Bridge.prototype) });
    await api.answer("POST /v1/halt", { reason: REASON });
    for (const name of writesOf(ROUTES)) {
      const { schemes } = accessOf(name);
      // Nobody who reaches these is an agent: people log in, and programs sign their webhooks.
      if (schemes.length === 0 || schemes.includes("session")) continue;
      if (WHILE_HALTED.has(name)) continue;
      const isForAgents = schemes.includes("agentToken");
      for (const who of ["writer", "passphrase"] as const) {
        const response = await api.send({ who, request: filled(name), body: {} });
        const text = await response.text();
        assert.equal(response.status, isForAgents ? 423 : 403, `${name}: ${text}`);
        if (isForAgents) assert.match(text, HALTED, name);
      }
    }
    await api.expect([
      { who: "writer", request: "GET /v1/status", status: 200, matches: /"halted":true/ },
      { who: "writer", request: "GET /v1/agents", status: 200 },
      { who: "writer", request: "GET /v1/agents/caller/messages", status: 200 },
      { who: "writer", request: "GET /v1/halt", status: 200, matches: /wrong branch/ },
      { request: "GET /readyz", status: 200, matches: /"halted":true/ },
    ]);
    await api.answer("DELETE /v1/halt");
    await api.expect([
      { who: "writer", request: "GET /v1/status", status: 200, matches: /"halted":false/ },
      { who: "writer", request: "POST /v1/llm/complete", body: {}, status: 400 },
    ]);
  });
});

Deno.test("a halted agent is refused every change of a project, and reads on", async () => {
  await withProject(async (test) => {
    const { api, send, answer } = test;
    await api.services.hosting.projects.setMember("demo", "caller", "admin", BY_OPERATOR);
    const scopes = ["read", "write", "admin"] as const;
    const request = { owner: "caller", name: "all", scopes: [...scopes], project: null };
    const { token } = await api.services.tokens.create(
      { ...request, expires_at: null },
      BY_OPERATOR,
    );
    const as = `Bearer ${token}`;
    await haltAll(test);
    for (const name of writesOf(PROJECT_ROUTES)) {
      if (PROJECT_WHILE_HALTED.has(name)) continue;
      const response = await send(filled(name), { as, body: {} });
      const text = await response.text();
      assert.equal(response.status, 423, `${name}: ${text}`);
      assert.match(text, HALTED, name);
    }
    const { total } = await answer("GET /api/timeline", { as });
    assert.ok(total >= 1);
    const body = { requests: [{ method: "GET", path: "/api/timeline" }] };
    const { responses } = await answer("POST /api/batch", { as, body });
    assert.equal(responses[0].status, 200);
  });
});

Deno.test("nobody writes in the name of a halted agent, and people go on", async () => {
  await withProject(async (test) => {
    const { api, send, answer } = test;
    await haltAll(test);
    const ticket = { title: "Broken", comment: "It is" };
    const refused = await send("POST /api/tickets", { body: { ...ticket, agent_id: "caller" } });
    assert.deepEqual([refused.status, HALTED.test(await refused.text())], [423, true]);
    const { uuid } = await answer("POST /api/tickets", { body: ticket });
    assert.match(uuid, /^[0-9a-f]{40}/);
    await api.expect([{
      request: "POST /v1/agents/caller/messages",
      body: { nick: "other", text: "hi" },
      status: 423,
      matches: HALTED,
    }, {
      request: "POST /v1/agents/caller/messages",
      body: { text: "hi" },
      status: 204,
    }]);
  });
});

Deno.test("a halted agent is refused every tool that changes something", async () => {
  await withProject(async ({ api, caller }) => {
    await api.answer("POST /v1/halt", { reason: REASON });
    const services: Services = { ...api.services, metrics: new TestMetrics(), ircServer: null };
    const handle = createMcpHandler({ ...services, projectApi: createApi(services).projects });
    const call = async (method: string, params: unknown = {}) => {
      const request = new Request("http://127.0.0.1:8081/mcp?tools=all", {
        method: "POST",
        headers: { authorization: caller, "mcp-protocol-version": "2025-06-18" },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
      });
      return (await (await handle(request, "127.0.0.1")).json()).result;
    };
    const { tools } = await call("tools/list");
    let refused = 0;
    for (const { name, annotations } of tools) {
      const { isError, content: [{ text }] } = await call("tools/call", { name, arguments: {} });
      if (annotations.readOnlyHint === true) {
        assert.doesNotMatch(text, /halted: wrong/, name);
        continue;
      }
      refused++;
      assert.deepEqual([isError, HALTED.test(text)], [true, true], `${name}: ${text}`);
    }
    assert.ok(refused > 20, `${refused} tools change something`);
    const { isError } = await call("tools/call", { name: "get_status", arguments: {} });
    assert.equal(isError, false);
  });
});

Deno.test("types and agents are halted and resumed by themselves", async () => {
  await withApi(async (api) => {
    const { services } = api;
    await anAgent(services, "boss", { type: "orchestrator" });
    await anAgent(services, "second");
    const isHalted = (nick: string) => {
      const agent = services.agents.roster.find(nick);
      return agent !== null && services.agents.halts.reasonOf(agent) !== null;
    };
    const states = () => ["caller", "second", "boss"].map(isHalted);
    const steps: readonly (readonly [string, unknown, readonly boolean[]])[] = [
      ["POST /v1/halt", { types: ["worker"] }, [true, true, false]],
      ["DELETE /v1/halt?agents=second", undefined, [true, false, false]],
      ["POST /v1/halt", { agents: ["boss"] }, [true, false, true]],
      ["DELETE /v1/halt?types=worker", undefined, [false, false, true]],
      ["POST /v1/halt", undefined, [true, true, true]],
      ["DELETE /v1/halt?types=orchestrator", undefined, [true, true, false]],
      ["DELETE /v1/halt?agents=caller,second", undefined, [false, false, false]],
      ["POST /v1/halt", { agents: ["second"] }, [false, true, false]],
      ["DELETE /v1/halt", undefined, [false, false, false]],
    ];
    for (const [request, body, expected] of steps) {
      await api.answer(request, body);
      assert.deepEqual(states(), expected, `${request} ${JSON.stringify(body)}`);
    }
    await api.expect([
      { request: "POST /v1/halt", body: { agents: ["nobody"] }, status: 404 },
      { request: "POST /v1/halt", body: { types: ["robot"] }, status: 400 },
      { request: "DELETE /v1/halt?types=robot", status: 400 },
      { who: "writer", request: "POST /v1/halt", status: 403 },
      { who: "writer", request: "DELETE /v1/halt", status: 403 },
      { who: "guest", request: "GET /v1/halt", status: 401 },
    ]);
    const rows = await services.database.tables.selectFrom("events").select(["type", "data"])
      .where("type", "like", "agents.%").orderBy("seq").execute();
    assert.deepEqual(rows.length, steps.length);
    assert.deepEqual([rows[0]?.type, rows[8]?.type], ["agents.halted", "agents.resumed"]);
  });
});

Deno.test("each agent finds the halt and its end in its inbox", async () => {
  await withApi(async (api) => {
    await anAgent(api.services, "boss", { type: "orchestrator" });
    await api.answer("POST /v1/halt", { reason: REASON, types: ["worker"] });
    await api.answer("DELETE /v1/halt");
    await api.services.haltNotices.idle();
    const inbox = await api.answer("GET /v1/agents/caller/messages") as { kind: string }[];
    assert.deepEqual(inbox.map((entry) => entry.kind), ["halt", "halt"]);
    assert.deepEqual(await api.answer("GET /v1/agents/boss/messages"), []);
  });
});

Deno.test("a claim stands still while its holder is halted, and gets its remaining time back", async () => {
  await withProject(async ({ api, answer, caller, send }) => {
    const { clock } = api.services;
    const { uuid } = await answer("POST /api/tickets", { body: { title: "T" } });
    const claim = await answer(`POST /api/tickets/${uuid}/claim`, { as: caller, body: {} });
    clock.advance(3_600_000);
    await api.answer("POST /v1/halt", {});
    clock.advance(30 * 86_400_000);
    const { claims: [held] } = await answer("GET /api/claims");
    assert.equal(held.status, "claimed");
    assert.notEqual(held.frozen_at, null);
    await api.answer("DELETE /v1/halt?agents=caller");
    const { claims: [going] } = await answer("GET /api/claims");
    assert.equal(
      Date.parse(going.expires_at) - Date.parse(claim.expires_at),
      30 * 86_400_000,
    );
    assert.equal(going.frozen_at, null);
    clock.advance(23 * 3_600_000 + 1);
    const released = await send(`POST /api/tickets/${uuid}/release`, { as: caller, body: {} });
    assert.equal(released.status, 404, "it ran out after the time that it had left");
  });
});

Deno.test("a webhook about an act of a halted agent waits until the agent goes on", async () => {
  await using receiver = new Receiver();
  receiver.answer = (count) => new Response(null, { status: count === 0 ? 500 : 204 });
  await withProject(async ({ api, answer, caller }) => {
    const { clock, hosting: { webhookSender } } = api.services;
    await api.answer("POST /v1/projects/demo/webhooks", { url: receiver.url, types: ["ticket"] });
    await answer("POST /api/tickets", { as: caller, body: { title: "T" } });
    await receiver.next();
    await webhookSender.idle();
    await api.answer("POST /v1/halt", {});
    clock.advance(5000);
    await webhookSender.idle();
    assert.equal(receiver.arrivals.length, 1);
    await api.answer("DELETE /v1/halt");
    clock.advance(15_000);
    await receiver.next();
    assert.equal(receiver.arrivals.length, 2);
  }, { config: { webhooks: { allow_private: true } } });
});
