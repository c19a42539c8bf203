import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import {
  createEmptyRepository,
  encodeUtf8,
  exportGit,
  importFossil,
  importGit,
  listUnversioned,
  Reader,
  readUnversioned,
  Repository,
  writeCheckin,
  writeRelease,
  writeWiki,
} from "../../../../services/engines/fossil/mod.ts";
import { createDelta, packBlob } from "../../../../services/engines/fossil/codec/mod.ts";
import { peer } from "../../../support/peers.ts";
import { judged } from "./support/judges.ts";
import { Fixture, put } from "./support/fixture.ts";
import { Scratch } from "./support/fossil.ts";
import {
  AUTHOR,
  commit,
  exported,
  git,
  GitHistory,
  imported,
  initGit,
  inPieces,
  refsOf,
} from "./support/git.ts";
import { difference, dumpTables } from "./support/tables.ts";

function branchesOf(repository: Repository): Record<string, string> {
  const rows = repository.db.rows<{ value: string; comments: string }>(
    `SELECT value, group_concat(comment, ' ' ORDER BY objid) AS comments
      FROM tagxref JOIN event ON objid=rid WHERE tagxref.tagid=8 GROUP BY value ORDER BY value`,
  );
  return Object.fromEntries(rows.map(({ value, comments }) => [value, comments]));
}

Deno.test({
  name: "a Git history comes back from Fossil commit by commit and tag by tag, hash by hash",
  ...peer("git"),
  fn: async () => {
    for (let seed = 0; seed < 8; seed++) {
      using scratch = new Scratch();
      for (const folder of ["before", "after"]) initGit(scratch, folder);
      const history = new GitHistory(seed).stream(25);
      git(scratch, "before", ["fast-import", "--quiet", "--force"], history);
      const args = ["fast-export", "--all", "--signed-tags=strip", ...seed % 2 ? ["-M", "-C"] : []];
      const { repository } = await imported(scratch, git(scratch, "before", args));
      using _ = repository;
      git(scratch, "after", ["fast-import", "--quiet"], exported(repository));
      assert.deepEqual(refsOf(scratch, "after"), refsOf(scratch, "before"), `seed ${seed}`);
    }
  },
});

judged(
  "fossil reads an imported repository, and its tables are those of a rebuild",
  async (program) => {
    using scratch = new Scratch(program);
    initGit(scratch, "git");
    git(scratch, "git", ["fast-import", "--quiet", "--force"], new GitHistory(3).stream(20));
    const stream = git(scratch, "git", ["fast-export", "--all", "--signed-tags=strip"]);
    const { repository } = await imported(scratch, stream);
    const path = repository.db.value<string>("SELECT file FROM pragma_database_list") ?? "";
    repository.close();
    const copy = scratch.path("copy.fossil");
    Deno.copyFileSync(path, copy);
    assert.match(scratch.fossil(["test-integrity", "--parse", "-R", copy]), / 0 errors/);
    scratch.fossil(["rebuild", copy]);
    assert.deepEqual(difference(dumpTables(path), dumpTables(copy)), []);
  },
);

judged(
  "the program's own export of an imported repository has the authors right",
  async (program) => {
    using scratch = new Scratch(program);
    const { repository } = await imported(scratch, commit("refs/heads/main", ""));
    const path = repository.db.value<string>("SELECT file FROM pragma_database_list") ?? "";
    repository.close();
    assert.match(scratch.fossil(["export", "--git", path]), /^committer A Ü <a@b> 1600000000/m);
  },
);

Deno.test("branches are where Git's references end, whatever the labels of the stream say", async () => {
  const at = (name: string, mark: number, parents: number[]) =>
    `commit refs/heads/feature\nmark :${mark}\ncommitter ${AUTHOR}\ndata 2\n${name}\n` +
    parents.map((parent, i) => `${i === 0 ? "from" : "merge"} :${parent}\n`).join("");
  const stream = [
    at("a", 1, []),
    at("b", 2, [1]),
    at("s", 3, [1]),
    at("m", 4, [2, 3]),
    at("f", 5, [2]),
    at("t", 6, [2]),
    "reset refs/heads/master\nfrom :4\n\nreset refs/heads/old\nfrom :2\n\n",
    "reset refs/heads/feature\nfrom :5\n\nreset refs/tags/v1\nfrom :6\n\n",
  ].join("");
  using scratch = new Scratch();
  const { repository, report } = await imported(scratch, stream);
  using _ = repository;
  assert.deepEqual(branchesOf(repository), {
    "master": "a b s m",
    "feature": "f",
    "unnamed/6": "t",
  });
  assert.deepEqual([report.branches, report.tags], [3, 1]);
  assert.equal(repository.db.value("SELECT count(*) FROM leaf"), 3);
  const closed =
    "SELECT comment FROM tagxref JOIN event ON objid=rid WHERE tagxref.tagid=9 AND tagtype=1";
  assert.equal(repository.db.value(closed), "t");
  assert.match(new TextDecoder().decode(exported(repository)), /reset refs\/heads\/old\nfrom/);
});

