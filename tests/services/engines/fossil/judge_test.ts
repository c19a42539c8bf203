/** What a push may contain: crafted artifacts, judged inside of the receiving transaction. */
import assert from "node:assert/strict";
import {
  type Artifact,
  createDelta,
  encodeUtf8,
  formatArtifact,
  md5,
  sha3,
  shownText,
  type TagCard,
} from "../../../../services/engines/fossil/mod.ts";
import { writeJudged } from "../../../../services/engines/fossil/sync/mod.ts";
import { put } from "./support/fixture.ts";
import {
  ADMIN,
  checkin,
  control,
  hashOf,
  MINUTE,
  NOW,
  RULES,
  Scene,
  starting,
  tag,
} from "./support/pushing.ts";
import { THOROUGH } from "../../../support/level.ts";

Deno.test("a writer pushes to open branches and to the own workspace", () => {
  using scene = new Scene();
  const file = encodeUtf8("content\n");
  const files = [{ name: "a.txt", hash: sha3(file), mode: "file" as const, oldName: null }];
  const own = checkin(scene.bobs, { files });
  const branch = checkin(scene.trunk, { tags: starting("feature", "trunk") });
  const [, first = "", second = ""] = scene.push(RULES, file, own, branch);
  assert.equal(scene.branchOf(first), "workspace/bobs");
  assert.equal(scene.branchOf(second), "feature");
  const next = checkin(second, { date: NOW + 1 });
  const [third = ""] = scene.push(RULES, next, control(tag("+", "sym-v1", second)));
  assert.equal(scene.branchOf(third), "feature");
  scene.assertSound();
});

Deno.test("a writer signs with the own name alone, in every kind of artifact", () => {
  using scene = new Scene();
  const common = { date: NOW, user: "ann", mimetype: null, comment: null };
  const wiki = { kind: "wiki", ...common, title: "Home", parents: [], text: "hi" } as const;
  const ticket = {
    kind: "ticket",
    date: NOW,
    user: "ann",
    ticket: "a".repeat(40),
    fields: [{ name: "title", value: "x", append: false }],
  } as const;
  const forged: readonly Artifact[] = [
    checkin(scene.bobs, { user: "ann" }),
    { kind: "control", date: NOW, user: "ann", tags: [tag("+", "sym-v1", scene.bobs)] },
    wiki,
    ticket,
    {
      kind: "technote",
      ...common,
      id: "b".repeat(40),
      eventDate: NOW,
      parents: [],
      tags: [],
      text: "",
    },
    { kind: "attachment", ...common, name: "a", target: "Home", source: null },
    {
      kind: "forum",
      date: NOW,
      user: "ann",
      mimetype: null,
      root: null,
      title: "T",
      inReplyTo: null,
      parents: [],
      text: "t",
    },
  ];
  for (const artifact of forged) scene.refuses(/names the user "ann".*only admins/, artifact);
  scene.refuses(/names no user/, checkin(scene.bobs, { user: null }));
  const login = { name: "login", value: "ann", append: false };
  scene.refuses(/A comment in the change .* names the user "ann"/, {
    ...ticket,
    user: "bob",
    fields: [login],
  });
  assert.equal(scene.push(ADMIN, ...forged).length, 7);
  assert.equal(scene.push(RULES, checkin(scene.bobs, { user: "BOB" })).length, 1);
});

Deno.test("a push of Fossil does not say what Git sees of a check-in", () => {
  using scene = new Scene();
  const { bobs, trunk } = scene;
  const values = {
    "git-commit": "author Ann <ann> 1 +0000\n\nOther words\n",
    "git-tree": `100644 ${"a".repeat(40)} a.txt\n`,
    "git-tag-v1": "tagger Ann <ann> 1 +0000\n\nOther words\n",
    "git-refs": "1 refs/heads/trunk",
  };
  for (const [name, value] of Object.entries(values)) {
    const refusal = new RegExp(`sets the tag "${name}": only admins`);
    scene.refuses(refusal, checkin(bobs, { tags: [tag("+", name, null, value)] }));
    scene.refuses(refusal, control(tag("+", name, bobs, value)));
    scene.refuses(refusal, control(tag("-", name, trunk)));
  }
  assert.equal(scene.push(RULES, control(tag("+", "git-sign", bobs, "x"))).length, 1);
});

