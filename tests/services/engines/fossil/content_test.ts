import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import {
  type Artifact,
  createDelta,
  encodeUtf8,
  formatArtifact,
  md5,
  Repository,
  sha1,
  sha3,
  writeCheckin,
  writeTags,
  writeWiki,
} from "../../../../services/engines/fossil/mod.ts";
import { judged } from "./support/judges.ts";
import { Scratch } from "./support/fossil.ts";
import { History } from "./support/history.ts";
import { difference, dumpTables } from "./support/tables.ts";

const DATE = History.start;
const ALICE = { user: "alice", ip: null };

function create(scratch: Scratch, name = "new.fossil"): Repository {
  return Repository.create(scratch.path(name), { admin: "alice", date: DATE });
}

/** Changes a file behind the engine's back. */
function tamper(path: string, sql: string): void {
  const db = new DatabaseSync(path);
  db.exec(`PRAGMA foreign_keys=OFF; ${sql}`);
  db.close();
}

judged("fossil accepts a new repository", (program) => {
  using scratch = new Scratch(program);
  const path = scratch.path("new.fossil");
  const options = { admin: "alice", password: "secret", projectName: "Übung", date: DATE };
  Repository.create(path, options).close();
  assert.match(scratch.fossil(["info", "-R", path]), /project-name:\s+Übung/);
  assert.match(scratch.fossil(["timeline", "-R", path]), /initial empty check-in/);
  assert.match(scratch.fossil(["user", "capabilities", "alice", "-R", path]), /^s/);
  assert.match(scratch.fossil(["settings", "autosync", "-R", path]), /\b1\b/);
  const branches = scratch.fossil(["branch", "list", "-R", path]);
  assert.match(branches, /trunk/);
});

Deno.test("create() refuses a file that exists", () => {
  using scratch = new Scratch();
  const path = scratch.write("new.fossil", "mine");
  assert.throws(() => Repository.create(path, { admin: "a", date: DATE }), { code: "invalid" });
  assert.equal(Deno.readTextFileSync(path), "mine");
});

Deno.test("open() refuses files that are not repositories or contain code", () => {
  using scratch = new Scratch();
  const refused = { code: "unsupported" };
  assert.throws(() => Repository.open(scratch.path("absent")), refused);
  assert.throws(() => Repository.open(scratch.write("text", "x".repeat(5000))), refused);
  tamper(scratch.path("empty.db"), "CREATE TABLE t(x)");
  assert.throws(() => Repository.open(scratch.path("empty.db")), refused);
  const tricks = [
    "CREATE TRIGGER t AFTER INSERT ON event BEGIN DELETE FROM blob; END",
    "ALTER TABLE leaf RENAME TO x; CREATE VIEW leaf AS SELECT rid FROM x",
    "UPDATE config SET value='2099-01-01' WHERE name='aux-schema'",
    "UPDATE config SET value='9' WHERE name='content-schema'",
  ];
  for (const [i, sql] of tricks.entries()) {
    const name = `trick${i}.fossil`;
    create(scratch, name).close();
    tamper(scratch.path(name), sql);
    assert.throws(() => Repository.open(scratch.path(name)), refused, sql);
  }
});

Deno.test("a ticket schema from an untrusted file can only create the tables of tickets", () => {
  using scratch = new Scratch();
  const schemas = [
    "CREATE TABLE ticket(tkt_id INTEGER PRIMARY KEY); DELETE FROM blob",
    "CREATE TABLE ticket AS SELECT * FROM user",
    "CREATE TRIGGER t AFTER INSERT ON event BEGIN SELECT 1; END",
    "/* x */ ATTACH 'other' AS other",
  ];
  for (const [i, schema] of schemas.entries()) {
    using repository = create(scratch, `schema${i}.fossil`);
    repository.write(ALICE, () => repository.config.set("ticket-table", schema));
    const before = dumpTables(scratch.path(`schema${i}.fossil`));
    assert.throws(() => repository.rebuild(), { code: "unsupported" }, schema);
    assert.deepEqual(dumpTables(scratch.path(`schema${i}.fossil`)), before);
  }
});