Deno.test("what Fossil cannot store is reported and never silently dropped", async () => {
  const pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 5\n";
  const latin = Buffer.concat([
    encodeUtf8(
      `commit refs/heads/main\nmark :9\ncommitter ${AUTHOR}\nencoding ISO-8859-1\ndata 5\n`,
    ),
    Uint8Array.of(0x67, 0x72, 0xfc, 0xdf, 0x0a),
    encodeUtf8("from refs/heads/main^0\n\n"),
  ]);
  const stream = Buffer.concat([
    encodeUtf8(commit(
      "refs/heads/main",
      `M 160000 ${
        "1".repeat(40)
      } module\nM 100644 inline big.bin\ndata ${pointer.length}\n${pointer}\n` +
        "M 100644 inline _FOSSIL_\ndata 1\nx\nM 100644 inline kept\ndata 1\ny\n",
    )),
    latin,
  ]);
  using scratch = new Scratch();
  const { repository, report } = await imported(scratch, stream);
  using _ = repository;
  assert.deepEqual(report.notices.counts, { submodule: 1, "lfs-pointer": 1, path: 1, encoding: 1 });
  assert.deepEqual(
    report.notices.first.map(({ kind, subject }) => `${kind} ${subject}`).toSorted(),
    ["encoding commit :9", "lfs-pointer big.bin", "path _FOSSIL_", "submodule module"],
  );
  assert.equal(repository.db.value("SELECT comment FROM event ORDER BY objid DESC"), "grüß");
  const names = "SELECT group_concat(name) FROM (SELECT name FROM filename ORDER BY name)";
  assert.equal(repository.db.value(names), "big.bin,kept");
});

Deno.test("a file of a stream that Fossil would treat as an artifact is skipped and reported", async () => {
  using fixture = new Fixture();
  const trunk = fixture.repository.store.require(1);
  const stream = Buffer.concat([
    encodeUtf8(`blob\nmark :1\ndata ${trunk.length}\n`),
    trunk,
    encodeUtf8(commit("refs/heads/main", "M 100644 :1 evil\nM 100644 inline good\ndata 1\nx\n")),
  ]);
  const { repository, report } = await imported(fixture.scratch, stream);
  using _ = repository;
  assert.deepEqual(report.notices.counts, { artifact: 1 });
  assert.equal(report.checkins, 1);
  assert.equal(repository.db.value("SELECT count(*) FROM mlink"), 1);
});

Deno.test("an import requires an empty repository, and stops when it is cancelled", async () => {
  using fixture = new Fixture();
  const none = inPieces(new Uint8Array(0));
  await assert.rejects(importGit(fixture.repository, none), { code: "conflict" });
  const signal = AbortSignal.abort(new Error("stop"));
  const stream = commit("refs/heads/main", "");
  await assert.rejects(imported(fixture.scratch, stream, { signal }), /stop/);
});

Deno.test({
  name: "a Fossil history goes to Git with users, branches, forks, releases and amendments",
  ...peer("git"),
  fn: () => {
    using fixture = new Fixture();
    const { repository } = fixture;
    const first = fixture.commit([put("a b", "1\n"), put("run", "x", "executable")]);
    const release = { name: "v 1", checkin: first, message: "First release" };
    writeRelease(repository, { ...fixture.author("Zoë"), ...release });
    fixture.commit([put("a b", "2\n")], { branch: "side", user: "bob" });
    const fork = { parent: first, allowFork: true, comment: "fork" };
    fixture.commit([put("c", "1\n")], { ...fork, comment: "older fork" });
    fixture.commit([put("c", "2\n")], fork);
    writeWiki(repository, { ...fixture.author(), title: "Page", text: "text" });
    const pieces = exportGit(repository);
    const out: Uint8Array[] = [];
    let next = pieces.next();
    for (; next.done !== true; next = pieces.next()) out.push(next.value);
    initGit(fixture.scratch, "git");
    git(fixture.scratch, "git", ["fast-import", "--quiet"], Buffer.concat(out));
    const show = (...args: string[]) =>
      new TextDecoder().decode(git(fixture.scratch, "git", args)).trim();
    assert.equal(show("log", "--format=%s|%an <%ae>", "side", "-1"), "a commit|bob <bob>");
    assert.equal(show("log", "--format=%s", "main", "-1"), "fork");
    assert.equal(show("cat-file", "-p", "v_1").split("\n\n")[1], "First release");
    assert.match(show("cat-file", "-p", "v_1"), /^tagger Zoë <Zoë> /m);
    assert.equal(show("show", "side:a b"), "2");
    assert.match(show("ls-tree", "main", "run"), /^100755/);
    assert.match(show("for-each-ref", "--format=%(refname)"), /refs\/heads\/main-fork-/);
    assert.deepEqual(next.value.notices.counts, { ref: 2, kind: 1 });
  },
});