Deno.test("a protected branch is closed, however a check-in would come there", () => {
  using scene = new Scene();
  const { trunk, bobs } = scene;
  const CLOSED = /branch "trunk" is refused: only admins can push to it$/;
  scene.refuses(CLOSED, checkin(trunk));
  // A fork, and a check-in that only its own card puts there.
  scene.commit([put("b", "b")]);
  scene.refuses(CLOSED, checkin(trunk, { comment: "a fork" }));
  scene.refuses(CLOSED, checkin(bobs, { tags: starting("trunk", "workspace/bobs") }));
  // Without a branch tag, a check-in is on the main branch.
  scene.refuses(CLOSED, checkin(null));
  scene.refuses(CLOSED, checkin(trunk, { tags: [tag("-", "branch", null)] }));
  // A new branch that a pattern protects.
  scene.refuses(/branch "release-1" is refused/, checkin(trunk, { tags: starting("release-1") }));
  // By moving a check-in of an open branch, in the same push or later.
  const open = checkin(trunk, { tags: starting("feature", "trunk") });
  const move = control(tag("*", "branch", hashOf(open), "trunk"));
  scene.refuses(CLOSED, open, move);
  const fresh = checkin(trunk, { comment: "fresh" });
  const back = { ...control(tag("*", "branch", hashOf(fresh), "other")), date: 0 } as Artifact;
  scene.refuses(/"trunk" is refused|is older than the check-in/, fresh, back);
  scene.refuses(/"trunk" is refused|is older than the check-in/, back, fresh);
  scene.refuses(CLOSED, move, open);
  scene.push(RULES, open);
  scene.refuses(CLOSED, move);
  scene.refuses(CLOSED, { ...move, date: 0 } as Artifact);
  scene.refuses(CLOSED, control(tag("*", "branch", trunk, "feature")));
  scene.refuses(CLOSED, control(tag("-", "branch", trunk)));
  // By the parent: with another one, or before it is here.
  const parent = tag("+", "parent", hashOf(open), trunk);
  scene.refuses(/sets the tag "parent": only admins/, control(parent));
  scene.refuses(
    /sets the tag "parent": only admins/,
    checkin(bobs, {
      tags: [tag("+", "parent", null, trunk)],
    }),
  );
  const unknown = checkin(trunk, { comment: "not here" });
  scene.refuses(
    /names [0-9a-f]{64}, which is neither in the project nor in this push/,
    checkin(hashOf(unknown)),
  );
  scene.refuses(CLOSED, checkin(hashOf(unknown)), unknown);
  scene.refuses(
    /names [0-9a-f]{64}, which is neither in the project nor in this push/,
    checkin(hashOf(unknown), {
      tags: [tag("+", "branch", null, "feature")],
    }),
  );
  scene.assertSound();
});

