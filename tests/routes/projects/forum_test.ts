import assert from "node:assert/strict";
import { withProject } from "../../support/projects.ts";
import { BY_OPERATOR } from "../../support/services.ts";

Deno.test("a thread is begun and answered, and its events tell who wrote", async () => {
  await withProject(async ({ api, answer, caller, other, project }) => {
    const body = { title: " Disks ", content: "Which *ones*?" };
    const begun = await answer("POST /api/forum", { as: caller, body });
    assert.equal(begun.thread, begun.uuid);
    const reply = (id: string, content: string, mimetype = "text/plain") =>
      answer(`POST /api/forum/${id}/replies`, { as: other, body: { content, mimetype } });
    const first = await reply(begun.uuid.slice(0, 12), "Large ones");
    const second = await reply(first.uuid, "Two of them");
    assert.deepEqual([first.thread, second.thread], [begun.uuid, begun.uuid]);

    const { title, posts } = await answer(`GET /api/forum/${begun.uuid}`);
    assert.equal(title, "Disks");
    const shown = posts.map((post: Record<string, unknown>) => [
      post["user"],
      post["content"],
      post["mimetype"],
      post["in_reply_to"],
    ]);
    assert.deepEqual(shown, [
      ["caller", "Which *ones*?", "text/x-markdown", null],
      ["other", "Large ones", "text/plain", begun.uuid],
      ["other", "Two of them", "text/plain", first.uuid],
    ]);
    const { events } = await answer("GET /api/activity?kind=forum");
    assert.equal(events.length, 3);

    // An answer to an edited post belongs to the post, whichever version it names.
    const { repositories } = api.services.hosting;
    const latest = await repositories.write(project, {
      caller: BY_OPERATOR,
      user: "other",
      write: (repository, stamp) =>
        repository.post({ ...stamp, place: { edits: first.uuid }, text: "Larger ones" }),
    });
    const third = await reply(latest, "How large?");
    const thread = await answer(`GET /api/forum/${begun.uuid}`);
    const last = thread.posts.find(({ uuid }: { uuid: string }) => uuid === third.uuid);
    assert.equal(last.in_reply_to, first.uuid);
  });
});

Deno.test("posts need the right to write, a text, and a post that is there", async () => {
  await withProject(async ({ api, answer, send, caller, outsider, project }) => {
    const { hosting: { projects, repositories } } = api.services;
    const body = { title: "Disks", content: "Which ones?" };
    const { uuid } = await answer("POST /api/forum", { as: caller, body });
    const status = async (path: string, as: string, sent: unknown) =>
      (await send(`POST /api/forum${path}`, { as, body: sent })).status;
    const replies = `/${uuid}/replies`;
    assert.equal(await status("", outsider, body), 404);
    assert.equal(await status(replies, outsider, { content: "x" }), 404);
    for (const wrong of [{}, { ...body, title: " " }, { ...body, title: "a\nb" }]) {
      assert.equal(await status("", caller, wrong), 400);
    }
    for (const content of ["", " \n", "a\0b", "\ud800"]) {
      assert.equal(await status("", caller, { ...body, content }), 400);
      assert.equal(await status(replies, caller, { content }), 400);
    }
    const { uuid: checkin } = await answer("GET /api/checkin/trunk");
    for (const id of ["ffffffffff", checkin]) {
      assert.equal(await status(`/${id}/replies`, caller, { content: "x" }), 404);
    }
    await repositories.write(project, {
      caller: BY_OPERATOR,
      user: "caller",
      write: (repository, stamp) => repository.post({ ...stamp, place: { edits: uuid }, text: "" }),
    });
    assert.equal(await status(replies, caller, { content: "x" }), 409);
    await projects.setMember("demo", "caller", "read", BY_OPERATOR);
    assert.equal(await status("", caller, body), 403);
  });
});

Deno.test("a thread is read in pages, or one post of it", async () => {
  await withProject(async ({ answer, caller }) => {
    const body = { title: "Disks", content: "0" };
    const { uuid } = await answer("POST /api/forum", { as: caller, body });
    const written = [uuid];
    for (const content of ["1", "2", "3"]) {
      const sent = { as: caller, body: { content } };
      written.push((await answer(`POST /api/forum/${uuid}/replies`, sent)).uuid);
    }
    const read = async (query: string) => {
      const { posts, total, page, per_page, total_pages } = await answer(
        `GET /api/forum/${uuid}?${query}`,
      );
      const shown = posts.map((post: { content: string }) => post.content).join("");
      return [shown, total, page, per_page, total_pages];
    };
    assert.deepEqual(await read(""), ["0123", 4, 1, 25, 1]);
    assert.deepEqual(await read("per_page=3"), ["012", 4, 1, 3, 2]);
    assert.deepEqual(await read("per_page=3&page=2"), ["3", 4, 2, 3, 2]);
    assert.deepEqual(await read("page=9"), ["", 4, 9, 25, 1]);
    assert.deepEqual(await read(`post=${written[2]}`), ["2", 1, 1, 25, 1]);
    assert.deepEqual(await read("post=ffff"), ["", 0, 1, 25, 1]);
  });
});
