/** Names, persons, dates and bytes of Git that Fossil does not have, or not as easily. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import {
  encodeUtf8,
  exportGit,
  FossilError,
  Repository,
} from "../../../../services/engines/fossil/mod.ts";
import { writeBranch } from "../../../../services/engines/fossil/write/mod.ts";
import { peer } from "../../../support/peers.ts";
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
  refsOf,
} from "./support/git.ts";
import { judged } from "./support/judges.ts";
import { Random } from "./support/random.ts";

/** The documented line: every branch and tag by its full name. */
function exportedByGit(scratch: Scratch, folder: string): Uint8Array {
  const list = git(scratch, folder, [
    "for-each-ref",
    "--format=%(refname)",
    "refs/heads",
    "refs/tags",
  ]);
  const options = ["--mark-tags", "--use-done-feature", "--signed-tags=verbatim", "--reencode=no"];
  return git(scratch, folder, ["fast-export", "--stdin", ...options], list);
}

/** Bytes of a text in which each character stands for one byte. */
function latin(text: string): Uint8Array {
  return Buffer.from(text, "latin1");
}

/** Names that are equal somewhere: in case, in Fossil's encoding, as keywords, dates or hashes. */
const NAMES = [
  "trunk",
  "main",
  "v2",
  "V2",
  "tags/v2",
  "tags/trunk",
  "deadbeef",
  "20200101",
  "tip",
  "release/1",
  "-dash",
  "caf\xe9",
  "caf\xe8",
  "caf\xc3\xa9",
  "c\x81",
  "c\x8d",
  "unnamed/2",
  "a\"b'c",
  "@",
];

/** A history in which branches and tags have the same names and the same dates. */
function sameNames(random: Random): Uint8Array {
  const parts: string[] = [];
  const commits = 4 + random.below(6);
  for (let mark = 1; mark <= commits; mark++) {
    const [first, second] = [1 + random.below(mark - 1), 1 + random.below(mark - 1)];
    const parent = mark > 1 ? `from :${first}\n` : "";
    const merge = first !== second && random.below(2) === 0 ? `merge :${second}\n` : "";
    const when = 1_600_000_000 + 10 * (random.below(3) === 0 ? random.below(3) : 0);
    parts.push(
      `reset refs/heads/x\ncommit refs/heads/x\nmark :${mark}\n`,
      `committer A <a@b> ${when} +0000\ndata 2\n${mark}\n${parent}${merge}`,
      `M 100644 inline f${random.below(3)}\ndata 2\n${mark}\n\n`,
    );
  }
  parts.push(`reset refs/heads/x\nfrom ${"0".repeat(40)}\n\n`);
  const at = () => `from :${1 + random.below(commits)}\n`;
  const names = random.shuffle(NAMES).slice(0, 8);
  for (const name of names) {
    if (random.below(4) > 0) parts.push(`reset refs/heads/${name}\n${at()}\n`);
    if (random.below(3) === 0) parts.push(`reset refs/tags/${name}\n${at()}\n`);
    else if (random.below(2) === 0) {
      const tagger = random.below(2) === 0 ? "" : "tagger A <a@b> 1600000000 +0000\n";
      parts.push(
        `tag ${name}\n${at()}${tagger}data ${random.below(2) === 0 ? "0\n\n" : "2\nt\n\n"}`,
      );
    }
  }
  parts.push(`reset refs/heads/always\n${at()}\n`);
  return latin(parts.join(""));
}

/** The check-in that each name means, as the `fossil` program finds it; names must not be undecided. */
function meanings(path: string): Record<string, string> {
  using repository = Repository.open(path);
  const rows = repository.db.rows<{ name: string; uuid: string; mtime: number }>(
    `SELECT tagname AS name, uuid, event.mtime FROM tag JOIN tagxref USING(tagid)
        JOIN event ON objid=tagxref.rid AND event.type='ci' JOIN blob ON blob.rid=objid
      WHERE tagname GLOB 'sym-*' AND tagtype>0 ORDER BY event.mtime DESC`,
  );
  const found: Record<string, string> = {};
  const dates = new Map<string, number>();
  for (const { name, uuid, mtime } of rows) {
    assert.notEqual(dates.get(name), mtime, `"${name}" is undecided`);
    if (dates.has(name)) continue;
    dates.set(name, mtime);
    found[name] = uuid;
  }
  return found;
}

