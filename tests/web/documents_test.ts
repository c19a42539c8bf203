import assert from "node:assert/strict";
import { assertInert, HOSTILE_LINES, HOSTILE_TEXTS } from "../support/hostile_texts.ts";
import { BY_OPERATOR } from "../support/services.ts";
import { withWeb } from "../support/web.ts";

Deno.test("technotes and threads of the forum can be read, by members alone", async () => {
  await withWeb(async ({ api, project, answer, person }) => {
    const { projects, repositories } = api.services.hosting;
    const body = { comment: "Release day", content: "We *released*", mimetype: "text/x-markdown" };
    await projects.setMember("demo", "ann", "write", BY_OPERATOR);
    assert.match((await person.see("/projects/demo/technotes")).text, /There are no technotes yet/);
    assert.match((await person.see("/projects/demo/forum")).text, /There are no threads yet/);
    await projects.removeMember("demo", "ann", BY_OPERATOR);
    await answer("POST /api/technotes", { body });
    const post = (title: string, text: string) =>
      repositories.write(project, {
        caller: BY_OPERATOR,
        write: (repository, stamp) =>
          repository.post({ ...stamp, place: { title }, text, mimetype: "text/x-markdown" }),
      });
    await post("Question", "How *so*?");
    const { threads: [{ uuid: thread }] } = await answer("GET /api/forum");
    const base = "/projects/demo";
    const pages = [`${base}/technotes`, `${base}/forum`, `${base}/forum/${thread}`];
    for (const page of pages) assert.equal((await person.get(page)).status, 404, page);
    await projects.setMember("demo", "ann", "read", BY_OPERATOR);
    assert.match((await person.see(`${base}/technotes`)).text, /Release day/);
    const { technotes: [{ id }] } = await answer("GET /api/technotes");
    const note = await person.see(`${base}/technotes/${id}`);
    assert.match(note.html, /We <em>released<\/em>/);
    const timeline = await person.see(`${base}/timeline?type=technote`);
    const [, link = ""] = /href="([^"]+)">Release day</.exec(timeline.html) ?? [];
    assert.match((await person.see(link)).html, /We <em>released<\/em>/);
    const forum = await person.see(`${base}/forum`);
    assert.match(forum.text, /Question .*1 post/);
    for (const { html } of [forum, await person.see(`${base}/technotes`)]) {
      assert.match(html, /<a href="[^"]*\/wiki" aria-current="page"/);
    }
    assert.match((await person.see(`${base}/forum/${thread}`)).html, /How <em>so<\/em>\?/);
    assert.equal((await person.get(`${base}/forum/ffffffff`)).status, 404);

    for (const [index, { text }] of HOSTILE_TEXTS.entries()) {
      if (index % 4 === 0) await post(`Title ${index}`, text);
    }
    const { threads } = await answer("GET /api/forum?per_page=100");
    for (const { uuid, title } of threads) {
      assertInert(await person.see(`${base}/forum/${uuid}`), title);
    }
    for (const { text: comment } of HOSTILE_LINES.filter((_, index) => index % 8 === 0)) {
      const sent = await answer("POST /api/technotes", { body: { ...body, comment } })
        .catch(() => null);
      if (sent !== null) assertInert(await person.see(`${base}/technotes/${sent.id}`), comment);
    }
    assertInert(await person.see(`${base}/technotes`));
    assertInert(await person.see(`${base}/forum`));
  });
});

Deno.test("a technote is previewed, saved and edited in the browser", async () => {
  await withWeb(async ({ api, answer, person }) => {
    const { projects } = api.services.hosting;
    await projects.setMember("demo", "ann", "write", BY_OPERATOR);
    const list = "/projects/demo/technotes";
    assert.match((await person.see(list)).html, /href="\?view=new"/);
    const fields = {
      action: "save",
      comment: "Release day",
      content: "We *released*\r\nit",
      mimetype: "text/x-markdown",
      tags: " release  week-1 ",
    };
    const preview = await person.post(`${list}?view=new`, {
      ...fields,
      action: ["save", "preview"],
    });
    assert.match(preview.html, /We <em>released<\/em>/);
    assert.match(preview.html, /value="Release day"/);
    assert.deepEqual((await answer("GET /api/technotes")).total, 0);

    const saved = await person.post(`${list}?view=new`, fields);
    assert.match(saved.text, /The technote is saved\. .*Release day/);
    const { technotes: [{ id, user, tags }] } = await answer("GET /api/technotes");
    assert.deepEqual([user, tags], ["ann", ["release", "week-1"]]);
    const page = `${list}/${id}`;
    const first = await answer(`GET /api/technotes/${id}`);
    assert.equal(first.content, "We *released*\nit");
    const editor = await person.see(`${page}?view=edit`);
    assert.match(editor.html, new RegExp(`name="parent" value="${first.uuid}"`));
    assert.match(editor.html, /value="release week-1"/);

    const edit = { ...fields, content: "Mine", tags: "", parent: first.uuid };
    await answer(`PATCH /api/technotes/${id}`, { body: { content: "Theirs" } });
    const refused = await person.post(`${page}?view=edit`, edit);
    assert.equal(refused.status, 409);
    assert.match(refused.text, /The note has changed since you began/);
    assert.match(refused.html, />\s*Mine<\/textarea>/);
    const { uuid: parent } = await answer(`GET /api/technotes/${id}`);
    assert.match((await person.post(`${page}?view=edit`, { ...edit, parent })).text, /Mine/);
    const last = await answer(`GET /api/technotes/${id}`);
    assert.deepEqual([last.content, last.tags, last.versions.length], ["Mine", [], 3]);
  });
});

