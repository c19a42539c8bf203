/** What a principal may push: the same answers as the API's. */
import assert from "node:assert/strict";
import { matchesGlob, type PushRules } from "../../../../services/engines/fossil/mod.ts";
import { OPERATOR } from "../../../../services/people/identity/mod.ts";
import { accessOf } from "../../../../services/work/projects/mod.ts";
import { pushRulesOf } from "../../../../services/work/sync/rules.ts";
import { type TestProject, withProject } from "../../../support/projects.ts";

/** The rules of an agent that presents this header; of the operator without one. */
async function rulesOf({ api, project }: TestProject, header?: string): Promise<PushRules> {
  const { hosting, accounts, identity, clock } = api.services;
  const token = header?.replace("Bearer ", "") ?? "";
  const principal = header === undefined
    ? OPERATOR
    : await identity.authenticate({ kind: "bearer", token }, "127.0.0.1");
  const held = hosting.projects.find(project.slug);
  assert.ok(held !== null);
  const parts = { ...hosting, accounts, clock: () => clock.now() };
  return await pushRulesOf(parts, accessOf(held, principal));
}

/** Why a branch is closed; null if it is open. */
function refusalOf({ workspaces, branches }: PushRules, branch: string): string | null {
  if (Object.hasOwn(workspaces, branch)) return workspaces[branch] ?? null;
  return branches.find(({ pattern }) => matchesGlob(pattern, branch))?.refusal ?? null;
}

Deno.test("a writer signs alone, and the operator brings the work of others", async () => {
  await withProject(async (test) => {
    const { users, role, pusher, closedKinds } = await rulesOf(test, test.caller);
    assert.deepEqual([users, role, pusher], [["caller"], "write", "caller"]);
    assert.match(closedKinds.private ?? "", /only admins/);
    const all = await rulesOf(test);
    assert.deepEqual([all.users, all.role], [null, "admin"]);
  });
});

Deno.test("a branch that demands something of merges takes no pushes from writers", async () => {
  await withProject(async (test) => {
    const { answer, caller } = test;
    await answer("PUT /api/protection", {
      body: [
        { pattern: "trunk", approvals: { any: 1 } },
        { pattern: "tested", contexts: ["ci"] },
        { pattern: "queued", landing: "required" },
        { pattern: "release/*", push: "nobody" },
        { pattern: "closed", push: "admin" },
        { pattern: "merged", merge: "admin" },
      ],
    });
    const rules = await rulesOf(test, caller);
    assert.match(refusalOf(rules, "trunk") ?? "", /^its changes need a review/);
    assert.match(refusalOf(rules, "tested") ?? "", /^its changes need the check 'ci'/);
    assert.match(
      refusalOf(rules, "queued") ?? "",
      /^changes land only through its queue: commit to a workspace, .* and land it$/,
    );
    assert.match(
      refusalOf(rules, "release/1") ?? "",
      /^nobody can push to it: commit to a workspace/,
    );
    assert.match(
      refusalOf(rules, "closed") ?? "",
      /^only admins can push to it: commit to a workspace/,
    );
    assert.deepEqual([refusalOf(rules, "merged"), refusalOf(rules, "other")], [null, null]);
    assert.deepEqual(rules.merges.map(({ pattern }) => pattern), ["merged"]);
    const admin = await rulesOf(test);
    assert.equal(refusalOf(admin, "trunk"), null);
    assert.match(refusalOf(admin, "release/1") ?? "", /^nobody can push to it: /);
    assert.equal(refusalOf(admin, "landing/1"), "only the landing queue writes to it");
    assert.deepEqual(admin.merges, []);
  });
});

Deno.test("a workspace is open to its owner while the claim of its ticket lasts", async () => {
  await withProject(async (test) => {
    const { answer, caller, other } = test;
    const { uuid: ticket } = await answer("POST /api/tickets", { body: { title: "Work" } });
    await answer(`POST /api/tickets/${ticket}/claim`, { as: caller });
    await answer("POST /api/workspaces/create", { as: caller, body: { name: "fix", ticket } });
    const branch = "workspace/fix";
    assert.equal(refusalOf(await rulesOf(test, caller), branch), null);
    assert.match(
      refusalOf(await rulesOf(test, other), branch) ?? "",
      /Only the owning agent can modify this workspace: it belongs to "caller"/,
    );
    assert.equal(refusalOf(await rulesOf(test), branch), null);
    await answer(`POST /api/tickets/${ticket}/release`, { as: caller });
    await answer(`POST /api/tickets/${ticket}/claim`, { as: other });
    assert.match(
      refusalOf(await rulesOf(test, caller), branch) ?? "",
      /^"other" holds the claim of this ticket \(generation 2, until \d{4}-[^ ]+Z\)$/,
    );
    assert.match(
      refusalOf(await rulesOf(test, caller), "workspace/none") ?? "",
      /^there is no active workspace/,
    );
  });
});

Deno.test("asking for the rules renews no lease", async () => {
  await withProject(async (test) => {
    const { answer, caller, api } = test;
    const { uuid: ticket } = await answer("POST /api/tickets", { body: { title: "Work" } });
    const { expires_at } = await answer(`POST /api/tickets/${ticket}/claim`, { as: caller });
    await answer("POST /api/workspaces/create", { as: caller, body: { name: "fix", ticket } });
    api.services.clock.advance(3_600_000);
    await rulesOf(test, caller);
    assert.equal((await answer(`GET /api/tickets/${ticket}`)).claim.expires_at, expires_at);
  });
});

Deno.test("a push writes the files of releases that exist", async () => {
  await withProject(async (test) => {
    const { answer, caller } = test;
    await answer("POST /api/releases", { as: caller, body: { tag_name: "v1" } });
    const { files } = await rulesOf(test, caller);
    const refusal = (name: string) =>
      files.find(({ pattern }) => matchesGlob(pattern, name))?.refusal ?? null;
    assert.equal(refusal("releases/v1/a.zip"), null);
    assert.match(refusal("releases/v2/a.zip") ?? "", /there is no release of this name/);
    assert.equal(refusal("notes.txt"), null);
  });
});