Deno.test("an export keeps check-ins without a branch", () => {
  using fixture = new Fixture();
  const { repository } = fixture;
  fixture.commit([put("a", "1\n")]);
  const lone = { kind: "manifest", baseline: null, comment: "lone", date: 0, files: [] } as const;
  repository.write({ user: "alice", ip: null }, () => {
    const rest = { mimetype: null, parents: [], cherrypicks: [], checksum: null, tags: [] };
    repository.add({ ...lone, ...rest, user: "alice" });
  });
  const stream = new TextDecoder().decode(exported(repository));
  assert.match(stream, /^reset refs\/heads\/main-fork-[0-9a-f]+\nfrom :\d+$/m);
});

/** The table of `fossil uv`, and the hash of a file that holds "a". */
const UNVERSIONED =
  "CREATE TABLE unversioned(uvid INTEGER PRIMARY KEY, name TEXT, rcvid, mtime, hash, sz, encoding, content)";
const hashOf = (text: string) => createHash("sha3-256").update(text).digest("hex");
const hashOfA = hashOf("a");

Deno.test("a repository file is imported by its artifacts, without its permissions", () => {
  using fixture = new Fixture();
  const { repository } = fixture;
  const tip = fixture.commit([put("a", "1\n")], { tags: ["v1"] });
  fixture.commit([put("a", "2\n")]);
  repository.config.set("project-name", "Name");
  repository.config.set("th1-setup", "puts hello");
  repository.db.exec(`${UNVERSIONED};
    INSERT INTO unversioned VALUES(7,'releases/v1/file',1,1700000000,'${hashOfA}',1,0,x'61'),
      (8,'deleted',1,1700000000,NULL,0,0,NULL)`);
  repository.checkpoint();
  const path = fixture.scratch.path("copy.fossil");
  using copy = createEmptyRepository(path, { admin: "root" });
  const report = importFossil(copy, fixture.path);
  assert.deepEqual([report.blobs, report.artifacts, report.phantoms], [5, 3, 0]);
  assert.deepEqual(report.settings.toSorted(), ["hash-policy", "project-code", "project-name"]);
  assert.equal(copy.config.get("th1-setup"), undefined);
  assert.equal(copy.config.get("project-code"), repository.config.get("project-code"));
  assert.equal(copy.db.value("SELECT count(*) FROM user WHERE login='alice'"), 0);
  assert.equal(copy.artifact(copy.ridOf(tip))?.kind, "manifest");
  copy.checkpoint();
  assert.deepEqual(difference(dumpTables(path), dumpTables(fixture.path)), []);
  const reader = new Reader(copy);
  assert.deepEqual(listUnversioned(reader).map(({ name }) => name), ["releases/v1/file"]);
  assert.deepEqual(readUnversioned(reader, "releases/v1/file").content, encodeUtf8("a"));
  writeCheckin(copy, {
    ...fixture.author(),
    parent: fixture.tip(),
    comment: "on",
    changes: [put("b", "")],
  });
});

