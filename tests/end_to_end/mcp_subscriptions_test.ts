/** `subscriptions/listen`: what changes of resources and tasks. */
import assert from "node:assert/strict";
import { call } from "../support/api.ts";
import { startWithProject } from "../support/driven_project.ts";
import type { Program } from "../support/program.ts";
import { MessageStream, statelessRequest } from "../support/stateless_mcp.ts";

const TASKS = { extensions: { "io.modelcontextprotocol/tasks": {} } };

function post(
  program: Program,
  token: string,
  method: string,
  params: Readonly<Record<string, unknown>>,
  capabilities: object = TASKS,
): Promise<Response> {
  return fetch(statelessRequest(program.mcp, { token, method, params, capabilities }));
}

async function ticketOf(program: Program, token: string, title: string): Promise<string> {
  const response = await fetch(`${program.api}/projects/demo/fossil/api/tickets`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ title }),
  });
  assert.ok(response.ok);
  return (await response.json()).uuid;
}

Deno.test("a subscription tells of the caller's resources and tasks, until its token ends", async (t) => {
  const { program, token } = await startWithProject();
  await using _ = program;
  await call(program, "POST", "/v1/projects", { slug: "secret", visibility: "private" });
  const ticket = await ticketOf(program, token, "First");
  const uri = `muster://project/demo/ticket/${ticket}`;
  const file = "muster://project/demo/file/seed.txt";
  const listen = (notifications: object, capabilities?: object) =>
    post(program, token, "subscriptions/listen", { notifications }, capabilities);

  await t.step("the capabilities say so", async () => {
    const { result } = await (await post(program, token, "server/discover", {})).json();
    assert.deepEqual(result.capabilities.resources, { subscribe: true });
  });

  await t.step("resources that the caller may not read are left out", async () => {
    await using listening = new MessageStream(
      await listen({
        toolsListChanged: true,
        resourceSubscriptions: [uri, file, "muster://project/secret/wiki/Home", "file:///x"],
      }),
    );
    assert.deepEqual((await listening.next())?.params, {
      notifications: { resourceSubscriptions: [uri, file] },
      _meta: { "io.modelcontextprotocol/subscriptionId": 7 },
    });
    await ticketOf(program, token, "Another");
    const input = { uuid: ticket, status: "Closed" };
    const update = { name: "update_ticket", arguments: input };
    const { result } = await (await post(program, token, "tools/call", update)).json();
    assert.equal(result.isError, false, JSON.stringify(result));
    const told = await listening.next();
    assert.equal(told?.method, "notifications/resources/updated");
    assert.equal(told?.params?.["uri"], uri);
    const api = `${program.api}/projects/demo/fossil/api/workspaces`;
    const send = (path: string, body: object) =>
      fetch(`${api}/${path}`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: JSON.stringify(body),
      });
    await (await send("create", { name: "w" })).body?.cancel();
    const changes = [{ path: "seed.txt", content: "new\n" }];
    await (await send("w/commit", { message: "New", changes })).body?.cancel();
    let next = await listening.next();
    while (next?.params?.["uri"] === uri) next = await listening.next();
    assert.equal(next?.params?.["uri"], file);
  });

  await t.step("nothing to subscribe to ends at once", async () => {
    await using listening = new MessageStream(await listen({ promptsListChanged: true }));
    assert.deepEqual((await listening.next())?.params?.["notifications"], {});
    assert.equal((await listening.next())?.result?.["resultType"], "complete");
    assert.equal(await listening.next(), null);
  });

  await t.step("a task tells when it ends", async () => {
    const question = { text: "Now?", wait_seconds: 60 };
    const asked = { name: "ask_human", arguments: question };
    const { result: { taskId } } = await (await post(program, token, "tools/call", asked)).json();
    await using listening = new MessageStream(await listen({ taskIds: [taskId, "ask_human.x"] }));
    assert.deepEqual((await listening.next())?.params?.["notifications"], { taskIds: [taskId] });
    assert.equal((await listening.next())?.params?.["status"], "working");
    assert.ok((await call(program, "POST", "/v1/questions/1/answer", { answer: "yes" })).ok);
    const told = await listening.next();
    assert.equal(told?.method, "notifications/tasks");
    assert.equal(told?.params?.["status"], "completed");
  });

  await t.step("a filter that is none, and tasks without the extension, are refused", async () => {
    const refusals: unknown[] = [];
    const many = Array.from({ length: 101 }, () => uri);
    const filters: [object, object?][] = [
      [{ taskIds: ["x"] }, {}],
      [{ resourceSubscriptions: many }],
      [{ resourceSubscriptions: "all" }],
    ];
    for (const [filter, capabilities] of filters) {
      const { error } = await (await listen(filter, capabilities)).json();
      refusals.push(error.code);
    }
    assert.deepEqual(refusals, [-32021, -32602, -32602]);
  });

  await t.step("a revoked token ends it", async () => {
    await using listening = new MessageStream(await listen({ resourceSubscriptions: [uri] }));
    assert.ok(await listening.next());
    const own = await (await call(program, "GET", "/v1/tokens?owner=scout")).json();
    for (const { id } of own.tokens ?? own) await call(program, "DELETE", `/v1/tokens/${id}`);
    assert.equal(await listening.next(), null);
  });
});