function pathOf(repository: Repository): string {
  return repository.db.value<string>("SELECT file FROM pragma_database_list") ?? "";
}

judged(
  "names that branches and tags share mean the same here, in a clone, after a rebuild and in Git",
  async (program) => {
    for (let seed = 0; seed < 12; seed++) {
      using scratch = new Scratch(program);
      for (const folder of ["before", "after"]) initGit(scratch, folder);
      git(scratch, "before", ["fast-import", "--quiet"], sameNames(new Random(seed)));
      const { repository, report } = await imported(scratch, exportedByGit(scratch, "before"));
      const path = pathOf(repository);
      git(scratch, "after", ["fast-import", "--quiet"], exported(repository));
      repository.close();
      assert.deepEqual(refsOf(scratch, "after"), refsOf(scratch, "before"), `seed ${seed}`);
      const here = meanings(path);
      const clone = scratch.path("clone.fossil");
      scratch.fossil(["clone", path, clone]);
      assert.deepEqual(meanings(clone), here, `clone of seed ${seed}`);
      scratch.fossil(["rebuild", path]);
      assert.deepEqual(meanings(path), here, `rebuild of seed ${seed}`);
      // A clone is exported as the original is.
      using cloned = Repository.open(clone);
      initGit(scratch, "cloned");
      git(scratch, "cloned", ["fast-import", "--quiet"], exported(cloned));
      assert.deepEqual(refsOf(scratch, "cloned"), refsOf(scratch, "before"), `seed ${seed}`);
      assert.ok(report.branches > 0);
    }
  },
);

judged("a clone opens the main branch, whatever it is called", async (program) => {
  using scratch = new Scratch(program);
  const { repository } = await imported(scratch, commit("refs/heads/develop", ""));
  const path = pathOf(repository);
  repository.close();
  const clone = scratch.path("clone.fossil");
  scratch.fossil(["clone", path, clone]);
  const checkout = scratch.path("checkout");
  Deno.mkdirSync(checkout);
  scratch.fossil(["open", clone], checkout);
  assert.match(scratch.fossil(["branch", "list"], checkout), /^ \* develop$/m);
  Deno.writeTextFileSync(`${checkout}/a`, "1\n");
  scratch.fossil(["add", "a"], checkout);
  scratch.fossil(["commit", "-m", "on a branch", "--branch", "side"], checkout);
  assert.match(scratch.fossil(["info", "trunk"], checkout), /^comment: +m /m);
});

Deno.test("the main branch keeps its name, and `trunk` is what Git calls so", async () => {
  for (const name of ["main", "master", "trunk", "develop"]) {
    using scratch = new Scratch();
    const { repository } = await imported(scratch, commit(`refs/heads/${name}`, ""));
    using _ = repository;
    const select = "SELECT value FROM tagxref WHERE tagid=8";
    assert.equal(repository.db.value(select), name);
    assert.equal(repository.config.get("main-branch") ?? "trunk", name);
    assert.match(
      new TextDecoder().decode(exported(repository)),
      new RegExp(`reset refs/heads/${name}\n`),
    );
  }
});

Deno.test({
  name: "what a stream shows under short names is kept, and reported",
  ...peer("git"),
  fn: async () => {
    using scratch = new Scratch();
    initGit(scratch, "before");
    const heads = "refs/heads/";
    const text = commit(`${heads}main`, "").replace("\n", "\nmark :1\n") +
      commit(`${heads}1.0`, "", "from :1\n") +
      commit(`${heads}main`, "M 100644 inline f\ndata 0\n", "from :1\n") +
      "reset refs/tags/1.0\nfrom :1\n\n";
    git(scratch, "before", ["fast-import", "--quiet"], encodeUtf8(text));
    const args = ["fast-export", "--branches", "--tags", "--use-done-feature"];
    const stream = git(scratch, "before", args);
    assert.match(new TextDecoder().decode(stream), /^commit 1\.0$/m);
    const { repository, report } = await imported(scratch, stream);
    using _ = repository;
    assert.deepEqual(report.notices.first.map(({ kind, subject }) => [kind, subject]), [
      ["ref", "1.0"],
    ]);
    initGit(scratch, "after");
    git(scratch, "after", ["fast-import", "--quiet"], exported(repository));
    const after = refsOf(scratch, "after");
    for (const line of refsOf(scratch, "before")) {
      if (!line.startsWith("refs/tags/1.0 ")) assert.ok(after.includes(line), line);
    }
    assert.equal(report.branches, 2);
  },
});

