import assert from "node:assert/strict";
import { configSchema } from "../../services/operation/config/schemas.ts";
import { mcpOf } from "../../web/parts/agent_login.tsx";
import { anAgent } from "../support/services.ts";
import { type Fields, withWeb } from "../support/web.ts";

/** Pages of "run the place", which only admins see. */
const ADMIN_PAGES = [
  "/people",
  "/halt",
  "/settings",
  "/settings/tokens",
  "/settings/policies",
  "/settings/llm",
  "/settings/usage",
  "/settings/nodes",
  "/settings/bans",
  "/settings/clients",
  "/settings/webhooks",
  "/settings/nodes",
  "/settings/configuration",
  "/settings/doctor",
];

Deno.test("people see no page of the administration, and guests are led to the login", async () => {
  await withWeb(async ({ admin, person, guest }) => {
    for (const path of ADMIN_PAGES) {
      assert.equal((await admin.get(path)).status, 200, path);
      const refused = await person.get(path);
      assert.equal(refused.status, 403, path);
      assert.match(refused.text, /Only admins see this page/);
      const led = await guest.get(path, { follow: false });
      assert.deepEqual([led.status, led.to], [303, `/login?next=${encodeURIComponent(path)}`]);
    }
    assert.match((await admin.see("/")).text, /People Events Metrics Bots Settings/);
    assert.doesNotMatch((await person.see("/")).text, /Settings/);
  });
});

Deno.test("a form without the CSRF token changes nothing", async () => {
  await withWeb(async ({ admin, api: { services } }) => {
    const forms: readonly (readonly [string, Fields])[] = [
      ["/agents", { action: "register", nick: "forged", type: "worker", channels: "" }],
      ["/agents/caller", { action: "remove", confirm: "caller" }],
      ["/people", { action: "add", name: "forged", password: "long enough" }],
      ["/people", { action: "addAdmin", name: "forged", password: "long enough" }],
      ["/settings/tokens", { action: "create", owner: "caller", name: "x", scopes: "read" }],
      ["/halt", { action: "halt" }],
      ["/settings/tokens", { action: "rotate" }],
      ["/settings/policies?bot=warden", { action: "save", "field.burst": "3" }],
      ["/settings/llm", { action: "create", name: "forged", provider: "openai" }],
      ["/settings/usage", { action: "setBudget", budget: "all.day", cost: "1" }],
      ["/settings/bans", { action: "ban", mask: "192.0.2.1", reason: "", seconds: "" }],
      ["/settings/nodes", { action: "drain", name: "a" }],
      ["/settings/webhooks", { action: "create", url: "https://example.com/", types: "" }],
      ["/settings/webhooks", { action: "addSource", source: "forged", kind: "github" }],
    ];
    const { newest } = services.eventLog;
    for (const [path, fields] of forms) {
      for (const csrf of ["", "0".repeat(64)]) {
        const refused = await admin.post(path, Object.assign({ csrf }, fields));
        assert.equal(refused.status, 403, path);
      }
    }
    assert.equal(services.eventLog.newest, newest);
  });
});

Deno.test("the page of a passphrase has the URL of MCP that the server's machine reaches", () => {
  for (
    const [mcp_addr, cert, url] of [
      ["127.0.0.1:8081", "", "http://127.0.0.1:8081"],
      [":8081", "", "http://127.0.0.1:8081"],
      ["[::]:8081", "", "http://127.0.0.1:8081"],
      ["10.0.0.5:8081", "cert.pem", "https://10.0.0.5:8081"],
      ["127.0.0.1:0", "", null],
    ] as const
  ) {
    const config = configSchema.parse({ mcp_addr, tls: { cert, key: cert } });
    assert.equal(mcpOf(config), url, mcp_addr);
  }
});

