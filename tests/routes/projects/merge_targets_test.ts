/** Branches that nothing may be merged into: each has an owner, or was reviewed and tested as it is. */
import assert from "node:assert/strict";
import { Scratch } from "../../services/engines/fossil/support/fossil.ts";
import { judged } from "../../services/engines/fossil/support/judges.ts";
import { projectToken, type TestProject, withProject } from "../../support/projects.ts";
import { asked } from "../../support/until.ts";

/** Begins a workspace with one file. */
async function begin({ answer }: TestProject, name: string, as: TestProject["caller"]) {
  await answer("POST /api/workspaces/create", { as, body: { name } });
  await answer(`POST /api/workspaces/${name}/commit`, {
    as,
    body: { message: name, changes: [{ path: `${name}.txt`, content: `${name}\n` }] },
  });
}

/** Queues the approved review of a new workspace; returns the review and its candidate. */
async function queued(test: TestProject): Promise<{ review: number; candidate: string }> {
  const { answer, caller, other } = test;
  const rule = { pattern: "trunk", approvals: { any: 1 }, contexts: ["ci"], landing: "required" };
  await answer("PUT /api/protection", { body: [rule] });
  await begin(test, "good", caller);
  const body = { title: "Good", workspace: "good" };
  const { id: review } = await answer("POST /api/reviews/create", { as: caller, body });
  await answer(`POST /api/reviews/${review}/approve`, { as: other });
  await answer(`POST /api/reviews/${review}/land`, { as: caller });
  const candidateOf = async () => {
    await test.catchUp();
    const [{ candidate }] = (await answer("GET /api/landing")).landing;
    return candidate;
  };
  return { review, candidate: await asked(candidateOf, (candidate) => candidate !== null) };
}

Deno.test("nobody merges into another's workspace or into a landing candidate", async () => {
  await withProject(async (test) => {
    const { answer, send, caller, other } = test;
    const { review } = await queued(test);
    await begin(test, "theirs", caller);
    await begin(test, "evil", other);
    for (const target of ["workspace/theirs", "workspace/evil", `landing/${review}`, "landing/9"]) {
      const body = { target_branch: target };
      const merge = await send("POST /api/workspaces/evil/merge", { as: other, body });
      assert.equal(merge.status, 400, target);
      assert.match((await merge.json()).error, /belongs to a workspace or the landing queue/);
      const opening = { title: "Evil", workspace: "evil", target_branch: target };
      const opened = await send("POST /api/reviews/create", { as: other, body: opening });
      assert.equal(opened.status, 400, target);
      await opened.body?.cancel();
    }
    assert.equal((await answer("GET /api/workspaces/theirs")).files.length, 1);
  });
});

judged("a candidate with a child of the fossil program's does not land", async (fossil) => {
  using scratch = new Scratch(fossil);
  await withProject(async (test) => {
    const { answer, api, project, catchUp } = test;
    const { review, candidate } = await queued(test);
    const file = api.services.hosting.repositories.files.pathOf(project);
    const folder = scratch.path("checkout");
    Deno.mkdirSync(folder);
    scratch.fossil(["user", "new", "mal", "Mal", "secret", "-R", file]);
    scratch.fossil(["open", file, `landing/${review}`], folder);
    scratch.fossil(["user", "default", "mal"], folder);
    Deno.writeTextFileSync(`${folder}/evil.txt`, "evil\n");
    scratch.fossil(["add", "evil.txt"], folder);
    scratch.fossil(["commit", "-m", "Evil", "--no-warnings"], folder);
    await catchUp();
    const [as] = await projectToken(api, "status:write");
    await answer("POST /api/status", {
      as,
      body: { checkin: candidate, context: "ci", state: "success" },
    });
    const status = async () => {
      await catchUp();
      const { landing: [first] } = await answer("GET /api/landing");
      return first.status;
    };
    assert.equal(await asked(status, (now) => now !== "testing"), "returned");
    const { entries } = await answer("GET /api/tree?checkin=trunk");
    assert.ok(entries.every(({ name }: { name: string }) => name !== "evil.txt"));
  });
});