Deno.test("an old schema can be read only after a rebuild", () => {
  using scratch = new Scratch();
  const path = scratch.path("old.fossil");
  create(scratch, "old.fossil").close();
  const expected = dumpTables(path);
  tamper(
    path,
    `UPDATE config SET value='2011-04-25 19:50' WHERE name='aux-schema';
     DROP TABLE plink; CREATE TABLE plink(pid, cid, isprim, mtime);
     DROP VIEW artifact;
     CREATE TABLE old(rid INTEGER PRIMARY KEY, rcvid INTEGER, size INTEGER,
       uuid TEXT UNIQUE NOT NULL, content BLOB, CHECK( length(uuid)>=40 AND rid>0 ));
     INSERT INTO old SELECT * FROM blob; DROP TABLE blob; ALTER TABLE old RENAME TO blob`,
  );
  using repository = Repository.open(path);
  assert.equal(repository.schema, "needs-rebuild");
  assert.throws(() => repository.write(ALICE, () => {}), { code: "unsupported" });
  repository.rebuild();
  assert.equal(repository.schema, "current");
  repository.write(ALICE, () => repository.receive(encodeUtf8("new")));
  assert.deepEqual(
    difference(
      dumpTables(path, ["blob", "unclustered"]),
      expected
        .filter((line) => !/^(?:blob|unclustered) /.test(line)),
    ),
    [],
  );
});

Deno.test("receive() and require() are inverse, whatever the delta chains", () => {
  using scratch = new Scratch();
  using repository = create(scratch);
  const bytes = fc.array(fc.uint8Array({ maxLength: 400 }), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(bytes, (contents) => {
      const rids = repository.write(ALICE, () => {
        const rids = contents.map((content) => repository.receive(content).rid);
        rids.forEach((rid, i) => repository.store.deltify(rid, rids[(i + 1) % rids.length] ?? 0));
        return rids;
      });
      rids.forEach((rid, i) => assert.deepEqual(repository.store.require(rid), contents[i]));
    }),
    { numRuns: 30 },
  );
});

Deno.test("names follow the hash policy, and known content keeps its name", () => {
  using scratch = new Scratch();
  using repository = create(scratch);
  const [first, second] = [encodeUtf8("first"), encodeUtf8("second")];
  const name = (content: Uint8Array) =>
    repository.store.hashOf(repository.write(ALICE, () => repository.receive(content).rid));
  repository.write(ALICE, () => repository.config.set("hash-policy", "0"));
  assert.equal(name(first), sha1(first));
  repository.write(ALICE, () => repository.config.set("hash-policy", "2"));
  assert.equal(name(first), sha1(first));
  assert.equal(name(second), sha3(second));
  repository.write(ALICE, () => repository.config.set("hash-policy", "4"));
  assert.throws(() =>
    repository.write(ALICE, () => {
      repository.receive(encodeUtf8("third"), { hash: sha1("third") });
    }), { code: "invalid" });
});

Deno.test("a deep delta chain is read at once", () => {
  using scratch = new Scratch();
  using repository = create(scratch);
  const version = (i: number) => encodeUtf8(`${"some line of text\n".repeat(20)}version ${i}\n`);
  const rids = repository.write(
    ALICE,
    () => Array.from({ length: 1500 }, (_, i) => repository.receive(version(i)).rid),
  );
  repository.write(ALICE, () => {
    for (let i = 0; i + 1 < rids.length; i++) repository.store.deltify(rids[i]!, rids[i + 1]!);
  });
  repository.store.dropCaches();
  assert.deepEqual(repository.store.require(rids[0]!), version(0));
});

Deno.test("a rebuild drops, on demand, what nobody can read, and names that no artifact has", () => {
  using scratch = new Scratch();
  using repository = create(scratch);
  const [base, kept] = [encodeUtf8("base ".repeat(50)), encodeUtf8("kept ".repeat(50))];
  const absent = sha3("absent");
  const control: Artifact = {
    kind: "control",
    date: DATE,
    tags: [{ sign: "+", name: "sym-x", target: absent, value: null }],
    user: "a",
  };
  repository.write(ALICE, () => {
    repository.receive(createDelta(base, kept), { hash: sha3(kept), deltaSource: sha3(base) });
    repository.add(control);
    repository.receive(encodeUtf8("whole"));
  });
  assert.equal(repository.examine().missing_count, 3);
  assert.equal(repository.rebuild().phantoms, 2);
  assert.equal(repository.rebuild({ dropsMissing: true }).phantoms, 1);
  assert.deepEqual(repository.examine().missing.map(({ hash }) => hash), [absent]);
});

