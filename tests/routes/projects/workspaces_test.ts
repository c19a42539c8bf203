import assert from "node:assert/strict";
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

Deno.test("an agent begins a workspace, commits files, and merges it", async () => {
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

Deno.test("parallel commits with one parent: one is made, the others are refused, and nothing is lost", async () => {
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
  });
});

Deno.test("of two merges of one workspace one is made", async () => {
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
    const { conflicts } = await refused.json();
    assert.deepEqual(conflicts, [{ path: "same.txt", kind: "both-added" }]);
    assert.deepEqual(await answer("GET /api/timeline", { as: other }), before);
    const details = await answer("GET /api/workspaces/two", { as: other });
    assert.equal(details.status, "active");
    assert.equal(details.tip, tip);

    const undecided = await send("POST /api/workspaces/two/update", { as: other });
    assert.deepEqual((await undecided.json()).conflicts, conflicts);
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
