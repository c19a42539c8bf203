/** What Git accepts and Fossil cannot hold comes back as it was pushed. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { gitTest, requireSame } from "../../../support/git_pushes.ts";
import {
  oddTags,
  pushRaw,
  rawBlob,
  rawCommit,
  type RawObject,
  rawPack,
  rawTag,
  rawTree,
} from "../../../support/raw_pushes.ts";

const FILE = 0o100644;
const FOLDER = 0o40000;
const MODULE = 0o160000;

/** Pushes objects, and checks that a clone has the references. */
async function requireKept(
  test: Parameters<typeof requireSame>[0],
  refs: Readonly<Record<string, RawObject>>,
  objects: readonly RawObject[],
): Promise<void> {
  const commands = Object.entries(refs).map(([ref, { hex }]) => [ref, hex] as const);
  const answer = await pushRaw(test, commands, rawPack(objects));
  assert.doesNotMatch(answer, /ng |unpack [^o]/, answer);
  const folder = test.client.path(`mirror-${crypto.randomUUID()}`);
  // Git's own check finds much of this odd.
  await test.client.git(["clone", "--quiet", "--mirror", test.url, folder]);
  const expected = Object.entries(refs).map(([ref, { hex }]) => `${hex} ${ref}`).sort();
  const found = (await test.client.git(["show-ref"], folder)).trim().split("\n");
  for (const line of expected) assert.ok(found.includes(line), `${line}: ${found.join(", ")}`);
}

gitTest("odd trees are kept, and their changes", async (test) => {
  const [one, two] = [rawBlob("1\n"), rawBlob("2\n")];
  const empty = rawTree([]);
  const module = { ...one, name: one.name };
  const full = rawTree([["x", FILE, one]]);
  const trees = [
    rawTree([["a", 0o100664, one], ["empty", FOLDER, empty], ["module", MODULE, module], [
      "z",
      FILE,
      one,
    ]]),
    rawTree([["a", 0o100664, two], ["empty", FOLDER, full], ["module", MODULE, { ...two }], [
      "z",
      0o100755,
      one,
    ]]),
    rawTree([["a", FILE, two], ["empty", FOLDER, empty], ["module", FILE, two], [
      "z",
      FOLDER,
      full,
    ]]),
    rawTree([["_FOSSIL_", FILE, one], ["a", FOLDER, full], ["b\xff\xfe", FILE, one], [
      "module",
      FOLDER,
      full,
    ]]),
    rawTree([
      ["CON", FILE, one],
      ["\\", FILE, one],
      ["b\xff\xfe", FILE, two],
      ["con", FILE, two],
      ["x:y?", FILE, one],
    ]),
    empty,
    rawTree([["only", FOLDER, empty]]),
    rawTree([["back", FILE, one]]),
  ];
  const commits: RawObject[] = [];
  for (const tree of trees) {
    commits.push(rawCommit(tree, { parents: commits.slice(-1).map(({ hex }) => hex) }));
  }
  const objects = [one, two, empty, full, ...trees.filter((tree) => tree !== empty), ...commits];
  await requireKept(test, { "refs/heads/main": commits.at(-1)! }, objects);
});

gitTest("zeros before modes are kept, and their changes", async (test) => {
  const [one, two] = [rawBlob("1\n"), rawBlob("2\n")];
  const empty = rawTree([]);
  const padded = (...entries: Parameters<typeof rawTree>[0]) => rawTree(entries, 1);
  const [inner, outer] = [rawTree([["x", FILE, one]]), padded(["x", FILE, one])];
  const more = rawTree([["x", FILE, one], ["y", FILE, two]]);
  const trees = [
    padded(["a", FILE, one], ["d", FOLDER, outer], ["e", FOLDER, empty]),
    rawTree([["a", FILE, one], ["d", FOLDER, outer], ["e", FOLDER, empty]]),
    padded(["a", FILE, two], ["d", FOLDER, inner], ["e", FOLDER, inner]),
    padded(["a", FOLDER, inner], ["d", FOLDER, more], ["e", FILE, one]),
    rawTree([["a", FOLDER, more], ["d", FILE, one], ["e", FOLDER, outer]]),
    padded(["a", FOLDER, rawTree([["deep", FOLDER, outer]])], ["l", 0o120000, one]),
    padded(["a", FOLDER, padded(["deep", FOLDER, inner])], ["l", 0o120000, two]),
    rawTree([["a", FOLDER, padded(["deep", FOLDER, inner], ["m", MODULE, two])]]),
    inner,
  ];
  const below = [
    rawTree([["deep", FOLDER, outer]]),
    padded(["deep", FOLDER, inner]),
    padded(["deep", FOLDER, inner], ["m", MODULE, two]),
  ];
  const commits: RawObject[] = [];
  for (const tree of trees) {
    commits.push(rawCommit(tree, { parents: commits.slice(-1).map(({ hex }) => hex) }));
  }
  const whole = [one, two, empty, inner, outer, more, ...trees.slice(0, -1), ...below, ...commits];
  await requireKept(test, { "refs/heads/main": commits.at(-1)! }, whole);
});