Deno.test("a dangling delta with the wrong content becomes a phantom when its source comes", () => {
  using scratch = new Scratch();
  using repository = create(scratch);
  const base = encodeUtf8("a base of some length ".repeat(9));
  const options = { hash: sha3("promised"), deltaSource: sha3(base) };
  const { rid, isAvailable } = repository.write(
    ALICE,
    () => repository.receive(createDelta(base, encodeUtf8("delivered")), options),
  );
  assert.equal(isAvailable, false);
  assert.throws(() => repository.store.require(rid), { code: "missing" });
  repository.write(ALICE, () => repository.receive(base));
  assert.equal(repository.store.sizeOf(rid), -1);
  repository.write(ALICE, () => repository.receive(encodeUtf8("promised"), { hash: options.hash }));
  assert.deepEqual(repository.store.require(rid), encodeUtf8("promised"));
});

Deno.test("an inspector sees what a delta hid until its source came, and can refuse it", () => {
  using scratch = new Scratch();
  using repository = create(scratch);
  const target = repository.db.value<string>("SELECT uuid FROM blob WHERE rid=1") ?? "";
  const tags = [{ sign: "+", name: "closed", target, value: null }] as const;
  const control = formatArtifact({ kind: "control", date: DATE, tags, user: "mallory" });
  const base = encodeUtf8("a base of some length ".repeat(9));
  const options = { hash: sha3(control), deltaSource: sha3(base) };
  repository.write(ALICE, () => repository.receive(createDelta(base, control), options));
  const before = dumpTables(scratch.path("new.fossil"));
  const seen: string[] = [];
  const refuse = () =>
    repository.write(ALICE, () => repository.receive(base), {
      inspect: (artifact, hash) => {
        seen.push(`${artifact.kind} ${hash}`);
        throw new Error("not you");
      },
    });
  assert.throws(refuse, /not you/);
  assert.deepEqual(seen, [`control ${sha3(control)}`]);
  assert.deepEqual(dumpTables(scratch.path("new.fossil")), before);
});

Deno.test("what waits for a source and a baseline is linked once when each comes", () => {
  using scratch = new Scratch();
  using repository = create(scratch);
  const parent = repository.db.value<string>("SELECT uuid FROM blob WHERE rid=1")!;
  const manifest = (number: number, baseline: string | null) =>
    formatArtifact({
      kind: "manifest",
      baseline,
      comment: `number ${number}`,
      date: DATE + number,
      files: [],
      mimetype: null,
      parents: [parent],
      cherrypicks: [],
      checksum: md5(""),
      tags: [],
      user: "a",
    });
  const base = manifest(1, null);
  const [first, second] = [manifest(2, sha3(base)), manifest(3, sha3(base))];
  const tags = [{ sign: "+", name: "sym-x", target: parent, value: null }] as const;
  const control = formatArtifact({ kind: "control", date: DATE, tags, user: "a" });
  const seen = new Map<string, number>();
  const count = (hash: string) => seen.set(hash, 1 + (seen.get(hash) ?? 0));
  const deltaOf = (content: Uint8Array, source: Uint8Array) =>
    repository.receive(createDelta(source, content), {
      hash: sha3(content),
      deltaSource: sha3(source),
    });
  repository.write(ALICE, () => {
    deltaOf(control, first);
    deltaOf(first, second);
    repository.receive(second);
    repository.receive(base);
  }, { inspect: (_, hash) => count(hash) });
  const counts = [base, first, second, control].map((content) => seen.get(sha3(content)));
  assert.deepEqual(counts, [1, 2, 2, 1]);
});

Deno.test("corrupt data causes an error, never a wrong answer", () => {
  using scratch = new Scratch();
  const path = scratch.path("new.fossil");
  const rids = [0, 1].map((i) => encodeUtf8(`content ${i} `.repeat(20)));
  {
    using repository = create(scratch);
    repository.write(ALICE, () => rids.forEach((content) => repository.receive(content)));
  }
  tamper(path, "INSERT INTO delta VALUES(2,3),(3,2)");
  {
    using repository = Repository.open(path);
    assert.throws(() => repository.store.get(2), { code: "corrupt" });
  }
  tamper(path, "DELETE FROM delta; UPDATE blob SET content=x'7fffffff00' WHERE rid=2");
  using repository = Repository.open(path);
  assert.throws(() => repository.store.get(2), { code: "limit" });
  assert.deepEqual(repository.verify().map(({ hash }) => hash), [repository.store.hashOf(2)]);
});

Deno.test("a transaction that writes unreadable data is rolled back", () => {
  using scratch = new Scratch();
  using repository = create(scratch);
  const before = dumpTables(scratch.path("new.fossil"));
  const write = () => {
    const { rid } = repository.receive(encodeUtf8("right"));
    const rename = "UPDATE blob SET uuid=? WHERE rid=?";
    repository.db.run(rename, repository.store.nameOf(encodeUtf8("wrong")), rid);
  };
  assert.throws(() => repository.write(ALICE, write), { code: "corrupt" });
  assert.deepEqual(dumpTables(scratch.path("new.fossil")), before);
});

