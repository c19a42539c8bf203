/** Events of projects (SEP-3415), over MCP. */
import assert from "node:assert/strict";
import { Webhook } from "standardwebhooks";
import { createMcpHandler, type McpHandler } from "../../../mcp/mod.ts";
import { createApi } from "../../../routes/app.ts";
import { type TestProject, withProject } from "../../support/projects.ts";
import { BY_OPERATOR, type TestServicesOptions } from "../../support/services.ts";
import { type Message, MessageStream, statelessRequest } from "../../support/stateless_mcp.ts";
import { meanwhile } from "../../support/until.ts";
import { type Arrival, Receiver } from "../../services/work/webhooks/receiver.ts";

const HOUR = 3_600_000;
const SECRET = `whsec_${btoa("s".repeat(32))}`;
const OTHER_SECRET = `whsec_${btoa("t".repeat(32))}`;
const CHECKIN = "project.checkin";

interface EventTest extends TestProject {
  /** Sends a request that has one answer; the caller is the agent `caller` by default. */
  rpc(method: string, params?: object, as?: string): Promise<Message>;
  result(method: string, params?: object, as?: string): Promise<Record<string, unknown>>;
  /** The error's code, data and message. */
  refusal(method: string, params: object, as?: string): Promise<[number, unknown, string]>;
  stream(params: object, as?: string): Promise<MessageStream>;
  /** Commits to a workspace, which is an event. */
  checkin(): Promise<string>;
}

async function withEvents(
  run: (test: EventTest) => Promise<void>,
  options: TestServicesOptions = { config: { webhooks: { allow_private: true } } },
): Promise<void> {
  await withProject(async (project) => {
    const { services, metrics } = project.api;
    const { projects: projectApi } = createApi({ ...services, metrics });
    const handler: McpHandler = createMcpHandler({
      ...services,
      all: services,
      metrics,
      projectApi,
    });
    const post = (method: string, params: object = {}, as = project.caller) =>
      handler(
        statelessRequest("http://127.0.0.1:8081/mcp", {
          token: as.slice("Bearer ".length),
          method,
          params: { ...params },
        }),
        "127.0.0.1",
      );
    const rpc: EventTest["rpc"] = async (...request) => await (await post(...request)).json();
    let last = 0;
    await project.answer("POST /api/workspaces/create", {
      as: project.caller,
      body: { name: "work" },
    });
    await run({
      ...project,
      rpc,
      async result(...request) {
        const { result, error } = await rpc(...request);
        assert.ok(result, JSON.stringify(error));
        return result;
      },
      async refusal(...request) {
        const { error, result } = await rpc(...request);
        assert.ok(error, JSON.stringify(result));
        return [error.code, error.data, error.message];
      },
      stream: async (...request) => new MessageStream(await post("events/stream", ...request)),
      async checkin() {
        const content = String(++last);
        const { uuid } = await project.answer("POST /api/workspaces/work/commit", {
          as: project.caller,
          body: { message: content, changes: [{ path: "a.txt", content }] },
        });
        return uuid;
      },
    });
  }, options);
}

interface Poll {
  readonly events: readonly Event[];
  readonly cursor: string;
  readonly truncated: boolean;
  readonly hasMore: boolean;
}

interface Event {
  readonly eventId: string;
  readonly name: string;
  readonly data: Readonly<Record<string, unknown>>;
}

async function poll(test: EventTest, params: object, as?: string): Promise<Poll> {
  const result = await test.result("events/poll", { name: CHECKIN, ...params }, as);
  return result as unknown as Poll;
}

/** Answers challenges, and everything else with a status. */
function consenting(receiver: Receiver, status: (count: number) => number = () => 204): void {
  receiver.answer = (count) => {
    const { type, challenge } = JSON.parse(receiver.arrivals[count]?.body ?? "");
    return type === "verification"
      ? Response.json({ challenge })
      : new Response(null, { status: status(count) });
  };
}