gitTest("a commit whose parents are the same one is kept", async (test) => {
  const blob = rawBlob("1\n");
  const tree = rawTree([["a", FILE, blob]]);
  const one = rawCommit(tree);
  const side = rawCommit(tree, { parents: [one.hex], message: "side\n" });
  const two = rawCommit(tree, { parents: [one.hex, one.hex] });
  const three = rawCommit(tree, { parents: [two.hex, side.hex, side.hex, two.hex] });
  await requireKept(test, { "refs/heads/main": three }, [blob, tree, one, side, two, three]);
});

gitTest("odd commits are kept", async (test) => {
  const blob = rawBlob("1\n");
  const tree = rawTree([["a", FILE, blob]]);
  const texts = [
    "author A <a@b> 1700000000 +051800\ncommitter A <a@b> 1700000000 -0000\n\nzone\n",
    "author  <> 1 +0000\ncommitter x 1700000000 +0000\n\nno address\n",
    "author A <a@b>\ncommitter A <a@b>\n\nno date\n",
    "author other <other> 1700000001 +0000\ncommitter other <other> 1700000001 +0000\n\nA login\n",
    "author A <a@b> 4102444800 +0000\ncommitter A <a@b> 99999999999 +0000\n\nfuture\n",
    "author A <a@b> -5 +0000\ncommitter A <a@b> 0 +0000\n\n",
    "author A <a@b> 5 +0000\ncommitter A <a@b> 5 +0000\n\nno end",
    "author A <a@b> 5 +0000\ncommitter A <a@b> 5 +0000\n\n\n\n  spaces \n\n\n",
    "author A <a@b> 5 +0000\ncommitter A <a@b> 5 +0000\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n abc\n -----END PGP SIGNATURE-----\nx y\n\nsigned\n",
    Buffer.from(
      "author J\xf6 <a@b> 5 +0000\ncommitter J\xf6 <a@b> 5 +0000\nencoding ISO-8859-1\n\nGr\xfc\xdfe\n",
      "latin1",
    ),
    "author A <a@b> 5 +0000\ncommitter A <a@b> 5 +0000\n\nzero\0byte\ttab\r\n\x1bescape\n",
    "author A <a@b> 5 +0000\ncommitter A <a@b> 5 +0000\n\n\ufeffmark\n",
  ];
  const commits: RawObject[] = [];
  for (const text of texts) {
    commits.push(rawCommit(tree, { parents: commits.slice(-1).map(({ hex }) => hex), tail: text }));
  }
  const root = rawCommit(tree, { message: "another root\n" });
  const octopus = rawCommit(tree, {
    parents: [commits.at(-1)!, root, commits[0]!].map(({ hex }) => hex),
  });
  await requireKept(test, { "refs/heads/main": octopus }, [blob, tree, ...commits, root, octopus]);
  const { checkins } = await test.answer("GET /api/timeline?per_page=50");
  const users = checkins.map(({ user }: { user: string }) => user);
  assert.equal(users.includes("other"), false);
  assert.equal(users.includes("other <other>"), true);
});

