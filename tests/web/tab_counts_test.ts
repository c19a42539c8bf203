import assert from "node:assert/strict";
import { commitFiles } from "../support/projects.ts";
import { BY_OPERATOR } from "../support/services.ts";
import { type TestWeb, type Visitor, withWeb } from "../support/web.ts";

/** The words of the tabs that have a number. */
async function countsOn(visitor: Visitor, path: string): Promise<readonly string[]> {
  const { html } = await visitor.see(path);
  const [, bar = ""] = /<nav aria-label="Project">(.*?)<\/nav>/s.exec(html) ?? [];
  return [...bar.matchAll(/<li>(.*?)<\/li>/gs)].map(([, item = ""]) =>
    item.replaceAll(/<[^>]*>/g, "")
  ).filter((words) => /\d/.test(words));
}

/** Makes the admin a member. */
async function join({ api }: TestWeb): Promise<void> {
  await api.services.hosting.projects.setMember("demo", "admin", "admin", BY_OPERATOR);
}

/** A workspace with a change, and a review of it. */
async function openReview({ answer, caller }: TestWeb, name: string): Promise<number> {
  await answer("POST /api/workspaces/create", { as: caller, body: { name } });
  const body = { message: name, changes: [{ path: `${name}.txt`, content: name }] };
  await answer(`POST /api/workspaces/${name}/commit`, { as: caller, body });
  const review = { title: name, workspace: name };
  return (await answer("POST /api/reviews/create", { as: caller, body: review })).id;
}

Deno.test("tabs count open tickets, open reviews and branches that are not merged", async () => {
  await withWeb(async (test) => {
    const { answer, caller, other, admin } = test;
    await join(test);
    await commitFiles(test, { "a.txt": "a" });
    assert.deepEqual(await countsOn(admin, "/projects/demo"), []);
    const { uuid } = await answer("POST /api/tickets", { as: caller, body: { title: "One" } });
    await answer("POST /api/tickets", { as: caller, body: { title: "Two" } });
    const [first, second] = [await openReview(test, "one"), await openReview(test, "two")];
    for (const path of ["", "/tickets", "/settings", "/reviews", "/wiki/Missing?view=edit"]) {
      assert.deepEqual(await countsOn(admin, `/projects/demo${path}`), [
        "Tickets 2 open",
        "Reviews 2 open",
        "Branches 2 not merged",
      ], path);
    }
    await answer(`PATCH /api/tickets/${uuid}`, { as: caller, body: { status: "Closed" } });
    await answer(`POST /api/reviews/${first}/approve`, { as: other, body: {} });
    await answer(`POST /api/reviews/${first}/merge`, { as: other, body: {} });
    assert.deepEqual(await countsOn(admin, "/projects/demo"), [
      "Tickets 1 open",
      "Reviews 1 open",
      "Branches 1 not merged",
    ]);
    const unmerged = await admin.see("/projects/demo/branches?status=unmerged");
    assert.match(unmerged.text, /workspace\/two/);
    assert.doesNotMatch(unmerged.text, /workspace\/one|main branch/);
    await answer(`POST /api/reviews/${second}/close`, { as: caller, body: {} });
    await answer("DELETE /api/workspaces/two/abandon", { as: caller });
    assert.deepEqual(await countsOn(admin, "/projects/demo"), ["Tickets 1 open"]);
  });
});

Deno.test("tabs tell nothing to an admin without a role in a private project", async () => {
  await withWeb(async (test) => {
    const { answer, caller, admin, api: { services } } = test;
    await join(test);
    await answer("POST /api/tickets", { as: caller, body: { title: "Hidden" } });
    assert.deepEqual(await countsOn(admin, "/projects/demo/settings"), ["Tickets 1 open"]);
    await services.hosting.projects.removeMember("demo", "admin", BY_OPERATOR);
    assert.deepEqual(await countsOn(admin, "/projects/demo/settings/members"), []);
  });
});
