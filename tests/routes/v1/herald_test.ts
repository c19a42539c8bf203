import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createHmac } from "node:crypto";
import { SOURCE_KINDS } from "../../../services/bots/mod.ts";
import { herald } from "../../../services/bots/catalog/mod.ts";
import { HeraldDesk } from "../../../services/bots/mod.ts";
import { IrcUser } from "../../services/bridge/support.ts";
import { ReadSettings } from "../../services/bots/settings.ts";
import { withOwnBots } from "../../services/bots/support.ts";
import { statement } from "../../../services/database/mod.ts";
import { byEverybody, type TestApi, withApi } from "../../support/scenarios.ts";
import { BY_OPERATOR } from "../../support/services.ts";
import { until } from "../../support/until.ts";

const OPTIONS = { ircServer: true, config: { bridge: { enabled: true, channels: ["general"] } } };

/** Runs a test with the API and herald, without a limit of its pace, and a user in #alerts. */
async function withHerald(run: (api: TestApi, ann: IrcUser) => Promise<void>): Promise<void> {
  await withApi(async (api) => {
    const { bots, policies, server } = api.services;
    await api.services.bridge?.whenReady();
    await policies.change({ herald: { enabled: true, rate_limit: 0 } }, BY_OPERATOR);
    await until(() => bots?.list().find(({ name }) => name === "herald")?.condition === "running");
    const ann = new IrcUser(server, "ann");
    await ann.join("#alerts");
    await run(api, ann);
  }, OPTIONS);
}

/** A source of webhooks, which signs them. */
async function addSource(api: TestApi, name: string, kind: typeof SOURCE_KINDS[number]) {
  const answer = await api.answer("POST /v1/herald/sources", { name, kind });
  const { path, secret } = answer as { path: string; secret: string };
  assert.equal(path, `/webhooks/${name}`);
  assert.match(secret, /^whsec_/);
  return {
    secret,
    send: async (body: string, headers: Record<string, string>) => {
      const response = await api.send({ who: "guest", request: `POST ${path}`, body, headers });
      return { status: response.status, text: await response.text() };
    },
  };
}

function hubHeaders(secret: string, body: string, id: string, event: string, vendor = "github") {
  const mac = createHmac("sha256", secret).update(body).digest("hex");
  const signature = vendor === "github" ? "x-hub-signature-256" : `x-${vendor}-signature`;
  return {
    [signature]: vendor === "github" ? `sha256=${mac}` : mac,
    [`x-${vendor}-delivery`]: id,
    [`x-${vendor}-event`]: event,
  };
}

function standardHeaders(secret: string, body: string, id: string, seconds: number) {
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  const mac = createHmac("sha256", key).update(`${id}.${seconds}.${body}`).digest("base64");
  return {
    "webhook-id": id,
    "webhook-timestamp": String(seconds),
    "webhook-signature": `v1,AAAA v1,${mac}`,
  };
}

Deno.test("POST /v1/herald announces in the channel of the longest prefix, or in the given one", () =>
  withHerald(async (api, ann) => {
    const routes = { deploy: "#deploys", "deploy.failed": "#alerts" };
    await api.services.policies.change({ herald: { routes, channel: "#other" } }, BY_OPERATOR);
    await ann.join("#deploys");
    await ann.join("#other");
    const cases = [
      [
        { type: "deploy.failed", text: "Deploy 42\nfailed" },
        "#alerts",
        "[deploy.failed] Deploy 42",
      ],
      [{ type: "Deploy.done", text: "\x02all\x01 done" }, "#deploys", "[Deploy.done] all done"],
      [{ text: "hello @ann" }, "#other", "[notice] hello @ann"],
      [{ text: "here", channel: "deploys" }, "#deploys", "[notice] here"],
    ] as const;
    for (const [body, channel, line] of cases) {
      assert.deepEqual(await api.answer("POST /v1/herald", body), { channel, waiting: 1 });
      const pattern = `^:herald!\\S+ PRIVMSG ${channel} :${line.replaceAll(/[[\].]/g, "\\$&")}$`;
      await ann.expect(new RegExp(pattern));
    }
    await api.expect([
      { request: "POST /v1/herald", body: {}, status: 400 },
      { request: "POST /v1/herald", body: { text: "\n \n" }, status: 400 },
      { request: "POST /v1/herald", body: { text: "x", channel: "a b" }, status: 400 },
      ...byEverybody("GET /v1/herald/sources", ["operator"], 200),
      ...byEverybody("POST /v1/herald", ["operator"], 400),
      ...byEverybody("POST /v1/herald/sources", ["operator"], 400),
      ...byEverybody("DELETE /v1/herald/sources/none", ["operator"], 404),
    ]);
    await api.services.policies.change({ herald: { enabled: false } }, BY_OPERATOR);
    await api.expect([{ request: "POST /v1/herald", body: { text: "x" }, status: 409 }]);
  }));