Deno.test("an import takes content of Git LFS only if its name is the hash of it", () => {
  using fixture = new Fixture();
  const { repository } = fixture;
  const hashBy = (algorithm: string, text: string) =>
    createHash(algorithm).update(text).digest("hex");
  const files = [
    [`lfs/${hashBy("sha256", "right")}`, "right"],
    [`lfs/${hashBy("sha256", "good")}`, "evil"],
    ["lfs/readme", "text"],
  ] as const;
  repository.db.exec(`CREATE TABLE unversioned(uvid INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT UNIQUE, rcvid INTEGER, mtime DATETIME, hash TEXT, sz INTEGER, encoding INT,
    content BLOB)`);
  for (const [name, text] of files) {
    repository.db.run(
      "INSERT INTO unversioned VALUES(NULL,?,1,1700000000,?,?,0,?)",
      name,
      hashBy("sha3-256", text),
      text.length,
      encodeUtf8(text),
    );
  }
  repository.checkpoint();
  using copy = createEmptyRepository(fixture.scratch.path("copy.fossil"), { admin: "root" });
  const { notices } = importFossil(copy, fixture.path);
  const [, wrong] = files;
  assert.deepEqual(
    listUnversioned(new Reader(copy)).map(({ name }) => name).toSorted(),
    files.flatMap((file) => file === wrong ? [] : file[0]).toSorted(),
  );
  assert.deepEqual(notices.first.map(({ kind, subject }) => [kind, subject]), [
    ["content", wrong[0]],
  ]);
});

Deno.test("an import leaves private artifacts out, and what remains is whole", () => {
  using fixture = new Fixture();
  const { repository } = fixture;
  const text = "secret words\n".repeat(40);
  const secret = fixture.commit([put("a", text)], {
    isPrivate: true,
    branch: "private",
    comment: "secret",
  });
  const open = fixture.commit([put("b", "open\n".repeat(40))]);
  const secretFile = hashOf(text);
  // As a hostile file may have it: public artifacts as deltas of private ones.
  const content = repository.store.require(repository.ridOf(open));
  const source = repository.ridOf(secret);
  const delta = createDelta(repository.store.require(source), content);
  repository.db.run(
    "UPDATE blob SET content=? WHERE rid=?",
    packBlob(delta),
    repository.ridOf(open),
  );
  repository.db.run("REPLACE INTO delta VALUES(?,?)", repository.ridOf(open), source);
  // A tag alone makes this one private.
  const tagged = fixture.commit([put("c", "")], { isPrivate: true, branch: "tagged" });
  for (const hash of [tagged, hashOf("")]) {
    repository.db.run("DELETE FROM private WHERE rid=?", repository.ridOf(hash));
  }
  repository.checkpoint();
  const path = fixture.scratch.path("copy.fossil");
  using copy = createEmptyRepository(path, { admin: "root" });
  const { notices } = importFossil(copy, fixture.path);
  const left = copy.db.rows<{ uuid: string }>("SELECT uuid FROM blob").map(({ uuid }) => uuid);
  for (const hash of [secret, secretFile, tagged]) assert.ok(!left.includes(hash), hash);
  assert.ok(notices.counts.private !== undefined && notices.counts.private >= 3);
  assert.deepEqual(
    notices.first.map(({ kind }) => kind),
    Array(notices.counts.private).fill("private"),
  );
  assert.equal(copy.db.value("SELECT count(*) FROM private"), 0);
  assert.equal(
    copy.db.value("SELECT count(*) FROM delta WHERE srcid NOT IN (SELECT rid FROM blob)"),
    0,
  );
  assert.equal(copy.db.value("SELECT count(*) FROM phantom"), 0);
  assert.deepEqual(copy.verify(), []);
  assert.equal(copy.artifact(copy.ridOf(open))?.kind, "manifest");
  const comments = copy.db.rows<{ comment: string }>("SELECT comment FROM event");
  assert.ok(!comments.some(({ comment }) => comment === "secret"));
});

Deno.test("a damaged repository file is refused", () => {
  for (
    const damage of [
      "UPDATE blob SET content=(SELECT content FROM blob WHERE rid=1) WHERE rid=2",
      "UPDATE blob SET uuid='xyz' || substr(uuid,4) WHERE rid=2",
      "UPDATE blob SET content=x'7fffffff00' WHERE rid=2",
      "INSERT INTO delta VALUES(2,3),(3,2)",
      `${UNVERSIONED}; INSERT INTO unversioned VALUES(1,'a',1,1,'${"a".repeat(64)}',1,0,x'61')`,
    ]
  ) {
    using fixture = new Fixture();
    fixture.commit([put("a", "1\n".repeat(50))]);
    fixture.repository.db.exec(`DELETE FROM delta; ${damage}`);
    fixture.repository.checkpoint();
    const path = fixture.scratch.path("copy.fossil");
    using copy = createEmptyRepository(path, { admin: "root" });
    assert.throws(() => importFossil(copy, fixture.path), { code: "corrupt" }, damage);
  }
});