Deno.test({
  name: "a name that is too long for a file of Git is cut, and stays apart from others",
  ...peer("git"),
  fn: async () => {
    using scratch = new Scratch();
    const long = "\u6f22".repeat(100);
    const names = [
      `${long}a`,
      `${long}b`,
      `${"\u6f22/".repeat(240)}y`,
      `${"\u6f22/".repeat(240)}z`,
    ];
    const branches = names.map((name, index) =>
      commit(`refs/heads/${name}`, `M 100644 inline f\ndata 1\n${index}\n`)
    );
    const tags = names.map((name) => `reset refs/tags/${name}\nfrom :1\n\n`);
    const first = commit("refs/heads/main", "").replace("\n", "\nmark :1\n");
    const { repository } = await imported(scratch, [first, ...branches, ...tags].join(""));
    using _ = repository;
    initGit(scratch, "after");
    git(scratch, "after", ["fast-import", "--quiet"], exported(repository));
    const refs = refsOf(scratch, "after").filter((line) => line.startsWith("refs/"));
    assert.equal(refs.length, 1 + 2 * names.length, refs.join("\n"));
  },
});

/** Lines that `git clone` takes from other servers, and what Git reads in them. */
const PERSONS: readonly (readonly [line: string, exported: string])[] = [
  ["Gabriel<g@e.x> <Gabriel<g@e.x>> 1369824567 +0200", "Gabriel <g@e.x> 1369824567 +0200"],
  ["Ann<a@b> 5 +0000", "Ann <a@b> 5 +0000"],
  ["Ann <a@b>5 +0000", "Ann <a@b> 5 +0000"],
  ["Ann <a@b>  5  +0000", "Ann <a@b> 5 +0000"],
  ["Ann> <a@b> 5 +0000", "Ann <a@b> 5 +0000"],
  ["Ann <a@b 5 +0000", "Ann <a@b> 5 +0000"],
  ["Ann a@b> 5 +0000", "Ann a@b <> 5 +0000"],
  ["Ann 5 +0000", "Ann <> 5 +0000"],
  ["Ann <a@b>", "Ann <a@b> 0 +0000"],
  ["Ann <a@b> 5", "Ann <a@b> 5 +0000"],
  ["Ann <a@b> 5 0200", "Ann <a@b> 5 +0000"],
  ["Ann <a@b> never", "Ann <a@b> 0 +0000"],
  ["Ann <a@b> Tue Feb 6 11:22:18 2007 -0500", "Ann <a@b> 0 +0000"],
  [`Ann <a@b> ${"9".repeat(40)} +0000`, "Ann <a@b> 0 +0000"],
  ["nobody", "nobody <> 0 +0000"],
  ["<<<>>> 5 +0000", " <> 5 +0000"],
];
/** Lines that come back as they are. */
const TAKEN = [
  "Ann <a@b> 1403856436 +051800",
  "Ann <a@b> 1 -9959",
  "Ann <a@b> -62167219201 -0000",
  "Ann <a@b> 99999999999999 +0000",
  "Ann <a@b> 0 +1400",
  "Ann  Two  <a@b> 5 +0000",
  " <a@b> 5 +0000",
  "Ann <> 5 +0000",
  " <> 5 +0000",
  "Ann < a b > 5 +0000",
];

Deno.test({
  name:
    "authors, committers and taggers of every kind are imported, and exported so that Git takes them",
  ...peer("git"),
  fn: async () => {
    for (const [line, expected] of [...PERSONS, ...TAKEN.map((line) => [line, line] as const)]) {
      for (const role of ["author", "committer", "tagger"]) {
        using scratch = new Scratch();
        const at = (name: string) => role === name ? line : AUTHOR;
        const { repository, report } = await imported(
          scratch,
          `commit refs/heads/main\nmark :1\nauthor ${at("author")}\ncommitter ${
            at("committer")
          }\n` +
            `data 2\nm\n\ntag v1\nfrom :1\ntagger ${at("tagger")}\ndata 2\nt\n\n`,
        );
        using _ = repository;
        const isTaken = TAKEN.includes(line);
        assert.equal(report.notices.counts.author, isTaken ? undefined : 1, `${role} ${line}`);
        initGit(scratch, "git");
        git(scratch, "git", ["fast-import", "--quiet"], exported(repository));
        const object = git(scratch, "git", ["cat-file", "-p", role === "tagger" ? "v1" : "main"]);
        const found = new TextDecoder().decode(object).match(new RegExp(`^${role} (.*)$`, "m"))
          ?.[1];
        assert.equal(found, expected, `${role} ${line}`);
        assert.deepEqual(repository.verify(), []);
      }
    }
  },
});