Deno.test("the name of a protected branch stands for nothing else", () => {
  using scene = new Scene();
  const { trunk, bobs } = scene;
  scene.refuses(
    /keeps the name of a branch: the push to the branch "trunk"/,
    checkin(trunk, {
      tags: starting("feature"),
    }),
  );
  const NAME_OF_BRANCH = /sets the tag "trunk", which is the name of a branch/;
  scene.refuses(NAME_OF_BRANCH, control(tag("+", "sym-trunk", bobs)));
  scene.refuses(NAME_OF_BRANCH, checkin(bobs, { tags: [tag("+", "sym-trunk", null)] }));
  scene.refuses(
    /"release-9", which is reserved for a branch/,
    control(tag("+", "sym-release-9", bobs)),
  );
  scene.refuses(/branch "trunk" is refused/, control(tag("-", "sym-trunk", trunk)));
  for (const name of ["tip", "current", "2026-01-01", "tag:x", trunk.slice(0, 12)]) {
    scene.refuses(
      /names a check-in in another way|may be|has a colon/,
      control(tag("+", `sym-${name}`, bobs)),
    );
    scene.refuses(
      /names a check-in in another way|may be|has a colon/,
      checkin(trunk, { tags: starting(name, "trunk") }),
    );
  }
  for (const name of ["Trunk", "TRUNK", "\uff54runk"]) {
    scene.refuses(
      /too similar to the protected branch "trunk"/,
      checkin(trunk, {
        tags: starting(name, "trunk"),
      }),
    );
  }
  for (const name of [" trunk", "trunk\u200b", "a\nb", ""]) {
    scene.refuses(
      /is no name of a branch|must be one line|must not be empty/,
      checkin(trunk, { tags: starting(name, "trunk") }),
    );
  }
  scene.push(ADMIN, { ...control(tag("+", "sym-v1", trunk)), user: "ann" } as Artifact);
  scene.refuses(/which somebody else set/, control(tag("+", "sym-v1", bobs)));
  scene.refuses(
    /removes the tag "v1", which somebody else set/,
    control(tag("-", "sym-v1", trunk)),
  );
  scene.refuses(
    /"v1", which is the name of a tag/,
    checkin(trunk, { tags: starting("v1", "trunk") }),
  );
  scene.push(RULES, control(tag("+", "sym-mine", bobs)));
  scene.push(RULES, { ...control(tag("-", "sym-mine", bobs)), date: NOW + 1 } as Artifact);
  scene.assertSound();
});

Deno.test("workspaces and landing candidates belong to the server", () => {
  using scene = new Scene();
  const { trunk, bobs, anns } = scene;
  const ANNS = /"workspace\/anns" is refused: it belongs to "ann"/;
  scene.refuses(ANNS, checkin(anns));
  scene.refuses(ANNS, checkin(bobs, { tags: starting("workspace/anns", "workspace/bobs") }));
  scene.refuses(ANNS, control(tag("+", "closed", anns)));
  scene.refuses(ANNS, checkin(bobs, { tags: [tag("+", "closed", anns)] }));
  scene.refuses(ANNS, control(tag("*", "branch", anns, "feature")));
  scene.refuses(/no active workspace/, checkin(trunk, { tags: starting("workspace/x", "trunk") }));
  scene.refuses(/landing queue/, checkin(trunk, { tags: starting("landing/1", "trunk") }));
  scene.refuses(
    /begins a second line of "workspace\/bobs"/,
    checkin(trunk, {
      tags: starting("workspace/bobs", "trunk"),
    }),
  );
  // What leaves or enters a workspace goes through a merge.
  const feature = checkin(trunk, { tags: starting("feature", "trunk") });
  scene.push(RULES, feature);
  const BELONGS = /"workspace\/bobs" belongs to a workspace/;
  scene.refuses(BELONGS, control(tag("*", "branch", bobs, "feature")));
  scene.refuses(BELONGS, control(tag("*", "branch", hashOf(feature), "workspace/bobs")));
  // A merge of a workspace ends it.
  const date = NOW + 1;
  scene.refuses(/the merge of "workspace\/anns" is refused: it belongs to "ann"/, {
    ...checkin(hashOf(feature), { date }),
    parents: [hashOf(feature), anns],
  });
  const own = { ...checkin(hashOf(feature), { date }), parents: [hashOf(feature), bobs] };
  const stable = checkin(trunk, { tags: starting("stable", "trunk"), date });
  scene.refuses(/the merge into "stable" is refused: only admins can merge/, stable, {
    ...checkin(hashOf(stable), { date: date + 1 }),
    parents: [hashOf(stable), bobs],
  });
  scene.push(RULES, own, stable);
  // To merge somebody's work into the own workspace is to read it.
  scene.push(RULES, { ...checkin(bobs, { date }), parents: [bobs, anns] });
  scene.assertSound();
});