Deno.test("an admin registers an agent, and its passphrase is shown once, ready to use", async () => {
  await withWeb(async ({ admin, person, api }) => {
    const form = { action: "register", nick: "scout", type: "worker", channels: "general, #work" };
    assert.equal((await person.post("/agents", form)).status, 403);
    const made = await admin.post("/agents", form);
    assert.equal(made.status, 201);
    const [, passphrase = ""] = /Passphrase ([0-9a-f]{64})/.exec(made.text) ?? [];
    const lines = [
      `curl -s -u 'scout:${passphrase}' 'http://muster.test/v1/channels/general/messages' -d '{"text`,
      `curl -s -u 'scout:${passphrase}' 'http://muster.test/v1/agents/scout/messages?wait_seconds=60'`,
      "http://127.0.0.1:8081/mcp",
      "muster mcp install claude --agent scout --url http://muster.test",
      `fossil clone -B 'scout:${passphrase}' http://muster.test/projects/SLUG/fossil`,
      `-sasl_username scout -sasl_password ${passphrase}`,
      "/channel add -auto #work muster",
      `Basic ${btoa(`scout:${passphrase}`)}`,
    ];
    for (const line of lines) assert.ok(made.text.includes(line), line);
    const authorization = `Basic ${btoa(`scout:${passphrase}`)}`;
    const used = await api.send({
      who: "guest",
      request: "GET /v1/agents/scout",
      headers: { authorization },
    });
    assert.equal(used.status, 200);
    assert.doesNotMatch((await admin.see("/agents/scout")).html, new RegExp(passphrase));
    const again = await admin.post("/agents", form);
    assert.equal(again.status, 409);
    assert.match(again.text, /"scout" is taken/);
    assert.match(again.html, /name="nick"[^>]*value="scout"/);
    const wrong = await admin.post("/agents", Object.assign({}, form, { nick: "no good" }));
    assert.equal(wrong.status, 400);
    assert.match(wrong.text, /"nick" must be an IRC nick/);
  });
});

Deno.test("an admin pauses, limits, rotates, revokes and deletes an agent", async () => {
  await withWeb(async ({ admin, person, api: { services } }) => {
    const page = "/agents/caller";
    const { agents } = services;
    for (const action of ["pause", "resume", "rate", "rotate", "revoke", "remove"]) {
      const refused = await person.post(page, { action, confirm: "caller" });
      assert.equal(refused.status, 403, action);
      assert.match(refused.text, /Only admins may do this/);
    }
    await admin.post(page, { action: "pause", reason: "Too <b>loud</b>" });
    assert.equal(agents.get("caller").pause_reason, "Too <b>loud</b>");
    assert.match((await person.see(page)).text, /paused .*Paused because Too <b>loud<\/b>/);
    assert.match((await admin.post(page, { action: "resume" })).text, /caller may speak again/);
    assert.equal(agents.get("caller").paused, false);
    await admin.post(page, { action: "rate", messages_per_second: "0.5", burst: "" });
    assert.deepEqual(agents.get("caller").rate_limit, { messages_per_second: 0.5, burst: 1 });
    const wrong = await admin.post(page, { action: "rate", messages_per_second: "much" });
    assert.equal(wrong.status, 400);
    assert.match(wrong.text, /must be a number/);
    assert.match(wrong.html, /value="much"/);
    await admin.post(page, { action: "rate", messages_per_second: "" });
    assert.equal(agents.get("caller").rate_limit, null);
    const rotated = await admin.post(page, { action: "rotate", keep_tokens: "yes" });
    assert.match(rotated.text, /caller has a new passphrase.*Passphrase [0-9a-f]{64}/);
    assert.equal(
      (await services.tokens.list()).filter(({ owner }) => owner === "caller").length,
      3,
    );
    assert.equal((await admin.post(page, { action: "revoke", confirm: "other" })).status, 400);
    assert.equal(agents.get("caller").revoked, false);
    assert.match((await admin.post(page, { action: "revoke", confirm: "caller" })).text, /revoked/);
    assert.match((await admin.see("/agents?state=revoked")).text, /caller revoked/);
    assert.doesNotMatch((await person.see("/agents?state=revoked")).text, /caller/);
    await admin.post(page, { action: "remove", confirm: "caller" });
    assert.equal((await admin.get(page)).status, 404);
  });
});

Deno.test("the list of agents is searched, filtered and paged", async () => {
  await withWeb(async ({ person, admin, api: { services } }) => {
    for (let number = 0; number < 60; number++) await anAgent(services, `bee-${number}`);
    await anAgent(services, "wasp");
    services.sessions.online.add("wasp");
    assert.match((await person.see("/agents")).text, /Page 1 of 2/);
    assert.match((await person.see("/agents?page=2")).html, /href="\/agents\?page=1"/);
    const found = await person.see("/agents?q=WASP");
    assert.match(found.text, /wasp idle/);
    assert.doesNotMatch(found.html, /bee-1/);
    assert.match((await person.see("/agents?state=idle")).html, /href="\/agents\/wasp"/);
    assert.match((await person.see("/agents?state=working")).text, /No agent fits/);
    assert.match((await person.see("/agents?q=%3Cscript%3E")).html, /value="&lt;script&gt;"/);
    assert.equal((await admin.get("/agents/nobody")).status, 404);
  });
});