Deno.test("an author in another encoding is converted, with a notice", async () => {
  using scratch = new Scratch();
  const message = (encoding: string, text: string) =>
    latin(`commit refs/heads/main\ncommitter Zo\xeb <z@b> 5 +0000\n${encoding}data 2\n${text}\n`);
  for (
    const [stream, user, comment] of [
      [message("", "\xe9"), "Zoë <z@b>", "é"],
      [message("encoding KOI8-R\n", "\xc1"), "ZoК <z@b>", "а"],
    ] as const
  ) {
    const { repository, report } = await imported(scratch, stream);
    using _ = repository;
    const select = "SELECT user||' '||comment FROM event";
    assert.equal(repository.db.value(select), `${user} ${comment}`);
    assert.deepEqual(report.notices.counts, { encoding: 1 });
  }
});

/** A stream with everything that the grammar of `git fast-import` leaves open. */
class LooseStream {
  readonly #random: Random;
  #parts: string[] = [];

  constructor(seed: number) {
    this.#random = new Random(seed);
  }

  bytes(): Uint8Array {
    const random = this.#random;
    for (let mark = 1; mark <= 6; mark += 2) {
      this.#line("blob");
      this.#line(`mark :${mark}`);
      this.#data();
      this.#line("commit refs/heads/main");
      this.#line(`mark :${mark + 1}`);
      this.#line("committer A <a@b> 5 +0000");
      this.#data();
      if (mark > 1) this.#line(`from :${mark - 1}`);
      this.#line(`M 100644 :${mark} f`);
      this.#line(`M 100755 inline d/g${mark}`);
      this.#data();
      if (random.below(2) === 0) this.#parts.push("\n");
      if (random.below(3) === 0) this.#parts.push("progress so far\n\n", "checkpoint\n\n");
    }
    this.#line("tag v1");
    this.#line("from :2");
    this.#line("tagger A <a@b> 5 +0000");
    this.#data();
    this.#line("reset refs/heads/side");
    this.#line("from :4");
    return latin(this.#parts.join(""));
  }

  #line(text: string): void {
    if (this.#random.below(3) === 0) this.#parts.push("# data 5\n");
    this.#parts.push(`${text}\n`);
  }

  /** Bytes of all kinds: for messages too, but then they are UTF-8. */
  #data(): void {
    const random = this.#random;
    const lines = Array.from(
      { length: random.below(4) },
      () =>
        random.pick([
          "",
          "EO",
          "EOT ",
          " EOT",
          "# no comment",
          "\xc3\xa9\r",
          "a\xc2\xa0b",
          "data 3",
          "done",
        ]),
    );
    const text = lines.map((line) => `${line}\n`).join("");
    if (random.below(3) === 0) this.#line("# before data");
    this.#parts.push(
      random.below(2) === 0 ? `data <<EOT\n${text}EOT\n` : `data ${text.length}\n${text}`,
      random.below(2) === 0 ? "\n" : "",
    );
  }
}

Deno.test({
  name: "streams are read as git fast-import reads them: delimited data, blank lines, comments",
  ...peer("git"),
  fn: async () => {
    for (let seed = 0; seed < 15; seed++) {
      using scratch = new Scratch();
      const stream = new LooseStream(seed).bytes();
      for (const folder of ["before", "after"]) initGit(scratch, folder);
      git(scratch, "before", ["fast-import", "--quiet"], stream);
      const { repository, report } = await imported(scratch, stream);
      using _ = repository;
      git(scratch, "after", ["fast-import", "--quiet"], exported(repository));
      assert.deepEqual(refsOf(scratch, "after"), refsOf(scratch, "before"), `seed ${seed}`);
      assert.deepEqual(report.notices.counts, { ref: 1 });
    }
  },
});