Deno.test("amendments need the author and the branch", () => {
  using scene = new Scene();
  const { trunk, bobs, anns } = scene;
  const mine = checkin(bobs);
  scene.push(RULES, mine);
  const at = (offset: number, ...tags: readonly TagCard[]): Artifact => (
    { kind: "control", date: NOW + offset, tags, user: "bob" }
  );
  scene.push(RULES, at(1, tag("+", "comment", hashOf(mine), "better")));
  scene.push(RULES, at(2, tag("+", "date", hashOf(mine), "2026-12-31T00:00:00")));
  scene.refuses(/changes who wrote it/, at(3, tag("+", "user", hashOf(mine), "ann")));
  scene.refuses(/changes who wrote it/, checkin(bobs, { tags: [tag("+", "user", null, "ann")] }));
  const others = hashOf({ ...mine, parents: [hashOf(mine)], user: "ann" });
  scene.push(ADMIN, { ...mine, parents: [hashOf(mine)], user: "ann" });
  const comment = at(3, tag("+", "comment", others, "x"));
  scene.refuses(/changes the comment .* somebody else wrote/, comment);
  scene.refuses(/it belongs to "ann"/, at(3, tag("+", "comment", anns, "x")));
  scene.refuses(/only admins can push/, at(3, tag("+", "hidden", trunk)));
  scene.refuses(/only admins can push/, at(3, tag("*", "bgcolor", trunk, "red")));
  scene.refuses(/only admins can push/, at(3, tag("*", "anything", trunk, "red")));
  for (const date of ["9999-01-01T00:00:00", "yesterday", "2027-01-01T00:06:00"]) {
    scene.refuses(/a date that is in the future, or is none/, at(3, tag("+", "date", bobs, date)));
  }
  scene.refuses(/sets the tag "private"/, at(3, tag("+", "private", bobs)));
  for (const name of ["wiki-Home", `tkt-${"a".repeat(40)}`, "event-x", "cluster"]) {
    scene.refuses(/sets the reserved tag/, at(3, tag("+", name, bobs)));
  }
  const nothing = sha3("nothing");
  scene.refuses(new RegExp(`names ${nothing}, which is`), at(3, tag("+", "note", nothing)));
  scene.refuses(
    /no check-in of the project/,
    at(3, tag("+", "note", hashOf(at(1, tag("+", "comment", hashOf(mine), "better"))))),
  );
  scene.refuses(/has a date in the future/, checkin(bobs, { date: NOW + 6 * MINUTE }));
  scene.refuses(/has a date in the future/, at(6 * MINUTE, tag("+", "note", bobs)));
  scene.assertSound();
});

Deno.test("the files of a check-in are those that a commit may have", () => {
  using scene = new Scene();
  const content = encodeUtf8("x\n");
  const withFiles = (...names: readonly string[]) =>
    checkin(scene.bobs, {
      files: names.map((name) => ({ name, hash: sha3(content), mode: "file", oldName: null })),
    });
  scene.refuses(/"a" is a file and a folder at once/, content, withFiles("a", "a/b"));
  scene.refuses(/has a name that is too long/, content, withFiles("x".repeat(1001)));
  scene.refuses(/that Git takes for its own/, content, withFiles(".git/config"));
  scene.refuses(/has a name like "README"/, content, withFiles("README", "readme"));
  const artifact = formatArtifact(checkin(scene.bobs));
  const files = [{ name: "a", hash: sha3(artifact), mode: "file" as const, oldName: null }];
  scene.refuses(
    /"a" of check-in .* is a valid artifact of Fossil itself/,
    artifact,
    checkin(
      scene.bobs,
      { files, date: NOW + 1 },
    ),
  );
  // Sealed like an artifact, and malformed: another program may read it.
  const cards = "C x\nD 2026-01-01T00:00:00\nX new\nU ann\n";
  scene.refuses(/is malformed: Cards? /, encodeUtf8(`${cards}Z ${md5(cards)}\n`));
  const traversal = `C x\nD 2026-01-01T00:00:00\nF ../x ${sha3(content)}\nU bob\n`;
  scene.refuses(
    /is malformed: "\.\.\/x" is not a file name/,
    encodeUtf8(
      `${traversal}Z ${md5(traversal)}\n`,
    ),
  );
  scene.assertSound();
});

