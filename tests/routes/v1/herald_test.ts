import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createHmac } from "node:crypto";
import { SOURCE_KINDS } from "../../../services/chat/bots/mod.ts";
import { herald } from "../../../services/chat/bots/catalog/mod.ts";
import { HeraldDesk } from "../../../services/chat/bots/mod.ts";
import { IrcUser } from "../../services/chat/bridge/support.ts";
import { ReadSettings } from "../../services/chat/bots/settings.ts";
import { withOwnBots } from "../../services/chat/bots/support.ts";
import { statement } from "../../../services/engines/database/mod.ts";
import { byEverybody, type TestApi, withApi } from "../../support/scenarios.ts";
import { BY_OPERATOR } from "../../support/services.ts";
import { until } from "../../support/until.ts";
import { THOROUGH } from "../../support/level.ts";

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
    await api.services.policies.change({ herald: { channel: "", routes: {} } }, BY_OPERATOR);
    await api.expect([{
      request: "POST /v1/herald",
      body: { text: "x" },
      status: 409,
      matches: /settings of herald name no channel/,
    }]);
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

Deno.test("herald says in one line what a delivery is about, and the result of what failed", () =>
  withHerald(async (api, ann) => {
    const repository = { full_name: "acme/app" };
    const sender = { login: "bob" };
    const issue = { number: 7, title: "Crash\nat start", html_url: "https://h.example/7" };
    const url = "https://h.example/run";
    const table: readonly (readonly [string, Record<string, unknown>, string])[] = [
      ["issues", { action: "opened", issue }, "opened issue #7 Crash https://h.example/7"],
      ["issue_comment", {
        action: "created",
        issue,
        comment: { body: "Me too\n\nSee log", html_url: `${url}#1` },
      }, `commented on issue #7 Crash: Me too ${url}#1`],
      ["issue_comment", {
        action: "edited",
        issue: { ...issue, pull_request: { url } },
        comment: { body: "x" },
      }, "edited a comment on pull request #7 Crash: x"],
      ["pull_request_review", {
        action: "submitted",
        review: { state: "changes_requested", body: "No", html_url: url },
        pull_request: { number: 8, title: "New" },
      }, `requested changes of pull request #8 New: No ${url}`],
      ["pull_request_review_approved", {
        action: "reviewed",
        review: { type: "pull_request_review_approved", content: "Fine" },
        pull_request: { number: 8, title: "New" },
      }, "approved pull request #8 New: Fine"],
      ["pull_request_review_comment", {
        action: "created",
        comment: { body: "Why?" },
        pull_request: { number: 8, title: "New" },
      }, "commented on pull request #8 New: Why?"],
      ["pull_request", {
        action: "closed",
        pull_request: { number: 8, title: "New", merged: true, state: "closed" },
      }, "merged pull request #8 New"],
      ["commit_comment", {
        action: "created",
        comment: { commit_id: "0123456789abcdef", body: "Bad" },
      }, "commented on commit 0123456789: Bad"],
      ["check_run", {
        action: "completed",
        check_run: { name: "tests", status: "completed", conclusion: "failure", html_url: url },
      }, `completed check run tests (failure) ${url}`],
      ["check_suite", {
        action: "completed",
        check_suite: { conclusion: "timed_out", app: { name: "CI" } },
      }, "completed check suite CI (timed_out)"],
      ["workflow_run", {
        action: "completed",
        workflow_run: { name: "CI", conclusion: "failure", status: "completed", html_url: url },
      }, `completed workflow run CI (failure) ${url}`],
      ["workflow_job", {
        action: "completed",
        workflow_job: { name: "lint", conclusion: "cancelled" },
      }, "completed workflow job lint (cancelled)"],
      ["status", {
        state: "failure",
        context: "ci/x",
        description: "2 of 9",
        target_url: url,
      }, `status of ci/x (failure) 2 of 9 ${url}`],
      ["deployment_status", {
        action: "created",
        deployment_status: { state: "failure", environment: "prod", target_url: url },
        deployment: { environment: "prod" },
        workflow_run: { name: "CI", conclusion: "success" },
      }, `created deployment status prod (failure) ${url}`],
      ["action_run_failure", {
        action: "failure",
        run: { title: "CI", index_in_repo: 3, status: "failure", html_url: url },
      }, `run #3 CI (failure) ${url}`],
      ["action_run_failure", {
        action: "failure",
        // Forgejo tells of the repository and the person in the run alone.
        repository: undefined,
        sender: undefined,
        run: { title: "CI", index_in_repo: 4, status: "failure", repository, trigger_user: sender },
      }, "run #4 CI (failure)"],
      ["page_build", {
        build: { status: "errored", url, error: { message: "Page build failed" } },
      }, `page build (errored) Page build failed ${url}`],
      ["workflow_run", {
        action: "completed",
        workflow_run: { display_title: "Fix it", conclusion: "failure" },
      }, "completed workflow run Fix it (failure)"],
      ["pull_request_review_thread", {
        action: "resolved",
        thread: {},
        pull_request: { number: 8, title: "New" },
      }, "resolved a thread of pull request #8 New"],
      ["pull_request", {
        action: "ready_for_review",
        pull_request: { number: 8, title: "New", state: "open" },
      }, "ready for review pull request #8 New"],
      ["label", { action: "created", label: { name: "bug" } }, "created label bug"],
      ["push", {
        ref: "refs/heads/main",
        total_commits: 40,
        commits: [{ message: "Fix" }],
      }, "pushed 40 commits to main: Fix"],
      ["create", { ref_type: "tag", ref: "v1" }, "created tag v1"],
      ["ping", { zen: "Keep\nit\r\nsimple" }, "ping Keep it simple"],
    ];
    const hub = await addSource(api, "code", "github");
    for (const [event, about, words] of table) {
      const body = JSON.stringify({ repository, sender, ...about });
      const { status } = await hub.send(body, hubHeaders(hub.secret, body, words, event));
      assert.equal(status, 202);
      const escaped = words.replaceAll(/[[\]().?#+/]/g, "\\$&");
      await ann.expect(new RegExp(`:\\[code\\.\\S+\\] acme\\/app bob ${escaped}$`));
    }
    const other = await addSource(api, "lab", "standard");
    const lab: readonly (readonly [Record<string, unknown>, string])[] = [
      [{
        object_kind: "pipeline",
        object_attributes: { iid: 4, ref: "main", status: "failed", url },
      }, `pipeline #4 on main (failed) ${url}`],
      [
        { object_kind: "build", build_name: "test", build_status: "failed", ref: "main" },
        "job test on main (failed)",
      ],
      [{
        object_kind: "build",
        build_name: "test",
        build_status: "failed",
        project_name: "Acme / App",
        user: { name: "Bob" },
      }, "Acme / App Bob job test (failed)"],
      [{
        object_kind: "note",
        object_attributes: { note: "Hm", action: "create", url },
        issue: { iid: 2, title: "Slow" },
      }, `commented on issue #2 Slow: Hm ${url}`],
      [{
        object_kind: "merge_request",
        object_attributes: { iid: 3, title: "New", action: "merge", state: "merged", url },
      }, `merged merge request #3 New ${url}`],
      [{
        object_kind: "push",
        ref: "refs/heads/old",
        after: "0".repeat(40),
        commits: [],
      }, "deleted old"],
      [{ object_kind: "release", action: "create", name: "v1", url }, `created release v1 ${url}`],
      [{
        object_kind: "deployment",
        status: "failed",
        environment: "prod",
        deployable_url: url,
      }, `deployment prod (failed) ${url}`],
      [{ type: "x", data: { text: "one\ntwo\nthree" } }, "one two three"],
    ];
    const seconds = Math.floor(api.services.clock.now() / 1000);
    for (const [about, words] of lab) {
      const body = JSON.stringify(about);
      const headers = standardHeaders(other.secret, body, words, seconds);
      assert.equal((await other.send(body, headers)).status, 202);
      await ann.expect(new RegExp(`:\\[lab\\.\\S+\\] ${words.replaceAll(/[().#/?]/g, "\\$&")}$`));
    }
    // Nothing makes more than one line, and its address is whole.
    const long = { number: 1, title: "ü".repeat(900), html_url: url };
    const body = JSON.stringify({ action: "opened", issue: long, repository, sender });
    await hub.send(body, hubHeaders(hub.secret, body, "long", "issues"));
    await ann.expect(
      /:\[code\.issues\.opened\] acme\/app bob opened issue #1 ü+… https:\/\/h\.example\/run$/,
    );
  }));

Deno.test("herald takes webhooks of up to 25 MB", THOROUGH, () =>
  withHerald(async (api, ann) => {
    const hub = await addSource(api, "code", "github");
    const body = (bytes: number) => {
      const head = '{"action":"opened","issue":{"number":7,"title":"Big"},"pad":"';
      return `${head}${"x".repeat(bytes - head.length - 2)}"}`;
    };
    const large = body(26_214_400);
    const good = hubHeaders(hub.secret, large, "1", "issues");
    assert.equal((await hub.send(large, good)).status, 202);
    assert.equal((await hub.send(large, good)).status, 200);
    await ann.expect(/:\[code\.issues\.opened\] opened issue #7 Big$/);
    assert.equal((await hub.send(`${large} `, good)).status, 413);
    const forged = hubHeaders(`${hub.secret}x`, large, "1", "issues");
    assert.equal((await hub.send(large, forged)).status, 401);
    const broken = large.slice(0, -1);
    assert.equal(
      (await hub.send(broken, hubHeaders(hub.secret, broken, "2", "issues"))).status,
      400,
    );
    await api.expect([{
      who: "guest",
      request: "POST /webhooks/none",
      body: { large: body(2_000_000) },
      status: 401,
    }]);
    const other = body(2_000_000);
    const headers = hubHeaders(hub.secret, other, "3", "issues");
    const both = await Promise.all([hub.send(other, headers), hub.send(other, headers)]);
    assert.deepEqual(both.map(({ status }) => status).sort(), [200, 202], "the second one waits");
  }));

Deno.test("long webhooks of one address wait for each other, within a bound", () =>
  withHerald(async (api) => {
    const hub = await addSource(api, "code", "github");
    const hold = Promise.withResolvers<void>();
    const text = (index: number) => `{"action":"${index}","pad":"${"x".repeat(1_100_000)}"}`;
    const first = api.handle(
      new Request("http://localhost/webhooks/code", {
        method: "POST",
        headers: hubHeaders(hub.secret, text(0), "0", "star"),
        body: new ReadableStream({
          start: (stream) => stream.enqueue(new TextEncoder().encode(text(0))),
          pull: (stream) => hold.promise.then(() => stream.close()),
        }),
      }),
      { remoteAddress: "192.0.2.1" },
    );
    const others = Array.from({ length: 9 }, (_, index) => {
      const body = text(index + 1);
      return hub.send(body, hubHeaders(hub.secret, body, `${index}`, "star"));
    });
    const refused = await Promise.race(others);
    assert.equal(refused.status, 429);
    hold.resolve();
    assert.equal((await first).status, 202);
    const statuses = (await Promise.all(others)).map(({ status }) => status).sort();
    assert.deepEqual(statuses, [...Array(8).fill(202), 429]);
  }));

Deno.test("herald takes GitLab's secret token, and its signing token", () =>
  withHerald(async (api, ann) => {
    const lab = await addSource(api, "lab", "gitlab");
    const now = Math.floor(api.services.clock.now() / 1000);
    const payload = (iid: number) =>
      JSON.stringify({
        object_kind: "merge_request",
        user: { username: "bob" },
        project: { path_with_namespace: "acme/app" },
        object_attributes: { iid, title: "New", action: "merge", state: "merged" },
      });
    const token = (secret: string, id?: string) => ({
      "x-gitlab-event": "Merge Request Hook",
      "x-gitlab-token": secret,
      ...id === undefined ? {} : { "idempotency-key": id },
    });
    const body = payload(1);
    const sent: readonly (readonly [Record<string, string>, number])[] = [
      [token(lab.secret, "1"), 202],
      [token(lab.secret, "1"), 200],
      [token(lab.secret, "2"), 202],
      [token(lab.secret), 202],
      [token(lab.secret), 200],
      [standardHeaders(lab.secret, body, "3", now), 202],
      [token(""), 401],
      [token(`${lab.secret}x`), 401],
      [token(lab.secret.slice(0, -1)), 401],
      [token(lab.secret.slice("whsec_".length)), 401],
      [{ "x-gitlab-event": "Merge Request Hook" }, 401],
      [hubHeaders(lab.secret, body, "4", "push"), 401],
    ];
    for (const [headers, status] of sent) {
      assert.equal((await lab.send(body, headers)).status, status, JSON.stringify(headers));
    }
    await ann.expect(/:\[lab\.merge_request\.merge\] acme\/app bob merged merge request #1 New$/);
    const member = JSON.stringify({
      event_name: "user_add_to_group",
      user_username: "eve",
      group_name: "Team",
    });
    assert.equal((await lab.send(member, token(lab.secret, "5"))).status, 202);
    await ann.expect(/:\[lab\.user_add_to_group\] eve user add to group$/);
    const other = await addSource(api, "pay", "standard");
    assert.equal((await other.send(body, token(other.secret, "6"))).status, 401);
  }));
