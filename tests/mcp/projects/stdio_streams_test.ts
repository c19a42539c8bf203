/** Streams through `muster mcp`: subscriptions, events, and the resources of earlier revisions. */
import assert from "node:assert/strict";
import { createMcpHandler } from "../../../mcp/mod.ts";
import { serveStdio } from "../../../mcp/stdio/mod.ts";
import { createApi } from "../../../routes/app.ts";
import { type TestProject, withProject } from "../../support/projects.ts";
import { BY_OPERATOR } from "../../support/services.ts";
import { type Message, STATELESS } from "../../support/stateless_mcp.ts";
import { FORGETFUL } from "../../support/stdio.ts";
import { until } from "../../support/until.ts";

interface Stdio extends Omit<TestProject, "send"> {
  send(message: object): Promise<void>;
  /** The first message that matches. */
  next(matches: (message: Message) => boolean): Promise<Message>;
  readonly messages: readonly Message[];
}

async function withStdio(run: (test: Stdio) => Promise<void>): Promise<void> {
  await withProject(async (project) => {
    const { services, metrics } = project.api;
    const { projects: projectApi } = createApi({ ...services, metrics });
    const handler = createMcpHandler({ ...services, all: services, metrics, projectApi });
    const messages: Message[] = [];
    const input = new TransformStream<Uint8Array, Uint8Array>();
    const writer = input.writable.getWriter();
    const serving = serveStdio({
      ...FORGETFUL,
      input: input.readable,
      write: (line) => Promise.resolve(void messages.push(JSON.parse(line))),
      deliver({ headers, body, signal }) {
        headers.set("authorization", project.caller);
        const request = new Request("http://127.0.0.1/mcp", {
          method: "POST",
          headers,
          body,
          signal,
        });
        return handler(request, "127.0.0.1");
      },
    });
    await run({
      ...project,
      messages,
      send: (message) =>
        writer.write(
          new TextEncoder().encode(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`),
        ),
      async next(matches) {
        await until(() => messages.some(matches));
        return messages.find(matches) ?? assert.fail();
      },
    });
    await writer.close();
    await serving;
  });
}

const _meta = {
  "io.modelcontextprotocol/protocolVersion": STATELESS,
  "io.modelcontextprotocol/clientCapabilities": {},
};

const isCalled = (method: string) => (message: Message) => message.method === method;

async function ticket({ answer }: Pick<TestProject, "answer">, title: string): Promise<string> {
  return (await answer("POST /api/tickets", { body: { title } })).uuid;
}

Deno.test("a client at muster mcp reads streams, until it cancels them or they end", async () => {
  await withStdio(async (test) => {
    const { send, next, messages, api: { services } } = test;
    await send({ id: 1, method: "server/discover", params: { _meta } });
    const discovered = await next(({ id }) => id === 1);
    const { capabilities } = discovered.result as { capabilities: Record<string, unknown> };
    assert.deepEqual(capabilities["resources"], { subscribe: true });

    const events = { name: "project.ticket", arguments: { project: "demo" }, _meta };
    await send({ id: 2, method: "events/stream", params: events });
    await next(isCalled("notifications/events/active"));
    const uuid = await ticket(test, "One");
    const event = await next(isCalled("notifications/events/event"));
    assert.equal((event.params?.["data"] as Record<string, unknown>)["ticket"], uuid);
    assert.deepEqual(event.params?.["_meta"], { "io.modelcontextprotocol/subscriptionId": 2 });

    const uri = `muster://project/demo/ticket/${uuid}`;
    const notifications = { resourceSubscriptions: [uri] };
    await send({ id: "three", method: "subscriptions/listen", params: { notifications, _meta } });
    await next(isCalled("notifications/subscriptions/acknowledged"));
    await send({ method: "notifications/cancelled", params: { requestId: 2, _meta } });
    await send({ id: 4, method: "events/poll", params: { ...events, cursor: null } });
    await next(({ id }) => id === 4);
    const body = { title: "Other" };
    await test.answer(`PATCH /api/tickets/${uuid}`, { body });
    await next(isCalled("notifications/resources/updated"));
    assert.equal(messages.filter(isCalled("notifications/events/event")).length, 1);
    assert.ok(!messages.some(({ id }) => id === 2));

    await send({ id: 5, method: "events/stream", params: { name: "none", _meta } });
    assert.equal((await next(({ id }) => id as unknown === 5)).error?.code, -32011);
    await services.agents.revoke("caller", BY_OPERATOR);
    const end = await next(({ id }) => id as unknown === "three");
    assert.ok(end.result ?? end.error);
  });
});

Deno.test("a client of an earlier revision subscribes to resources", async () => {
  await withStdio(async (test) => {
    const { send, next, messages } = test;
    const opening = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: {} };
    await send({ id: 1, method: "initialize", params: opening });
    const opened = await next(({ id }) => id === 1);
    const { capabilities } = opened.result as { capabilities: Record<string, unknown> };
    assert.deepEqual(capabilities["resources"], { subscribe: true });
    const uuid = await ticket(test, "One");
    const uri = `muster://project/demo/ticket/${uuid}`;
    const { feeds } = test.api.services.hosting;
    await send({ id: 2, method: "resources/subscribe", params: { uri } });
    assert.deepEqual((await next(({ id }) => id === 2)).result, {});
    await until(() => feeds.readers === 1);
    await test.answer(`PATCH /api/tickets/${uuid}`, { body: { title: "Two" } });
    const updated = await next(isCalled("notifications/resources/updated"));
    assert.deepEqual(updated.params, { uri });

    await send({ id: 3, method: "resources/unsubscribe", params: { uri } });
    await next(({ id }) => id === 3);
    await until(() => feeds.readers === 0);
    await send({ id: 4, method: "resources/subscribe", params: {} });
    assert.equal((await next(({ id }) => id === 4)).error?.code, -32602);
    assert.equal(messages.filter(isCalled("notifications/resources/updated")).length, 1);
  });
});