Deno.test("an artifact that another write completes is dropped and asked for again", () => {
  using scene = new Scene();
  const { repository } = scene;
  const source = encodeUtf8(`${"a license that many projects have\n".repeat(20)}`);
  const forged = formatArtifact(
    checkin(scene.trunk, { user: "ann", comment: "forged ".repeat(99) }),
  );
  const origin = { user: "bob", ip: null };
  const hash = sha3(forged);
  writeJudged(repository, { origin, rules: RULES }, () => {
    const delta = createDelta(source, forged);
    repository.receive(delta, { hash, deltaSource: sha3(source) });
  });
  // A commit through the API brings the source.
  scene.commit([{ kind: "write", path: "LICENSE", content: source }]);
  assert.equal(repository.store.sizeOf(repository.ridOf(hash)), -1);
  assert.equal(scene.branchOf(hash), undefined);
  scene.refuses(/names the user "ann"/, forged);
  // In the push that brings it all, it is judged.
  const mine = formatArtifact(checkin(scene.bobs, { comment: "mine ".repeat(99) }));
  const base = encodeUtf8(`another text that nobody has seen\n`.repeat(20));
  writeJudged(repository, { origin, rules: RULES }, () => {
    const sent = { hash: sha3(mine), deltaSource: sha3(base) };
    repository.receive(createDelta(base, mine), sent);
    repository.receive(base);
  });
  assert.equal(scene.branchOf(sha3(mine)), "workspace/bobs");
  scene.assertSound();
});

Deno.test("a delta manifest waits for its baseline, and is judged again when it comes", () => {
  using scene = new Scene();
  const baseline = checkin(scene.trunk, { tags: starting("feature", "trunk") });
  const orphan = checkin(scene.trunk, { baseline: hashOf(baseline), date: NOW + 1 });
  scene.push(RULES, orphan);
  assert.equal(scene.branchOf(hashOf(orphan)), undefined);
  scene.push(RULES, baseline);
  assert.equal(scene.repository.store.sizeOf(scene.repository.ridOf(hashOf(orphan))), -1);
  scene.refuses(/branch "trunk" is refused/, orphan);
  const own = checkin(hashOf(baseline), { baseline: hashOf(baseline), date: NOW + 2 });
  scene.push(RULES, own);
  assert.equal(scene.branchOf(hashOf(own)), "feature");
  scene.assertSound();
});

Deno.test("a wrong delta does not keep the right content out", () => {
  using scene = new Scene();
  const { repository } = scene;
  const content = encodeUtf8("the right content\n".repeat(9));
  writeJudged(repository, { origin: { user: "bob", ip: null }, rules: RULES }, () => {
    const delta = createDelta(encodeUtf8("x".repeat(99)), content);
    repository.receive(delta, { hash: sha3(content), deltaSource: sha3("never here") });
  });
  scene.push(ADMIN, content);
  assert.deepEqual(repository.store.require(repository.ridOf(sha3(content))), content);
  scene.assertSound();
});

Deno.test("a push names only so many artifacts that are not here", () => {
  using scene = new Scene();
  const members = Array.from({ length: 20_001 }, (_, index) => sha3(String(index))).sort();
  scene.refuses(/names too many artifacts/, { kind: "cluster", members });
  scene.push(RULES, { kind: "cluster", members: members.slice(0, 100) });
});

