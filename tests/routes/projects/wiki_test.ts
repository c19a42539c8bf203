import assert from "node:assert/strict";
import { withProject } from "../../support/projects.ts";
import { BY_OPERATOR } from "../../support/services.ts";

Deno.test("a wiki page is found by its name with slashes and separators of lines", async () => {
  await withProject(async ({ answer, project, api: { services: { hosting } } }) => {
    const title = "a/b\u2028c\u2029d";
    await hosting.repositories.write(project, {
      caller: BY_OPERATOR,
      write: (repository, stamp) => repository.changeWiki({ ...stamp, title, text: "Found" }),
    });
    for (
      const path of [encodeURIComponent(title), title.split("/").map(encodeURIComponent).join("/")]
    ) {
      assert.equal((await answer(`GET /api/wiki/${path}`)).content, "Found");
    }
  });
});

Deno.test("a wiki page is written, read, listed, changed and deleted, and keeps its history", async () => {
  await withProject(async ({ answer, send, caller, other }) => {
    const put = (body: object, as = caller) =>
      send("PUT /api/wiki/Guide/First%20steps", { as, body });
    const first = await put({ content: "# Hi\n", mimetype: "text/markdown" });
    assert.equal(first.status, 201);
    const one = await first.json();
    const { name, user, mimetype, content } = one;
    assert.deepEqual({ name, user, mimetype, content }, {
      name: "Guide/First steps",
      user: "caller",
      mimetype: "text/x-markdown",
      content: "# Hi\n",
    });

    const second = await put({ content: "# Hello\n", parent: one.uuid }, other);
    assert.equal(second.status, 200);
    const two = await second.json();
    assert.equal(two.mimetype, "text/x-markdown");

    for (const path of ["Guide/First%20steps", "Guide%2FFirst%20steps"]) {
      const page = await answer(`GET /api/wiki/${path}`, { as: caller });
      assert.equal(page.content, "# Hello\n");
      assert.equal(page.user, "other");
    }
    const old = await answer(`GET /api/wiki/Guide%2FFirst%20steps?version=${one.uuid}`);
    assert.equal(old.content, "# Hi\n");
    const { pages } = await answer("GET /api/wiki", { as: caller });
    assert.deepEqual(pages, [
      { name, uuid: two.uuid, last_modified: two.last_modified, user: "other" },
    ]);

    const stale = await send(`DELETE /api/wiki/${encodeURIComponent(name)}?parent=${one.uuid}`);
    assert.equal(stale.status, 409);
    assert.equal((await send("DELETE /api/wiki/Guide/First%20steps", { as: caller })).status, 204);
    assert.equal((await send("GET /api/wiki/Guide/First%20steps")).status, 404);
    assert.equal((await send("DELETE /api/wiki/Guide/First%20steps")).status, 404);
    assert.deepEqual((await answer("GET /api/wiki")).pages, []);

    const history = await answer("GET /api/wiki-history?name=Guide/First%20steps&per_page=2");
    assert.equal(history.total, 3);
    const of = ({ user, is_deletion }: Record<string, unknown>) => [user, is_deletion];
    assert.deepEqual(history.versions.map(of), [["caller", true], ["other", false]]);
    assert.equal((await put({ content: "Again", parent: null })).status, 201);
  });
});

Deno.test("an edit of an old version is refused and names the author of the newest", async () => {
  await withProject(async ({ answer, send, caller, other }) => {
    const put = (as: string, body: object) => send("PUT /api/wiki/Plan", { as, body });
    const { uuid: base } = await answer("PUT /api/wiki/Plan", {
      as: caller,
      body: { content: "a" },
    });
    const attempts = await Promise.all(
      Array.from(
        { length: 16 },
        (_, index) =>
          put(index % 2 === 0 ? caller : other, { content: `edit ${index}`, parent: base }),
      ),
    );
    const statuses = attempts.map(({ status }) => status);
    assert.equal(statuses.filter((status) => status === 200).length, 1);
    assert.equal(statuses.filter((status) => status === 409).length, 15);
    const refusal = await attempts.find(({ status }) => status === 409)?.json();
    const page = await answer("GET /api/wiki/Plan");
    assert.equal(refusal.uuid, page.uuid);
    assert.equal(refusal.user, page.user);
    assert.equal((await put(caller, { content: "new", parent: null })).status, 409);
  });
});

