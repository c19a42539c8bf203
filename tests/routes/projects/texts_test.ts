/** The history of tickets and pages, technotes, and texts as HTML. */
import assert from "node:assert/strict";
import { judged } from "../../services/engines/fossil/support/judges.ts";
import { Scratch } from "../../services/engines/fossil/support/fossil.ts";
import { type TestProject, withProject } from "../../support/projects.ts";

function fileOf({ api, project }: TestProject): string {
  return api.services.hosting.repositories.files.pathOf(project);
}

judged("a ticket's changes tell who changed what, page by page, as fossil does", async (fossil) => {
  await withProject(async (test) => {
    const { answer, send, caller, other, outsider } = test;
    const { uuid } = await answer("POST /api/tickets", { as: caller, body: { title: "Crash" } });
    const path = `/api/tickets/${uuid}`;
    await answer(`PATCH ${path}`, {
      as: other,
      body: { title: "Crash at start", status: "Review" },
    });
    await answer(`POST ${path}/comments`, { as: caller, body: { comment: "Seen" } });

    const all = await answer(`GET ${path.slice(0, -20)}/changes`);
    assert.equal(all.ticket, uuid);
    assert.deepEqual([all.total, all.page, all.total_pages], [3, 1, 1]);
    assert.deepEqual(all.changes.map(({ user }: { user: string }) => user), [
      "caller",
      "other",
      "caller",
    ]);
    assert.deepEqual(all.changes[1].fields, [
      { name: "status", value: "Review", append: false, previous: "Open" },
      { name: "title", value: "Crash at start", append: false, previous: "Crash" },
    ]);
    const second = await answer(`GET ${path}/changes?page=2&per_page=2`);
    assert.deepEqual(second.changes, [all.changes[2]]);
    assert.equal((await send("GET /api/tickets/0123456789/changes")).status, 404);
    assert.equal((await send(`GET ${path}/changes`, { as: outsider })).status, 404);

    using scratch = new Scratch(fossil);
    const history = scratch.fossil([
      "ticket",
      "history",
      uuid,
      "--user",
      "muster",
      "-R",
      fileOf(test),
    ]);
    assert.equal(history.match(/^Ticket Change by (?:caller|other) /gm)?.length, 3, history);
    assert.match(history, /Change title: Crash at start/);
  });
});

Deno.test("two versions of a wiki page are compared, by default the last two", async () => {
  await withProject(async ({ answer, send }) => {
    const write = async (content: string) =>
      (await answer("PUT /api/wiki/a/b", { body: { content } })).uuid;
    const first = await write("one\ntwo\nthree\n");
    const second = await write("one\n2\nthree\n");
    const third = await write("one\n2\nthree\nfour\n");
    const last = await answer("GET /api/wiki-diff?name=a/b");
    assert.deepEqual([last.from, last.to, last.added, last.deleted], [second, third, 1, 0]);
    assert.match(last.diff, /^@@ .+\n one\n 2\n three\n\+four\n$/s);
    const whole = await answer(`GET /api/wiki-diff?name=a/b&from=${first.slice(0, 10)}`);
    assert.deepEqual([whole.from, whole.to, whole.added, whole.deleted], [first, third, 2, 1]);
    const begin = await answer(`GET /api/wiki-diff?name=a/b&to=${first}`);
    assert.deepEqual([begin.from, begin.added], [null, 3]);
    assert.equal((await send("GET /api/wiki-diff?name=nothing")).status, 404);
    assert.equal((await send("GET /api/wiki-diff?name=a/b&from=00000000")).status, 404);
    assert.equal((await send("GET /api/wiki-diff?name=a/b&from=x")).status, 400);
    await answer("DELETE /api/wiki/a/b");
    assert.equal((await answer("GET /api/wiki-diff?name=a/b")).deleted, 4);
  });
});