Deno.test("a kind that is closed is refused with its reason", () => {
  using scene = new Scene();
  const closedKinds = { wiki: "the wiki is read only" };
  const page: Artifact = {
    kind: "wiki",
    date: NOW,
    user: "bob",
    mimetype: null,
    comment: null,
    title: "Home",
    parents: [],
    text: "t",
  };
  assert.throws(
    () => scene.push({ ...RULES, closedKinds }, page),
    /The version [0-9a-f]{10} of the wiki page "Home" is refused: the wiki is read only/,
  );
  scene.push(RULES, page);
});

Deno.test(
  "texts of a push obey the bounds of the API, and those from elsewhere are kept",
  THOROUGH,
  () => {
    using scene = new Scene();
    const { bobs } = scene;
    const common = { date: NOW, user: "bob", mimetype: null, comment: null } as const;
    const page = { kind: "wiki", title: "Home", parents: [], text: "x", ...common } as const;
    const target = "a".repeat(40);
    const ticket = (name: string, value: string): Artifact => ({
      kind: "ticket",
      ticket: target,
      date: NOW,
      user: "bob",
      fields: [{ name, value, append: false }],
    });
    const attachment = (name: string): Artifact => (
      { kind: "attachment", name, target, source: null, ...common }
    );
    const post = { kind: "forum", root: null, inReplyTo: null, text: "x", parents: [] } as const;
    const of = (text: (length: number) => Artifact, most: number, what: RegExp) => {
      scene.refuses(what, text(most + 1));
      scene.push({ ...ADMIN, hasBounds: false }, text(most + 1));
      scene.push(RULES, text(most));
    };
    of((length) => checkin(bobs, { comment: "c".repeat(length) }), 65_536, /comment has 65537/);
    const named = (length: number) => tag("+", `sym-${"n".repeat(length)}`, bobs);
    of(
      (length) => control(named(length)),
      200,
      /name of a tag has 201 characters, and may have 200/,
    );
    of((length) => control(tag("+", "note", bobs, "v".repeat(length))), 65_536, /value of the tag/);
    of((length) => ({ ...page, comment: "c".repeat(length) }), 65_536, /its comment has 65537/);
    of((length) => ticket("title", "t".repeat(length)), 500, /title has 501 .* may have 500/);
    of((length) => ticket("icomment", "t".repeat(length)), 65_536, /icomment has 65537/);
    of((length) => ticket("status", "t".repeat(length)), 200, /status has 201/);
    of((length) => attachment("n".repeat(length)), 200, /its name has 201/);
    of((length) => ({ ...post, title: "t".repeat(length), ...common }), 200, /its title has 201/);
    scene.refuses(/title must be one line/, ticket("title", "[[[\n".repeat(20)));
    for (const forging of ["\x1b", "\x85", "\u200b", "\u2028", "\u202e", "\u2066", "\ufeff"]) {
      const text = `a${forging}b`;
      scene.refuses(/title must be one line/, ticket("title", text));
      scene.refuses(/title must be one line/, { ...post, title: text, ...common });
      scene.refuses(/its name must be one line/, attachment(text));
      scene.refuses(/name of a tag must be one line/, control(tag("+", `sym-${text}`, bobs)));
      assert.equal(shownText(text, "title"), "a b");
    }
    for (const blank of ["", " ", "\u3000"]) {
      scene.refuses(/title must not be empty/, ticket("title", blank));
      scene.refuses(/name of a tag must not be empty/, control(tag("+", `sym-${blank}`, bobs)));
    }
    for (const unseen of ["\u200d", "\u3164"]) {
      const expected = (what: string) =>
        new RegExp(`${what} must have a character that can be seen`);
      scene.refuses(expected("title"), ticket("title", unseen));
      scene.refuses(expected("title"), { ...post, title: unseen, ...common });
      scene.refuses(expected("its name"), attachment(unseen));
      scene.refuses(expected("name of a tag"), control(tag("+", `sym-${unseen}`, bobs)));
    }
    scene.refuses(/branch has 201/, checkin(bobs, { tags: starting("b".repeat(201)) }));
    scene.assertSound();
  },
);
