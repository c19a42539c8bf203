import assert from "node:assert/strict";
import { MOST_OWN_TOKENS } from "../../services/people/identity/mod.ts";
import { BY_OPERATOR } from "../support/services.ts";
import { withWeb } from "../support/web.ts";

Deno.test("policies are forms made of their schemas; an unknown bot is edited as JSON", async () => {
  await withWeb(async ({ admin, api: { services: { policies } } }) => {
    const path = "/settings/policies?bot=herald";
    const page = await admin.see(path);
    assert.doesNotMatch(page.text, /does not run the bot/);
    assert.match(page.html, /name="field\.channel"[^>]*value="#alerts"/);
    const form = {
      action: "save",
      "field.enabled": "yes",
      "field.channel": "#ops",
      "field.routes": "disk = #storage\nnet=#network",
      "field.rate_limit": "",
      "field.burst": "7",
    };
    assert.match((await admin.post(path, form)).text, /The policy of herald is saved/);
    const saved = { enabled: true, channel: "#ops", rate_limit: 1, burst: 7 };
    const routes = { disk: "#storage", net: "#network" };
    assert.deepEqual(policies.of("herald"), Object.assign({ routes }, saved));
    const fewer = Object.assign({}, form, { "field.routes": "disk = #storage" });
    await admin.post(path, fewer);
    assert.deepEqual(policies.of("herald").routes, { disk: "#storage" });
    const wrong = await admin.post(path, Object.assign({}, form, { "field.burst": "-1" }));
    assert.equal(wrong.status, 400);
    assert.match(wrong.html, /name="field\.burst"[^>]*value="-1"/);
    const words = await admin.post(path, Object.assign({}, form, { "field.burst": "many" }));
    assert.match(words.text, /"Events at once" must be a number/);
    assert.match(page.text, /Events per second .*0: no limit\. Empty: 1\./s);
    const ofSentinel = "/settings/policies?bot=sentinel";
    const policy = "keyword high: rm -rf\r\nkeyword low: oops";
    await admin.post(ofSentinel, { action: "save", "field.policy": policy });
    assert.equal(policies.of("sentinel").policy, policy.replace("\r", ""));
    assert.match(
      (await admin.see(ofSentinel)).html,
      /<textarea id="field.policy"[^>]*>\s*keyword high/,
    );
    await policies.change({ custom: { enabled: false, depth: { a: 1 } } }, BY_OPERATOR);
    const custom = "/settings/policies?bot=custom";
    assert.match((await admin.see(custom)).text, /There is no bot called "custom"/);
    const json = { action: "saveJson", json: '{"enabled": true, "other": [1]}' };
    assert.match((await admin.post(custom, json)).text, /is saved/);
    assert.deepEqual(policies.read()["custom"], { enabled: true, other: [1] });
    const broken = await admin.post(custom, { action: "saveJson", json: "{" });
    assert.match(broken.text, /This is not JSON/);
    const secret = await admin.post(custom, { action: "saveJson", json: '{"api_key": "x"}' });
    assert.match(secret.text, /"api_key" is a secret/);
    assert.equal((await admin.post("/settings/policies?bot=none", form)).status, 404);
  });
});

Deno.test("LLM backends are added, asked for models, tried, changed and removed", async () => {
  const provider = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen() {} },
    async (request) => {
      const { pathname } = new URL(request.url);
      if (pathname.endsWith("/models")) return Response.json({ data: [{ id: "tiny-<1>" }] });
      const { messages } = await request.json();
      const content = `You said <b>${messages[0].content}</b>`;
      return Response.json({
        id: "1",
        object: "chat.completion",
        created: 1,
        model: "tiny-<1>",
        choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
      });
    },
  );
  const base_url = `http://127.0.0.1:${provider.addr.port}/v1`;
  try {
    await withWeb(async ({ admin, api: { services: { llm } } }) => {
      const path = "/settings/llm";
      const form = {
        action: "create",
        name: "local",
        provider: "local",
        base_url,
        allow: "tiny-*",
      };
      const wrong = await admin.post(path, Object.assign({}, form, { name: "No Good" }));
      assert.equal(wrong.status, 400);
      assert.match((await admin.post(path, form)).text, /The backend local is there/);
      const asked = await admin.post(path, { action: "models", backend: "local" });
      assert.match(asked.text, /1 model tiny-<1>/);
      const tried = await admin.post(path, {
        action: "ask",
        backend: "local",
        model: "tiny-<1>",
        prompt: "hello",
      });
      assert.match(tried.text, /You said <b>hello<\/b>/);
      assert.match(tried.html, /You said &lt;b&gt;hello/);
      assert.match((await admin.see("/settings/usage")).text, /Agent Calls Failed.* admin 1 0 /s);
      const change = { action: "change", backend: "local", provider: "local", base_url };
      const changed = await admin.post(path, Object.assign({ block: "x-*" }, change));
      assert.match(changed.text, /local is changed/);
      assert.deepEqual((await llm.backends.get("local")).block, ["x-*"]);
      assert.equal((await admin.post(path, { action: "models", backend: "none" })).status, 404);
      assert.match(
        (await admin.post(path, { action: "remove", backend: "local" })).text,
        /removed/,
      );
      assert.equal((await llm.backends.list()).length, 0);
    });
  } finally {
    await provider.shutdown();
  }
});

