import assert from "node:assert/strict";
import { assertInert, HOSTILE_LINES, HOSTILE_TEXTS } from "../support/hostile_texts.ts";
import { BY_OPERATOR } from "../support/services.ts";
import { type TestWeb, withWeb } from "../support/web.ts";
import { THOROUGH } from "../support/level.ts";

const WIKI = "/projects/demo/wiki";

async function join({ api }: TestWeb, role: "read" | "write"): Promise<void> {
  await api.services.hosting.projects.setMember("demo", "ann", role, BY_OPERATOR);
}

Deno.test("a page is begun, previewed, saved, compared and deleted", async () => {
  await withWeb(async (web) => {
    await join(web, "write");
    const { person } = web;
    assert.match((await person.see(WIKI)).text, /The wiki has no page/);
    const editor = await person.post(WIKI, { action: "begin", name: "a/New page" });
    assert.match(editor.text, /New page: a\/New page/);
    const page = `${WIKI}/a/New%20page`;
    const fields = {
      action: "save",
      content: "It is *new*",
      mimetype: "text/x-markdown",
      parent: "",
    };
    const preview = await person.post(`${page}?view=edit`, {
      ...fields,
      action: ["save", "preview"],
    });
    assert.match(preview.html, /It is <em>new<\/em>/);
    assert.match(preview.html, />\s*It is \*new\*<\/textarea>/);
    assert.equal((await person.get(page)).status, 404);

    assert.match((await person.post(`${page}?view=edit`, fields)).html, /It is <em>new<\/em>/);
    const { uuid } = await web.answer("GET /api/wiki/a%2FNew%20page");
    const second = { ...fields, content: "It is '''old'''", mimetype: "text/x-fossil-wiki" };
    await person.post(`${page}?view=edit`, { ...second, parent: uuid });
    assert.match((await person.see(`${page}?view=history`)).text, /History of a\/New page .*ann/);
    const difference = await person.see(`${page}?view=diff`);
    assert.match(difference.html, /<del>-It is \*new\*/);
    assert.doesNotMatch(difference.text, /No newline at end of file/);
    assert.match(difference.html, /<ins>\+It is &#39;&#39;&#39;old/);
    assert.match((await person.see(`${page}?version=${uuid}`)).text, /This is an older version/);
    assert.match((await person.see(`${WIKI}?search=new`)).text, /a\/New page/);

    const { uuid: newest } = await web.answer("GET /api/wiki/a%2FNew%20page");
    const removed = await person.post(page, { action: "remove", parent: newest });
    assert.match(removed.text, /The page is deleted\. .*The wiki has no page/);
    const gone = await person.get(page);
    assert.equal(gone.status, 404);
    assert.match(gone.text, /ann deleted this page .*History.*Write it again/);
    const timeline = await person.see("/projects/demo/timeline?type=wiki");
    const [, link = ""] = /href="([^"]+)">Deleted page/.exec(timeline.html) ?? [];
    assert.match((await person.see(link)).text, /History of a\/New page .*deleted/);
  });
});

Deno.test("an edit of an outdated page is refused once, and keeps the text", async () => {
  await withWeb(async (web) => {
    await join(web, "write");
    const put = (content: string) => web.answer("PUT /api/wiki/Home", { body: { content } });
    const { uuid: parent } = await put("one");
    const { uuid: newest } = await put("two");
    const editor = `${WIKI}/Home?view=edit`;
    const fields = { action: "save", content: "mine", mimetype: "text/x-markdown", parent };
    const refused = await web.person.post(editor, fields);
    assert.equal(refused.status, 409);
    assert.match(refused.html, />\s*mine<\/textarea>/);
    assert.match(refused.text, /The page has changed since you began/);
    assert.match(refused.html, new RegExp(`name="parent" value="${newest}"`));
    assert.match((await web.person.post(editor, { ...fields, parent: newest })).text, /mine/);
  });
});

Deno.test("a reader sees the wiki without forms, and who is no member sees nothing", async () => {
  await withWeb(async (web) => {
    await web.answer("PUT /api/wiki/Home", { body: { content: "Welcome" } });
    const pages = [WIKI, `${WIKI}/Home`, `${WIKI}/Home?view=history`, `${WIKI}/Home?view=diff`];
    for (const page of pages) assert.equal((await web.person.get(page)).status, 404, page);
    await join(web, "read");
    for (const page of pages) {
      const seen = await web.person.see(page);
      assert.doesNotMatch(seen.html, /<main.*method="post"/s, page);
    }
    assert.equal((await web.person.get(`${WIKI}/Home?view=edit`)).status, 403);
    const fields = { action: "save", content: "x", mimetype: "text/plain", parent: "" };
    assert.equal((await web.person.post(`${WIKI}/New`, fields)).status, 403);
  });
});

Deno.test(
  "hostile names and texts of wiki pages are shown as what they are",
  THOROUGH,
  async () => {
    await withWeb(async (web) => {
      await join(web, "write");
      const halves = [
        { aim: "a null byte", text: "<scr\0ipt>hurt=1</script>" },
        { aim: "letters that are no Unicode", text: "half \uD83D and \uDE00 of an emoji" },
      ];
      for (const [index, { aim, text: content }] of [...HOSTILE_TEXTS, ...halves].entries()) {
        const mimetype = index % 2 === 0 ? "text/x-markdown" : "text/x-fossil-wiki";
        const saved = await web.send("PUT /api/wiki/Page", { body: { content, mimetype } });
        // What no artifact can hold is refused.
        if (!saved.ok) assert.equal(saved.status, 400, aim);
        for (const view of ["", "?view=diff"]) {
          assertInert(await web.person.see(`${WIKI}/Page${view}`), aim);
        }
      }
      const names = HOSTILE_LINES.map(({ text }) => text.replaceAll("/", "|"));
      for (const name of names.filter((_, index) => index % 5 === 0)) {
        const path = `/api/wiki/${encodeURIComponent(name)}`;
        const { status } = await web.send(`PUT ${path}`, { body: { content: "x" } });
        if (status !== 201) continue;
        assertInert(await web.person.see(`${WIKI}/${encodeURIComponent(name)}`), name);
      }
      assertInert(await web.person.see(WIKI));
    });
  },
);
