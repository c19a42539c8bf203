import assert from "node:assert/strict";
import { type TestProject, withProject } from "../../../support/projects.ts";

const REFUSED = /repository file of "demo" was replaced or removed.*Stop muster/s;

/** Checks that nothing is read or written, and that the operator learns why. */
async function assertRefused({ api, send, caller }: TestProject): Promise<void> {
  for (const request of ["GET /api/timeline", "GET /api/wiki/Home"]) {
    const answer = await send(request, { as: caller });
    assert.equal(answer.status, 503);
    assert.match((await answer.json()).error, REFUSED);
  }
  for (const page of ["Lost", "Lost-Too"]) {
    const answer = await send(`PUT /api/wiki/${page}`, { as: caller, body: { content: "lost" } });
    assert.equal(answer.status, 503);
    assert.match((await answer.json()).error, REFUSED);
  }
  const ready = await api.send({ request: "GET /readyz" });
  assert.equal(ready.status, 503);
  assert.match((await ready.json()).error, /repositories \(1 of the projects/);
}

async function withWiki(run: (test: TestProject, path: string) => Promise<void>): Promise<void> {
  await withProject(async (test) => {
    const { api, project, answer, caller } = test;
    await answer("PUT /api/wiki/Home", { as: caller, body: { content: "one" } });
    await answer("GET /api/wiki/Home", { as: caller });
    await run(test, api.services.hosting.repositories.files.pathOf(project));
  });
}

Deno.test("a project whose repository file was replaced refuses reads and writes", async () => {
  await withWiki(async (test, path) => {
    await Deno.copyFile(path, `${path}.other`);
    await Deno.rename(`${path}.other`, path);
    await assertRefused(test);
    await Deno.remove(path);
    await assertRefused(test);
  });
});

Deno.test("a project whose repository file was removed refuses reads and writes", async () => {
  await withWiki(async (test, path) => {
    await Deno.remove(path);
    await assertRefused(test);
  });
});

Deno.test("a write is not acknowledged if the repository file is replaced meanwhile", async () => {
  await withWiki(async ({ api, project, caller, send }, path) => {
    const { repositories } = api.services.hosting;
    const { files } = repositories;
    await assert.rejects(
      files.use(project, async (repository) => {
        await repository.activity({ limit: 1 });
        await Deno.remove(path);
      }),
      REFUSED,
    );
    const answer = await send("PUT /api/wiki/Lost", { as: caller, body: { content: "lost" } });
    assert.equal(answer.status, 503);
    assert.equal(repositories.intentions.projects().size, 0);
  });
});
