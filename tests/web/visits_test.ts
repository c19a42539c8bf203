import assert from "node:assert/strict";
import { heldBack } from "../support/scenarios.ts";
import { BY_OPERATOR } from "../support/services.ts";
import { fillProject, Visitor, withWeb } from "../support/web.ts";

Deno.test("a guest is led to the login, and an account is logged in", async () => {
  await withWeb(async ({ admin, person, guest }) => {
    const led = await guest.get("/", { follow: false });
    assert.deepEqual([led.status, led.to], [303, "/login?next=%2F"]);
    assert.match((await guest.see("/")).text, /Log in to muster/);
    assert.match((await person.see("/")).text, /Log out ann/);
    assert.match((await admin.see("/")).text, /Log out admin/);
  });
});

Deno.test("a form needs the CSRF token of its session, keeps its fields without, and may end it", async () => {
  await withWeb(async ({ person }) => {
    const form = { action: "create", name: "my laptop", scopes: ["read"], expires: "" };
    for (const csrf of ["0".repeat(64), []]) {
      const forged = await person.post("/account", { ...form, csrf });
      assert.deepEqual([forged.status, /send it again/.test(forged.text)], [403, true]);
      assert.match(forged.html, /value="my laptop"/);
      assert.match(forged.text, /There are no tokens/);
      const stale = { action: "leave", csrf };
      const led = await person.post("/enter", stale, { follow: false });
      assert.deepEqual([led.status, led.to], [303, "/"]);
      assert.match((await person.see("/")).text, /Log out ann/);
    }
    assert.match((await person.post("/enter", { action: "leave" })).text, /Log in to muster/);
    assert.equal(person.cookie("muster_session"), "");
    assert.match((await person.see("/")).text, /Log in to muster/);
  });
});

Deno.test("a form whose session ends while it arrives does nothing", async () => {
  await withWeb(async ({ api, person }) => {
    const cookies = ["muster_session", "muster_csrf"].map((one) => `${one}=${person.cookie(one)}`);
    const form = new URLSearchParams({
      csrf: person.cookie("muster_csrf"),
      action: "create",
      name: "held back",
      scopes: "read",
      expires: "",
    });
    const before = await api.answer("GET /v1/tokens");
    const end = () => person.post("/enter", { action: "leave" });
    const response = await api.handle(
      new Request("http://muster.test/account", {
        method: "POST",
        headers: {
          cookie: cookies.join("; "),
          "content-type": "application/x-www-form-urlencoded",
          "sec-fetch-site": "same-origin",
        },
        body: heldBack(form.toString(), end),
      }),
    );
    const led = [response.status, response.headers.get("location")];
    assert.deepEqual(led, [303, "/login?next=%2Faccount"]);
    assert.deepEqual(await api.answer("GET /v1/tokens"), before);
  });
});

Deno.test("a person logs in by the form, and comes to the page that was asked for", async () => {
  await withWeb(async ({ guest }) => {
    const wrong = { action: "enter", username: "ann", password: "wrong", next: "/?a=1" };
    assert.match((await guest.post("/enter", wrong)).text, /name or the password is wrong/);
    const right = { ...wrong, password: "correct horse" };
    const led = await guest.post("/enter", right, { follow: false });
    assert.deepEqual([led.status, led.to], [303, "/?a=1"]);
    assert.match((await guest.see("/")).text, /Log out ann/);
  });
});