Deno.test("a write that throws leaves nothing behind, in the file or in memory", () => {
  using scratch = new Scratch();
  using repository = create(scratch);
  const parent = repository.db.value<string>("SELECT uuid FROM blob WHERE rid=1") ?? "";
  const author = { user: "alice", date: DATE + 1000 };
  const checkin = { ...author, parent, comment: "c" };
  const change = { kind: "write", path: "a", content: encodeUtf8("a") } as const;
  const before = dumpTables(scratch.path("new.fossil"));
  assert.throws(() =>
    repository.write(ALICE, () => {
      writeCheckin(repository, { ...checkin, changes: [change] });
      writeWiki(repository, { ...author, title: "T", text: "t" });
      throw new Error("stop");
    }), /stop/);
  assert.deepEqual(dumpTables(scratch.path("new.fossil")), before);
  writeCheckin(repository, { ...checkin, changes: [change] });
  assert.equal(repository.db.value("SELECT count(*) FROM event"), 2);
});

Deno.test("a failed nested write rolls back both, even if its error is caught", () => {
  using scratch = new Scratch();
  using repository = create(scratch);
  const before = dumpTables(scratch.path("new.fossil"));
  const author = { user: "alice", date: DATE + 1000 };
  const swallow = () =>
    repository.write(ALICE, () => {
      writeWiki(repository, { ...author, title: "First", text: "t" });
      const half = () =>
        repository.write(ALICE, () => {
          repository.receive(encodeUtf8("half of something"));
          throw new Error("stop");
        });
      assert.throws(half, /stop/);
    });
  assert.throws(swallow, /stop/);
  assert.deepEqual(dumpTables(scratch.path("new.fossil")), before);
  writeWiki(repository, { ...author, title: "First", text: "t" });
});

Deno.test("another connection's write is noticed", () => {
  using scratch = new Scratch();
  using first = create(scratch);
  using second = Repository.open(scratch.path("new.fossil"));
  const content = encodeUtf8("content");
  const rid = first.write(ALICE, () => first.receive(content).rid);
  assert.deepEqual(first.read(() => first.store.get(rid)), content);
  second.write(ALICE, () => {
    second.db.run("DELETE FROM blob WHERE rid=?", rid);
  });
  assert.equal(first.read(() => first.store.get(rid)), null);
});

Deno.test("artifacts of a public check-in become public, and never depend on a private delta", () => {
  using scratch = new Scratch();
  using repository = create(scratch);
  const { store } = repository;
  const [old, young] = [encodeUtf8("text ".repeat(50)), encodeUtf8(`${"text ".repeat(50)}!`)];
  repository.write(ALICE, () => {
    const [first, second] = [old, young].map((c) => repository.receive(c, { isPrivate: true }).rid);
    store.deltify(first!, second!);
    assert.equal(store.sourceOf(first!), second);
  });
  const parent = repository.db.value<string>("SELECT uuid FROM blob WHERE rid=1") ?? "";
  writeCheckin(repository, {
    user: "alice",
    date: DATE + 1000,
    parent,
    comment: "c",
    changes: [{ kind: "write", path: "a", content: old }],
  });
  const rid = repository.ridOf(store.nameOf(old));
  assert.deepEqual([store.isPrivate(rid), store.sourceOf(rid)], [false, 0]);
  assert.ok(store.isPrivate(repository.ridOf(store.nameOf(young))));
});

Deno.test("an artifact that becomes private is no longer the source of a public delta", () => {
  using scratch = new Scratch();
  using repository = create(scratch);
  const { store } = repository;
  const [old, young] = [encodeUtf8("text ".repeat(50)), encodeUtf8(`${"text ".repeat(50)}!`)];
  const tagged = repository.write(ALICE, () => {
    const rids = [old, young].map((content) => repository.receive(content).rid);
    store.deltify(rids[0]!, rids[1]!);
    return rids;
  });
  const target = store.hashOf(tagged[1]!) ?? "";
  writeTags(repository, {
    user: "alice",
    date: DATE + 1000,
    changes: [{ sign: "+", name: "private", target }],
  });
  assert.deepEqual([store.isPrivate(tagged[1]!), store.sourceOf(tagged[0]!)], [true, 0]);
  const source = encodeUtf8("another text ".repeat(20));
  const result = encodeUtf8(`${"another text ".repeat(20)}!`);
  const options = { hash: sha3(result), deltaSource: sha3(source) };
  const { rid } = repository.write(
    ALICE,
    () => repository.receive(createDelta(source, result), options),
  );
  repository.write(ALICE, () => repository.receive(source, { isPrivate: true }));
  assert.deepEqual([store.require(rid), store.sourceOf(rid)], [result, 0]);
});

