import assert from "node:assert/strict";
import { assertInert, HOSTILE_LINES } from "../support/hostile_texts.ts";
import { type TestWeb, type Visitor, withWeb } from "../support/web.ts";

const NEW = "/projects/new";

/** A small stream of `git fast-export`. */
const STREAM = [
  "blob",
  "mark :1",
  "data 6",
  "hello",
  "",
  "reset refs/heads/main",
  "commit refs/heads/main",
  "mark :2",
  "author Ann <ann@example.test> 1700000000 +0000",
  "committer Ann <ann@example.test> 1700000000 +0000",
  "data 6",
  "First",
  "",
  "M 100644 :1 hello.txt",
  "",
  "commit refs/heads/main",
  "mark :3",
  "author Ann <ann@example.test> 1700000001 +0000",
  "committer Ann <ann@example.test> 1700000001 +0000",
  "data 7",
  "Second",
  "",
  "M 100644 :1 again.txt",
  "",
  "done",
  "",
].join("\n");

/** Sends a file as the script of the page does. */
async function upload(
  { api }: TestWeb,
  visitor: Visitor,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const cookie = ["muster_session", "muster_csrf"].map((name) => `${name}=${visitor.cookie(name)}`);
  return await api.handle(
    new Request("http://muster.test/projects/fresh/repository", {
      method: "PUT",
      headers: {
        cookie: cookie.join("; "),
        "x-csrf-token": visitor.cookie("muster_csrf"),
        "sec-fetch-site": "same-origin",
        accept: "application/x-ndjson",
        ...headers,
      },
      body: STREAM,
    }),
  );
}

Deno.test("an admin makes a project; a refused form keeps what was entered", async () => {
  await withWeb(async ({ admin, person, guest, api }) => {
    const fields = {
      action: "create",
      slug: "Not A Slug",
      name: "Fresh",
      description: "A new one",
      visibility: "internal",
      start: "empty",
      agents_md: "true",
    };
    const refused = await admin.post(NEW, fields);
    assert.equal(refused.status, 400);
    assert.match(refused.html, /value="Fresh"/);
    assert.match(refused.html, /value="internal" selected/);
    const made = await admin.post(NEW, { ...fields, slug: "fresh" }, { follow: false });
    assert.equal(made.to, "/projects/fresh");
    const { project, members } = api.services.hosting.projects.require("fresh");
    assert.deepEqual([project.name, project.visibility, members.size], ["Fresh", "internal", 1]);
    assert.equal((await admin.post(NEW, { ...fields, slug: "fresh" })).status, 409);
    assert.equal((await person.get(NEW)).status, 403);
    assert.match((await guest.get(NEW, { follow: false })).to, /^\/login/);
    for (const { text } of HOSTILE_LINES.filter((_, index) => index % 6 === 0)) {
      const hostile = { ...fields, slug: text, name: text, description: text, visibility: text };
      assertInert(await admin.post(NEW, hostile), text);
    }
  });
});

Deno.test("an admin fills the new project from a stream of Git, and exports it", async () => {
  await withWeb(async (web) => {
    const { admin, person } = web;
    const fields = { action: "create", slug: "fresh", visibility: "private", start: "import" };
    const made = await admin.post(NEW, fields);
    assert.match(made.text, /Import .*muster project import fresh/);
    assert.equal((await upload(web, person)).status, 403);
    assert.equal((await upload(web, admin, { "x-csrf-token": "wrong" })).status, 403);
    assert.equal((await upload(web, admin, { "sec-fetch-site": "cross-site" })).status, 403);
    assert.equal((await upload(web, admin, { cookie: "" })).status, 401);
    const response = await upload(web, admin);
    assert.equal(response.status, 200);
    const last = JSON.parse((await response.text()).trimEnd().split("\n").at(-1) ?? "");
    assert.equal(last.format, "git");
    assert.equal(last.checkins, 2);
    const again = await upload(web, admin);
    assert.equal(again.status, 409, await again.text());

    const address = "/projects/fresh/repository";
    const git = await admin.get(`${address}?format=git`);
    assert.match(git.html, /hello\.txt/);
    assert.match(git.headers.get("content-disposition") ?? "", /fresh\.git-fast-export/);
    assert.match((await admin.get(address)).html, /^SQLite format 3/);
    assert.equal((await admin.get(`${address}?format=svn`)).status, 400);
    assert.equal((await person.get(address)).status, 403);
    assert.equal((await web.guest.get(address)).status, 401);
  });
});

Deno.test("no project has the name of the page that makes projects", async () => {
  await withWeb(async ({ admin, api }) => {
    const refused = await admin.post(NEW, { action: "create", slug: "new", visibility: "public" });
    assert.equal(refused.status, 400);
    assert.match(refused.text, /must not be "new"/);
    const request = "POST /v1/projects";
    assert.equal((await api.send({ request, body: { slug: "new" } })).status, 400);
    assert.equal((await api.send({ request, body: { slug: "newer" } })).status, 201);
  });
});
