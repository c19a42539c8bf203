/** Pushes that are refused: with a sentence, and nothing of them is stored. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { DeltaWriter } from "../../../../services/engines/git/mod.ts";
import { md5 } from "../../../../services/engines/fossil/mod.ts";
import { commit, gitTest, requireSame } from "../../../support/git_pushes.ts";
import type { GitTest } from "../../../support/git_door.ts";
import {
  insertingDelta,
  pushRaw,
  rawBlob,
  rawCommit,
  type RawEntry,
  type RawObject,
  rawPack,
  rawTree,
  sealed,
} from "../../../support/raw_pushes.ts";
import { commitFiles } from "../../../support/projects.ts";

const FILE = 0o100644;
const FOLDER = 0o40000;
const LINK = 0o120000;

/** Pushes a commit of a tree to a new branch. */
async function pushTree(test: GitTest, tree: RawObject, others: readonly RawObject[]) {
  const tip = rawCommit(tree);
  return await pushRaw(test, [["refs/heads/eve", tip.hex]], rawPack([tip, tree, ...others]));
}

/** Checks that a project has nothing but its first check-in. */
async function requireNothing(test: GitTest): Promise<void> {
  const { checkins } = await test.answer("GET /api/timeline");
  assert.equal(checkins.length, 1);
  const clone = await test.clone();
  assert.equal(await clone.refs(), "");
}

gitTest("trees that harm a checkout are refused", async (test) => {
  const blob = rawBlob("x\n");
  const names = [".git", ".GIT", "git~1", ".git ", ".git\u200c", ".", "..", "a/b", ""];
  for (const name of names) {
    const bytes = Buffer.from(name).toString("latin1");
    assert.match(
      await pushTree(test, rawTree([[bytes, FILE, blob]]), [blob]),
      /unpack The tree [0-9a-f]{40} (?:has an entry|is malformed)[^]*ng refs\/heads\/eve/,
      name,
    );
  }
  const answers = [
    await pushTree(test, rawTree([["b", FILE, blob], ["a", FILE, blob]]), [blob]),
    await pushTree(test, rawTree([["a", FILE, blob], ["a", FILE, blob]]), [blob]),
    await pushTree(test, rawTree([["a", 0o777, blob]]), [blob]),
    await pushTree(test, rawTree([[".gitmodules", LINK, blob]]), [blob]),
  ];
  const reasons = [/not in order/, /two entries "a"/, /unknown mode/, /must not be a link/];
  for (const [place, reason] of reasons.entries()) assert.match(answers[place]!, reason);
  const inner = rawTree([["x", FILE, blob]]);
  const padded = Buffer.concat([Buffer.from("040000 dir\0"), inner.name]);
  const tree = { ...inner, content: padded };
  const tip = rawCommit(tree);
  assert.match(
    await pushRaw(test, [["refs/heads/eve", tip.hex]], rawPack([tip, tree, inner, blob])),
    /begins with a zero/,
  );
  await requireNothing(test);
});

gitTest("a push that lacks something is refused", async (test) => {
  const blob = rawBlob("x\n");
  const tree = rawTree([["a", FILE, blob]]);
  const tip = rawCommit(tree);
  const ref = "refs/heads/eve";
  const absent = "1".repeat(40);
  const push = (to: string, entries: Parameters<typeof rawPack>[0]) =>
    pushRaw(test, [[ref, to]], rawPack(entries));
  assert.match(await push(tip.hex, [tip, tree]), /unpack The blob .* is missing/);
  assert.match(await push(tip.hex, [tip, blob]), /unpack The tree .* is missing/);
  assert.match(await push(absent, [tip, tree, blob]), /unpack The object 1{40} is missing/);
  const orphan = rawCommit(tree, { parents: [absent] });
  assert.match(await push(orphan.hex, [orphan, tree, blob]), /unpack The commit 1{40} is missing/);
  const ofBlob = rawCommit(blob.hex);
  assert.match(await push(ofBlob.hex, [ofBlob, blob]), /is a blob, and a tree is expected/);
  const twice = rawCommit(tree, { parents: [absent, absent] });
  assert.match(await push(twice.hex, [twice, tree, blob]), /names a parent twice/);
  assert.match(await push(blob.hex, [blob]), /ng refs\/heads\/eve a branch is no blob/);
  const delta = {
    form: { baseName: tip.name },
    content: insertingDelta(tip.content, blob.content),
  };
  assert.match(await push(absent, [delta]), /neither in it nor in the project/);
  await requireNothing(test);
});