/** The next arrival besides challenges, verified at the time of the test. */
async function delivered(
  { api: { services } }: EventTest,
  receiver: Receiver,
  secret = SECRET,
): Promise<[Record<string, unknown>, Arrival]> {
  for (;;) {
    const arrival = await receiver.next();
    const now = Date.now;
    Date.now = () => services.clock.now();
    try {
      const body = new Webhook(secret).verify(arrival.body, arrival.headers) as Record<
        string,
        unknown
      >;
      if (body["type"] !== "verification") return [body, arrival];
    } finally {
      Date.now = now;
    }
  }
}

/** Lets what is under way go on for a moment. */
const nextTask = () => new Promise<void>((resolve) => setTimeout(resolve, 5));

const subscription = (receiver: Pick<Receiver, "url">, more: object = {}) => ({
  name: CHECKIN,
  arguments: {},
  delivery: { mode: "webhook", url: receiver.url, secret: SECRET },
  ...more,
});

Deno.test("the types of events are those of the log that a reader of projects sees", async () => {
  await withEvents(async (test) => {
    const { capabilities } = await test.result("server/discover") as {
      capabilities: Record<string, unknown> & { extensions: Record<string, unknown> };
    };
    assert.deepEqual(capabilities.extensions["io.modelcontextprotocol/events"], {});
    const { events } = await test.result("events/list") as { events: Record<string, unknown>[] };
    const names = events.map(({ name }) => name);
    assert.ok(names.includes(CHECKIN) && names.includes("project.review"));
    assert.ok(!names.includes("project.member_changed"));
    for (const { delivery, description, inputSchema, payloadSchema } of events) {
      assert.deepEqual(delivery, ["poll", "push", "webhook"]);
      assert.ok(description && inputSchema && payloadSchema);
    }
  });
});

Deno.test("a poll goes on from its cursor, with what its caller may read", async () => {
  await withEvents(async (test) => {
    const start = await poll(test, { cursor: null });
    assert.deepEqual([start.events, start.truncated, start.hasMore], [[], false, false]);
    const first = await test.checkin();
    const second = await test.checkin();
    const one = await poll(test, { cursor: start.cursor, maxEvents: 1 });
    assert.deepEqual(one.events.map(({ data }) => data["uuid"]), [first]);
    assert.equal(one.hasMore, true);
    assert.equal(one.events[0]?.eventId, one.cursor);
    const rest = await poll(test, { cursor: one.cursor, arguments: { project: "demo" } });
    assert.deepEqual(rest.events.map(({ data }) => data["uuid"]), [second]);
    assert.equal(rest.hasMore, false);
    const quiet = await poll(test, { cursor: rest.cursor });
    assert.deepEqual(quiet.events, []);
    const outside = await poll(test, { cursor: start.cursor }, test.outsider);
    assert.deepEqual(outside.events, []);

    const { services } = test.api;
    services.clock.advance(HOUR);
    const third = await test.checkin();
    const young = await poll(test, { cursor: start.cursor, maxAgeMs: 1000 });
    assert.deepEqual([young.truncated, young.events.map(({ data }) => data["uuid"])], [true, [
      third,
    ]]);
    const restored = await poll(test, { cursor: "999999999" });
    assert.deepEqual([restored.truncated, restored.events], [true, []]);
  });
});

Deno.test("what cannot be subscribed to is an error with the extension's code", async () => {
  await withEvents(async (test) => {
    const code = async (params: object, as?: string) =>
      (await test.refusal("events/poll", { cursor: null, ...params }, as))[0];
    assert.equal(await code({ name: "project.nothing" }), -32011);
    assert.equal(await code({ name: "project.member_changed" }), -32011);
    assert.equal(await code({ name: CHECKIN, cursor: "x" }), -32602);
    assert.equal(await code({ name: CHECKIN, arguments: { other: 1 } }), -32602);
    assert.equal(
      await code({ name: CHECKIN, arguments: { project: "demo" } }, test.outsider),
      -32602,
    );
    assert.equal(await code({ name: CHECKIN, maxAgeMs: -1 }), -32602);
    const response = await test.refusal("events/stream", { name: "project.nothing" });
    assert.equal(response[0], -32011);
  });
});

