import assert from "node:assert/strict";
import { Webhook } from "standardwebhooks";
import { z } from "zod";
import type { Project } from "../../../../services/work/projects/mod.ts";
import type { DeliveryView, IssuedWebhook } from "../../../../services/work/webhooks/mod.ts";
import { Unavailable } from "../../../../services/kernel/errors.ts";
import { byEverybody, TestApi, withApi } from "../../../support/scenarios.ts";
import {
  BY_OPERATOR,
  openServices,
  type TestServices,
  withServices,
} from "../../../support/services.ts";
import { withFolder } from "../../../support/temporary.ts";
import { until } from "../../../support/until.ts";
import { type Arrival, Receiver } from "./receiver.ts";

const CONFIG = { config: { webhooks: { allow_private: true } } };
/** No request takes so long that it makes room for another one. */
const PATIENT = { config: { webhooks: { allow_private: true, timeout_seconds: 300 } } };
const HOUR = 3_600_000;

async function aProject({ hosting }: TestServices, slug = "demo"): Promise<Project> {
  const request = { slug, description: "", visibility: "private" } as const;
  return (await hosting.projects.create(request, BY_OPERATOR)).project;
}

/** Writes an event that only the log knows. */
async function note({ database, clock }: TestServices, project: Project, name = "technote") {
  const data = { project: project.slug, project_id: project.id, name: "N", user: "ann", uuid: "" };
  const who = { actor: "agent:ann", actorId: null, address: null, cause: null };
  await database.commit({
    events: [{ time: clock.now(), type: `project.${name}`, ...who, data }],
  });
}

const payloadSchema = z.object({
  type: z.string(),
  timestamp: z.string(),
  data: z.record(z.string(), z.unknown()),
});

/** Verifies an arrival as its receiver would, at the time of the test. */
function verified(services: TestServices, secret: string, { headers, body }: Arrival) {
  const now = Date.now;
  Date.now = () => services.clock.now();
  try {
    return payloadSchema.parse(new Webhook(secret).verify(body, headers));
  } finally {
    Date.now = now;
  }
}

async function issue(api: TestApi, path: string, body: unknown): Promise<IssuedWebhook> {
  return await api.answer(`POST ${path}`, body) as IssuedWebhook;
}

/** The newest delivery of a webhook. */
async function newestDelivery(api: TestApi, path: string): Promise<DeliveryView> {
  const [delivery] = await api.answer(`GET ${path}/deliveries`) as readonly DeliveryView[];
  assert.ok(delivery);
  return delivery;
}

/** Runs a test on the services of a folder, and gives an API on them to the operator. */
async function withRun(
  folder: string,
  clock: TestServices["clock"] | undefined,
  run: (services: TestServices) => Promise<void>,
): Promise<TestServices["clock"]> {
  const services = await openServices(folder, CONFIG, clock);
  try {
    await run(services);
  } finally {
    await services.close();
  }
  return services.clock;
}

