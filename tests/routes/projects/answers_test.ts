import assert from "node:assert/strict";
import { RepositoryPool } from "../../../services/engines/fossil/front/mod.ts";
import { commitFiles, type TestProject, withProject } from "../../support/projects.ts";

/** Lets another connection commit, as another program would; gives the check-in. */
async function commitElsewhere({ api, project }: TestProject, path: string): Promise<string> {
  const pool = new RepositoryPool({ workers: 1 });
  try {
    const repository = await pool.open(api.services.hosting.repositories.files.pathOf(project));
    const { uuid: parent, timestamp } = await repository.checkin("trunk");
    return await repository.commit({
      user: "ann",
      date: Date.parse(timestamp),
      parent,
      comment: "Elsewhere",
      changes: [{ kind: "write", path, content: new TextEncoder().encode("x") }],
    });
  } finally {
    await pool.close();
  }
}

/** A moment that is long after the last write of a file. */
async function untilSettled({ api, project }: TestProject): Promise<void> {
  const { files } = api.services.hosting.repositories;
  const past = new Date(Date.now() - 60_000);
  for (const ending of ["", "-wal"]) {
    await Deno.utime(files.pathOf(project) + ending, past, past).catch(() => {});
  }
}

Deno.test("an answer from memory is never older than the repository", async () => {
  await withProject(async (test) => {
    const { answer } = test;
    for (let round = 0; round < 5; round++) {
      const own = await commitFiles(test, { "a.txt": `${round}` });
      assert.equal((await answer("GET /api/timeline")).checkins[0].uuid, own);
      await untilSettled(test);
      assert.equal((await answer("GET /api/timeline")).checkins[0].uuid, own);
      assert.equal((await answer("GET /api/timeline")).checkins[0].uuid, own);
      const foreign = await commitElsewhere(test, `${round}.txt`);
      assert.equal((await answer("GET /api/timeline")).checkins[0].uuid, foreign);
      const { entries } = await answer("GET /api/tree");
      assert.ok(entries.some(({ name }: { name: string }) => name === `${round}.txt`));
      assert.equal((await answer(`GET /api/checkin/${foreign}`)).comment, "Elsewhere");
    }
  });
});

Deno.test("an answer has an entity tag that changes with it, and 304 means no change", async () => {
  await withProject(async (test) => {
    const { send } = test;
    await commitFiles(test, { "src/a.txt": "a", "b.txt": "b" });
    const reads = [
      "/api/timeline",
      "/api/branches",
      "/api/tags",
      "/api/tree",
      "/api/checkin/tip",
      "/api/diff",
      "/api/blame?path=b.txt",
      "/api/history?path=b.txt",
      "/api/search?q=files",
      "/api/technotes",
      "/api/forum",
      "/api/attachments?target=x",
    ];
    const tags = new Map<string, string>();
    for (const path of reads) {
      const first = await send(`GET ${path}`);
      assert.equal(first.status, 200, path);
      await first.body?.cancel();
      const etag = first.headers.get("etag") ?? "";
      assert.match(etag, /^"[0-9a-f]{32}"$/, path);
      tags.set(path, etag);
      const again = await send(`GET ${path}`, { headers: { "if-none-match": etag } });
      assert.equal(again.status, 304, path);
      assert.equal(await again.text(), "");
      const head = await send(`HEAD ${path}`);
      assert.deepEqual([head.status, await head.text()], [200, ""], path);
      assert.equal(head.headers.get("etag"), etag);
    }
    await commitFiles(test, { "b.txt": "c" });
    for (const path of ["/api/timeline", "/api/tree", "/api/blame?path=b.txt"]) {
      const headers = { "if-none-match": tags.get(path) ?? "" };
      const changed = await send(`GET ${path}`, { headers });
      assert.equal(changed.status, 200, path);
      await changed.body?.cancel();
    }
  });
});

Deno.test("filters apply before paging, and totals are those of the filter", async () => {
  await withProject(async (test) => {
    const { answer, api, project } = test;
    await commitFiles(test, { "a.txt": "a" });
    const { repositories } = api.services.hosting;
    await repositories.read(project, async (repository) => {
      const { uuid: parent } = await repository.resolveCheckin("trunk");
      let tip = parent;
      for (let count = 0; count < 3; count++) {
        const content = new TextEncoder().encode(`${count}`);
        tip = await repository.commit({
          user: "ann",
          date: Date.now() + count,
          parent: tip,
          comment: `Feature ${count}`,
          ...(count === 0 ? { branch: "feature" } : {}),
          changes: [{ kind: "write", path: "b.txt", content }],
        });
      }
    });
    await commitFiles(test, { "a.txt": "b" });
    const page = await answer("GET /api/timeline?branch=feature&per_page=2&page=1");
    const rest = await answer("GET /api/timeline?branch=feature&per_page=2&page=2");
    const comments = [...page.checkins, ...rest.checkins]
      .map(({ comment, branch }: Record<string, string>) => `${branch}: ${comment}`);
    assert.deepEqual(comments, ["feature: Feature 2", "feature: Feature 1", "feature: Feature 0"]);
    for (const { total, total_pages } of [page, rest]) {
      assert.deepEqual([total, total_pages], [3, 2]);
    }
    const { branches } = await answer("GET /api/branches");
    assert.deepEqual(
      branches.map(({ name, checkin_count }: Record<string, string>) => [name, checkin_count])
        .sort(),
      [["feature", 3], ["trunk", 3]],
    );
    assert.deepEqual((await answer("GET /api/tags")).tags, []);
  });
});
