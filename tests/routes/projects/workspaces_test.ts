import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { type TestProject, withProject } from "../../support/projects.ts";

/** Begins a workspace and commits a file to it; gives the check-in. */
async function aWorkspace(
  { answer }: Pick<TestProject, "answer">,
  as: string,
  { name = "one", path = "a.txt", content = "a\n" } = {},
): Promise<string> {
  await answer("POST /api/workspaces/create", { as, body: { name } });
  const { uuid } = await answer(`POST /api/workspaces/${name}/commit`, {
    as,
    body: { message: `Add ${path}`, changes: [{ path, content }] },
  });
  return uuid;
}

Deno.test("an agent creates a workspace, commits files, and merges it", async () => {
  await withProject(async ({ answer, send, caller }) => {
    const created = await answer("POST /api/workspaces/create", {
      as: caller,
      body: { name: "fix", description: "A fix" },
    });
    assert.equal(created.branch, "workspace/fix");
    assert.equal(created.status, "active");
    assert.equal(created.agent_id, "caller");
    assert.equal(created.commits_made, 0);

    const first = await answer("POST /api/workspaces/fix/commit", {
      as: caller,
      body: {
        message: "Add two files",
        parent: created.tip,
        changes: [
          { path: "src/a.txt", content: "a\n" },
          { path: "run.sh", content_base64: btoa("#!/bin/sh\n"), executable: true },
        ],
      },
    });
    assert.equal(first.commits_made, 1);
    const second = await answer("POST /api/workspaces/fix/commit", {
      as: caller,
      body: {
        message: "Move one, delete the other",
        parent: first.uuid.slice(0, 10),
        changes: [{ path: "src/a.txt", rename_to: "src/b.txt", content: "b\n" }, {
          path: "run.sh",
          delete: true,
        }],
      },
    });
    const details = await answer("GET /api/workspaces/fix", { as: caller });
    assert.equal(details.tip, second.uuid);
    assert.equal(details.base, created.base);
    assert.equal(details.files_changed, 1);
    assert.deepEqual(
      details.files.map(({ name, change_type }: { name: string; change_type: string }) => [
        name,
        change_type,
      ]),
      [["src/b.txt", "added"]],
    );

    const { workspaces } = await answer("GET /api/workspaces", { as: caller });
    assert.deepEqual(workspaces.map(({ name }: { name: string }) => name), ["fix"]);
    assert.equal(workspaces[0].files_changed, 1);

    const merged = await answer("POST /api/workspaces/fix/merge", { as: caller });
    assert.equal(merged.status, "merged");
    assert.equal(merged.target_branch, "trunk");
    assert.equal(merged.tip, second.uuid);
    assert.deepEqual((await answer("GET /api/workspaces", { as: caller })).workspaces, []);
    const all = await answer("GET /api/workspaces?status=all", { as: caller });
    assert.equal(all.workspaces[0].merged_as, merged.uuid);
    const other = await answer(`GET /api/workspaces?status=all&ticket=${"0".repeat(40)}`);
    assert.deepEqual([other.workspaces, other.total], [[], 0]);
    assert.equal(all.workspaces[0].base, created.base);

    const { checkins } = await answer("GET /api/timeline?branch=trunk", { as: caller });
    assert.equal(checkins[0].uuid, merged.uuid);
    assert.deepEqual(checkins[0].parents.slice(1), [second.uuid]);
    const { branches } = await answer("GET /api/branches", { as: caller });
    const branch = branches.find(({ name }: { name: string }) => name === "workspace/fix");
    assert.equal(branch.status, "closed");

    const again = await send("POST /api/workspaces/fix/commit", {
      as: caller,
      body: { message: "More", changes: [{ path: "x", content: "x" }] },
    });
    assert.equal(again.status, 409);
    assert.equal((await again.json()).error, "Workspace is merged, cannot commit");
  });
});

