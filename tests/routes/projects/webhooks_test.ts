import assert from "node:assert/strict";
import { type TestProject, withProject } from "../../support/projects.ts";
import { BY_OPERATOR } from "../../support/services.ts";
import { Receiver } from "../../services/work/webhooks/receiver.ts";

const CONFIG = { config: { webhooks: { allow_private: true } } };
const URL = "https://ci.example/hook";

/** The headers of an agent with the role and the scope `admin` in the project. */
async function anAdmin({ api: { services } }: TestProject): Promise<string> {
  await services.hosting.projects.setMember("demo", "caller", "admin", BY_OPERATOR);
  const { token } = await services.tokens.create({
    owner: "caller",
    name: "of an admin",
    scopes: ["read", "admin"],
    project: null,
    expires_at: null,
  }, BY_OPERATOR);
  return `Bearer ${token}`;
}

Deno.test("an admin of a project manages its webhooks in the repository API", async () => {
  await using receiver = new Receiver();
  await withProject(async (test) => {
    const { api, answer } = test;
    const as = await anAdmin(test);
    const body = { url: receiver.url, types: ["checkin"] };
    const { secret, ...webhook } = await answer("POST /api/webhooks", { as, body });
    assert.match(secret, /^whsec_/);
    assert.deepEqual(await answer("GET /api/webhooks", { as }), [webhook]);
    assert.deepEqual(await api.answer("GET /v1/projects/demo/webhooks"), [webhook]);

    const path = `/api/webhooks/${webhook.id}`;
    const delivery = await answer(`POST ${path}/ping`, { as });
    await api.services.hosting.webhookSender.idle();
    const [sent] = await answer(`GET ${path}/deliveries`, { as });
    assert.deepEqual([sent.id, sent.status], [delivery.id, "delivered"]);
    const one = `${path}/deliveries/${delivery.id}`;
    assert.match((await answer(`GET ${one}`, { as })).body, /"type":"ping"/);
    await answer(`POST ${one}/redeliver`, { as });
    await api.services.hosting.webhookSender.idle();
    assert.equal(receiver.arrivals.length, 2);

    const changed = await answer(`PATCH ${path}`, { as, body: { active: false } });
    assert.equal(changed.active, false);
    assert.notEqual((await answer(`POST ${path}/rotate`, { as })).secret, secret);
    await answer(`DELETE ${path}`, { as });
    assert.deepEqual(await answer("GET /api/webhooks", { as }), []);

    const { events } = await api.services.eventLog.read({ types: ["project.webhook_changed"] });
    assert.deepEqual(
      events.map(({ actor, data }) => `${actor} ${data["action"]}`),
      ["created", "changed", "rotated", "removed"].map((action) => `agent:caller ${action}`),
    );
  }, CONFIG);
});

Deno.test("webhooks of a project are closed to members without the role and the scope admin", async () => {
  await withProject(async (test) => {
    const { api, send, answer, other, outsider } = test;
    const admin = await anAdmin(test);
    const { id } = await answer("POST /api/webhooks", { as: admin, body: { url: URL } });
    const status = async (request: string, as: string | null, body?: unknown) => {
      const response = await send(request, { as, ...(body === undefined ? {} : { body }) });
      await response.body?.cancel();
      return response.status;
    };
    const callers: readonly (readonly [string, string | null, read: number, written: number])[] = [
      ["a writer", other, 403, 403],
      ["an admin's token without the scope admin", test.caller, 403, 403],
      ["a stranger", outsider, 404, 404],
      ["a guest", null, 404, 401],
    ];
    for (const [who, as, read, written] of callers) {
      assert.equal(await status("GET /api/webhooks", as), read, who);
      assert.equal(await status(`GET /api/webhooks/${id}/deliveries`, as), read, who);
      assert.equal(await status("POST /api/webhooks", as, { url: URL }), written, who);
      assert.equal(await status(`DELETE /api/webhooks/${id}`, as), written, who);
    }

    const { projects } = api.services.hosting;
    const request = { slug: "second", description: "", visibility: "private" } as const;
    await projects.create(request, BY_OPERATOR);
    const foreign = await api.answer("POST /v1/projects/second/webhooks", { url: URL });
    const ofAll = await api.answer("POST /v1/webhooks", { url: URL });
    for (const webhook of [foreign, ofAll] as { id: string }[]) {
      assert.equal(await status(`GET /api/webhooks/${webhook.id}`, admin), 404);
      assert.equal(await status(`DELETE /api/webhooks/${webhook.id}`, admin), 404);
    }

    await projects.change("demo", { archived: true }, BY_OPERATOR);
    assert.equal(await status("GET /api/webhooks", admin), 200);
    assert.equal(await status("POST /api/webhooks", admin, { url: URL }), 409);
  });
});
