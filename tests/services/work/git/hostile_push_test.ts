/** Pushes that are refused: with a sentence, and nothing of them is stored. */
import assert from "node:assert/strict";
import { md5 } from "../../../../services/engines/fossil/mod.ts";
import { commit, gitTest, requireSame } from "../../../support/git_pushes.ts";
import type { GitTest } from "../../../support/git_door.ts";
import {
  BAD_COMMITS,
  BAD_DELTAS,
  BAD_PACKS,
  BAD_TREES,
  badRefs,
  type HostileGround,
  type HostilePush,
} from "../../../support/hostile_pushes.ts";
import { pushRaw } from "../../../support/raw_pushes.ts";
import { commitFiles } from "../../../support/projects.ts";

async function ground(test: GitTest): Promise<HostileGround> {
  await commitFiles(test, { "a.txt": "a\n" });
  await test.answer("PUT /api/protection", { body: [{ pattern: "release/*", push: "admin" }] });
  await test.answer("POST /api/workspaces/create", { as: test.other, body: { name: "theirs" } });
  const clone = await test.clone();
  await clone.git("push", "--quiet", "origin", "HEAD:refs/heads/topic/one", "HEAD:refs/tags/v1");
  const [tip = "", tree = ""] = (await clone.git("rev-parse", "HEAD", "HEAD^{tree}")).split("\n");
  return { tip, tree };
}

/** Makes pushes, each of which must be refused, and checks that nothing of any is there. */
async function requireRefused(test: GitTest, pushes: readonly HostilePush[]): Promise<void> {
  const state = async () => {
    const { repositories } = test.api.services.hosting;
    const { artifacts } = await repositories.read(test.project, (one) => one.statistics()) as never;
    return JSON.stringify([artifacts, (await test.answer("GET /api/timeline")).total]);
  };
  const before = await state();
  const faults: string[] = [];
  for (const { name, commands, pack, answer } of pushes) {
    const said = await pushRaw(test, commands, pack);
    if (!answer.test(said)) faults.push(`${name}: ${said.slice(0, 300)}`);
    if (await state() !== before) {
      faults.push(`${name}: it is stored`);
      break;
    }
  }
  assert.deepEqual(faults, []);
}

for (
  const [what, pushes] of [
    ["packs", () => BAD_PACKS],
    ["deltas", () => BAD_DELTAS],
    ["trees", () => BAD_TREES],
    ["commits and tags", () => BAD_COMMITS],
    ["references", badRefs],
  ] as const
) {
  gitTest(`malformed, incomplete or foreign ${what} are refused`, async (test) => {
    await requireRefused(test, pushes(await ground(test)));
  });
}

gitTest("a file that is an artifact of Fossil does nothing, and is kept", async (test) => {
  const before = await commitFiles(test, { "a.txt": "a\n" });
  const clone = await test.clone();
  const text = `D 2024-01-01T00:00:00\nT +sym-evil ${before}\nU root\n`;
  const artifact = `${text}Z ${md5(text)}\n`;
  await commit(clone, { "artifact.txt": artifact, "sealed.txt": `x\nZ ${md5("x\n")}\n` });
  await clone.git("push", "--quiet", "origin", "trunk");
  await commit(clone, { "artifact.txt": `${artifact}more\n` });
  await clone.git("push", "--quiet", "origin", "trunk");
  const { tags } = await test.answer("GET /api/tags");
  assert.equal(JSON.stringify(tags).includes("evil"), false);
  await requireSame(test, clone, "refs/heads");
  const fresh = await test.clone();
  assert.equal(await fresh.git("show", "HEAD~1:artifact.txt"), artifact);
});

gitTest(
  "protected branches, other kinds of references and the queue's are refused",
  async (test) => {
    await commitFiles(test, { "a.txt": "a\n" });
    await test.answer("PUT /api/protection", {
      body: [{ pattern: "release/*", push: "admin" }],
    });
    const clone = await test.clone();
    const tip = await commit(clone, { "b.txt": "b\n" });
    const push = await clone.run(
      "push",
      "origin",
      "HEAD:refs/heads/release/1",
      "HEAD:refs/heads/landing/1",
      "HEAD:refs/notes/x",
      "HEAD:refs/heads/free",
    );
    assert.notEqual(push.code, 0);
    assert.match(push.stderr, /release\/1 \(.*(?:protect|admin)/i);
    assert.match(push.stderr, /landing\/1 \(.*landing queue/);
    assert.match(push.stderr, /notes\/x \(this server keeps branches and tags/);
    const fresh = await test.clone();
    assert.equal((await fresh.git("rev-parse", "origin/free")).trim(), tip);
    const atomic = await clone.run(
      "push",
      "--atomic",
      "origin",
      "HEAD:refs/heads/release/1",
      "HEAD:refs/heads/both",
    );
    assert.match(atomic.stderr, /both/);
    assert.doesNotMatch(await (await test.clone()).refs(), /both/);
  },
);

gitTest("of two pushes to a branch at once, one wins", async (test) => {
  await commitFiles(test, { "a.txt": "a\n" });
  const clones = [await test.clone(), await test.clone(), await test.clone()];
  const tips = await Promise.all(
    clones.map((clone, place) => commit(clone, { [`${place}.txt`]: "x\n" })),
  );
  const results = await Promise.all(clones.map((clone) => clone.run("push", "origin", "trunk")));
  assert.equal(results.filter(({ code }) => code === 0).length, 1, JSON.stringify(results));
  const winner = results.findIndex(({ code }) => code === 0);
  const fresh = await test.clone();
  assert.equal((await fresh.git("rev-parse", "HEAD")).trim(), tips[winner]);
});