Deno.test("who shares an address with a person cannot lock them out of their browser", async () => {
  await withWeb(async ({ api, guest, addPerson }) => {
    const right = { action: "enter", username: "ann", password: "correct horse" };
    const wrong = { ...right, password: "wrong" };
    const enter = async (visitor: Visitor, fields: Record<string, string>) => {
      const { status, to } = await visitor.post("/enter", fields, { follow: false });
      return to === "" ? status : to;
    };
    assert.equal(await enter(guest, right), "/");
    const mark = guest.cookie("muster_browser");
    assert.match(mark, /^[0-9A-Z]{26}\.[0-9A-Z]{26}\.[0-9a-f]{64}$/);
    await guest.post("/enter", { action: "leave" });
    assert.equal(guest.cookie("muster_browser"), mark, "the mark outlives the session");

    const stranger = new Visitor(api);
    const statuses = [];
    for (let time = 0; time < 12; time++) statuses.push(await enter(stranger, wrong));
    assert.deepEqual(statuses, [...Array(9).fill(403), 429, 429, 429]);
    for (let time = 0; time < 12; time++) {
      await api.services.authority.verify("ann", "wrong", "127.0.0.1");
    }
    assert.equal(await enter(stranger, right), 429);
    await addPerson("eve");
    const forged = [mark.replace(/.$/, "0"), mark.replace(/.$/, "1"), mark.replace(/^./, "9"), "x"]
      .filter((one) => one !== mark);
    for (const muster_browser of forged) {
      assert.equal(await enter(new Visitor(api, { muster_browser }), right), 429);
    }

    assert.equal(await enter(guest, right), "/");
    assert.equal(guest.cookie("muster_browser"), mark);
    await guest.post("/enter", { action: "leave" });
    const own = [];
    for (let time = 0; time < 9; time++) own.push(await enter(guest, wrong));
    assert.deepEqual(own, [...Array(8).fill(403), 429], "its two logins count, too");
    // The mark of one account opens no place for the wrong passwords of another.
    const other = new Visitor(api, { muster_browser: mark });
    api.services.clock.advance(16 * 60_000);
    for (let time = 0; time < 10; time++) {
      await api.services.authority.verify("eve", "wrong", "127.0.0.1");
    }
    assert.equal(await enter(other, { ...right, username: "eve" }), 429);
    assert.equal(await enter(other, right), "/");
  });
});

Deno.test("a field of a form has a greatest length, whichever service reads it", async () => {
  await withWeb(async ({ admin }) => {
    for (const field of ["account", "name", "any"]) {
      const long = await admin.post("/people", { action: "revoke", [field]: "[".repeat(5001) });
      assert.equal(long.status, 400);
      assert.match(long.text, new RegExp(`"${field}" must have at most 5000 characters`));
    }
    const name = await admin.post("/people", { action: "revoke", ["a".repeat(5001)]: "" });
    assert.match(name.text, /The name of a field has more than 5000 characters/);
  });
});

Deno.test("a form that is too large is refused before it is parsed, and on a page", async () => {
  await withWeb(async ({ guest, person }) => {
    const values = Array.from({ length: 1000 }, (_, number) => String(number));
    const many = { action: "enter", username: "ann", password: "correct horse" };
    const refused = await guest.post("/enter", { ...many, more: values });
    assert.equal(refused.status, 400);
    assert.match(refused.text, /The form has more than 1000 fields/);
    const led = await guest.post("/enter", { ...many, more: values.slice(10) }, { follow: false });
    assert.equal(led.status, 303);
    const forged = await person.post("/enter", { action: "leave", more: values, csrf: "" });
    assert.equal(forged.status, 400);
    const long = await person.post("/enter", { action: "leave", more: "x".repeat(2 ** 20) });
    assert.deepEqual([long.status, /That is too large/.test(long.text)], [413, true]);
  });
});

Deno.test("an address that is too long is refused, and the refusal does not repeat it", async () => {
  await withWeb(async ({ admin }) => {
    const path = (length: number) => `/people?q=${"x".repeat(length)}`;
    assert.equal((await admin.get(path(16_000))).status, 200);
    const refused = await admin.get(path(17_000));
    assert.equal(refused.status, 400);
    assert.match(refused.text, /The address is longer than 16384 characters/);
    assert.ok(refused.html.length < 16_000, String(refused.html.length));
  });
});

Deno.test("the login leads to no other site", async () => {
  await withWeb(async ({ person }) => {
    const hosts = [
      "//evil.example/x",
      "/.//evil.example/x",
      "/..//evil.example",
      "/%2e//evil.example",
    ];
    const others = [
      "/x/..//evil.example",
      "/\\evil.example",
      "https://evil.example/",
      "javascript:1",
    ];
    for (const next of [...hosts, ...others]) {
      const query = `next=${encodeURIComponent(next)}`;
      const { to } = await person.get(`/login?${query}`, { follow: false });
      assert.equal(new URL(to ?? "", "http://here.example").host, "here.example", next);
    }
  });
});