Deno.test("without bots, the endpoints of herald are 409", () =>
  withApi(async (api) => {
    await api.expect([
      { request: "POST /v1/herald", body: { text: "x" }, status: 409 },
      { request: "GET /v1/herald/sources", status: 409 },
      { who: "guest", request: "POST /webhooks/code", body: {}, status: 409 },
    ]);
  }));

Deno.test("herald announces signed webhooks of GitHub, Forgejo, Gitea and Standard Webhooks", () =>
  withHerald(async (api, ann) => {
    const repository = { full_name: "acme/app" };
    const sender = { login: "bob" };
    const hub = await addSource(api, "code", "github");
    const push = JSON.stringify({
      ref: "refs/heads/main",
      commits: [{ message: "Fix it\n\nmore" }],
      repository,
      sender,
    });
    const accepted = await hub.send(push, hubHeaders(hub.secret, push, "1", "push"));
    assert.deepEqual(accepted, { status: 202, text: '{"channel":"#alerts","waiting":1}' });
    await ann.expect(/:herald!.* :\[code\.push\] acme\/app bob pushed 1 commit to main: Fix it$/);
    const about = { ref: "refs/heads/old", commits: [], repository, sender };
    for (const [deleted, words] of [[true, "deleted old"], [false, "pushed old"]] as const) {
      const body = JSON.stringify({ ...about, deleted });
      assert.equal((await hub.send(body, hubHeaders(hub.secret, body, words, "push"))).status, 202);
      await ann.expect(new RegExp(`:\\[code\\.push\\] acme/app bob ${words}$`));
    }
    const form = "payload=%7B%7D";
    const asForm = await hub.send(form, hubHeaders(hub.secret, form, "form", "push"));
    assert.equal(asForm.status, 400);
    assert.match(asForm.text, /choose the content type application\/json/);
    const forge = await addSource(api, "forge", "forgejo");
    for (const vendor of ["forgejo", "gitea"]) {
      const html_url = "https://forge.example/acme/app/pulls/7";
      const opened = JSON.stringify({
        action: "opened",
        pull_request: { number: 7, title: `By ${vendor}`, html_url },
        repository,
        sender,
      });
      const headers = hubHeaders(forge.secret, opened, vendor, "pull_request", vendor);
      assert.equal((await forge.send(opened, headers)).status, 202);
      await ann.expect(
        new RegExp(
          `\\[forge\\.pull_request\\.opened\\] acme/app bob opened ` +
            `pull request #7 By ${vendor} ${html_url}$`,
        ),
      );
    }
    const other = await addSource(api, "pay", "standard");
    const paid = JSON.stringify({ type: "invoice.paid", data: { text: "Invoice 9" } });
    const seconds = Math.floor(api.services.clock.now() / 1000);
    const headers = standardHeaders(other.secret, paid, "msg_1", seconds);
    assert.equal((await other.send(paid, headers)).status, 202);
    await ann.expect(/:\[pay\.invoice\.paid\] Invoice 9$/);
  }));

Deno.test("herald refuses webhooks that prove nothing, and announces none twice", () =>
  withHerald(async (api, ann) => {
    const hub = await addSource(api, "code", "github");
    const other = await addSource(api, "pay", "standard");
    const body = JSON.stringify({ action: "created" });
    const now = Math.floor(api.services.clock.now() / 1000);
    const good = hubHeaders(hub.secret, body, "1", "star");
    const refused: [typeof hub, string, Record<string, string>][] = [
      [hub, body, {}],
      [hub, `${body} `, good],
      [hub, body, hubHeaders(`${hub.secret}x`, body, "1", "star")],
      [hub, body, { ...good, "x-hub-signature-256": "sha256=" }],
      [hub, body, standardHeaders(hub.secret, body, "1", now)],
      [other, body, hubHeaders(other.secret, body, "1", "star")],
      [other, body, standardHeaders(other.secret, body, "1", now - 301)],
      [other, body, standardHeaders(other.secret, body, "1", now + 301)],
      [other, body, { ...standardHeaders(other.secret, body, "1", now), "webhook-id": "2" }],
    ];
    for (const [source, sent, headers] of refused) {
      const { status, text } = await source.send(sent, headers);
      assert.equal(status, 401, JSON.stringify(headers));
      assert.ok(!text.includes("whsec_"));
    }
    await api.expect([{ who: "guest", request: "POST /webhooks/none", body: {}, status: 401 }]);
    const bad = "not JSON";
    assert.equal((await hub.send(bad, hubHeaders(hub.secret, bad, "2", "star"))).status, 400);
    assert.equal((await hub.send(body, good)).status, 202);
    assert.equal((await hub.send(body, good)).status, 200);
    // Nobody signs the id of a delivery, or the name of its event.
    const renamed = { ...good, "x-github-delivery": "9", "x-github-event": "fork" };
    assert.equal((await hub.send(body, renamed)).status, 200);
    await ann.expect(/:\[code\.star\.created\] star created$/);
    await ann.sync();
    assert.equal(ann.lines.filter((line) => line.includes("[code.star")).length, 1);
    await api.expect([
      { request: "DELETE /v1/herald/sources/code", status: 204 },
      { request: "POST /v1/herald/sources", body: { name: "pay", kind: "github" }, status: 409 },
      { request: "POST /v1/herald/sources", body: { name: "a b", kind: "github" }, status: 400 },
    ]);
    assert.deepEqual(await api.answer("GET /v1/herald/sources"), [{
      name: "pay",
      kind: "standard",
    }]);
    assert.equal((await hub.send(body, hubHeaders(hub.secret, body, "3", "star"))).status, 401);
    api.services.clock.advance(1);
    const again = await addSource(api, "code", "github");
    assert.notEqual(again.secret, hub.secret);
    const stored = await api.services.database.tables.selectFrom("bot_state").select("value")
      .where("bot", "=", "herald").execute();
    const secret = hub.secret.slice("whsec_".length);
    assert.ok(!stored.some(({ value }) => value.includes(secret)));
  }));