Deno.test("a stream says where it is, while it is quiet too, and why it ends", async () => {
  await withEvents(async (test) => {
    const { services } = test.api;
    const named = { name: CHECKIN, arguments: { project: "demo" }, cursor: null };
    await using stream = await test.stream(named);
    await using all = await test.stream({ name: CHECKIN });
    const active = await stream.next();
    assert.equal(active?.method, "notifications/events/active");
    assert.equal(active?.params?.["truncated"], false);
    assert.deepEqual(active?.params?.["_meta"], { "io.modelcontextprotocol/subscriptionId": 7 });
    assert.equal((await all.next())?.method, "notifications/events/active");
    const uuid = await test.checkin();
    for (const one of [stream, all]) {
      const event = await one.next();
      assert.equal(event?.method, "notifications/events/event");
      assert.equal(event?.params?.["eventId"], event?.params?.["cursor"]);
      assert.equal((event?.params?.["data"] as Record<string, unknown>)["uuid"], uuid);
    }
    const beat = stream.next();
    services.clock.advance(15_000);
    assert.equal((await beat)?.method, "notifications/events/heartbeat");
    assert.equal((await beat)?.params?.["cursor"], String(services.eventLog.newest));
    assert.equal((await all.next())?.method, "notifications/events/heartbeat");

    await services.hosting.projects.removeMember("demo", "caller", BY_OPERATOR);
    const end = await stream.next();
    assert.equal(end?.method, "notifications/events/terminated");
    assert.equal((end?.params?.["error"] as { code: number }).code, -32012);
    assert.ok((await stream.next())?.result);
    assert.equal(await stream.next(), null);

    const last = all.next();
    await services.agents.revoke("caller", BY_OPERATOR);
    assert.equal((await last)?.method, "notifications/events/terminated");
    assert.ok((await all.next())?.result);
    assert.equal(await all.next(), null);
  });
});

Deno.test("a stream goes on from its cursor", async () => {
  await withEvents(async (test) => {
    const { cursor } = await poll(test, { cursor: null });
    const uuids = [await test.checkin(), await test.checkin()];
    await using stream = await test.stream({ name: CHECKIN, cursor });
    await stream.next();
    for (const uuid of uuids) {
      const event = await stream.next();
      assert.equal((event?.params?.["data"] as Record<string, unknown>)["uuid"], uuid);
    }
  });
});

Deno.test("a receiver that repeats the challenge gets signed events, in order, from its cursor", async () => {
  await withEvents(async (test) => {
    const { services } = test.api;
    await using receiver = new Receiver();
    consenting(receiver);
    const { cursor } = await poll(test, { cursor: null });
    const first = await test.checkin();
    const subscribed = await test.result("events/subscribe", subscription(receiver, { cursor }));
    assert.match(String(subscribed["id"]), /^sub_[0-9a-f]{32}$/);
    assert.equal(subscribed["truncated"], false);
    const until = Date.parse(String(subscribed["refreshBefore"]));
    assert.equal(until, services.clock.now() + HOUR);
    const [event, { headers }] = await delivered(test, receiver);
    assert.equal((event["data"] as Record<string, unknown>)["uuid"], first);
    assert.equal(headers["webhook-id"], event["eventId"]);
    assert.equal(headers["x-mcp-subscription-id"], subscribed["id"]);
    assert.equal(event["cursor"], event["eventId"]);
    const second = await test.checkin();
    const [next] = await delivered(test, receiver);
    assert.equal((next["data"] as Record<string, unknown>)["uuid"], second);

    // The same again renews it, in place of a second one; both secrets sign for a while.
    services.clock.advance(HOUR / 2);
    await services.hosting.callbacks.idle();
    const renewed = await test.result("events/subscribe", {
      ...subscription(receiver, { cursor, ttlMs: 60_000 }),
      delivery: { url: receiver.url, secret: OTHER_SECRET },
    });
    assert.equal(renewed["id"], subscribed["id"]);
    assert.equal(renewed["cursor"], next["cursor"]);
    assert.equal((renewed["deliveryStatus"] as { active: boolean }).active, true);
    const third = await test.checkin();
    const [last, arrival] = await delivered(test, receiver, OTHER_SECRET);
    assert.equal((last["data"] as Record<string, unknown>)["uuid"], third);
    assert.equal(arrival.headers["webhook-signature"]?.split(" ").length, 2);
    await services.hosting.callbacks.idle();

    services.clock.advance(60_000);
    assert.equal(services.hosting.callbacks.size, 0);
    const gone = await test.refusal("events/unsubscribe", subscription(receiver));
    assert.equal(gone[0], -32011);
    await test.checkin();
    await services.hosting.callbacks.idle();
    assert.equal(receiver.arrivals.length, 4);
  });
});