Deno.test("the project of a test has content of every kind", async () => {
  await withWeb(async (web) => {
    const { tip, ticket } = await fillProject(web);
    const { answer } = web;
    assert.equal((await answer("GET /api/releases")).releases[0].checkin_uuid, tip);
    assert.equal((await answer(`GET /api/tickets/${ticket}`)).title, "The first ticket");
    const { workspaces } = await answer("GET /api/workspaces");
    assert.deepEqual(workspaces.map(({ name }: { name: string }) => name), ["fix-typo"]);
  });
});

Deno.test("a refusal inside a project keeps the project's parts and its search", async () => {
  await withWeb(async (web) => {
    const { projects } = web.api.services.hosting;
    await projects.setMember("demo", "ann", "read", BY_OPERATOR);
    const { uuid } = await web.answer("POST /api/tickets", { body: { title: "Crash" } });
    const nothing = `/projects/demo/tickets/${uuid.replaceAll(/./g, "0")}`;
    const pages = [nothing, "/projects/demo/file/trunk/none", "/projects/demo/nothing"];
    for (const page of pages) {
      const { status, html } = await web.person.get(page);
      assert.equal(status, 404, page);
      assert.match(html, /class="project-bar".*action="\/projects\/demo\/search"/s, page);
      assert.doesNotMatch((await web.guest.get(page)).html, /project-bar/, page);
    }
    const refused = await web.person.get(nothing);
    assert.match(refused.html, /tickets" aria-current="page"/);
    const search = await web.person.get(`/projects/demo/search?q=%22one`);
    assert.match(search.html, /class="project-bar".*<input id="q"[^>]*value="&quot;one"/s);
  });
});

Deno.test("a page that fails on a bug says so, with the id that the log has", async () => {
  await withWeb(async ({ admin, api: { services } }) => {
    services.attention.waiting = () => Promise.reject(new TypeError("a bug"));
    const failed = await admin.get("/");
    assert.equal(failed.status, 500);
    assert.match(
      failed.text,
      /Something broke The server failed on a bug\. Its log has it under \S+/,
    );
    assert.doesNotMatch(failed.text, /TypeError|a bug\b(?!\.)/);
    assert.equal((await admin.get("/channels")).status, 404, "other pages answer as before");
  });
});

Deno.test("a page of a project that the server cannot read offers no login and no search", async () => {
  await withWeb(async ({ guest, admin, project, api: { services: { hosting } } }) => {
    await hosting.projects.change("demo", { visibility: "public" }, BY_OPERATOR);
    assert.equal((await guest.get("/projects/demo/branches")).status, 200);
    await Deno.remove(hosting.repositories.files.pathOf(project));
    const { status, html, text } = await guest.get("/projects/demo/branches");
    assert.equal(status, 503);
    assert.match(text, /503 Not now The server cannot show this at the moment\. Try again later\./);
    assert.doesNotMatch(text, /backup|repository|doctor/);
    assert.match((await admin.get("/projects/demo/branches")).text, /repository/);
    assert.match(html, /class="project-bar"/);
    assert.doesNotMatch(html, /name="q"|class="button primary" href="\/login"/);
  });
});

Deno.test("a form sent after its session ended waits for the same account, and sends nothing", async () => {
  await withWeb(async (web) => {
    const { api, person, guest, addPerson } = web;
    const { projects } = api.services.hosting;
    const bob = await addPerson("bob");
    for (const name of ["ann", "bob"]) await projects.setMember("demo", name, "write", BY_OPERATOR);
    const path = "/projects/demo/tickets/new";
    await person.see(path);
    const csrf = person.cookie("muster_csrf");
    const form = { action: "file", csrf, title: "A <long> story", description: "Line 1\r\nLine 2" };
    const led = await guest.post(path, form, { follow: false });
    assert.match(led.to, /^\/login\?next=/);
    const next = new URL(led.to, "http://here").searchParams.get("next") ?? "";
    assert.match(next, /^\/projects\/demo\/tickets\/new\?form=\w+$/);
    const login = await guest.see(led.to);
    assert.match(login.text, /Your session had ended/);
    assert.doesNotMatch(login.text, /story/);
    assert.doesNotMatch((await bob.see(next)).text, /Line 1|session had ended/);

    const enter = { action: "enter", username: "ann", next };
    const wrong = await guest.post("/enter", { ...enter, password: "wrong" });
    assert.match(wrong.html, /name="next" value="[^"]*form=/);
    const back = await guest.post("/enter", { ...enter, password: "correct horse" });
    assert.match(back.html, /value="A &lt;long&gt; story"/);
    assert.match(back.html, /Line 1\r?\nLine 2/);
    assert.match(back.text, /look at it, and send it again/);
    assert.doesNotMatch(back.html, new RegExp(csrf));
    assert.deepEqual((await web.answer("GET /api/tickets")).tickets, []);

    const { title, description } = form;
    await guest.post(next, { action: "file", title, description });
    assert.equal((await web.answer("GET /api/tickets")).tickets.length, 1);
    assert.doesNotMatch((await guest.see(next)).html, /Line 1/);
  });
});

