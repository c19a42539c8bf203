/** A receipt with more artifacts than one page of a look at the repository. */
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import type { Database } from "../../../../services/engines/database/mod.ts";
import { newUlid } from "../../../../services/kernel/ulid.ts";
import { stampOf } from "../../../../services/work/projects/intentions.ts";
import { Scratch } from "../../engines/fossil/support/fossil.ts";
import { judged } from "../../engines/fossil/support/judges.ts";
import { type TestProject, withProject } from "../../../support/projects.ts";

const ARTIFACTS = 1200;

/** A stream for `fossil import` with so many commits of `ann` on one branch, a second apart. */
function streamOf(count: number, branch: string, start: number): string {
  const commits = Array.from({ length: count }, (_, index) => {
    const comment = `Commit ${index + 1}`;
    return [
      `commit refs/heads/${branch}`,
      `mark :${index + 1}`,
      `committer ann <ann> ${Math.floor(start / 1000) + index} +0000`,
      `data ${comment.length}`,
      comment,
      ...index === 0 ? [] : [`from :${index}`],
      `M 100644 inline a.txt`,
      `data ${String(index).length}`,
      `${index}`,
      "",
    ].join("\n");
  });
  return `${commits.join("")}\n`;
}

/** Lets the `fossil` program write commits to a project's file, as one receipt. */
function importCommits(
  scratch: Scratch,
  { api, project }: TestProject,
  stream: string,
): void {
  const file = api.services.hosting.repositories.files.pathOf(project);
  scratch.write("stream", stream);
  scratch.run(["user", "new", "alice", "", "secret", "-R", file]);
  scratch.fossil(["import", "--git", "--incremental", file, scratch.path("stream")]);
}

/** Marks the newest receipt of a repository as that of a write. */
function markNewest(file: string, mark: string): void {
  const database = new DatabaseSync(file);
  database.prepare("UPDATE rcvfrom SET nonce=? WHERE rcvid=(SELECT max(rcvid) FROM rcvfrom)")
    .run(mark);
  database.close();
}

/** The comments of a branch's check-ins, in the order of their events. */
async function commentsOf({ tables }: Database, branch: string): Promise<unknown[]> {
  const rows = await tables.selectFrom("events").select("data")
    .where("type", "=", "project.checkin").orderBy("seq").execute();
  return rows.map(({ data }) => JSON.parse(data)).filter((data) => data.branch === branch)
    .map(({ comment }) => comment);
}

judged(
  "a push of 1,200 artifacts is told and settled in one step, each once and in order",
  async (fossil) => {
    using scratch = new Scratch(fossil);
    await withProject(async (test) => {
      const { api, project, catchUp } = test;
      const { database, hosting: { repositories } } = api.services;
      const settled: number[] = [];
      const kind = repositories.intentions.register<null>({
        name: "test.push",
        settle: ({ artifacts }) => {
          settled.push(artifacts.length);
          return {};
        },
      });
      const start = Date.parse("2026-11-01T00:00:00Z");
      const origin = { actor: "agent:ann", actorId: null, address: null, cause: null };
      const id = newUlid(start);
      const stamp = stampOf(id, { user: "ann", date: start });
      const intention = { id, projectId: project.id, kind: kind.name, stamp, origin, body: null };
      await repositories.intentions.record([intention], start);
      importCommits(scratch, test, streamOf(ARTIFACTS, "big", start));
      markNewest(repositories.files.pathOf(project), stamp.mark);
      await catchUp();
      await catchUp();
      const expected = Array.from({ length: ARTIFACTS }, (_, index) => `Commit ${index + 1}`);
      assert.deepEqual(await commentsOf(database, "big"), expected);
      assert.deepEqual(settled, [ARTIFACTS]);
      assert.deepEqual(repositories.intentions.of(project.id), []);
    });
  },
);

judged("several long pushes come through while nothing is pending", async (fossil) => {
  using scratch = new Scratch(fossil);
  await withProject(async (test) => {
    for (let push = 0; push < 3; push++) {
      const start = Date.parse(`2026-11-0${push + 1}T00:00:00Z`);
      importCommits(scratch, test, streamOf(400, `push-${push}`, start));
    }
    await test.catchUp();
    for (let push = 0; push < 3; push++) {
      const told = await commentsOf(test.api.services.database, `push-${push}`);
      assert.deepEqual([told.length, told[0], told[399]], [400, "Commit 1", "Commit 400"]);
    }
    assert.equal((await test.answer("GET /api/timeline?branch=push-2")).total, 400);
  });
});