gitTest("damaged packs and bombs are refused", async (test) => {
  const blob = rawBlob("x\n".repeat(1000));
  const tree = rawTree([["a", FILE, blob]]);
  const tip = rawCommit(tree);
  const pack = rawPack([tip, tree, blob]);
  const push = (bytes: Uint8Array, to = tip.hex) => pushRaw(test, [["refs/heads/eve", to]], bytes);
  const flipped = Buffer.from(pack);
  flipped[flipped.length - 1]! ^= 1;
  assert.match(await push(flipped), /unpack The pack does not have its checksum/);
  assert.match(await push(pack.subarray(0, pack.length - 30)), /unpack (?:The pack|An object) /);
  assert.match(await push(Buffer.alloc(0)), /unpack The push has no pack/);
  assert.match(
    await push(sealed(Buffer.concat([pack.subarray(0, -20), Buffer.from("more")]))),
    /after its end/,
  );
  assert.match(await push(rawPack([tip, tree, blob], 4)), /unpack /);
  assert.match(await push(rawPack([tip], 0xffffffff)), /4294967295 objects/);
  const bomb = { form: { kind: "blob" as const }, content: new Uint8Array(20_000_000), size: 10 };
  assert.match(await push(rawPack([tip, tree, bomb])), /longer than it declares/);
  const huge = { form: { kind: "blob" as const }, content: new Uint8Array(10), size: 2 ** 40 };
  assert.match(await push(rawPack([tip, tree, huge])), /the limit is/);
  const far = { form: { baseOffset: 5 }, content: insertingDelta(blob.content, blob.content) };
  assert.match(await push(rawPack([tip, tree, far])), /no base where it says/);
  await requireNothing(test);
});

gitTest("few bytes that stand for many are refused", async (test) => {
  const blob = rawBlob("x\n");
  const trees = [rawTree([["a", FILE, blob]])];
  for (let level = 0; level < 12; level++) {
    const below = trees.at(-1)!;
    trees.push(rawTree([..."0123456789"].map((name) => [name, FOLDER, below] as const)));
  }
  const root = trees.pop()!;
  assert.match(await pushTree(test, root, [...trees, blob]), /more than 200000 files/);
  const base = new Uint8Array(8_000_000);
  const deltas = Array.from({ length: 60 }, (_, count) => {
    const delta = new DeltaWriter({ base: base.length, result: base.length });
    delta.insert(Uint8Array.of(count + 1));
    delta.copy(1, base.length);
    return { form: { baseOffset: 12 }, content: delta.finish() };
  });
  const pack = rawPack([{ form: { kind: "blob" }, content: base }, ...deltas]);
  const answer = await pushRaw(test, [["refs/heads/eve", "1".repeat(40)]], pack);
  assert.match(answer, /bytes together, and have more/);
  await requireNothing(test);
});

gitTest("a chain of deltas is only so deep", async (test) => {
  const numbered = (number: number) => {
    const content = new Uint8Array(100);
    new DataView(content.buffer).setUint32(0, number);
    return rawBlob(content);
  };
  const entries = Array.from({ length: 5000 }, (_, depth): RawEntry => {
    if (depth === 0) return numbered(0);
    const [before, after] = [numbered(depth - 1), numbered(depth)];
    const content = insertingDelta(before.content, after.content);
    return { form: { baseName: before.name }, content };
  });
  const answer = await pushRaw(test, [["refs/heads/eve", "1".repeat(40)]], rawPack(entries));
  assert.match(answer, /more than 4095 bases/);
});

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