judged("shunned artifacts are refused, and gone after a rebuild, as in fossil", (program) => {
  using scratch = new Scratch(program);
  const path = scratch.path("new.fossil");
  {
    using repository = create(scratch);
    new History(repository, 11).run(60);
    const hashes = repository.db.rows<{ uuid: string }>(
      "SELECT uuid FROM blob WHERE rid>1 AND rid%7=0",
    ).map(({ uuid }) => uuid);
    repository.write(ALICE, () => hashes.forEach((hash) => repository.shun(hash)));
  }
  Deno.copyFileSync(path, scratch.path("theirs.fossil"));
  scratch.fossil(["rebuild", scratch.path("theirs.fossil")]);
  using repository = Repository.open(path);
  repository.rebuild();
  const theirs = dumpTables(scratch.path("theirs.fossil"));
  assert.deepEqual(difference(dumpTables(path), theirs), []);
  const hash = repository.db.value<string>("SELECT uuid FROM shun") ?? "";
  assert.throws(() =>
    repository.write(ALICE, () =>
      repository.receive(encodeUtf8("x"), {
        hash: sha3("x"),
        deltaSource: hash,
      })), { code: "invalid" });
});

Deno.test("no circle of deltas is stored, in whatever order and however late it closes", () => {
  using scratch = new Scratch();
  using repository = create(scratch);
  const { store } = repository;
  const versions = [0, 1, 2, 3].map((i) => encodeUtf8(`${"text ".repeat(50)}${i}`));
  const names = versions.map((content) => sha3(content));
  const receive = (target: number, source: number) =>
    repository.write(
      ALICE,
      () =>
        repository.receive(createDelta(versions[source]!, versions[target]!), {
          hash: names[target]!,
          deltaSource: names[source]!,
        }),
    );
  for (const [target, source] of [[2, 3], [0, 1], [1, 2]]) receive(target!, source!);
  for (const source of [0, 1, 2, 3]) assert.throws(() => receive(3, source), /depends on itself/);
  const circles = "SELECT count(*) FROM delta JOIN blob USING(rid) WHERE size<0 OR content IS NULL";
  assert.equal(repository.db.value(circles), 0);
  repository.write(ALICE, () => repository.receive(versions[3]!));
  for (const [i, name] of names.entries()) {
    assert.deepEqual(store.require(repository.ridOf(name)), versions[i]);
  }
  assert.deepEqual(repository.verify(), []);
});

Deno.test("what waits for a deleted artifact is not taken for a delta of the next one", () => {
  using scratch = new Scratch();
  using repository = create(scratch);
  const [source, target] = [encodeUtf8("gone ".repeat(50)), encodeUtf8(`${"gone ".repeat(50)}!`)];
  const options = { hash: sha3(target), deltaSource: sha3(source) };
  repository.write(ALICE, () => {
    repository.receive(createDelta(source, target), options);
    repository.shun(options.deltaSource);
  });
  repository.rebuild();
  repository.write(ALICE, () => repository.receive(encodeUtf8("another one")));
  assert.equal(repository.db.value("SELECT count(*) FROM delta"), 0);
  assert.deepEqual(repository.verify(), []);
  repository.write(ALICE, () => repository.receive(target));
  assert.deepEqual(repository.store.require(repository.ridOf(options.hash)), target);
});

Deno.test("one artifact in 4,096 stays full text, which bounds the chains of deltas", () => {
  using scratch = new Scratch();
  using repository = create(scratch);
  const { store } = repository;
  const version = (i: number) => encodeUtf8(`${"text ".repeat(50)}${i}`);
  const whole = Array.from({ length: 60_000 }, (_, i) => i)
    .find((i) => sha3(version(i)).startsWith("000")) ?? 0;
  repository.write(ALICE, () => {
    const [first, second, last] = [whole, whole + 1, whole + 2]
      .map((i) => repository.receive(version(i)).rid);
    store.deltify(first!, second!);
    store.deltify(second!, last!);
    assert.deepEqual([store.sourceOf(first!), store.sourceOf(second!)], [0, last]);
  });
});