Deno.test("budgets are set and removed, and an agent gets slots of its own", async () => {
  await withWeb(async ({ admin, api: { services: { accounting, agents, slots } } }) => {
    const path = "/settings/usage";
    assert.match((await admin.see(`${path}?by=model`)).text, /No model was called/);
    const form = { action: "setBudget", budget: "agent.caller.day", warn_percent: "90" };
    assert.equal((await admin.post(path, form)).status, 400);
    const set = await admin.post(path, Object.assign({ cost: "0.25", max_tokens: "" }, form));
    assert.match(set.text, /The budget agent\.caller\.day is set.* 0\.00 of 0\.25 US dollars/s);
    assert.equal((await accounting.budgets.list())[0]?.budget.warnPercent, 90);
    const remove = { action: "removeBudget", budget: "agent.caller.day" };
    assert.match((await admin.post(path, remove)).text, /is removed/);
    assert.deepEqual(await accounting.budgets.list(), []);
    const told = /removed the budget agent\.caller\.day .*set the budget agent\.caller\.day/;
    assert.match((await admin.see("/events?types=llm_budget.*")).text, told);

    const id = agents.roster.find("caller")?.id ?? "";
    const fields = { action: "slots", claims: "2", workspaces: "", reviews: "", calls: "x" };
    assert.equal((await admin.post("/agents/caller", fields)).status, 400);
    await admin.post("/agents/caller", Object.assign({}, fields, { calls: "" }));
    assert.equal(slots.of(id).own.claims, 2);
    assert.match((await admin.see("/agents/caller")).text, /Claimed tickets .*Now: 2/s);
  });
});

Deno.test("webhooks of the server are made, tested, turned off and removed", async () => {
  await withWeb(async ({ admin, api: { services } }) => {
    const { hosting } = services;
    const { webhooks } = hosting;
    const form = { action: "create", url: "https://ci.example/hook", types: ["ticket", "review"] };
    const wrong = await admin.post("/settings/webhooks", Object.assign({}, form, { url: "ftp:x" }));
    assert.equal(wrong.status, 400);
    const made = await admin.post("/settings/webhooks", form);
    assert.match(made.text, /The secret is shown only here.*whsec_/);
    const [webhook] = webhooks.list(null);
    assert.deepEqual(webhook?.types, ["ticket", "review"]);
    const page = `/settings/webhooks/${webhook?.id}`;
    assert.match((await admin.see(page)).text, /It has sent nothing yet/);
    await admin.post(page, { action: "turn", active: "no" });
    assert.equal(webhooks.list(null)[0]?.active, false);
    assert.equal((await admin.post(page, { action: "ping" })).status, 409);
    await admin.post(page, { action: "turn", active: "yes" });
    assert.match((await admin.post(page, { action: "ping" })).text, /A test is on its way.*ping/);
    const held = webhooks.require(null, webhook?.id ?? "");
    const [delivery] = await webhooks.deliveries.list(held, { limit: 1 });
    const shown = await admin.see(`${page}?delivery=${delivery?.id}`);
    assert.match(shown.text, /"type": "ping"/);
    const again = { action: "redeliver", delivery: delivery?.id ?? "" };
    assert.match((await admin.post(page, again)).text, /on its way again/);
    await admin.post(page, { action: "ping" });
    await hosting.webhookSender.idle();
    const both = await webhooks.deliveries.list(held, { limit: 2 });
    const failed = { status: "failed", error: "Nobody listens" } as const;
    const statements = both.map(({ id }) => webhooks.deliveries.update(id, failed));
    await services.database.commit({ statements });
    // A reason is said once, and with the delivery that is looked at.
    assert.equal((await admin.see(page)).text.match(/Nobody listens/g)?.length, 1);
    const last = await admin.see(`${page}?delivery=${both[1]?.id}`);
    assert.equal(last.text.match(/Nobody listens/g)?.length, 2);
    await admin.post(page, { action: "change", url: "https://ci.example/other", types: "" });
    assert.deepEqual(webhooks.list(null)[0]?.types, []);
    assert.match((await admin.post(page, { action: "rotate" })).text, /whsec_/);
    assert.match((await admin.post(page, { action: "remove" })).text, /The webhook is removed/);
    assert.equal((await admin.get(page)).status, 404);
  });
});