Deno.test("who may only read technotes gets no form, and cannot send one", async () => {
  await withWeb(async ({ api, answer, person }) => {
    await api.services.hosting.projects.setMember("demo", "ann", "read", BY_OPERATOR);
    const body = { comment: "Release day", content: "Text" };
    const { id } = await answer("POST /api/technotes", { body });
    const list = "/projects/demo/technotes";
    for (const path of [list, `${list}/${id}`]) {
      assert.doesNotMatch((await person.see(path)).html, /view=(?:new|edit)/);
    }
    const fields = { action: "save", comment: "x", content: "x", mimetype: "text/plain", tags: "" };
    for (const path of [`${list}?view=new`, `${list}/${id}?view=edit`]) {
      assert.equal((await person.get(path)).status, 403);
      assert.equal((await person.post(path, fields)).status, 403);
    }
    assert.equal((await answer("GET /api/technotes")).total, 1);
  });
});

Deno.test("a thread is begun and answered in the browser, by those who may write", async () => {
  await withWeb(async ({ api, answer, person }) => {
    const { projects } = api.services.hosting;
    const forum = "/projects/demo/forum";
    await projects.setMember("demo", "ann", "write", BY_OPERATOR);
    assert.match((await person.see(forum)).html, /href="\?view=new"/);
    const fields = {
      action: "save",
      title: "Disks",
      content: "Which *ones*?\r\n",
      mimetype: "text/x-markdown",
    };
    const preview = await person.post(`${forum}?view=new`, {
      ...fields,
      action: ["save", "preview"],
    });
    assert.match(preview.html, /Which <em>ones<\/em>/);
    assert.equal((await answer("GET /api/forum")).total, 0);
    const blank = await person.post(`${forum}?view=new`, { ...fields, content: " " });
    assert.deepEqual([blank.status, /value="Disks"/.test(blank.html)], [400, true]);
    const begun = await person.post(`${forum}?view=new`, fields);
    assert.match(begun.text, /The thread is begun/);
    assert.match(begun.html, /Which <em>ones<\/em>\?/);

    const { threads: [{ uuid }] } = await answer("GET /api/forum");
    const thread = `${forum}/${uuid}`;
    const reply = `${thread}?answer=${uuid}`;
    assert.match((await person.see(thread)).html, new RegExp(`href="\\?answer=${uuid}"`));
    assert.match((await person.see(reply)).html, /Which <em>ones<\/em>/);
    const sent = { action: "save", content: "<b>Large</b> ones", mimetype: "text/plain" };
    const answered = await person.post(reply, sent);
    assert.match(answered.text, /The answer is in the thread/);
    assert.match(answered.html, /&lt;b&gt;Large&lt;\/b&gt; ones/);
    const { posts } = await answer(`GET /api/forum/${uuid}`);
    assert.deepEqual([posts.length, posts[1].user, posts[1].in_reply_to], [2, "ann", uuid]);
    assert.equal((await person.get(`${thread}?answer=ffffffffff`)).status, 404);

    await projects.setMember("demo", "ann", "read", BY_OPERATOR);
    for (const page of [forum, thread]) {
      assert.doesNotMatch((await person.see(page)).html, /\?(?:view=new|answer=)/);
    }
    for (const page of [`${forum}?view=new`, reply]) {
      assert.equal((await person.get(page)).status, 403);
      assert.equal((await person.post(page, { ...fields, ...sent })).status, 403);
    }
    assert.equal((await answer(`GET /api/forum/${uuid}`)).posts.length, 2);
  });
});