Deno.test("a failed event is sent again; then the subscription rests until it is renewed", async () => {
  await withEvents(async (test) => {
    const { services } = test.api;
    await using receiver = new Receiver();
    let status = 503;
    consenting(receiver, () => status);
    await test.result("events/subscribe", subscription(receiver));
    await test.checkin();
    const [event, { headers }] = await delivered(test, receiver);
    const stamps = new Set([headers["webhook-timestamp"]]);
    for (const pause of [1, 5, 30, 120, 300]) {
      const [same, { headers }] = await meanwhile(delivered(test, receiver), async () => {
        services.clock.advance(pause * 50);
        await nextTask();
      });
      assert.equal(same["eventId"], event["eventId"]);
      stamps.add(headers["webhook-timestamp"]);
    }
    assert.equal(stamps.size, 6);
    await services.hosting.callbacks.idle();
    status = 204;
    const renewed = await test.result("events/subscribe", subscription(receiver));
    const { active, lastError } = renewed["deliveryStatus"] as Record<string, unknown>;
    assert.deepEqual([active, lastError], [false, "http_5xx"]);
    assert.equal((await delivered(test, receiver))[0]["eventId"], event["eventId"]);
  });
});

Deno.test("a subscription ends with its token and its right, and the receiver is told", async () => {
  await withEvents(async (test) => {
    const { services } = test.api;
    await using receiver = new Receiver();
    consenting(receiver);
    const named = { arguments: { project: "demo" } };
    await test.result("events/subscribe", subscription(receiver, named));
    await test.result("events/subscribe", subscription(receiver), test.other);
    await services.hosting.projects.removeMember("demo", "caller", BY_OPERATOR);
    const [first] = await delivered(test, receiver);
    assert.deepEqual([first["type"], (first["error"] as { code: number }).code], [
      "terminated",
      -32012,
    ]);
    await services.agents.revoke("other", BY_OPERATOR);
    assert.equal((await delivered(test, receiver))[0]["type"], "terminated");
    assert.equal(services.hosting.callbacks.size, 0);
  });
});

Deno.test("a subscriber gets no event that it may not read", async () => {
  await withEvents(async (test) => {
    await using receiver = new Receiver();
    consenting(receiver);
    await test.result("events/subscribe", subscription(receiver), test.outsider);
    await test.checkin();
    await test.api.services.hosting.callbacks.idle();
    assert.equal(receiver.arrivals.length, 1);
  });
});

