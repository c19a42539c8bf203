import assert from "node:assert/strict";
import { type Document, endpointsOf } from "../../support/api_document.ts";
import { withProject } from "../../support/projects.ts";

Deno.test("a misspelled field of a body is refused, with the field that was probably meant", async () => {
  await withProject(async ({ api, send, answer, caller }) => {
    const refusal = async (request: string, body: unknown) => {
      const response = await send(request, { as: caller, body });
      return [response.status, (await response.json()).error];
    };
    await answer("POST /api/workspaces/create", { as: caller, body: { name: "fix" } });
    const refused = (field: string, hint = "") => [
      400,
      `"${field}" is not a field that this takes${hint}`,
    ];
    const table: [request: string, body: unknown, refused: unknown[]][] = [
      [
        "workspaces/create",
        { name: "x", branch: "b" },
        refused(
          "branch",
          '; it takes "name", "description", "ticket", "from", "agent_id", and "generation"',
        ),
      ],
      [
        "workspaces/fix/update",
        { branch: "b" },
        refused(
          "branch",
          '; it takes "source", "message", "changes", "edits", "parent", "agent_id", and "generation"',
        ),
      ],
      [
        "workspaces/fix/merge",
        { target: "x", target_branc: "y" },
        refused(
          "target",
          '; it takes "target_branch", "tip", "message", "agent_id", and "generation"',
        ),
      ],
      [
        "workspaces/fix/merge",
        { target_branc: "x" },
        refused("target_branc", '; did you mean "target_branch"?'),
      ],
      ["reviews/1/approve", { coment: "x" }, refused("coment", '; did you mean "comment"?')],
    ];
    for (const [path, body, expected] of table) {
      assert.deepEqual(await refusal(`POST /api/${path}`, body), expected);
    }

    const rules = [{ pattern: "trunk", approvals: { peple: 1 } }];
    const response = await send("PUT /api/protection", { body: rules });
    assert.deepEqual(
      [response.status, (await response.json()).error],
      refused("[0].approvals.peple", '; did you mean "people"?'),
    );
    assert.deepEqual(await answer("GET /api/protection"), []);
    const changed = await api.send({
      who: "operator",
      request: "PATCH /v1/projects/demo",
      body: { visability: "public" },
    });
    assert.deepEqual(
      [changed.status, (await changed.json()).error],
      refused("visability", '; did you mean "visibility"?'),
    );
    const webhook = await api.send({
      who: "operator",
      request: "POST /v1/webhooks",
      body: { url: "https://ci.example/hook", events: ["checkin"] },
    });
    assert.deepEqual(
      [webhook.status, (await webhook.json()).error],
      refused("events", '; it takes "url" and "types"'),
    );
  });
});

Deno.test("fields of upstream's clients that muster does not use are accepted", async () => {
  await withProject(async ({ answer, caller, other }) => {
    await answer("POST /api/workspaces/create", { as: caller, body: { name: "fix" } });
    const changes = [{ path: "a.txt", content: "a\nb" }];
    await answer("POST /api/workspaces/fix/commit", {
      as: caller,
      body: { message: "Write", files: ["a.txt"], changes },
    });
    const body = { title: "Fix", workspace: "fix" };
    await answer("POST /api/reviews/create", { as: caller, body });
    const comment = { body: "Why?", author: "somebody" };
    const made = await answer("POST /api/reviews/1/comment", { as: other, body: comment });
    assert.equal(made.author, "other");
  });
});

Deno.test("a comment on a line needs a file of the review and a line of the file", async () => {
  await withProject(async ({ answer, send, caller, other }) => {
    await answer("POST /api/workspaces/create", { as: caller, body: { name: "fix" } });
    const changes = [{ path: "a.txt", content: "a\nb" }];
    const commit = { message: "Write", changes };
    await answer("POST /api/workspaces/fix/commit", { as: caller, body: commit });
    await answer("POST /api/reviews/create", {
      as: caller,
      body: { title: "Fix", workspace: "fix" },
    });
    const table: [path: string, line: number | null, side: string, status: number][] = [
      ["b.txt", null, "new", 400],
      ["a.txt", 3, "new", 400],
      ["a.txt", 1, "old", 400],
      ["a.txt", 2, "new", 201],
      ["a.txt", null, "new", 201],
    ];
    for (const [file_path, line_number, side, status] of table) {
      const body = { body: "Why?", file_path, line_number, side };
      const { status: found } = await send("POST /api/reviews/1/comment", { as: other, body });
      assert.equal(found, status, `${file_path} ${line_number} ${side}`);
    }
  });
});

Deno.test("the comment of an approval becomes a comment of the review", async () => {
  await withProject(async ({ answer, send, caller, other }) => {
    await answer("PUT /api/protection", {
      body: [{ pattern: "trunk", approvals: { any: 2, people: 1 } }],
    });
    await answer("POST /api/reviews/create", { as: caller, body: { title: "Fix", diff: "x" } });
    const body = { comment: "Well done" };
    const given = await answer("POST /api/reviews/1/approve", { as: other, body });
    assert.equal(given.status, "pending");
    const { comments } = await answer("GET /api/reviews/1");
    assert.deepEqual(comments.map(({ body }: { body: string }) => body), ["Well done"]);
    const merge = await send("POST /api/reviews/1/merge", { as: caller });
    assert.deepEqual([merge.status, (await merge.json()).error], [
      409,
      "Review must be approved before merging: it has 1 of 2 approvals, 0 of 1 by people",
    ]);
  });
});

Deno.test("an event stream refuses unknown types, a status names no field twice, and an empty claim works", async () => {
  await withProject(async ({ answer, send, caller }) => {
    assert.equal((await send("GET /api/events?types=bogus")).status, 400);
    const report = await send("POST /api/status", { body: { checkin: "abcd", context: "x" } });
    const { error } = await report.json();
    assert.equal(error, "state must be one of: pending, success, failure, error");
    const ticket = await answer("POST /api/tickets", { as: caller, body: { title: "Crash" } });
    const claim = await send(`POST /api/tickets/${ticket.uuid}/claim`, { as: caller });
    assert.equal(claim.status, 201);
  });
});

Deno.test("the document closes every JSON body of the repository API and of projects", async () => {
  await withProject(async ({ api }) => {
    const document = await api.answer("GET /openapi.json") as Document;
    const bodies = endpointsOf(document).filter(({ path, requestBody }) =>
      /^\/(?:v1\/)?projects(?:\/|$)/.test(path) &&
      requestBody?.content["application/json"] !== undefined
    );
    assert.ok(bodies.length > 30, String(bodies.length));
    const text = JSON.stringify(document.components.schemas["Protection"]);
    // A rule, its approvals, and a check with its reporters.
    assert.equal(text.split('"additionalProperties":false').length - 1, 3);
  });
});