Deno.test("writing the same content adds no version", async () => {
  await withProject(async ({ answer, send, caller, other }) => {
    const body = { content: "same", mimetype: "text/plain" };
    const { uuid } = await answer("PUT /api/wiki/Plan", { as: caller, body });
    const again = await send("PUT /api/wiki/Plan", { as: other, body });
    assert.equal(again.status, 200);
    assert.equal((await again.json()).uuid, uuid);
    assert.equal((await answer("GET /api/wiki-history?name=Plan")).total, 1);
  });
});

Deno.test("W-23: a page of one letter, and pages in any script after many edits, come back whole", async () => {
  await withProject(async ({ answer, caller }) => {
    await answer("PUT /api/wiki/x", { as: caller, body: { content: "." } });
    let text = "Ünïcödé 🦊 — 漢字\n";
    for (let version = 0; version < 8; version++) {
      text += `Zeile ${version}: größer, 漢字 🦊\n`.repeat(20);
      await answer("PUT /api/wiki/日本", { as: caller, body: { content: text } });
    }
    assert.equal((await answer("GET /api/wiki/x")).content, ".");
    assert.equal((await answer("GET /api/wiki/%E6%97%A5%E6%9C%AC")).content, text);
    const { pages } = await answer("GET /api/wiki");
    assert.deepEqual(pages.map(({ name }: { name: string }) => name).sort(), ["x", "日本"]);
    const { versions } = await answer("GET /api/wiki-history?name=%E6%97%A5%E6%9C%AC");
    const oldest = await answer(`GET /api/wiki/日本?version=${versions.at(-1).uuid}`);
    assert.equal(oldest.content, text.slice(0, oldest.content.length));
  });
});

Deno.test("writers edit a wiki only in their own names, and pages have only names that Fossil accepts", async () => {
  await withProject(async ({ send, caller, outsider }) => {
    const body = { content: "x" };
    assert.equal((await send("PUT /api/wiki/P", { as: outsider, body })).status, 404);
    assert.equal((await send("PUT /api/wiki/P", { as: null, body })).status, 401);
    const as = caller;
    const foreign = { ...body, agent_id: "other" };
    assert.equal((await send("PUT /api/wiki/P", { as, body: foreign })).status, 403);
    assert.equal((await send("PUT /api/wiki/P", { body: foreign })).status, 201);
    for (
      const name of ["%20a", "a%20", "a%20%20b", "a%0Ab", "a".repeat(101), "%C3%BC".repeat(51)]
    ) {
      assert.equal((await send(`PUT /api/wiki/${name}`, { as, body })).status, 400, name);
    }
    for (const bad of [{ content: "" }, { content: "a\0" }, { content: 5 }, { more: 1 }, []]) {
      assert.equal((await send("PUT /api/wiki/P", { as, body: bad })).status, 400);
    }
    const html = { content: "x", mimetype: "text/html" };
    assert.equal((await send("PUT /api/wiki/P", { as, body: html })).status, 400);
  });
});

Deno.test("W-38: content_html is HTML without scripts, with links to existing targets", async () => {
  await withProject(async ({ answer, caller }) => {
    const { checkins: [tip] } = await answer("GET /api/timeline", { as: caller });
    const put = (name: string, content: string, mimetype: string) =>
      answer(`PUT /api/wiki/${name}`, { as: caller, body: { content, mimetype } });
    await put("Other", "x", "text/plain");
    const text = `See [Other], [${tip.uuid.slice(0, 8)}] and [nothing]; ask @other.\n\n` +
      `<script>alert(1)</script><b onclick="alert(1)">bold</b>`;
    const markdown = await put("Home", `# Hi\n\n${text}`, "text/x-markdown");
    const wiki = await put("Old", `<h1>Hi</h1>\n\n${text}`, "text/x-fossil-wiki");
    for (const { content_html } of [markdown, wiki]) {
      assert.match(content_html, /<h1>Hi<\/h1>/);
      assert.match(content_html, /<a href="\/projects\/demo\/wiki\/Other"[^>]*>Other<\/a>/);
      assert.ok(content_html.includes(`href="/projects/demo/checkin/${tip.uuid}"`));
      assert.match(content_html, /and \[nothing\]; ask <a href="\/agents\/other"[^>]*>@other<\/a>/);
      assert.match(content_html, /<b>bold<\/b>/);
      // The tag is text, as if somebody mentioned it.
      assert.ok(content_html.includes("&lt;script&gt;alert(1)&lt;/script&gt;"));
      assert.doesNotMatch(content_html, /<script|onclick/);
    }
    assert.match((await answer("GET /api/wiki/Home")).content_html, /<h1>Hi<\/h1>/);
    assert.equal((await answer("GET /api/wiki/Other")).content_html, "<pre>x</pre>");
  });
});