Deno.test("of parallel commits with one parent, one is made, the others are refused, and nothing is lost", async () => {
  await withProject(async ({ answer, send, caller }) => {
    const { tip } = await answer("POST /api/workspaces/create", {
      as: caller,
      body: { name: "race" },
    });
    const statuses = await Promise.all(
      Array.from({ length: 64 }, async (_, number) => {
        const response = await send("POST /api/workspaces/race/commit", {
          as: caller,
          body: {
            message: `Commit ${number}`,
            parent: tip,
            changes: [{ path: `f${number}.txt`, content: `${number}\n` }],
          },
        });
        const body = await response.json();
        return { status: response.status, body };
      }),
    );
    const made = statuses.filter(({ status }) => status === 200);
    assert.equal(made.length, 1);
    for (const { status, body } of statuses) {
      if (status === 200) continue;
      assert.equal(status, 409);
      assert.equal(body.tip, made[0]?.body.uuid);
    }
    const details = await answer("GET /api/workspaces/race", { as: caller });
    assert.equal(details.tip, made[0]?.body.uuid);
    assert.equal(details.commits_made, 1);
    assert.equal(details.files_changed, 1);
  });
});

Deno.test("parallel commits without a parent are all made, one after the other", async () => {
  await withProject(async ({ answer, caller }) => {
    await answer("POST /api/workspaces/create", { as: caller, body: { name: "many" } });
    await Promise.all(
      Array.from({ length: 16 }, (_, number) =>
        answer("POST /api/workspaces/many/commit", {
          as: caller,
          body: {
            message: `Commit ${number}`,
            changes: [{ path: `f${number}.txt`, content: `${number}\n` }],
          },
        })),
    );
    const details = await answer("GET /api/workspaces/many", { as: caller });
    assert.equal(details.commits_made, 16);
    assert.equal(details.files_changed, 16);
    const few = await answer("GET /api/workspaces/many?max_files=3", { as: caller });
    assert.deepEqual([few.files.length, few.files_changed], [3, 16]);
  });
});

Deno.test("of two merges of one workspace, one is made", async () => {
  await withProject(async ({ answer, send, caller }) => {
    await aWorkspace({ answer }, caller);
    const responses = await Promise.all(
      Array.from({ length: 8 }, () => send("POST /api/workspaces/one/merge", { as: caller })),
    );
    const statuses = responses.map(({ status }) => status).sort();
    assert.deepEqual(statuses, [200, ...Array(7).fill(409)]);
    const { checkins } = await answer("GET /api/timeline?branch=trunk", { as: caller });
    assert.equal(checkins.filter(({ is_merge }: { is_merge: boolean }) => is_merge).length, 1);
  });
});

Deno.test("workspaces that merge at the same time are all merged", async () => {
  await withProject(async ({ answer, caller }) => {
    const names = ["one", "two", "three", "four"];
    for (const name of names) await aWorkspace({ answer }, caller, { name, path: `${name}.txt` });
    const merges = await Promise.all(
      names.map((name) => answer(`POST /api/workspaces/${name}/merge`, { as: caller })),
    );
    assert.equal(new Set(merges.map(({ uuid }) => uuid)).size, names.length);
    const { checkins } = await answer("GET /api/timeline?branch=trunk", { as: caller });
    assert.equal(checkins[0].is_leaf, true);
    assert.equal(checkins.length, 1 + names.length);
  });
});

