/** What strangers may send: refused with a clear error, or harmless. */
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { deflateSync } from "node:zlib";
import {
  amendCheckin,
  createDelta,
  encodeUtf8,
  exportGit,
  formatArtifact,
  FossilError,
  listAttachments,
  listBranches,
  listForumThreads,
  listTags,
  listTechnotes,
  listTickets,
  listWikiPages,
  previewMerge,
  previewPick,
  readActivity,
  readAttachment,
  readBlame,
  readDiff,
  Reader,
  readForumThread,
  readHistory,
  readStatistics,
  readTechnote,
  readTicket,
  readTimeline,
  readTree,
  readWikiPage,
  Repository,
  resolveCheckin,
  SearchIndex,
  sha3,
  writeAttachment,
  writeCheckin,
  writeMerge,
  writeWiki,
} from "../../../../services/engines/fossil/mod.ts";
import { peer } from "../../../support/peers.ts";
import { Fixture, put } from "./support/fixture.ts";
import { Scratch } from "./support/fossil.ts";
import { judges } from "./support/judges.ts";
import { Mallory } from "./support/mallory.ts";
import { dumpTables } from "./support/tables.ts";
import { THOROUGH } from "../../../support/level.ts";

const MALLORY = { user: "mallory", ip: null };

/** Asserts that work throws an error of the engine with a sentence, and gives its code. */
function refusal(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    assert.ok(error instanceof FossilError, String(error));
    assert.match(error.message, /^[A-Z"][^\n]{8,300}$/);
    return error.code;
  }
  return "none";
}

/** Changes a file behind the engine's back. */
function tamper(path: string, sql: string, ...values: (Uint8Array | number)[]): void {
  const db = new DatabaseSync(path);
  db.exec("PRAGMA foreign_keys=OFF");
  db.prepare(sql).run(...values);
  db.close();
}

Deno.test("content that does not match its hash is refused, and the repository is unchanged", () => {
  using fixture = new Fixture();
  const { repository } = fixture;
  fixture.commit([put("a", "text\n".repeat(100))]);
  const base = repository.store.require(repository.ridOf(
    repository.db.value<string>("SELECT uuid FROM blob WHERE size=500") ?? "",
  ));
  const [wanted, other] = [sha3("wanted"), sha3("other")];
  const delta = (text: string, hash: string, deltaSource: string) =>
    repository.receive(encodeUtf8(text), { hash, deltaSource });
  const before = dumpTables(fixture.path);
  const attempts: readonly [name: string, code: string, attempt: () => unknown][] = [
    ["wrong hash", "corrupt", () => repository.receive(base, { hash: wanted })],
    ["no hash at all", "corrupt", () => repository.receive(base, { hash: "abc" })],
    ["wrong hash of a delta", "corrupt", () => {
      const bytes = createDelta(base, encodeUtf8("delivered"));
      return repository.receive(bytes, { hash: wanted, deltaSource: sha3(base) });
    }],
    ["a delta that declares 4 GB", "limit", () => delta("3~~~~~\n1:x0;", wanted, sha3(base))],
    ["a dangling one", "limit", () => delta("3~~~~~\n1:x0;", wanted, other)],
    [
      "a delta that copies more than its source has",
      "corrupt",
      () => delta("80\n80@0,0;", wanted, sha3(base)),
    ],
    [
      "a delta that copies from behind its source",
      "corrupt",
      () => delta("1\n1@~~~~~,0;", wanted, sha3(base)),
    ],
    [
      "a delta that gives more than it declares",
      "corrupt",
      () => delta("1\n7@0,7@0,7@0,0;", wanted, sha3(base)),
    ],
    ["no delta at all", "corrupt", () => delta("no delta", wanted, other)],
    ["a delta that is cut off", "corrupt", () => delta("9\n9:abc", wanted, sha3(base))],
    ["a delta of itself", "corrupt", () => delta("1\n1:x0;", wanted, wanted)],
    ["deltas of one another", "corrupt", () => {
      delta("1\n1:x0;", wanted, other);
      delta("1\n1:x0;", other, wanted);
    }],
    ["a file that is an artifact", "invalid", () => {
      const tags = [{ sign: "+", name: "closed", target: fixture.tip(), value: null }] as const;
      const content = formatArtifact({ kind: "control", date: 0, tags, user: "mallory" });
      const changes = [{ kind: "write", path: "innocent.txt", content }] as const;
      const checkin = { ...fixture.author(), parent: fixture.tip(), comment: "c", changes };
      return writeCheckin(repository, checkin);
    }],
  ];
  for (const [name, code, attempt] of attempts) {
    assert.equal(refusal(() => repository.write(MALLORY, attempt)), code, name);
    assert.deepEqual(dumpTables(fixture.path), before, name);
  }
  assert.deepEqual(repository.verify(), []);
});

Deno.test("an artifact as an attachment is packed, and has no effect", () => {
  using fixture = new Fixture();
  const { repository } = fixture;
  const leaf = fixture.commit([put("a", "a")]);
  const tags = [{ sign: "+", name: "closed", target: leaf, value: null }] as const;
  const content = formatArtifact({ kind: "control", date: 0, tags, user: "mallory" });
  writeWiki(repository, { ...fixture.author(), title: "Home", text: "t" });
  const attachment = { ...fixture.author(), target: "Home", name: "log", content };
  writeAttachment(repository, { ...attachment, comment: "c" });
  const closed = "SELECT count(*) FROM tagxref WHERE tagid=9";
  assert.equal(repository.db.value(closed), 0);
});

Deno.test("reading a file with inconsistent rows is an error, and a rebuild does not change it", () => {
  const bomb = deflateSync(new Uint8Array(64 * 1024 * 1024));
  const packed = (size: number, stream: Uint8Array) => {
    const bytes = new Uint8Array(4 + stream.length);
    new DataView(bytes.buffer).setUint32(0, size);
    bytes.set(stream, 4);
    return bytes;
  };
  const lies: readonly [name: string, codes: RegExp, content: Uint8Array][] = [
    ["2 GB declared", /limit/, packed(0x7fffffff, deflateSync(encodeUtf8("x")))],
    ["64 MB in 10 bytes", /corrupt|limit/, packed(10, bomb)],
    ["less than declared", /corrupt/, packed(99, deflateSync(encodeUtf8("x")))],
    ["no stream", /corrupt/, packed(10, encodeUtf8("not zlib"))],
    ["nothing", /corrupt/, new Uint8Array(2)],
    ["other content", /corrupt|none/, packed(1, deflateSync(encodeUtf8("x")))],
  ];
  for (const [name, codes, content] of lies) {
    using fixture = new Fixture();
    fixture.commit([put("a", "text\n".repeat(100))]);
    const { rid } = fixture.repository.db.row<{ rid: number }>(
      "SELECT rid FROM blob WHERE size=500",
    )!;
    fixture.repository.checkpoint();
    tamper(fixture.path, "UPDATE blob SET content=? WHERE rid=?", content, rid);
    const before = dumpTables(fixture.path);
    assert.match(
      refusal(() => fixture.repository.read(() => fixture.repository.store.get(rid))),
      codes,
    );
    assert.equal(fixture.repository.verify().length, 1, name);
    if (name !== "other content") {
      assert.match(refusal(() => fixture.repository.rebuild()), codes, name);
      assert.deepEqual(dumpTables(fixture.path), before, name);
    }
  }
});

Deno.test(
  "a delta chain that is a loop, or of deltas that do not fit, is an error",
  THOROUGH,
  () => {
    using fixture = new Fixture();
    const { repository } = fixture;
    const rid = repository.write(MALLORY, () => repository.receive(encodeUtf8("end")).rid);
    repository.checkpoint();
    tamper(
      fixture.path,
      `WITH RECURSIVE n(i) AS (SELECT ?+1 UNION ALL SELECT i+1 FROM n LIMIT 102000)
      INSERT INTO blob(rid,rcvid,size,uuid,content)
        SELECT i, 1, 1, printf('%064x',i), x'0000000178da4b04000062006200' FROM n`,
      rid,
    );
    tamper(fixture.path, "INSERT INTO delta SELECT rid, rid-1 FROM blob WHERE rid>?", rid);
    const last = repository.db.value<number>("SELECT max(rid) FROM blob") ?? 0;
    assert.equal(refusal(() => repository.read(() => repository.store.get(last))), "corrupt");
    assert.match(refusal(() => repository.rebuild()), /corrupt/);
    const end = rid + 2000;
    tamper(fixture.path, "DELETE FROM blob WHERE rid>?", end);
    tamper(fixture.path, "DELETE FROM delta WHERE rid>?", end);
    tamper(fixture.path, "UPDATE delta SET srcid=? WHERE rid=?", end, rid + 1);
    assert.equal(refusal(() => repository.read(() => repository.store.get(end))), "corrupt");
    assert.equal(repository.verify().length, 2000);
  },
);

for (const order of ["first to last", "last to first"]) {
  Deno.test(`deltas that wait in a long chain, sent from ${order}, come when its source does`, () => {
    using fixture = new Fixture();
    const { repository } = fixture;
    const text = "some line of text\n".repeat(9);
    const version = (i: number) => encodeUtf8(`${text}version ${i}\n`);
    const names = Array.from({ length: 3000 }, (_, i) => sha3(version(i)));
    const numbers = names.keys().drop(1).toArray();
    if (order === "last to first") numbers.reverse();
    repository.write(MALLORY, () => {
      for (const i of numbers) {
        const delta = createDelta(version(i - 1), version(i));
        repository.receive(delta, { hash: names[i]!, deltaSource: names[i - 1]! });
      }
    });
    assert.equal(repository.db.value("SELECT count(*) FROM phantom"), 1);
    repository.write(MALLORY, () => repository.receive(version(0)));
    assert.equal(repository.db.value("SELECT count(*) FROM phantom"), 0);
    assert.deepEqual(repository.store.require(repository.ridOf(names.at(-1)!)), version(2999));
    assert.deepEqual(repository.verify(), []);
  });
}

/** Everything that can be asked of a repository; what cannot be answered is an error of ours. */
function askEverything(repository: Repository): void {
  const reader = new Reader(repository);
  const ask = (work: () => unknown) => {
    try {
      work();
    } catch (error) {
      if (!(error instanceof FossilError)) throw error;
    }
  };
  const { checkins } = readTimeline(reader, { limit: 1000, graph: true });
  readActivity(reader, { limit: 1000 });
  readStatistics(reader);
  listTags(reader);
  for (const { name } of listBranches(reader)) {
    for (const prefix of ["", "root:", "start:", "merge-in:"]) {
      ask(() => resolveCheckin(reader, prefix + name));
    }
  }
  for (const { name } of listWikiPages(reader, { deleted: true })) {
    ask(() => readWikiPage(reader, name));
  }
  for (const { uuid } of listTickets(reader).tickets) ask(() => readTicket(reader, uuid));
  for (const { id } of listTechnotes(reader).technotes) ask(() => readTechnote(reader, id));
  for (const { uuid } of listForumThreads(reader).threads) ask(() => readForumThread(reader, uuid));
  ask(() =>
    listAttachments(reader, "Home").map((one) => readAttachment(reader, { target: "Home", ...one }))
  );
  for (const [i, { uuid: checkin }] of checkins.entries()) {
    const other = checkins[(i * 7 + 3) % checkins.length]?.uuid ?? "";
    ask(() => readTree(reader, { checkin, recursive: true }));
    ask(() => readDiff(reader, { from: other, to: checkin }));
    ask(() => readHistory(reader, { checkin, path: "a" }));
    ask(() => readBlame(reader, { checkin, path: "a" }));
    ask(() => previewMerge(repository, { ours: checkin, theirs: other }));
    ask(() => previewPick(repository, { onto: other, checkin }));
  }
  using index = SearchIndex.open(":memory:", reader);
  index.search({ query: "mallory OR x" });
  ask(() => [...exportGit(repository)]);
}

Deno.test("nonsensical artifacts do no harm, here and in fossil", peer("fossil"), () => {
  for (const seed of [1, 2, 3, 4]) {
    using fixture = new Fixture();
    const { repository } = fixture;
    fixture.commit([put("a", "1\n2\n3\n"), put("b", "b\n")]);
    fixture.commit([put("a", "1\n2\n3\n4\n")]);
    new Mallory(repository, seed).send(120);
    askEverything(repository);
    assert.deepEqual(repository.verify(), []);
    repository.checkpoint();
    for (const program of judges()) {
      using judge = new Scratch(program);
      assert.match(judge.fossil(["test-integrity", "-R", fixture.path]), / 0 errors/, program);
    }
    repository.rebuild();
    askEverything(repository);
  }
});

Deno.test("every walk ends at a loop of parents made by tags", () => {
  using fixture = new Fixture();
  const { repository } = fixture;
  const first = fixture.commit([put("a", "1\n")]);
  const second = fixture.commit([put("a", "1\n2\n")]);
  const side = fixture.commit([put("a", "0\n1\n")], { parent: first, allowFork: true });
  amendCheckin(repository, { ...fixture.author(), checkin: first, parents: [second] });
  askEverything(repository);
  const sides = { ours: second, theirs: side, allowFork: true };
  const merge = () => writeMerge(repository, { ...fixture.author(), ...sides });
  const before = dumpTables(fixture.path);
  assert.equal(refusal(merge), "invalid");
  assert.deepEqual(dumpTables(fixture.path), before);
  const reader = new Reader(repository);
  const { lines } = readBlame(reader, { checkin: second, path: "a" });
  assert.deepEqual(lines.map(({ text }) => text), ["1", "2"]);
});