Deno.test("events are posted to webhooks of the project and of all projects, signed", async () => {
  await withApi(async (api) => {
    const { services } = api;
    await using receiver = new Receiver();
    const [demo, other] = [await aProject(services), await aProject(services, "other")];
    const own = await issue(api, "/v1/projects/demo/webhooks", {
      url: `${receiver.url}/own`,
      types: ["technote"],
    });
    assert.match(own.secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
    assert.doesNotMatch(
      JSON.stringify(await api.answer("GET /v1/projects/demo/webhooks")),
      /whsec/,
    );
    await note(services, other);
    await note(services, demo, "wiki");
    await note(services, demo);
    const arrival = await receiver.next();
    const { type, data, timestamp } = verified(services, own.secret, arrival);
    assert.deepEqual([type, data.project, data.user], ["technote", "demo", "ann"]);
    assert.equal(timestamp, "2026-11-20T12:00:00.000Z");
    assert.equal(data.project_id, undefined);
    assert.match(arrival.headers["user-agent"] ?? "", /^muster\//);

    const all = await issue(api, "/v1/webhooks", { url: `${receiver.url}/all` });
    await note(services, other);
    const second = await receiver.next();
    assert.equal(second.path, "/hook/all");
    assert.equal(verified(services, all.secret, second).data["project"], "other");
    await services.hosting.webhookSender.idle();
    assert.equal(receiver.arrivals.length, 2);
  }, CONFIG);
});

Deno.test("the sender stops once old deliveries are removed", () =>
  withServices(async ({ clock, database, hosting }) => {
    const { webhooks, webhookSender } = hosting;
    await webhooks.create(null, { url: "https://example.com/hook", types: [] }, BY_OPERATOR);
    const [isTrimming, mayEnd] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const doing: string[] = [];
    webhooks.deliveries.trim = async () => {
      isTrimming.resolve();
      await mayEnd.promise;
      doing.push("trimmed");
    };
    clock.advance(HOUR);
    await isTrimming.promise;
    const stopped = webhookSender.stop().then(() => doing.push("stopped"));
    for (let turn = 0; turn < 10; turn++) {
      await database.tables.selectFrom("webhooks").select("id").execute();
    }
    mayEnd.resolve();
    await stopped;
    assert.deepEqual(doing, ["trimmed", "stopped"]);
  }, CONFIG));

Deno.test("failed deliveries, and events that came meanwhile, are sent after a restart", async () => {
  await withFolder(async (folder) => {
    await using receiver = new Receiver();
    receiver.answer = (count) => new Response(null, { status: count === 0 ? 500 : 200 });
    let id = "";
    const clock = await withRun(folder, undefined, async (services) => {
      const project = await aProject(services);
      const { webhooks, webhookSender } = services.hosting;
      ({ id } = await webhooks.create(project, { url: receiver.url, types: [] }, BY_OPERATOR));
      await note(services, project);
      await receiver.next();
      await webhookSender.idle();
      await webhookSender.stop();
      await note(services, project, "wiki");
    });
    clock.advance(5000);
    await withRun(folder, clock, async (services) => {
      const both = [await receiver.next(), await receiver.next()];
      const types = both.map(({ body }) => JSON.parse(body).type).sort();
      assert.deepEqual(types, ["technote", "wiki"]);
      const ids = receiver.arrivals.map(({ headers }) => headers["webhook-id"]);
      assert.equal(new Set(ids).size, 2);
      const { webhooks, webhookSender } = services.hosting;
      await webhookSender.idle();
      const { project } = services.hosting.projects.require("demo");
      const log = await webhooks.deliveries.list(webhooks.require(project, id), { limit: 9 });
      assert.deepEqual(log.map(({ status, attempts }) => [status, attempts]).sort(), [
        ["delivered", 1],
        ["delivered", 2],
      ]);
    });
    await withRun(folder, clock, async ({ hosting }) => await hosting.webhookSender.idle());
    assert.equal(receiver.arrivals.length, 3);
  });
});

Deno.test("a disk that refuses events and results for a while loses none of them", async () => {
  await withApi(async (api) => {
    const { services } = api;
    const { database, clock, hosting: { webhookSender } } = services;
    await using receiver = new Receiver();
    const answered = Promise.withResolvers<Response>();
    receiver.answer = (count) => count === 0 ? answered.promise : new Response();
    const project = await aProject(services);
    await issue(api, "/v1/projects/demo/webhooks", { url: receiver.url });
    await note(services, project);
    await receiver.next();

    const commit = database.commit.bind(database);
    let refused = 0;
    database.commit = (change) => {
      if ((change.events ?? []).length > 0) return commit(change);
      if (change.statements?.some(({ sql }) => sql.includes("webhook"))) refused++;
      return Promise.reject(new Unavailable("full"));
    };
    await note(services, project, "wiki");
    await until(() => refused === 1);
    answered.resolve(new Response());
    await until(() => refused === 2);
    await webhookSender.idle();
    database.commit = commit;
    clock.advance(5000);
    const types = [await receiver.next(), await receiver.next()]
      .map(({ body }) => payloadSchema.parse(JSON.parse(body)).type);
    assert.deepEqual(types.sort(), ["technote", "wiki"]);
  }, CONFIG);
});

Deno.test("the pauses between attempts grow, and the last attempt fails the delivery", async () => {
  await withApi(async (api) => {
    const { services } = api;
    await using receiver = new Receiver();
    receiver.answer = () => new Response(null, { status: 500 });
    const project = await aProject(services);
    const { id } = await issue(api, "/v1/projects/demo/webhooks", { url: receiver.url });
    const path = `/v1/projects/demo/webhooks/${id}`;
    await note(services, project);
    const waits: number[] = [];
    for (let attempt = 0; attempt < 10; attempt++) {
      await receiver.next();
      await services.hosting.webhookSender.idle();
      const delivery = await newestDelivery(api, path);
      if (delivery.next_attempt_at === null) break;
      const wait = Date.parse(delivery.next_attempt_at) - services.clock.now();
      waits.push(wait / 1000);
      for (let passed = 0; passed < wait; passed += HOUR) {
        services.clock.advance(Math.min(HOUR, wait - passed));
        await services.hosting.webhookSender.idle();
      }
    }
    assert.deepEqual(waits, [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400]);
    const delivery = await newestDelivery(api, path);
    assert.deepEqual([delivery.status, delivery.attempts, delivery.response_status], [
      "failed",
      10,
      500,
    ]);
    assert.equal(delivery.error, "The response is 500");

    // Two days later it has failed for five, and the next failure disables it.
    services.clock.advance(48 * HOUR);
    await note(services, project);
    await receiver.next();
    await services.hosting.webhookSender.idle();
    const view = await api.answer(`GET ${path}`) as { active: boolean };
    assert.equal(view.active, false);
    const { events } = await services.eventLog.read({ types: ["project.webhook_changed"] });
    assert.equal(events.at(-1)?.data["action"], "disabled");
    await api.expect([{ request: `POST ${path}/ping`, status: 409, matches: /not active/ }]);
  }, CONFIG);
});

Deno.test("a receiver that is gone gets nothing more, and Retry-After is respected", async () => {
  await withApi(async (api) => {
    const { services } = api;
    await using receiver = new Receiver();
    receiver.answer = (count) =>
      count === 0
        ? new Response(null, { status: 429, headers: { "retry-after": "90" } })
        : new Response(null, { status: 410 });
    const project = await aProject(services);
    const { id } = await issue(api, "/v1/projects/demo/webhooks", { url: receiver.url });
    const path = `/v1/projects/demo/webhooks/${id}`;
    await note(services, project);
    await receiver.next();
    await services.hosting.webhookSender.idle();
    const delivery = await newestDelivery(api, path);
    assert.equal(Date.parse(delivery.next_attempt_at ?? "") - services.clock.now(), 90_000);
    services.clock.advance(90_000);
    await receiver.next();
    await services.hosting.webhookSender.idle();
    assert.equal((await api.answer(`GET ${path}`) as { active: boolean }).active, false);
  }, CONFIG);
});

Deno.test("redirects are not followed", async () => {
  await withApi(async (api) => {
    const { services } = api;
    await using receiver = new Receiver();
    receiver.answer = () =>
      new Response(null, { status: 302, headers: { location: `${receiver.url}/elsewhere` } });
    const { id } = await issue(api, "/v1/webhooks", { url: receiver.url });
    await api.answer(`POST /v1/webhooks/${id}/ping`);
    await receiver.next();
    await services.hosting.webhookSender.idle();
    const delivery = await newestDelivery(api, `/v1/webhooks/${id}`);
    assert.equal(delivery.status, "pending");
    assert.match(delivery.error ?? "", /redirect/);
    assert.equal(receiver.arrivals.length, 1);
  }, CONFIG);
});

Deno.test("a private address gets nothing unless the configuration allows it", async () => {
  await withApi(async (api) => {
    await using receiver = new Receiver();
    const { id } = await issue(api, "/v1/webhooks", { url: receiver.url });
    await api.answer(`POST /v1/webhooks/${id}/ping`);
    await api.services.hosting.webhookSender.idle();
    const delivery = await newestDelivery(api, `/v1/webhooks/${id}`);
    assert.match(delivery.error ?? "", /127\.0\.0\.1, which is not on the public internet/);
    assert.deepEqual(receiver.arrivals, []);
  });
});

Deno.test("one slow webhook gets four concurrent requests and delays no other", async () => {
  await withApi(async (api) => {
    const { services } = api;
    await using slow = new Receiver();
    await using quick = new Receiver();
    const release = Promise.withResolvers<void>();
    let [open, most] = [0, 0];
    slow.answer = async () => {
      most = Math.max(most, ++open);
      await release.promise;
      open--;
      return new Response();
    };
    const project = await aProject(services);
    await issue(api, "/v1/webhooks", { url: slow.url });
    await issue(api, "/v1/webhooks", { url: quick.url });
    for (let count = 0; count < 50; count++) await note(services, project);
    for (let count = 0; count < 50; count++) await quick.next();
    release.resolve();
    for (let count = 0; count < 50; count++) await slow.next();
    await services.hosting.webhookSender.idle();
    assert.ok(most <= 4, `${most} at once`);
  }, PATIENT);
});

Deno.test("a delivery is sent again under its id, and an old secret stays valid for a day", async () => {
  await withApi(async (api) => {
    const { services } = api;
    await using receiver = new Receiver();
    const first = await issue(api, "/v1/webhooks", { url: receiver.url });
    const path = `/v1/webhooks/${first.id}`;
    await api.answer(`POST ${path}/ping`);
    const ping = await receiver.next();
    assert.equal(verified(services, first.secret, ping).type, "ping");
    await services.hosting.webhookSender.idle();
    const second = await issue(api, `${path}/rotate`, undefined);
    const delivery = await newestDelivery(api, path);
    assert.equal(delivery.status, "delivered");
    await api.answer(`POST ${path}/deliveries/${delivery.id}/redeliver`);
    const again = await receiver.next();
    assert.equal(again.headers["webhook-id"], ping.headers["webhook-id"]);
    verified(services, first.secret, again);
    verified(services, second.secret, again);
    await services.hosting.webhookSender.idle();
    services.clock.advance(25 * HOUR);
    await api.answer(`POST ${path}/ping`);
    const late = await receiver.next();
    verified(services, second.secret, late);
    assert.throws(() => verified(services, first.secret, late));
    await services.hosting.webhookSender.idle();
    const whole = await api.answer(`GET ${path}/deliveries/${delivery.id}`) as { body: string };
    assert.equal(whole.body, ping.body);
  }, CONFIG);
});

Deno.test("only the operator changes and removes webhooks", async () => {
  await withApi(async (api) => {
    const { services } = api;
    await aProject(services);
    await aProject(services, "other");
    await api.expect([
      ...byEverybody("GET /v1/webhooks", ["operator"], 200),
      ...byEverybody("GET /v1/projects/demo/webhooks", ["operator"], 200),
    ]);
    const { id } = await issue(api, "/v1/projects/demo/webhooks", { url: "https://a.example/" });
    const own = `/v1/projects/demo/webhooks/${id}`;
    await api.expect([
      { request: `GET /v1/webhooks/${id}`, status: 404 },
      { request: `GET /v1/projects/other/webhooks/${id}`, status: 404 },
      { request: "GET /v1/projects/none/webhooks", status: 404 },
      { request: `PATCH ${own}`, body: {}, status: 200 },
      { request: `PATCH ${own}`, body: { types: ["a b"] }, status: 400, matches: /types/ },
      {
        request: `PATCH ${own}`,
        body: { types: ["wiki", "tickets"] },
        status: 400,
        matches: /types\[1\].* must be one of accepted, .*checkin, .*ticket, /,
      },
      { request: `PATCH ${own}`, body: { url: "ftp://a.example/" }, status: 400 },
      { request: `PATCH ${own}`, body: { url: "https://u:p@a.example/" }, status: 400 },
      {
        request: `PATCH ${own}`,
        body: { types: ["wiki"], active: false },
        status: 200,
        matches: /"types":\["wiki"\],"active":false/,
      },
      { request: `GET ${own}/deliveries?limit=101`, status: 400 },
      { request: `POST ${own}/deliveries/none/redeliver`, status: 409 },
      { request: `PATCH ${own}`, body: { active: true }, status: 200 },
      { request: `POST ${own}/deliveries/none/redeliver`, status: 404 },
      { request: `DELETE ${own}`, status: 204 },
      { request: `DELETE ${own}`, status: 404 },
    ]);
    const row = await services.database.tables.selectFrom("webhooks").selectAll().execute();
    assert.deepEqual(row, []);
  });
});
