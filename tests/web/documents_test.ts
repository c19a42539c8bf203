import assert from "node:assert/strict";
import { assertInert, HOSTILE_LINES, HOSTILE_TEXTS } from "../support/hostile_texts.ts";
import { BY_OPERATOR } from "../support/services.ts";
import { withWeb } from "../support/web.ts";

Deno.test("technotes and threads of the forum can be read, by members alone", async () => {
  await withWeb(async ({ api, project, answer, person }) => {
    const { projects, repositories } = api.services.hosting;
    const body = { comment: "Release day", content: "We *released*", mimetype: "text/x-markdown" };
    await projects.setMember("demo", "ann", "write", BY_OPERATOR);
    assert.match((await person.see("/projects/demo/technotes")).text, /fossil wiki create/);
    assert.match((await person.see("/projects/demo/forum")).text, /fossil ui/);
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