gitTest("odd tags and branches are kept", async (test) => {
  const blob = rawBlob("1\n");
  const tree = rawTree([["a", FILE, blob]]);
  const one = rawCommit(tree);
  const two = rawCommit(tree, { parents: [one.hex], message: "two\n" });
  const side = rawCommit(tree, { parents: [one.hex], message: "side\n" });
  const tag = rawTag(one, "v1", "tagger A <a@b> 5 +0100\n\nOne\n");
  const tags = {
    v1: tag,
    old: rawTag(one, "old", "\nno tagger"),
    signed: rawTag(two, "signed", "tagger A <a@b> 5 +0000\n\nx\n-----BEGIN PGP SIGNATURE-----\n\n"),
    other: rawTag(two, "another-name", "tagger A <a@b> 5 +0000\n\nx\n"),
    bytes: rawTag(two, "bytes", Buffer.from("tagger J\xf6 <a@b> 5 +0000\n\n\xfc\n", "latin1")),
    empty: rawTag(two, "empty", "tagger A <a@b> 5 +0000\n\n"),
  };
  const refs: Record<string, RawObject> = {
    "refs/heads/main": two,
    "refs/heads/v1": two,
    "refs/heads/behind": one,
    "refs/heads/deadbeef": side,
    "refs/tags/20240101": one,
    "refs/tags/main": side,
    "refs/tags/light/ü": two,
  };
  for (const [name, object] of Object.entries(tags)) refs[`refs/tags/${name}`] = object;
  await requireKept(test, refs, [blob, tree, one, two, side, ...Object.values(tags)]);
});

gitTest("tags of tags, trees and files are kept", async (test) => {
  const { refs, objects } = oddTags();
  await requireKept(test, refs, objects);
  // The next clone gets the kept pack, and a pull what is new.
  const folder = test.client.path("second");
  await test.client.git(["clone", "--quiet", "--mirror", test.url, folder]);
  await test.client.git(["fsck", "--full"], folder);
  const shallow = test.client.path("shallow");
  await test.client.git(["clone", "--quiet", "--depth=1", test.url, shallow]);
  assert.match(await test.client.git(["tag"], shallow), /^nested$/m);
  await test.client.git(["fetch", "--quiet", "--tags"], shallow);
  await test.client.git(["fsck", "--full"], shallow);
  assert.equal(
    (await test.client.git(["rev-parse", "of-tag-of-tree^{tree}"], shallow)).trim(),
    refs["refs/tags/tree"]!.hex,
  );
});

gitTest("a tag moves between commits and other objects, and goes", async (test) => {
  const { refs, objects } = oddTags();
  await requireKept(test, refs, objects);
  const ref = "refs/tags/plain";
  const order = ["of-tree", "blob", "nested", "plain", "tree"].map((name) =>
    refs[`refs/tags/${name}`]!
  );
  let from = refs[ref]!.hex;
  for (const { hex } of order) {
    assert.doesNotMatch(await pushRaw(test, [[ref, hex, from]], rawPack([])), /ng |unpack [^o]/);
    assert.equal((await test.client.git(["ls-remote", test.url, ref])).split("\t")[0], hex);
    from = hex;
  }
  assert.doesNotMatch(await pushRaw(test, [[ref, null, from]], rawPack([])), /ng |unpack [^o]/);
  assert.equal(await test.client.git(["ls-remote", test.url, ref]), "");
});

gitTest("tags alone may be the first push", async (test) => {
  const alone = rawBlob("alone\n");
  await requireKept(test, { "refs/tags/blob": alone }, [alone]);
  const commit = rawCommit(rawTree([]));
  await requireKept(test, { "refs/heads/main": commit }, [rawTree([]), commit]);
});

gitTest("too many tags of tags are refused with a sentence", async (test) => {
  const one = rawCommit(rawTree([]));
  const tags = [rawTag(one, "t", "\n")];
  for (let count = 1; count < 20; count++) tags.push(rawTag(tags.at(-1)!, "t", "\n"));
  const commands = [["refs/heads/main", one.hex], ["refs/tags/t", tags.at(-1)!.hex]] as const;
  const answer = await pushRaw(test, commands, rawPack([rawTree([]), one, ...tags]));
  assert.match(answer, /ng refs\/tags\/t .*tags in a row/);
});
