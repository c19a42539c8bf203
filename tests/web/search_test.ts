import assert from "node:assert/strict";
import { assertInert, HOSTILE_LINES } from "../support/hostile_texts.ts";
import { BY_OPERATOR } from "../support/services.ts";
import { fillProject, withWeb } from "../support/web.ts";

Deno.test("the search finds matches in all projects that the visitor may read, and leads to them", async () => {
  await withWeb(async (web) => {
    const { api, person, guest, admin } = web;
    const { projects } = api.services.hosting;
    await fillProject(web);
    const empty = await person.see("/search");
    assert.match(empty.text, /Search all projects/);
    assert.match((await person.see("/search?q=Demo")).text, /Nothing matches in 0 projects/);
    await projects.setMember("demo", "ann", "read", BY_OPERATOR);
    const seen = await person.see("/search?q=Demo");
    assert.match(seen.text, /Projects Demo A project .*Demo 2/);
    assert.match(seen.html, /<mark>Demo<\/mark>/i);
    const [, page = ""] = /href="([^"]+)">Home</.exec(seen.html) ?? [];
    assert.match((await person.see(page)).text, /Welcome to the demo/);
    assert.match((await person.see("/search?q=first&kind=ticket")).text, /The first ticket/);
    assert.match((await person.see("/search?q=typ")).html, /\/search\?q=typ\*/);
    // Neither guests nor admins without a role learn of the project.
    for (const visitor of [guest, admin]) {
      const { html } = await visitor.see("/search?q=ticket");
      assert.doesNotMatch(html, /The first ticket|projects\/demo/);
    }
    await projects.change("demo", { visibility: "public" }, BY_OPERATOR);
    assert.match((await guest.see("/search?q=ticket")).text, /The first ticket/);
  });
});

Deno.test("one address answers programs with JSON and browsers with the page", async () => {
  await withWeb(async (web) => {
    await fillProject(web);
    await web.api.services.hosting.projects.change("demo", { visibility: "public" }, BY_OPERATOR);
    const json = await web.api.send({ who: "guest", request: "GET /search?q=guide" });
    const { projects: [{ slug, base, matches }] } = await json.json();
    assert.deepEqual([slug, base], ["demo", "/projects/demo/fossil"]);
    assert.ok(matches.some(({ path }: { path?: string }) => path === "docs/guide.md"));
    const page = await web.guest.see("/search?q=guide");
    assert.match(page.headers.get("content-type") ?? "", /^text\/html/);
    const pages = ["/projects", "/projects/demo/search?q=guide"];
    for (const path of pages) assert.match((await web.guest.see(path)).html, /href="\/search/);
    assert.match((await web.guest.see("/robots.txt")).text, /Disallow: \/search/);
  });
});

Deno.test("a search says what it refuses and keeps the field, and hostile words do nothing", async () => {
  await withWeb(async ({ api, person }) => {
    await api.services.hosting.projects.setMember("demo", "ann", "read", BY_OPERATOR);
    const refused = await person.get(`/search?q=${"x".repeat(2000)}`);
    assert.equal(refused.status, 400);
    assert.match(refused.text, /A query has at most 1000 characters/);
    assert.match(refused.html, /<input id="q"[^>]* value="xxx/);
    for (const { text } of HOSTILE_LINES.slice(0, 12)) {
      assertInert(await person.get(`/search?q=${encodeURIComponent(text)}`), text);
    }
  });
});