Deno.test("programs whose webhooks herald takes are added and removed", async () => {
  const options = { ircServer: true, config: { bridge: { enabled: true } } };
  await withWeb(async ({ admin, person, api: { services } }) => {
    const path = "/settings/webhooks";
    const form = { action: "addSource", source: "code", kind: "github" };
    assert.match((await admin.see(path)).text, /No program sends webhooks to herald/);
    const wrong = await admin.post(path, { ...form, source: "No name" });
    assert.equal(wrong.status, 400);
    assert.match(wrong.text, /"source" must have 1 to 64 lower-case letters/);
    assert.equal((await person.post(path, form)).status, 403);
    assert.match((await admin.post(path, form)).text, /only here.*\/webhooks\/code.*whsec_/);
    assert.equal((await admin.post(path, form)).status, 409);
    assert.match((await admin.see(path)).text, /code GitHub \S+\/webhooks\/code/);
    assert.deepEqual(services.herald?.sources(), [{ name: "code", kind: "github" }]);
    await admin.post(path, { action: "removeSource", source: "code" });
    assert.deepEqual(services.herald?.sources(), []);
  }, options);
  await withWeb(async ({ admin }) => {
    const form = { action: "addSource", source: "code", kind: "github" };
    assert.equal((await admin.post("/settings/webhooks", form)).status, 409);
  });
});

Deno.test("the configuration is shown without secrets", async () => {
  await withWeb(async ({ admin }) => {
    const all = await admin.see("/settings/configuration");
    assert.match(all.text, /irc\.server_name irc\.test changed/);
    assert.match(all.text, /irc\.password set, and not shown changed/);
    assert.doesNotMatch(all.html, /hush-hush/);
    const changed = await admin.see("/settings/configuration?show=changed");
    assert.match(changed.text, /irc\.server_name/);
    assert.doesNotMatch(changed.text, /irc\.network_name/);
  }, { config: { irc: { password: "hush-hush" } } });
});

Deno.test("the level of the log is changed", async () => {
  await withWeb(async ({ admin, api: { services: { logLevels } } }) => {
    const path = "/settings/configuration";
    assert.match((await admin.see(path)).html, /<option value="info" selected/);
    const changed = await admin.post(path, { action: "setLogLevel", level: "debug" });
    assert.match(changed.text, /The log has the level debug now/);
    assert.equal(logLevels.read(), "debug");
    const wrong = await admin.post(path, { action: "setLogLevel", level: "loud" });
    assert.equal(wrong.status, 400);
  });
});

Deno.test("a person makes and revokes own tokens, and changes the password", async () => {
  await withWeb(async ({ admin, person, guest, api, addPerson }) => {
    assert.match((await guest.get("/account")).text, /Log in to muster/);
    const account = await person.see("/account");
    assert.match(account.text, /You are ann .*There are no tokens/);
    assert.match((await person.see("/")).html, /href="\/account"/);
    const form = { action: "create", name: "laptop", scopes: ["read", "write"], expires: "" };
    assert.equal(
      (await person.post("/account", { ...form, scopes: ["status:write"] })).status,
      400,
    );
    const made = await person.post("/account", { ...form, owner: "admin" });
    assert.equal(made.status, 201);
    const [token = ""] = /[0-9a-f]{40}/.exec(made.text) ?? [];
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(token));
    const held = api.services.tokens.authenticate(token, new Uint8Array(digest).toHex());
    assert.deepEqual([held?.kind, held?.name], ["person", "ann"]);

    const own = held?.id ?? "";
    const [listed] = await api.services.tokens.list({ ownerId: own });
    const revoke = { action: "revoke", id: listed?.id ?? "" };
    assert.match((await person.see("/account")).text, /laptop read, write/);
    const again = await person.post("/account", form);
    assert.deepEqual([again.status, /You have a token/.test(again.text)], [409, true]);
    assert.equal((await (await addPerson("bob")).post("/account", revoke)).status, 404);
    assert.doesNotMatch((await admin.see("/account")).text, /laptop of ann/);
    assert.match((await person.post("/account", revoke)).text, /The token is revoked/);
    assert.deepEqual(await api.services.tokens.list({ ownerId: own }), []);

    const next = "battery staple";
    const change = { action: "password", current: "correct horse", next, again: next };
    const wrong = await person.post("/account", { ...change, current: "wrong" });
    assert.deepEqual([wrong.status, /The current password is wrong/.test(wrong.text)], [
      403,
      true,
    ]);
    assert.equal((await person.post("/account", { ...change, again: "typo" })).status, 403);
    assert.equal((await person.post("/account", { ...change, next: "a", again: "a" })).status, 400);
    assert.match((await person.post("/account", change)).text, /Your password is changed/);
    assert.equal((await person.see("/account")).status, 200);
    assert.equal((await person.post("/account", change)).status, 403);
  });
});