Deno.test("a merge with conflicts lists them and changes nothing", async () => {
  await withProject(async ({ answer, send, caller, other }) => {
    await aWorkspace({ answer }, caller, { name: "one", path: "same.txt", content: "one\n" });
    const tip = await aWorkspace({ answer }, other, {
      name: "two",
      path: "same.txt",
      content: "two\n",
    });
    await answer("POST /api/workspaces/one/merge", { as: caller });
    const before = await answer("GET /api/timeline", { as: other });
    const refused = await send("POST /api/workspaces/two/merge", { as: other });
    assert.equal(refused.status, 409);
    const { conflicts: [{ hunks: [hunk], ...conflict }, ...more] } = await refused.json();
    assert.deepEqual([conflict, more], [{ path: "same.txt", kind: "both-added" }, []]);
    assert.deepEqual([hunk.line, hunk.ours, hunk.theirs], [1, "one\n", "two\n"]);
    assert.deepEqual(await answer("GET /api/timeline", { as: other }), before);
    const details = await answer("GET /api/workspaces/two", { as: other });
    assert.equal(details.status, "active");
    assert.equal(details.tip, tip);

    const undecided = await send("POST /api/workspaces/two/update", { as: other });
    const turned = { ...hunk, ours: hunk.theirs, theirs: hunk.ours };
    assert.deepEqual((await undecided.json()).conflicts, [{ ...conflict, hunks: [turned] }]);
    const updated = await answer("POST /api/workspaces/two/update", {
      as: other,
      body: { changes: [{ path: "same.txt", content: "one\ntwo\n" }] },
    });
    assert.equal(updated.parent, tip);
    const after = await answer("GET /api/workspaces/two", { as: other });
    assert.deepEqual(
      after.files.map(({ name, change_type }: { name: string; change_type: string }) => [
        name,
        change_type,
      ]),
      [["same.txt", "modified"]],
    );
    await answer("POST /api/workspaces/two/merge", { as: other });
  });
});

Deno.test("a merge takes exactly the check-in that it names, or none", async () => {
  await withProject(async ({ answer, send, caller }) => {
    const reviewed = await aWorkspace({ answer }, caller);
    await answer("POST /api/workspaces/one/commit", {
      as: caller,
      body: { message: "Unreviewed", changes: [{ path: "b.txt", content: "b\n" }] },
    });
    const refused = await send("POST /api/workspaces/one/merge", {
      as: caller,
      body: { tip: reviewed },
    });
    assert.equal(refused.status, 409);
    const { tip } = await refused.json();
    const merged = await answer("POST /api/workspaces/one/merge", { as: caller, body: { tip } });
    assert.equal(merged.tip, tip);
  });
});

Deno.test("only the owner and admins change a workspace, and nobody acts in another's name", async () => {
  await withProject(async ({ answer, send, caller, other }) => {
    await answer("POST /api/workspaces/create", {
      as: caller,
      body: { name: "mine", agent_id: "  caller " },
    });
    const body = { message: "Theirs", changes: [{ path: "a", content: "a" }] };
    for (
      const [request, sent] of [
        ["POST /api/workspaces/mine/commit", body],
        ["POST /api/workspaces/mine/commit", { ...body, agent_id: "caller" }],
        ["POST /api/workspaces/mine/merge", {}],
        ["DELETE /api/workspaces/mine/abandon?agent_id=caller", undefined],
        ["POST /api/workspaces/mine/takeover", {}],
      ] as const
    ) {
      const response = await send(request, { as: other, body: sent });
      assert.equal(response.status, 403, request);
    }
    await answer("POST /api/workspaces/mine/commit", {
      as: caller,
      body: { ...body, agent_id: " caller" },
    });
    await answer("DELETE /api/workspaces/mine/abandon?agent_id=caller");
  });
});