Deno.test("an admin adopts an account", async () => {
  await withWeb(async ({ admin, api: { services } }) => {
    const form = { action: "adopt", account: "ann", adopted_channels: "general" };
    assert.match((await admin.post("/agents", form)).text, /ann is an agent now/);
    assert.deepEqual(services.agents.get("ann").channels, ["#general"]);
    const ids = [...(await admin.see("/agents")).html.matchAll(/ id="([^"]+)"/g)].map(([, id]) =>
      id
    );
    assert.equal(new Set(ids).size, ids.length, `No id is there twice: ${ids}`);
    const missing = Object.assign({}, form, { account: "nobody-1" });
    assert.equal((await admin.post("/agents", missing)).status, 404);
  });
});

Deno.test("an admin adds, changes and removes people and admins", async () => {
  await withWeb(async ({ admin, person, api: { services } }) => {
    const { accounts } = services;
    const short = await admin.post("/people", { action: "add", name: "eve", password: "short" });
    assert.equal(short.status, 400);
    assert.match(short.html, /value="eve"/);
    assert.doesNotMatch(short.html, /value="short"/);
    assert.match(short.html, /id="add-new"[^>]* aria-invalid="true"/);
    const odd = { action: "add", name: "no nick", password: "long enough" };
    const misnamed = await admin.post("/people", odd);
    assert.match(misnamed.text, /"name" must/);
    assert.match(misnamed.html, /id="add-name"[^>]* aria-invalid="true"/);
    const made = await admin.post("/people", {
      action: "add",
      name: "eve",
      password: "long enough",
    });
    assert.equal(made.status, 201);
    assert.match(made.text, /eve has an account.*In irssi:.*-sasl_username eve/s);
    assert.doesNotMatch(made.html, /long enough/);
    const twice = { action: "add", name: "EVE", password: "long enough" };
    assert.equal((await admin.post("/people", twice)).status, 409);
    await admin.post("/people", { action: "password", name: "ann", password: "another one" });
    assert.match((await person.see("/")).text, /Log in to muster/);
    const wrong = { action: "remove", name: "eve", confirm: "ann" };
    assert.equal((await admin.post("/people", wrong)).status, 400);
    assert.notEqual(accounts.find("eve"), null);
    await admin.post("/people", { action: "remove", name: "eve", confirm: "eve" });
    assert.equal(accounts.find("eve"), null);
    const root = { action: "addAdmin", name: "root-2", password: "long enough" };
    assert.match((await admin.post("/people", root)).text, /root-2 is an admin/);
    const reset = { action: "adminPassword", name: "root-2", password: "even longer" };
    assert.match((await admin.post("/people", reset)).text, /root-2 has a new password/);
    const own = { action: "removeAdmin", name: "admin", confirm: "admin" };
    assert.match((await admin.post("/people", own)).text, /Another admin must remove you/);
    await admin.post("/people", { action: "removeAdmin", name: "root-2", confirm: "root-2" });
    assert.equal(accounts.find("root-2"), null);
    assert.match((await admin.see("/people?q=zzz")).text, /No account fits/);
  });
});

Deno.test("an admin makes tokens, which are shown once, and revokes them", async () => {
  await withWeb(async ({ admin, api }) => {
    const { tokens } = api.services;
    const form = {
      action: "create",
      owner: "caller",
      project: "",
      name: "laptop <i>",
      scopes: ["read", "write"],
      expires: "2031-01-31",
    };
    const made = await admin.post("/settings/tokens", form);
    assert.equal(made.status, 201);
    const [, token = ""] = /Bearer ([\w-]+)'/.exec(made.text) ?? [];
    const headers = { authorization: `Bearer ${token}` };
    const used = await api.send({ who: "guest", request: "GET /v1/agents", headers });
    assert.equal(used.status, 200);
    const kept = (await tokens.list()).find(({ name }) => name === "laptop <i>");
    assert.equal(kept?.expires_at, "2031-01-31T23:59:59.000Z");
    const list = await admin.see("/settings/tokens?q=laptop");
    assert.match(list.text, /laptop <i> of caller read, write/);
    assert.doesNotMatch(list.html, new RegExp(token));
    const none = await admin.post("/settings/tokens", Object.assign({}, form, { scopes: [] }));
    assert.equal(none.status, 400);
    assert.match(none.text, /"scopes" must name at least one scope/);
    const unknown = Object.assign({}, form, { owner: "nobody-1" });
    assert.equal((await admin.post("/settings/tokens", unknown)).status, 404);
    const project = { action: "create", owner: "", project: "demo", name: "ci", scopes: "read" };
    assert.equal((await admin.post("/settings/tokens", project)).status, 201);
    assert.match((await admin.see("/settings/tokens?q=ci")).text, /ci for the project demo/);
    const id = kept?.id ?? "";
    assert.match(
      (await admin.post("/settings/tokens", { action: "revoke", id })).text,
      /is revoked/,
    );
    assert.equal(
      (await api.send({ who: "guest", request: "GET /v1/agents", headers })).status,
      401,
    );
    assert.equal((await admin.post("/settings/tokens", { action: "revoke", id })).status, 404);
    const rotated = await admin.post("/settings/tokens", { action: "rotate" });
    assert.match(rotated.text, /The new API token is shown only here/);
    assert.equal((await api.send({ request: "GET /v1/admins" })).status, 401);
  });
});