Deno.test("delimited data is bytes, with the same bounds as counted data", async () => {
  const bytes = latin("caf\xe9\r\n\xff\0@\nE \n");
  const stream = Buffer.concat([
    encodeUtf8("blob\nmark :1\ndata <<E\n"),
    bytes,
    encodeUtf8(`E\n\n${commit("refs/heads/main", "M 100644 :1 f")}`),
  ]);
  using scratch = new Scratch();
  const { repository } = await imported(scratch, stream);
  using _ = repository;
  assert.ok(Buffer.from(exported(repository)).includes(Buffer.from(bytes)));
  const long = `blob\nmark :1\ndata <<E\n${"x".repeat(70_000)}\nE\n`;
  const { report } = await imported(scratch, long + commit("refs/heads/main", "M 100644 :1 f"));
  assert.equal(report.files, 1);
  await assert.rejects(
    imported(scratch, long, { maxFileBytes: 70_000 }),
    /over the limit of 70000/,
  );
  await assert.rejects(imported(scratch, "blob\nmark :1\ndata <<E\nx\n"), /ends within data/);
});

Deno.test({
  name: "damaged streams are refused or imported, and nothing else happens",
  ...peer("git"),
  fn: async () => {
    const random = new Random(1);
    using scratch = new Scratch();
    const whole = [new GitHistory(2).stream(8), new LooseStream(3).bytes(), sameNames(random)];
    for (let i = 0; i < 200; i++) {
      const stream = Buffer.from(random.pick(whole));
      for (let change = 0; change <= random.below(4); change++) {
        const at = random.below(stream.length);
        const byte = random.pick([
          0,
          10,
          32,
          34,
          35,
          58,
          60,
          62,
          92,
          0x80,
          0xff,
          random.below(256),
        ]);
        if (random.below(4) === 0) stream.copyWithin(at, random.below(stream.length));
        else stream[at] = byte;
      }
      try {
        const { repository } = await imported(scratch, stream, { isPartial: true });
        exported(repository);
        repository.close();
      } catch (error) {
        assert.ok(error instanceof FossilError, error instanceof Error ? error.stack : "");
        assert.ok(["invalid", "limit"].includes(error.code), error.message);
      }
    }
  },
});

Deno.test({
  name:
    "an export has a branch beside the folder of its name, and branches that Git would write alike",
  ...peer("git"),
  fn: () => {
    using fixture = new Fixture();
    const { repository, scratch } = fixture;
    const first = fixture.commit([put("a", "1\n")]);
    for (const branch of ["a/b", "a", "a/b/c", "x y", "x_y", "main", "/", "tip."]) {
      fixture.commit([put("a", `${branch}\n`)], { branch, parent: first });
    }
    initGit(scratch, "git");
    git(scratch, "git", ["fast-import", "--quiet"], exported(repository));
    assert.equal(refsOf(scratch, "git").filter((line) => line.startsWith("refs/heads/")).length, 9);
    const log = git(scratch, "git", ["show", "main:a"]);
    assert.equal(new TextDecoder().decode(log), "main\n");
  },
});

Deno.test({
  name: "an export for the public has no work under way",
  ...peer("git"),
  fn: () => {
    using fixture = new Fixture();
    const { repository, scratch } = fixture;
    const first = fixture.commit([put("a", "1\n")]);
    const begin = (name: string) =>
      writeBranch(repository, { ...fixture.author(), name, from: first });
    const merged = fixture.commit([put("b", "2\n")], { parent: begin("workspace/done") });
    fixture.commit([put("c", "3\n")], { parent: begin("workspace/open") });
    begin("stable");
    fixture.commit([put("b", "2\n")], { parent: first, merged: [merged] });
    const stream = Buffer.concat([
      ...exportGit(repository, { withoutBranches: ["workspace/"] }),
    ]);
    initGit(scratch, "git");
    git(scratch, "git", ["fast-import", "--quiet"], stream);
    const show = (...args: string[]) => new TextDecoder().decode(git(scratch, "git", args)).trim();
    assert.equal(show("for-each-ref", "--format=%(refname)"), "refs/heads/main\nrefs/heads/stable");
    // What was merged has its names: a commit keeps its hash in every export.
    assert.equal(show("rev-list", "--count", "--all"), "6");
    assert.doesNotMatch(stream.toString("latin1"), /workspace\/open|data 2\n3\n/);
    assert.equal(show("show", "main:b"), "2");
    assert.match(show("log", "-1", "--format=%s", "stable"), /^Create new branch/);
  },
});