Deno.test("what is no receiver is refused, and nothing of what it says is told", async () => {
  await withEvents(async (test) => {
    await using receiver = new Receiver();
    const refusal = (delivery: object, as?: string) =>
      test.refusal("events/subscribe", { ...subscription(receiver), delivery }, as);
    const { url } = receiver;
    const reason = async (answer: Response) => {
      receiver.answer = () => answer;
      const [code, data, message] = await refusal({ mode: "webhook", url, secret: SECRET });
      assert.equal(code, -32015);
      assert.doesNotMatch(message, /hidden/);
      return (data as { reason: string }).reason;
    };
    assert.equal(await reason(new Response("hidden", { status: 500 })), "http_5xx");
    assert.equal(await reason(new Response("hidden", { status: 403 })), "http_4xx");
    assert.equal(await reason(Response.redirect("http://hidden/", 302)), "http_3xx");
    assert.equal(await reason(new Response("hidden")), "challenge_failed");
    assert.equal(await reason(Response.json({ challenge: "other" })), "challenge_failed");
    assert.equal(await reason(new Response("x".repeat(100_000))), "challenge_failed");
    assert.equal(
      (await refusal({ url: "http://127.0.0.1:9/", secret: SECRET }))[1] ? "refused" : "",
      "refused",
    );
    for (
      const wrong of [
        { url: "ftp://example.com/", secret: SECRET },
        { url: "no url", secret: SECRET },
        { url: "https://me:pass@example.com/", secret: SECRET },
        { url: "https://example.com/#part", secret: SECRET },
        { url },
        { url, secret: "secret" },
        { url, secret: `whsec_${btoa("short")}` },
        { url, secret: `whsec_${btoa("x".repeat(65))}` },
        { url, secret: "whsec_%%%" },
      ]
    ) {
      assert.equal((await refusal(wrong))[0], -32602, JSON.stringify(wrong));
    }
    assert.equal((await refusal({ mode: "mail", url, secret: SECRET }))[0], -32014);
    assert.equal(test.api.services.hosting.callbacks.size, 0);
  });
});

Deno.test("addresses inside the network are refused, and the refusal does not name them", async () => {
  await withEvents(async (test) => {
    await using receiver = new Receiver();
    for (
      const url of [
        receiver.url,
        `https://127.0.0.1:${receiver.port}/`,
        `https://localhost:${receiver.port}/`,
        "https://[::1]/",
        "https://169.254.169.254/latest/meta-data",
        "https://[::ffff:10.0.0.1]/",
        "https://10.1.2.3/",
        "https://2130706433/",
      ]
    ) {
      const delivery = { mode: "webhook", url, secret: SECRET };
      const [code, , message] = await test.refusal("events/subscribe", {
        ...subscription(receiver),
        delivery,
      });
      assert.equal(code, -32602, url);
      assert.doesNotMatch(message, /127\.0|10\.|::1/);
    }
    assert.equal(receiver.arrivals.length, 0);
  }, {});
});

Deno.test("one caller has a quarter of the subscriptions, and one host few challenges", async () => {
  await withEvents(async (test) => {
    const { services } = test.api;
    await using receiver = new Receiver();
    consenting(receiver);
    const subscribe = (name: string, url = receiver.url) =>
      test.rpc("events/subscribe", {
        ...subscription(receiver),
        name,
        delivery: { url, secret: SECRET },
      });
    const { events } = await test.result("events/list") as { events: { name: string }[] };
    let made = 0;
    let last: Message = {};
    for (let path = 0; path < 30 && last.error === undefined; path++) {
      for (const { name } of events) {
        last = await subscribe(name, `${receiver.url}/${path}`);
        if (last.error !== undefined) break;
        made++;
      }
      if (path >= 18) services.clock.advance(5000);
    }
    assert.deepEqual([made, last.error?.code], [250, -32013]);
    assert.equal(services.hosting.callbacks.size, 250);
    const fresh = async (path: string) => {
      const { error } = await test.rpc(
        "events/subscribe",
        subscription({ url: `${receiver.url}/${path}` }),
        test.other,
      );
      return error?.code;
    };
    const codes: unknown[] = [];
    for (let path = 0; path < 30; path++) codes.push(await fresh(`other-${path}`));
    assert.ok(codes.includes(undefined) && codes.at(-1) === -32013, JSON.stringify(codes));
  });
});