Deno.test("a form is kept for half an hour, for a known session, and never with a secret", async () => {
  await withWeb(async ({ api, person, guest }) => {
    await api.services.hosting.projects.setMember("demo", "ann", "write", BY_OPERATOR);
    const path = "/projects/demo/tickets/new";
    await person.see(path);
    const csrf = person.cookie("muster_csrf");
    const send = async (to: string, fields: Record<string, string>) => {
      const led = await guest.post(to, { csrf, ...fields }, { follow: false });
      return new URL(led.to, "http://here").searchParams.get("next") ?? "";
    };
    assert.equal(await send(path, { action: "file", title: "x", csrf: "0".repeat(64) }), path);
    const secret = { action: "password", current: "old", next: "new", again: "new" };
    assert.equal(await send("/account", secret), "/account");
    const first = await send(path, { action: "file", title: "The first of them" });
    assert.match((await person.see(first)).html, /The first of them/);
    // Two tabs with one page do not take each other's text.
    const second = await send(first, { action: "file", title: "The second of them" });
    assert.match((await person.see(first)).html, /The first of them/);
    assert.match((await person.see(second)).html, /The second of them/);
    for (let sent = 0; sent < 9; sent++) await send(path, { action: "file", title: "More" });
    assert.doesNotMatch((await person.see(first)).html, /The first of them/);
    assert.match((await person.see(second)).html, /The second of them/);
    // As a program sends it, unencoded: kept, it would be six times as long.
    const large = `csrf=${csrf}&action=file&comment=${"\u00e9".repeat(450_000)}`;
    const headers = {
      "content-type": "application/x-www-form-urlencoded",
      "accept": "text/html",
      "sec-fetch-site": "same-origin",
    };
    const url = `http://muster.test${path}`;
    const refused = await api.handle(new Request(url, { method: "POST", body: large, headers }));
    assert.equal(refused.status, 400);
    assert.match(await refused.text(), /too large to keep/);
    api.services.clock.advance(31 * 60_000);
    assert.doesNotMatch((await person.see(second)).html, /The second of them/);
  });
});

Deno.test("a login ends the session that the browser had before", async () => {
  await withWeb(async ({ api, person, addPerson }) => {
    await addPerson("bob");
    const before = person.cookie("muster_session");
    const enter = { action: "enter", username: "bob", password: "wrong" };
    await person.post("/enter", enter);
    assert.ok(api.services.webSessions.find(before) !== null);
    await person.post("/enter", { ...enter, password: "correct horse" });
    assert.match((await person.see("/")).text, /Log out bob/);
    assert.equal(api.services.webSessions.find(before), null);
  });
});

Deno.test("the style sheet and the script are compressed for browsers that take that", async () => {
  await withWeb(async ({ guest }) => {
    const { html } = await guest.see("/login");
    const [style = ""] = /\/assets\/[^"]+\.css/.exec(html) ?? [];
    const [script = ""] = /\/assets\/[^"]+\.[jt]s/.exec(html) ?? [];
    for (const path of [style, script]) {
      const plain = await guest.get(path);
      assert.equal(plain.headers.get("content-encoding"), null);
      const packed = await guest.get(path, { headers: { "accept-encoding": "gzip, br" } });
      assert.equal(packed.headers.get("content-encoding"), "gzip", path);
      assert.equal(packed.headers.get("vary"), "Accept-Encoding");
      assert.ok(packed.html.length < plain.html.length / 2, path);
      const refused = await guest.get(path, { headers: { "accept-encoding": "br, gzip;q=0" } });
      assert.equal(refused.html, plain.html);
    }
  });
});
