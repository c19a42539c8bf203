/** Requests that name no branch mean the project's main branch, whatever it is called. */
import assert from "node:assert/strict";
import { join } from "node:path";
import {
  createEmptyRepository,
  encodeUtf8,
  writeCheckin,
} from "../../../services/engines/fossil/mod.ts";
import { type TestProject, withProject } from "../../support/projects.ts";
import { BY_OPERATOR } from "../../support/services.ts";
import { withFolder } from "../../support/temporary.ts";

/** A repository file whose first check-in is on a branch, with a setting `main-branch`. */
async function fileWith(branch: string, setting: string): Promise<Uint8Array<ArrayBuffer>> {
  let bytes = new Uint8Array();
  await withFolder(async (folder) => {
    const path = join(folder, "source.fossil");
    const repository = createEmptyRepository(path, { admin: "root" });
    repository.write({ user: "root", ip: null }, () => {
      repository.config.set("main-branch", setting);
      writeCheckin(repository, {
        user: "root",
        date: Date.parse("2026-01-01T00:00:00Z"),
        parent: null,
        branch,
        comment: "Begin",
        changes: [{ kind: "write", path: "README.md", content: encodeUtf8("hello\n") }],
      });
    });
    repository.close();
    bytes = await Deno.readFile(path);
  });
  return bytes;
}

/** Imports a repository with one branch into the project. */
async function importBranch({ api }: TestProject, branch: string, setting: string) {
  const body = await fileWith(branch, setting);
  const put = await api.send({ request: "PUT /v1/projects/demo/repository", body });
  assert.equal(put.status, 200, await put.text());
}

async function commit({ answer, caller: as }: TestProject, name: string) {
  await answer(`POST /api/workspaces/${name}/commit`, {
    as,
    body: { message: name, changes: [{ path: `${name}.txt`, content: `${name}\n` }] },
  });
}

Deno.test('workspaces start from, follow and merge into an imported branch "master"', async () => {
  await withProject(async (test) => {
    const { answer, caller: as } = test;
    await importBranch(test, "master", "trunk");
    assert.equal((await answer("GET /api/project", { as })).main_branch, "master");
    for (const name of ["one", "two"]) {
      await answer("POST /api/workspaces/create", { as, body: { name } });
      await commit(test, name);
    }
    // The newest check-in is a workspace's, and still no request means its branch.
    assert.equal((await answer("GET /api/project", { as })).main_branch, "master");
    const { target_branch } = await answer("POST /api/workspaces/one/merge", { as });
    assert.equal(target_branch, "master");
    await answer("POST /api/workspaces/two/update", { as });
    const two = await answer("GET /api/workspaces/two", { as });
    assert.deepEqual(two.files.map(({ name }: { name: string }) => name), ["two.txt"]);
    const { entries } = await answer("GET /api/tree", { as });
    const names = entries.map(({ name }: { name: string }) => name);
    assert.deepEqual(names, ["README.md", "one.txt"]);
    const { branches } = await answer("GET /api/branches", { as });
    assert.ok(branches.every(({ name }: { name: string }) => name !== "trunk"));
  });
});

Deno.test('reviews, tags, releases and searches mean the imported branch "master"', async () => {
  await withProject(async (test) => {
    const { answer, caller: as, api } = test;
    await importBranch(test, "master", "trunk");
    const [tip] = (await answer("GET /api/timeline?branch=master", { as })).checkins;
    await answer("POST /api/workspaces/create", { as, body: { name: "one" } });
    await commit(test, "one");
    const body = { title: "One", workspace: "one" };
    const review = await answer("POST /api/reviews/create", { as, body });
    assert.equal(review.target_branch, "master");
    const tagged = await answer("POST /api/tags", { as, body: { name: "v1" } });
    assert.equal(tagged.uuid, tip.uuid);
    const release = { tag_name: "v2", name: "Two" };
    const { checkin_uuid } = await answer("POST /api/releases", { as, body: release });
    assert.equal(checkin_uuid, tip.uuid);
    const { repositories } = api.services.hosting;
    await repositories.read(test.project, (repository) => repository.updateIndex());
    const found = await answer("GET /api/search?kind=code&q=one", { as });
    assert.deepEqual(found.code, []);
  });
});

Deno.test('a submitted claim\'s review goes into the imported branch "main"', async () => {
  await withProject(async (test) => {
    const { answer, caller: as } = test;
    await importBranch(test, "main", "absent");
    const { uuid } = await answer("POST /api/tickets", { as, body: { title: "Crash" } });
    await answer(`POST /api/tickets/${uuid}/claim`, { as });
    await answer("POST /api/workspaces/create", { as, body: { name: "one", ticket: uuid } });
    await commit(test, "one");
    const submission = { workspace: "one", summary: "Done" };
    const { review } = await answer(`POST /api/tickets/${uuid}/submit`, { as, body: submission });
    const { target_branch } = await answer(`GET /api/reviews/${review}`, { as });
    assert.equal(target_branch, "main");
  });
});

Deno.test("the setting main-branch decides if its branch exists, otherwise the oldest check-in", async () => {
  await withProject(async (test) => {
    const { answer, project, caller: as } = test;
    const main = async () => (await answer("GET /api/project", { as })).main_branch;
    assert.equal(await main(), "trunk");
    await importBranch(test, "development", "later");
    assert.equal(await main(), "development");
    const { repositories } = test.api.services.hosting;
    for (const name of ["later", "trunk"]) {
      await repositories.write(project, {
        caller: BY_OPERATOR,
        write: async (repository, stamp) => {
          const { uuid: from } = await repository.resolveCheckin(undefined);
          return await repository.startBranch({ ...stamp, name, from, followParents: true });
        },
      });
      assert.equal(await main(), "later");
    }
  });
});