Deno.test("an admin bans, lifts bans, and sees the clients", async () => {
  await withWeb(async ({ admin, api: { services } }) => {
    assert.match((await admin.see("/settings/bans")).text, /Nobody is banned/);
    const form = { action: "ban", mask: "192.0.2.0/24", reason: "<b>spam</b>", seconds: "3600" };
    const banned = await admin.post("/settings/bans", form);
    assert.match(banned.text, /192\.0\.2\.0\/24 is banned.*<b>spam<\/b> by admin:admin/);
    const [ban] = services.ircBans.list();
    assert.equal(ban?.mask, "192.0.2.0/24");
    const wrong = await admin.post("/settings/bans", Object.assign({}, form, { mask: "*" }));
    assert.equal(wrong.status, 400);
    assert.match(wrong.html, /value="\*"/);
    const lifted = await admin.post("/settings/bans", { action: "unban", id: ban?.id ?? "" });
    assert.match(lifted.text, /The ban is lifted.*Nobody is banned/);
    const clients = await admin.see("/settings/clients");
    assert.match(clients.text, /ann 192\.0\.2\.7 tls/);
    assert.match((await admin.see("/settings/clients?q=bob")).text, /No client fits/);
  });
});

Deno.test("too many wrong logins are explained in words", async () => {
  await withWeb(async ({ guest }) => {
    const form = { action: "enter", username: "ann", password: "wrong", next: "/" };
    let last = await guest.post("/enter", form);
    for (let tries = 0; tries < 12 && last.status === 403; tries++) {
      last = await guest.post("/enter", form);
    }
    assert.equal(last.status, 429);
    assert.match(last.text, /Too many logins, try again in \d+ (seconds|minutes)/);
    assert.match(last.html, /name="username"[^>]*value="ann"/);
  });
});

Deno.test("an admin halts agents with the button of every page, and resumes them one by one", async () => {
  await withWeb(async ({ admin, person, api: { services } }) => {
    const { halts } = services.agents;
    for (const page of ["/", "/agents", "/projects"]) {
      assert.match((await admin.see(page)).html, /<form[^>]*action="\/halt"/, page);
      assert.doesNotMatch((await person.see(page)).html, /action="\/halt"/, page);
    }
    assert.equal((await person.post("/halt", { action: "halt" })).status, 403);
    await admin.post("/halt", { action: "halt", reason: "wrong branch" });
    assert.equal(halts.coversEverybody, true);
    for (const visitor of [admin, person]) {
      assert.match((await visitor.see("/")).text, /All agents are halted by admin: wrong branch/);
    }
    assert.match((await admin.see("/")).html, /Resume agents/);
    const halted = await admin.see("/halt");
    assert.match(halted.html, /Resume all agents/);
    assert.doesNotMatch(halted.text, /See who/);
    assert.match((await person.see("/agents")).text, /caller halted/);
    assert.match((await person.see("/")).text, /Halted \d+ caller/);
    assert.doesNotMatch((await person.see("/")).text, /Idle/);
    await admin.post("/halt", { action: "exempt", resumed: "caller, caller caller" });
    assert.equal(halts.reasonById(services.accounts.find("caller")?.id ?? null), null);
    const nobody = await admin.post("/halt", { action: "exempt", resumed: "nobody" });
    assert.deepEqual([nobody.status, /nobody/.test(nobody.text)], [404, true]);
    const [, next = ""] = /action="\/halt".*?name="next" value="([^"]*)"/s
      .exec((await admin.see("/agents?state=all")).html) ?? [];
    const resumed = await admin.post("/halt", { action: "resume", next }, { follow: false });
    assert.equal(resumed.to, "/agents?state=all");
    for (const elsewhere of ["//evil.example", "https://evil.example/", "/.//evil.example"]) {
      const fields = { action: "resume", next: elsewhere };
      assert.equal((await admin.post("/halt", fields, { follow: false })).to, "/halt");
    }
    assert.equal(halts.isAny, false);
    await admin.post("/halt", { action: "halt", type: "worker", reason: "" });
    assert.match((await admin.see("/halt")).text, /all of the type worker: halted/);
  });
});