Deno.test("a person sees where they are logged in, and ends a session elsewhere", async () => {
  await withWeb(async ({ person, admin, api, logIn }) => {
    const { accounts, webSessions } = api.services;
    const elsewhere = await logIn("ann");
    const { id = "" } = accounts.find("ann") ?? {};
    const { text, html } = await person.see("/account");
    assert.match(text, /Your sessions .*this browser/);
    assert.equal(html.match(/value="endSession"/g)?.length, 1);
    const [, session = ""] = /name="id" value="([^"]+)"/.exec(html) ?? [];
    const form = { action: "endSession", id: session };
    assert.equal((await admin.post("/account", form)).status, 404);
    assert.equal((await elsewhere.see("/account")).status, 200);

    assert.match((await person.post("/account", form)).text, /The session has ended/);
    assert.equal(webSessions.list(id).length, 1);
    assert.match((await elsewhere.get("/account")).text, /Log in to muster/);
    assert.equal((await person.see("/account")).status, 200);
    assert.equal((await person.post("/account", form)).status, 404);
  });
});

Deno.test("of two changes of a password at once, one is made and the other is refused", async () => {
  await withWeb(async ({ person, api, logIn }) => {
    await api.services.admins.create({ username: "eve", password: "correct horse" }, BY_OPERATOR);
    const pairs = [
      ["ann", person, await logIn("ann")],
      ["eve", await logIn("eve"), await logIn("eve")],
    ] as const;
    for (const [name, one, other] of pairs) {
      const change = (next: string) => {
        return { action: "password", current: "correct horse", next, again: next };
      };
      const answers = await Promise.all([
        one.post("/account", change("first staple"), { follow: false }),
        other.post("/account", change("second staple"), { follow: false }),
      ]);
      const isMade = ({ status, to }: typeof answers[number]) =>
        status === 303 && to === "/account";
      const [refused, ...more] = answers.filter((answer) => !isMade(answer));
      assert.equal(more.length, 0, name);
      // The slower one may find the new password already, or that its session has ended.
      assert.match(
        `${refused?.to} ${refused?.text}`,
        /has just been changed|current password is wrong|\/login|session has ended|Log in/,
        `${name}: ${refused?.status}`,
      );
    }
  });
});

Deno.test("a person has a bounded number of own tokens", async () => {
  await withWeb(async ({ person, api }) => {
    const request = { owner: "ann", project: null, expires_at: null, scopes: ["read" as const] };
    for (let i = 0; i < MOST_OWN_TOKENS - 1; i++) {
      await api.services.tokens.create({ ...request, name: `token ${i}` }, BY_OPERATOR);
    }
    const form = { action: "create", name: "one more", scopes: ["read"], expires: "" };
    const atOnce = await Promise.all(
      ["a", "b", "c"].map((name) => person.post("/account", { ...form, name })),
    );
    assert.deepEqual(atOnce.map(({ status }) => status).sort(), [201, 409, 409]);
    const refused = await person.post("/account", form);
    assert.deepEqual([refused.status, /revoke one/.test(refused.text)], [409, true]);
  });
});

Deno.test("the doctor shows what is wrong and how to fix it", async () => {
  const finding = { level: "error", check: "keys", message: "Lost <key>", fix: "restore it" };
  let findings = [finding];
  const startExamination = () => ({
    output: Promise.resolve(JSON.stringify({ findings })),
    kill: () => {},
  });
  await withWeb(async ({ admin }) => {
    const path = "/settings/doctor";
    assert.match((await admin.see(path)).text, /Nobody has checked this server/);
    const found = await admin.post(path, { action: "examine" });
    assert.match(found.text, /The check found something/);
    assert.match(found.html, /Lost &lt;key(?:&gt;|>)/);
    assert.match(found.text, /Something needs you.*error keys .*restore it/);
    findings = [];
    const healthy = await admin.post(path, { action: "examine" });
    assert.match(healthy.text, /Everything is in order/);
    assert.doesNotMatch(healthy.text, /restore it/);
  }, { startExamination });
  await withWeb(async ({ admin }) => {
    const refused = await admin.post("/settings/doctor", { action: "examine" });
    assert.deepEqual([refused.status, /does not examine itself/.test(refused.text)], [503, true]);
  });
});