judged("a technote is written and edited, and fossil has its versions", async (fossil) => {
  await withProject(async (test) => {
    const { answer, send, caller, other, outsider } = test;
    const body = { comment: "Mirrors down", content: "A disk was full.", tags: ["incident"] };
    const made = await send("POST /api/technotes", {
      as: caller,
      body: { ...body, timestamp: "2026-01-02T03:04:05Z", color: "#ffcc00" },
    });
    assert.equal(made.status, 201);
    const note = await made.json();
    assert.deepEqual(
      [note.comment, note.content, note.tags, note.user, note.color, note.mimetype],
      ["Mirrors down", "A disk was full.", ["incident"], "caller", "#ffcc00", "text/x-markdown"],
    );
    assert.match(note.timestamp, /^2026-01-02T03:04:05/);
    const path = `/api/technotes/${note.id}`;
    const edit = { content: "A disk was full. We doubled it.", parent: note.uuid };
    const changed = await answer(`PATCH ${path}`, { as: other, body: edit });
    assert.deepEqual([changed.id, changed.user, changed.tags, changed.color, changed.timestamp], [
      note.id,
      "other",
      ["incident"],
      "#ffcc00",
      note.timestamp,
    ]);
    assert.equal(changed.versions.length, 2);
    assert.equal((await send(`PATCH ${path}`, { body: edit })).status, 409);
    const same = await answer(`PATCH ${path}`, { body: { comment: "Mirrors down" } });
    assert.equal(same.uuid, changed.uuid);
    assert.equal((await answer("GET /api/technotes")).total, 1);

    assert.equal((await send("PATCH /api/technotes/0123456789", { body: edit })).status, 404);
    assert.equal((await send("POST /api/technotes", { body: { comment: "x" } })).status, 400);
    assert.equal(
      (await send("POST /api/technotes", { body: { ...body, tags: ["a b"] } })).status,
      400,
    );
    assert.equal((await send("POST /api/technotes", { as: outsider, body })).status, 404);

    using scratch = new Scratch(fossil);
    const file = fileOf(test);
    assert.match(scratch.fossil(["wiki", "list", "-t", "-R", file]), /2026-01-02 03:04:05/);
    scratch.fossil(["wiki", "export", "note.txt", "-t", note.id, "-R", file]);
    assert.equal(Deno.readTextFileSync(scratch.path("note.txt")).trim(), edit.content);
    scratch.fossil(["test-integrity", file]);
  });
});

Deno.test("texts of tickets, releases and technotes come as HTML on request", async () => {
  await withProject(async ({ answer }) => {
    const comment = "It is **bad**<script>alert(1)</script>";
    const { uuid } = await answer("POST /api/tickets", { body: { title: "Crash", comment } });
    const ticket = `/api/tickets/${uuid}`;
    const mimetype = "text/x-markdown";
    await answer(`POST ${ticket}/comments`, { body: { comment: `See #${uuid}`, mimetype } });
    const body = { tag_name: "v1", body: "*New*" };
    await answer("POST /api/releases", { body });
    const note = { comment: "Note", content: "*Done*" };
    const { id } = await answer("POST /api/technotes", { body: note });

    const plain = await answer(`GET ${ticket}`);
    assert.equal("body_html" in plain || "comment_html" in plain.comments[0], false);
    const shown = await answer(`GET ${ticket}?html=true`);
    assert.match(shown.body_html, /<strong>bad<\/strong>/);
    assert.doesNotMatch(shown.body_html, /<script/);
    assert.match(shown.comments[0].comment_html, /<a href="\/projects\/demo\/tickets\//);
    const html = { body_html: "<p><em>New</em></p>\n" };
    const releases = await answer("GET /api/releases?html=true");
    assert.equal(releases.releases[0].body_html, html.body_html);
    assert.equal((await answer("GET /api/releases/v1?html=true")).body_html, html.body_html);
    assert.equal((await answer("GET /api/releases/v1")).body_html, undefined);
    const technote = await answer(`GET /api/technotes/${id}?html=true`);
    assert.equal(technote.content_html, "<p><em>Done</em></p>\n");
  });
});