Deno.test("herald remembers a delivery for 90 days, whatever comes in between", () =>
  withHerald(async (api) => {
    const { clock, database } = api.services;
    const hub = await addSource(api, "code", "github");
    const send = async (number: number) => {
      const body = JSON.stringify({ action: "created", number });
      return (await hub.send(body, hubHeaders(hub.secret, body, "1", "star"))).status;
    };
    const twice = await Promise.all([send(0), send(0)]);
    assert.deepEqual(twice.sort(), [200, 202], "which of two at once comes first is open");
    const at = clock.now();
    const others = Array.from({ length: 3000 }, (_, seq) => ({ seq: -seq, mark: `${seq}`, at }));
    const insertion = database.tables.insertInto("herald_deliveries").values(others);
    await database.commit({ statements: [statement(insertion)] });
    const age = async (days: number) => {
      const older = database.tables.updateTable("herald_deliveries")
        .set({ at: at - days * 86_400_000 });
      await database.commit({ statements: [statement(older)] });
    };
    await age(89);
    assert.deepEqual([await send(1), await send(0)], [202, 200]);
    await age(91);
    assert.deepEqual([await send(2), await send(0)], [202, 202]);
  }));

Deno.test("herald keeps its pace, bounds its queue, and continues after a restart", async () => {
  const settings = new ReadSettings();
  let desk: HeraldDesk | null = null;
  const open = async (services: Parameters<Parameters<typeof withOwnBots>[0]>[0]) => {
    const { database, policies, clock: scheduler, tokenKey: key } = services;
    const own = policies.of.bind(policies);
    const noting = settings.noting.bind(settings);
    const read = () => noting(own("herald")) as ReturnType<typeof own<"herald">>;
    desk = new HeraldDesk({ database, settings: read, key, scheduler, guard: () => [] });
    await desk.load();
    return [settings.watch(herald(desk))];
  };
  await withOwnBots(open, async (world) => {
    const { clock } = world.services;
    await world.enable("herald", { rate_limit: 0.5, burst: 2, channel: "#general", routes: {} });
    const root = await world.admin("root");
    const announce = (text: string) => desk?.announce({ type: "t", text });
    for (const text of ["one", "two", "three", "four"]) await announce(text);
    await root.expect(/:\[t\] two$/);
    await world.bots.idle();
    await root.sync();
    assert.ok(!root.lines.some((line) => line.endsWith("[t] three")));
    clock.advance(2000);
    await root.expect(/:\[t\] three$/);
    await world.policies({ herald: { enabled: false } });
    await assert.rejects(announce("five") ?? Promise.resolve(), /not enabled/);
    await world.enable("herald");
    clock.advance(4000);
    await root.expect(/:\[t\] four$/);
    await world.policies({ herald: { rate_limit: 0.001, burst: 1 } });
    const waiting = Array.from({ length: 300 }, (_, number) => announce(`${number}`));
    const results = await Promise.allSettled(waiting);
    const accepted = results.filter(({ status }) => status === "fulfilled").length;
    assert.ok(accepted >= 256 && accepted <= 258, String(accepted));
    assert.equal((await world.events("herald.dropped")).length, 1);
    root.send("PRIVMSG herald :status");
    await root.expect(
      / NOTICE root :25\d notices wait; 0 sources; at 0\.001 per second, 1 at once$/,
    );
    await world.policies({ herald: { routes: { test: "#tests" } } });
    root.send("PRIVMSG herald :routes");
    await root.expect(/ NOTICE root :test… to #tests$/);
    await root.expect(/ NOTICE root :everything else to #general$/);
    await world.policies({ herald: { rate_limit: 0 } });
    // Commands and other work have their turn meanwhile.
    root.send("PRIVMSG herald :status");
    await root.expect(/ NOTICE root :24\d notices wait; 0 sources; without a limit$/);
    await clock.passUntil(root.expect(/:\[t\] 255$/));
    await root.join("#tests");
    root.send("PRIVMSG herald :test");
    await root.expect(/ PRIVMSG #tests :\[test\] A test by root$/);
    const ann = await world.person("ann");
    ann.send("PRIVMSG herald :test");
    await ann.expect(/Only admins may do that$/);
    settings.assertAll("herald");
  });
});
