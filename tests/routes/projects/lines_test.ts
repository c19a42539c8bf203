import assert from "node:assert/strict";
import { commitFiles, withProject } from "../../support/projects.ts";

const FORGED = [
  "a\r\nQUIT :b",
  "a\u0000b",
  "a\u001bb",
  "a\u2028b",
  "exe\u202etxt",
  "a\u2066b",
  "\ufeffa\ufeff",
];

Deno.test("no title, name or other short text of a project can pass for another", async () => {
  await withProject(async (test) => {
    const { send, answer, caller } = test;
    const checkin = await commitFiles(test, { "a.txt": "a\n" });
    const { uuid } = await answer("POST /api/tickets", { body: { title: "Crash" } });
    const diff = "--- a\n+++ b\n";
    const bodies: [string, (text: string) => unknown][] = [
      ["POST /api/tickets", (title) => ({ title })],
      ["POST /api/tickets", (subsystem) => ({ title: "Crash", subsystem })],
      [`PATCH /api/tickets/${uuid}`, (title) => ({ title })],
      [`POST /api/tickets/${uuid}/claim`, (workspace) => ({ workspace })],
      ["POST /api/reviews/create", (title) => ({ title, diff })],
      ["POST /api/reviews/create", (path) => ({ title: "Diff", diff, files_changed: [path] })],
      ["POST /api/workspaces/create", (description) => ({ name: "one", description })],
      ["POST /api/releases", (name) => ({ tag_name: "v1", name })],
      ["POST /api/technotes", (comment) => ({ comment, content: "Text" })],
      ["POST /api/technotes", (tag) => ({ comment: "Note", content: "Text", tags: [tag] })],
      ["POST /api/status", (context) => ({ checkin, context, state: "success" })],
      ["PUT /api/wiki/Page", (comment) => ({ content: "Text", comment })],
    ];
    for (const [request, bodyOf] of bodies) {
      for (const text of FORGED) {
        const body = bodyOf(`a${text}a`);
        const response = await send(request, { as: caller, body });
        assert.equal(response.status, 400, `${request} ${JSON.stringify(body)}`);
        assert.match((await response.json()).error, /control characters|line breaks/);
      }
      const response = await send(request, { as: caller, body: bodyOf("👩‍💻שלום\u200f") });
      assert.ok(response.status < 300, `${request}: ${await response.text()}`);
    }
    for (const name of FORGED) {
      const request = `PUT /api/wiki/${encodeURIComponent(`a${name}a`)}`;
      assert.equal((await send(request, { as: caller, body: { content: "Text" } })).status, 400);
    }
    const project = { slug: "second", name: "a\u202eb" };
    assert.equal(
      (await test.api.send({ request: "POST /v1/projects", body: project })).status,
      400,
    );
  });
});

Deno.test("no text of a project has half of a surrogate pair", async () => {
  await withProject(async (test) => {
    const { send, caller, api } = test;
    const checkin = await commitFiles(test, { "a.txt": "a\n" });
    const half = "a\ud800";
    const diff = "--- a\n+++ b\n";
    const report = { checkin, context: "ci", state: "success" };
    const bodies: [request: string, field: string, body: unknown][] = [
      ["POST /api/tickets", "title", { title: half }],
      ["POST /api/tickets", "comment", { title: "Crash", comment: half }],
      ["POST /api/reviews/create", "title", { title: half, diff }],
      ["POST /api/technotes", "content", { comment: "Note", content: half }],
      ["POST /api/releases", "name", { tag_name: "v1", name: half }],
      ["POST /api/status", "context", { ...report, context: half }],
      ["POST /api/status", "description", { ...report, description: half }],
      ["PUT /api/wiki/Page", "content", { content: half }],
    ];
    const refused = async (response: Response, field: string) => {
      const { error } = await response.json();
      const reason = "must be well-formed Unicode: it has half of a surrogate pair";
      assert.deepEqual([response.status, error.replaceAll('"', "")], [400, `${field} ${reason}`]);
    };
    for (const [request, field, body] of bodies) {
      await refused(await send(request, { as: caller, body }), field);
    }
    const request = "POST /v1/projects";
    await refused(await api.send({ request, body: { slug: "second", name: half } }), "name");
    const body = { slug: "second", description: half };
    await refused(await api.send({ request, body }), "description");
  });
});
