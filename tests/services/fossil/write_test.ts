import assert from "node:assert/strict";
import {
  amendCheckin,
  encodeUtf8,
  type FileChange,
  filesOf,
  formatArtifact,
  FossilError,
  Repository,
  writeAttachment,
  writeBranch,
  writeCheckin,
  writeForumPost,
  writeTags,
  writeTechnote,
  writeTicketChange,
  writeWiki,
} from "../../../services/fossil/mod.ts";
import { peer } from "../../support/peers.ts";
import { Scratch } from "./support/fossil.ts";
import { History } from "./support/history.ts";
import { difference, dumpTables } from "./support/tables.ts";

/** A repository, with a clock that goes on by a minute for each write. */
class Fixture implements Disposable {
  readonly scratch = new Scratch();
  readonly path = this.scratch.path("fixture.fossil");
  readonly repository = Repository.create(this.path, { admin: "alice", date: History.start });
  #now = History.start;

  author(user = "alice") {
    this.#now += 60_000;
    return { user, date: this.#now };
  }

  tip(branch = "trunk"): string {
    return this.repository.db.value<string>(
      `SELECT uuid FROM tagxref JOIN blob USING(rid) JOIN event ON objid=rid
        WHERE tagxref.tagid=8 AND value=? ORDER BY event.mtime DESC LIMIT 1`,
      branch,
    ) ?? "";
  }

  commit(changes: readonly FileChange[], more: Partial<Parameters<typeof writeCheckin>[1]> = {}) {
    const checkin = { ...this.author(), parent: this.tip(), comment: "a commit", changes, ...more };
    return writeCheckin(this.repository, checkin);
  }

  fossil(...args: readonly string[]): string {
    return this.scratch.fossil([...args, "-R", this.path]);
  }

  /** What every write must hold: all content decodes and parses, a rebuild changes nothing. */
  assertSound(): void {
    const copy = this.scratch.path("copy.fossil");
    this.repository.checkpoint();
    Deno.copyFileSync(this.path, copy);
    assert.match(this.scratch.fossil(["test-integrity", "--parse", "-R", copy]), / 0 errors/);
    this.scratch.fossil(["rebuild", copy]);
    assert.deepEqual(difference(dumpTables(this.path), dumpTables(copy)), []);
  }

  [Symbol.dispose](): void {
    this.repository.close();
    this.scratch[Symbol.dispose]();
  }
}

function put(path: string, text: string, mode?: "executable" | "link"): FileChange {
  const change = { kind: "write", path, content: encodeUtf8(text) } as const;
  return mode === undefined ? change : { ...change, mode };
}

function refuses(code: FossilError["code"], work: () => unknown): void {
  assert.throws(work, (error: unknown) => error instanceof FossilError && error.code === code);
}

Deno.test({
  name: "a checkout of fossil has what writeCheckin() wrote, and both commit on top of the other",
  ...peer("fossil"),
  fn() {
    using fixture = new Fixture();
    const { scratch } = fixture;
    fixture.commit([
      put("README.md", "hello\n"),
      put("run.sh", "#!/bin/sh\n", "executable"),
      put("dir with space/ü 😀.txt", "text\n"),
      put("empty", ""),
      put("gone", "x"),
    ]);
    fixture.commit([
      { kind: "move", from: "README.md", path: "docs/README.md", content: encodeUtf8("moved\n") },
      { kind: "delete", path: "gone" },
      { kind: "mode", path: "run.sh", mode: "file" },
    ], { tags: ["v1"], checksum: true });
    const checkout = scratch.path("checkout");
    Deno.mkdirSync(checkout);
    scratch.fossil(["open", fixture.path], checkout);
    assert.equal(Deno.readTextFileSync(`${checkout}/docs/README.md`), "moved\n");
    assert.equal(Deno.readTextFileSync(`${checkout}/dir with space/ü 😀.txt`), "text\n");
    assert.equal((Deno.statSync(`${checkout}/run.sh`).mode ?? 0) & 0o111, 0);
    assert.throws(() => Deno.statSync(`${checkout}/gone`), Deno.errors.NotFound);
    assert.match(fixture.fossil("tag", "list"), /v1/);
    Deno.writeTextFileSync(`${checkout}/theirs.txt`, "theirs\n");
    scratch.fossil(["add", "theirs.txt"], checkout);
    scratch.fossil(["commit", "-m", "theirs", "--no-warnings", "--allow-older"], checkout);
    const parent = fixture.repository.read(() =>
      fixture.repository.db.value<string>(
        "SELECT uuid FROM event JOIN blob ON rid=objid WHERE comment='theirs'",
      )
    );
    assert.ok(parent);
    fixture.commit([put("theirs.txt", "ours\n")], { parent, date: Date.now() + 60_000 });
    scratch.fossil(["update"], checkout);
    assert.equal(Deno.readTextFileSync(`${checkout}/theirs.txt`), "ours\n");
    fixture.assertSound();
  },
});

Deno.test({
  name: "branches, merges, tags and amendments are what fossil shows",
  ...peer("fossil"),
  fn() {
    using fixture = new Fixture();
    const { repository } = fixture;
    const first = fixture.commit([put("a", "a\n")]);
    const branch = writeBranch(repository, { ...fixture.author(), name: "feature x", from: first });
    const second = fixture.commit([put("b", "b\n")], { parent: branch });
    fixture.commit([put("c", "c\n")]);
    fixture.commit([put("b", "b\n")], { merged: [second], integrated: [second], comment: "merge" });
    assert.match(fixture.fossil("branch", "list", "--closed"), /feature x/);
    assert.doesNotMatch(fixture.fossil("branch", "list"), /feature x/);
    amendCheckin(repository, {
      ...fixture.author(),
      checkin: first,
      comment: "edited comment",
      newUser: "bob",
    });
    const change = { sign: "+", name: "sym-release", target: first } as const;
    writeTags(repository, { ...fixture.author(), changes: [change] });
    const info = fixture.fossil("info", "release");
    assert.match(info, /comment:\s+edited comment/);
    assert.match(info, new RegExp(first.slice(0, 40)));
    writeTags(repository, { ...fixture.author(), changes: [{ ...change, sign: "-" }] });
    assert.doesNotMatch(fixture.fossil("tag", "list"), /release/);
    const leaf = fixture.commit([put("d", "d\n")]);
    amendCheckin(repository, { ...fixture.author(), checkin: leaf, closed: true });
    refuses("conflict", () => fixture.commit([put("d", "e\n")], { parent: leaf }));
    amendCheckin(repository, { ...fixture.author(), checkin: leaf, closed: false });
    fixture.commit([put("d", "e\n")], { parent: leaf });
    const moved = fixture.commit([put("d", "f\n")]);
    amendCheckin(repository, { ...fixture.author(), checkin: moved, branch: "other" });
    assert.match(fixture.fossil("info", "other"), new RegExp(moved.slice(0, 40)));
    fixture.assertSound();
  },
});

Deno.test({
  name: "a check-in can be given other parents",
  ...peer("fossil"),
  fn() {
    using fixture = new Fixture();
    const first = fixture.commit([put("a", "a\n".repeat(50))]);
    const second = fixture.commit([put("b", "b\n".repeat(50))]);
    const third = fixture.commit([put("c", "c\n".repeat(50))]);
    amendCheckin(fixture.repository, { ...fixture.author(), checkin: third, parents: [first] });
    const parents = fixture.repository.db.rows(
      "SELECT uuid FROM plink JOIN blob ON blob.rid=pid WHERE cid=?",
      fixture.repository.ridOf(third),
    );
    assert.deepEqual(parents.map((row) => ({ ...row as object })), [{ uuid: first }]);
    assert.match(fixture.fossil("leaves"), new RegExp(second.slice(0, 10)));
    fixture.assertSound();
  },
});

Deno.test({
  name: "wiki, tickets, technotes, attachments and forum are what fossil shows",
  ...peer("fossil"),
  fn() {
    using fixture = new Fixture();
    const { repository, scratch } = fixture;
    const markdown = { mimetype: "text/x-markdown" };
    writeWiki(repository, { ...fixture.author(), ...markdown, title: "Home ü", text: "# One\n" });
    writeWiki(repository, { ...fixture.author(), ...markdown, title: "Home ü", text: "# Two\n" });
    assert.equal(fixture.fossil("wiki", "export", "Home ü"), "# Two\n");
    const open = { name: "status", value: "Open", append: false };
    const title = { name: "title", value: "It's <broken>", append: false };
    const { ticket } = writeTicketChange(repository, {
      ...fixture.author(),
      fields: [open, title],
    });
    const fields = [{ name: "comment", value: "more", append: true }, { ...open, value: "Fixed" }];
    writeTicketChange(repository, { ...fixture.author("bob"), ticket, fields });
    const history = fixture.fossil("ticket", "history", ticket);
    assert.match(history, /It's <broken>/);
    assert.match(history, /Fixed/);
    const contact = { name: "private_contact", value: "bob@example.org", append: false };
    writeTicketChange(repository, { ...fixture.author(), ticket, fields: [contact] });
    assert.doesNotMatch(fixture.fossil("ticket", "history", ticket), /bob@example/);
    const content = encodeUtf8("a log");
    writeAttachment(repository, { ...fixture.author(), target: ticket, name: "log", content });
    writeAttachment(repository, {
      ...fixture.author(),
      target: ticket,
      name: "log",
      content: null,
    });
    const note = { eventDate: History.start, comment: "Release", text: "Notes\n" };
    const { id } = writeTechnote(repository, { ...fixture.author(), ...note, tags: ["news"] });
    writeTechnote(repository, { ...fixture.author(), ...note, id, text: "Better notes\n" });
    assert.equal(fixture.fossil("wiki", "export", "--technote", id), "Better notes\n");
    const root = writeForumPost(repository, {
      ...fixture.author(),
      place: { title: "Q" },
      text: "?",
    });
    const inReplyTo = writeForumPost(repository, {
      ...fixture.author(),
      place: { inReplyTo: root },
      text: "!",
    });
    const edit = { place: { edits: inReplyTo }, text: "!!" };
    writeForumPost(repository, { ...fixture.author(), ...edit });
    refuses("conflict", () => writeForumPost(repository, { ...fixture.author(), ...edit }));
    assert.match(scratch.fossil(["timeline", "-t", "f", "-R", fixture.path]), /Edit reply: Q/);
    fixture.assertSound();
  },
});

Deno.test({
  name: "links in wiki pages are those that fossil finds",
  ...peer("fossil"),
  fn() {
    using fixture = new Fixture();
    const pages = [
      "[HASH] [HASH|label] [/info/HASH] [ HASH ] <nowiki>[HASH]</nowiki> [HASH",
      "<verbatim>[HASH]</verbatim> <b>[HASH]</b> <a href='[HASH]'>x</a> <odd [HASH]> & [HASH  |x]",
      '[a](HASH) [b](/info/HASH "t") [c](<HASH>) ![d](HASH) \\[e](HASH) `[f](HASH)` [HASH]',
      "[a][r] [r] [b][] [c][s]\n\n[r]: HASH\n[b]: <HASH> 'title'\n",
      "    [code](HASH)\n\n> [quote](HASH)\nlazy [l](HASH)\n\n* [item](HASH)\n\n    [inner](HASH)\n",
      "```\n[fence](HASH)\n```\n\n# [head](HASH)\n\n| [a](HASH) | b |\n|-|-|\n| c | [d](HASH) |\n",
      "[^1] (^note [n](HASH)) [span](^[m](HASH))\n\n[^1]: foot [f](HASH)\n  and [g](HASH)\n[^2]: [h](HASH)\n",
      "<pre>\n[p](HASH)\n</pre>\n\n<b>[q](HASH)</b> **[s](HASH)** <!-- [c](HASH) -->",
    ];
    let serial = 0;
    for (const [i, page] of pages.entries()) {
      const text = page.replaceAll("HASH", () => (0xabc000 + serial++).toString(16));
      for (const mimetype of ["text/x-fossil-wiki", "text/x-markdown", "text/plain"]) {
        const title = `${i} ${mimetype}`;
        writeWiki(fixture.repository, { ...fixture.author(), title, text, mimetype });
      }
    }
    fixture.assertSound();
  },
});

Deno.test({
  name: "tickets of a custom schema are those that fossil makes",
  ...peer("fossil"),
  fn() {
    using fixture = new Fixture();
    const { repository } = fixture;
    const schema = `-- our own; with a comment
      CREATE TABLE ticket(tkt_id INTEGER PRIMARY KEY, tkt_uuid TEXT UNIQUE, tkt_mtime DATE,
        title TEXT, status TEXT, both TEXT, mimetype TEXT, "baseline for title" INTEGER);
      CREATE TABLE ticketchng(tkt_id INTEGER, tkt_mtime DATE, both TEXT, remark TEXT DEFAULT 'x;y');
      CREATE INDEX ticketchng_i ON ticketchng(tkt_id);`;
    repository.write(
      { user: "alice", ip: null },
      () => repository.config.set("ticket-table", schema),
    );
    repository.rebuild();
    const field = (name: string, value: string, append = false) => ({ name, value, append });
    const all = [field("title", "[abcd1234]"), field("both", "one"), field("remark", "[abcd5678]")];
    const { ticket } = writeTicketChange(repository, { ...fixture.author(), fields: all });
    const more = [field("both", " two", true), field("mimetype", "text/x-markdown")];
    writeTicketChange(repository, { ...fixture.author(), ticket, fields: more });
    const last = [field("title", "[x](abcd9999)", true), field("status", "Done")];
    writeTicketChange(repository, { ...fixture.author(), ticket, fields: last });
    const unknown = { ...fixture.author(), ticket, fields: [field("severity", "high")] };
    refuses("invalid", () => writeTicketChange(repository, unknown));
    repository.checkpoint();
    const copy = fixture.scratch.path("copy.fossil");
    Deno.copyFileSync(fixture.path, copy);
    fixture.scratch.fossil(["rebuild", copy]);
    assert.deepEqual(difference(dumpTables(fixture.path), dumpTables(copy)), []);
  },
});

Deno.test("writeCheckin() refuses what does not fit, and says which kind of refusal it is", () => {
  using fixture = new Fixture();
  const root = fixture.tip();
  const first = fixture.commit([put("a", "a"), put("dir/b", "b")]);
  refuses("conflict", () => fixture.commit([put("x", "x")], { parent: root }));
  refuses("conflict", () => fixture.commit([put("x", "x")], { date: 0 }));
  refuses("missing", () => fixture.commit([put("x", "x")], { parent: "0".repeat(40) }));
  refuses("missing", () => fixture.commit([put("x", "x")], { merged: ["0".repeat(64)] }));
  const wrong: FileChange[][] = [
    [],
    [put("a", "a")],
    [{ kind: "delete", path: "none" }],
    [{ kind: "move", from: "none", path: "x" }],
    [{ kind: "move", from: "a", path: "dir/b" }],
    [{ kind: "mode", path: "none", mode: "link" }],
    [put("../x", "x")],
    [put("/x", "x")],
    [put(".fslckout", "x")],
    [put("x", "x"), put("x", "y")],
    [put("a/b", "x")],
    [put("dir", "x")],
    [{
      kind: "write",
      path: "x",
      content: formatArtifact({
        kind: "control",
        date: 0,
        tags: [{ sign: "+", name: "closed", target: first, value: null }],
        user: "mallory",
      }),
    }],
  ];
  const before = dumpTables(fixture.path);
  for (const changes of wrong) refuses("invalid", () => fixture.commit(changes));
  refuses("invalid", () => fixture.commit([put("x", "x")], { comment: " " }));
  refuses("invalid", () => fixture.commit([put("x", "x")], { user: "" }));
  refuses("invalid", () => fixture.commit([put("x", "x")], { branch: " b" }));
  assert.deepEqual(dumpTables(fixture.path), before);
});

Deno.test("writeCheckin() swaps, replaces and keeps files and modes", () => {
  using fixture = new Fixture();
  const { repository } = fixture;
  fixture.commit([put("a", "A"), put("b", "B", "executable"), put("c", "C")]);
  const hash = fixture.commit([
    { kind: "move", from: "a", path: "d" },
    put("a", "new A"),
    put("b", "new B"),
    { kind: "delete", path: "c" },
  ]);
  const manifest = repository.artifact(repository.ridOf(hash));
  assert.ok(manifest?.kind === "manifest");
  const files = filesOf(repository, manifest).map(({ name, hash, mode, oldName }) => {
    const text = new TextDecoder().decode(repository.store.require(repository.ridOf(hash ?? "")));
    return [name, text, mode, oldName];
  });
  assert.deepEqual(files, [
    ["a", "new A", "file", null],
    ["b", "new B", "executable", null],
    ["d", "A", "file", "a"],
  ]);
});

Deno.test("documents refuse a version that is not based on the latest", () => {
  using fixture = new Fixture();
  const { repository } = fixture;
  const page = { title: "T", text: "x" };
  const first = writeWiki(repository, { ...fixture.author(), ...page, basedOn: null });
  refuses("conflict", () => writeWiki(repository, { ...fixture.author(), ...page, basedOn: null }));
  writeWiki(repository, { ...fixture.author(), ...page, basedOn: first });
  refuses(
    "conflict",
    () => writeWiki(repository, { ...fixture.author(), ...page, basedOn: first }),
  );
  const stale = { ...fixture.author(), date: History.start, title: "T", text: "newest" };
  writeWiki(repository, stale);
  const newest = repository.artifact(
    repository.db.value<number>(
      "SELECT rid FROM tagxref JOIN tag USING(tagid) WHERE tagname='wiki-T' ORDER BY mtime DESC",
    ) ?? 0,
  );
  assert.equal(newest?.kind === "wiki" && newest.text, "newest");
  const nowhere = { ...fixture.author(), target: "nowhere", name: "f", content: new Uint8Array(1) };
  refuses("missing", () => writeAttachment(repository, nowhere));
});

Deno.test("an attachment that is an artifact itself is packed, so that nobody executes it", () => {
  using fixture = new Fixture();
  const { repository } = fixture;
  const target = fixture.commit([put("a", "a")]);
  writeWiki(repository, { ...fixture.author(), title: "T", text: "x" });
  const tags = [{ sign: "+", name: "closed", target, value: null }] as const;
  const content = formatArtifact({ kind: "control", date: 0, tags, user: "mallory" });
  writeAttachment(repository, { ...fixture.author(), target: "T", name: "evil", content });
  assert.equal(repository.db.value("SELECT count(*) FROM tagxref WHERE tagid=9"), 0);
  assert.equal(repository.db.value("SELECT filename FROM attachment"), "evil.gz");
});