Deno.test("a file name that a checkout cannot have is refused, and so is a file that is an artifact", async () => {
  await withProject(async ({ answer, send, caller, api, project }) => {
    const { tip } = await answer("POST /api/workspaces/create", {
      as: caller,
      body: { name: "names" },
    });
    const { repositories } = api.services.hosting;
    const artifact = `D 2026-01-01T00:00:00.000\nT +sym-x ${tip}\nU caller\n`;
    const changes = [
      { path: "../up.txt", content: "x" },
      { path: "/etc/passwd", content: "x" },
      { path: "a//b", content: "x" },
      { path: "a/./b", content: "x" },
      { path: "_FOSSIL_", content: "x" },
      { path: ".fslckout", content: "x" },
      { path: "null\u0000byte", content: "x" },
      { path: "artifact", content: withChecksum(artifact) },
      { path: "missing", delete: true },
      { path: "missing", rename_to: "found" },
      { path: "nothing" },
      { path: "both", content: "x", content_base64: "eA==" },
      { path: "bad", content_base64: "!" },
      { path: "", content: "x" },
    ];
    for (const change of changes) {
      const response = await send("POST /api/workspaces/names/commit", {
        as: caller,
        body: { message: "Odd", changes: [change] },
      });
      assert.equal(response.status, 400, JSON.stringify(change));
    }
    for (const body of [{ message: " ", changes }, { changes }, [], { message: "m", changes: 1 }]) {
      const response = await send("POST /api/workspaces/names/commit", { as: caller, body });
      assert.equal(response.status, 400);
    }
    const empty = await send("POST /api/workspaces/names/commit", {
      as: caller,
      body: { message: "Nothing", changes: [] },
    });
    assert.equal((await empty.json()).error, "Nothing to commit");
    const details = await answer("GET /api/workspaces/names", { as: caller });
    assert.equal(details.tip, tip);
    assert.equal(repositories.intentions.of(project.id).length, 0);
  });
});

/** An artifact's text with its Z card. */
function withChecksum(text: string): string {
  return `${text}Z ${createHash("md5").update(text).digest("hex")}\n`;
}

Deno.test("a name can be used again after a merge and after an abandonment, for a new line", async () => {
  await withProject(async ({ answer, send, caller }) => {
    const bad = await send("POST /api/workspaces/create", { as: caller, body: { name: "../x" } });
    assert.equal(bad.status, 400);
    const made = await Promise.all(
      Array.from(
        { length: 8 },
        () => send("POST /api/workspaces/create", { as: caller, body: { name: "again" } }),
      ),
    );
    assert.deepEqual(
      made.map(({ status }) => status).sort(),
      [201, ...Array(7).fill(409)],
    );
    await answer("POST /api/workspaces/again/commit", {
      as: caller,
      body: { message: "First", changes: [{ path: "a", content: "1" }] },
    });
    await answer("POST /api/workspaces/again/merge", { as: caller });
    const second = await answer("POST /api/workspaces/create", {
      as: caller,
      body: { name: "again" },
    });
    assert.equal(second.commits_made, 0);
    assert.equal(second.status, "active");
    await answer("POST /api/workspaces/again/commit", {
      as: caller,
      body: { message: "Second", changes: [{ path: "a", content: "2" }] },
    });
    await answer("DELETE /api/workspaces/again/abandon", { as: caller });
    const twice = await send("DELETE /api/workspaces/again/abandon", { as: caller });
    assert.equal((await twice.json()).error, "Workspace is already abandoned");
    const restored = await answer("POST /api/workspaces/again/restore", { as: caller });
    assert.equal(restored.status, "active");
    const details = await answer("GET /api/workspaces/again", { as: caller });
    assert.equal(details.commits_made, 1);
    const merged = await answer("POST /api/workspaces/again/merge", { as: caller });
    assert.equal(merged.tip, details.tip);
  });
});

Deno.test("a parent from a clock that runs ahead does not stop commits and merges", async () => {
  await withProject(async ({ answer, caller, api, project }) => {
    const { repositories } = api.services.hosting;
    const ahead = Date.parse("2031-01-01T00:00:00Z");
    const tip = await repositories.read(project, (repository) => repository.branchTip("trunk"));
    await repositories.read(project, (repository) =>
      repository.commit({
        user: "ahead",
        date: ahead,
        parent: tip,
        comment: "From the future",
        changes: [{ kind: "write", path: "f", content: new Uint8Array([1]) }],
      }));
    await aWorkspace({ answer }, caller);
    await answer("POST /api/workspaces/one/merge", { as: caller });
    const { checkins } = await answer("GET /api/timeline?branch=trunk", { as: caller });
    assert.equal(checkins[0].is_merge, true);
    assert.ok(Date.parse(checkins[0].timestamp) > ahead);
  });
});
