/** Streams of `git fast-export` and of other programs: what may stand in them, and what may not. */
import assert from "node:assert/strict";
import { encodeUtf8, FossilError } from "../../../../services/engines/fossil/mod.ts";
import { judged } from "./support/judges.ts";
import { Scratch } from "./support/fossil.ts";
import { AUTHOR, commit, exported, git, imported, initGit } from "./support/git.ts";

/** Makes a Git repository that has all that one can have and Fossil cannot, or not as easily. */
function makeEverything(scratch: Scratch, folder: string): void {
  initGit(scratch, folder);
  const run = (args: string[], stdin?: string) =>
    new TextDecoder().decode(
      git(scratch, folder, args, stdin === undefined ? undefined : encodeUtf8(stdin)),
    ).trim();
  const names = ['qu"ote', "tab\there", "line\nfeed", "back\\slash", "ünï 😀", " space ", "'", "a"];
  const files = names.map((name) =>
    `M 100644 inline ${JSON.stringify(name)}\ndata ${encodeUtf8(name).length}\n${name}\n`
  ).join("");
  const pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n";
  const root = `M 100755 inline tool\ndata 1\nx\nM 120000 inline link\ndata 4\ntool\n` +
    `M 160000 ${
      "1".repeat(40)
    } module\nM 100644 inline big.bin\ndata ${pointer.length}\n${pointer}\n`;
  const heads = "refs/heads/";
  git(
    scratch,
    folder,
    ["fast-import", "--quiet", "--force"],
    encodeUtf8([
      `reset ${heads}main\n`,
      commit(`${heads}main`, root + files),
      commit(`${heads}main`, `R tool moved\nC a copied\nM 100644 inline a\ndata 3\na\nb\n`),
      commit(`${heads}main`, ""),
      `reset ${heads}other\n`,
      commit(`${heads}other`, "M 100644 inline other\ndata 1\nx\n"),
      `reset ${heads}third\n`,
      commit(`${heads}third`, "M 100644 inline third\ndata 1\nx\n"),
      commit(
        `${heads}main`,
        "",
        `merge ${heads}other\nmerge ${heads}third\n`,
      ),
      `reset ${heads}same\nfrom ${heads}main\n\n`,
    ].join("")),
  );
  const identity = ["-c", "user.name=A Ü", "-c", "user.email=a@b"];
  run([...identity, "notes", "add", "-m", "a note", "main"]);
  run([...identity, "tag", "-a", "-m", "inner", "inner", "main"]);
  run([...identity, "tag", "-a", "-m", "outer", "outer", "inner"]);
  run([...identity, "tag", "-a", "-m", "file", "of-a-file", "main:a"]);
  run([...identity, "tag", "-a", "-m", "tree", "of-a-tree", "main^{tree}"]);
  const signature = "-----BEGIN PGP SIGNATURE-----\n\nabc\n-----END PGP SIGNATURE-----";
  const head = ["tree", "author", "committer"].map((header) =>
    run(["cat-file", "-p", "main"]).split("\n").find((line) => line.startsWith(header))
  ).join("\n");
  const signed = `${head}\ngpgsig ${signature.replaceAll("\n", "\n ")}\n\nsigned\n`;
  run([
    "update-ref",
    "refs/heads/signed",
    run(["hash-object", "-t", "commit", "-w", "--stdin"], signed),
  ]);
  const tag = `object ${run(["rev-parse", "main"])}\ntype commit\ntag verified\n` +
    `tagger ${AUTHOR}\n\nsigned tag\n${signature}\n`;
  run([
    "update-ref",
    "refs/tags/verified",
    run(["hash-object", "-t", "tag", "-w", "--stdin"], tag),
  ]);
}

judged("everything that git fast-export writes is imported or reported", async (program) => {
  using scratch = new Scratch(program);
  makeEverything(scratch, "before");
  const flags = [
    ["--signed-tags=verbatim", "--mark-tags"],
    ["--signed-tags=strip", "--mark-tags", "-M", "-C", "--full-tree", "--progress=1"],
    ["--signed-tags=warn", "--mark-tags", "--show-original-ids", "--use-done-feature"],
    ["--signed-tags=verbatim", "--mark-tags", "--tag-of-filtered-object=rewrite", "--", "--", "a"],
  ];
  for (const [i, more] of flags.entries()) {
    const stream = git(scratch, "before", ["fast-export", "--all", ...more]);
    const { repository, report } = await imported(scratch, stream);
    using _ = repository;
    const path = repository.db.value<string>("SELECT file FROM pragma_database_list") ?? "";
    repository.checkpoint();
    assert.match(scratch.fossil(["test-integrity", "--parse", "-R", path]), / 0 errors/);
    const { counts, first } = report.notices;
    if (i === 3) continue;
    assert.equal(counts.submodule, 1, more.join(" "));
    assert.equal(counts["lfs-pointer"], 1);
    assert.equal(counts.signature, i === 0 || i === 2 ? 1 : undefined);
    const left = first.filter(({ message }) => /else than a commit/.test(message));
    assert.deepEqual(left.map(({ subject }) => subject), ["refs/tags/of-a-file"]);
    initGit(scratch, `after${i}`);
    git(scratch, `after${i}`, ["fast-import", "--quiet"], exported(repository));
    const show = (folder: string, ref: string) =>
      new TextDecoder().decode(git(scratch, folder, ["ls-tree", "-r", "-z", ref])).split("\0")
        .filter((line) => !/^160000|\tbig\.bin$/.test(line));
    for (const ref of ["main", "main~1", "other", "signed", "refs/notes/commits"]) {
      const lines = show("before", ref);
      assert.deepEqual(show(`after${i}`, ref).filter((l) => !/big\.bin$/.test(l)), lines, ref);
    }
  }
});

Deno.test("requests of a stream to its reader are skipped, and its end mark is required", async () => {
  using scratch = new Scratch();
  const main = "refs/heads/main";
  const oid = "c".repeat(40);
  const stream = [
    "feature done\nfeature cat-blob\nfeature get-mark\nfeature ls\nfeature notes\n",
    "feature date-format=raw-permissive\noption git quiet\nprogress half\n# a comment\n",
    "blob\nmark :1\noriginal-oid " + oid + "\ndata <<END\ntext\nEND\n",
    "alias\nmark :2\nto :1\n\ncat-blob :1\n",
    commit(main, "ls a\nM 100644 :2 a\ncat-blob :2\nM 100644 inline b\ndata 1\nx\nget-mark :1\n")
      .replace("\n", "\nmark :3\n"),
    "alias\nmark :4\nto :3\n\nget-mark :4\nls :4 a\ncheckpoint\n\n",
    commit(
      "refs/notes/commits",
      `N inline ${oid}\ndata 4\nnote\nN :1 :3\nN ${"0".repeat(40)} ${oid}\n`,
    ),
    commit("refs/heads/side", "D a\n", "from :4\n")
      .replace("\ndata", "\ngpgsig sha1 openpgp\ndata 3\nabc\ndata"),
    "reset refs/tags/a-file\nfrom :2\n\n",
  ].join("");
  const { repository, report } = await imported(scratch, `${stream}done\n`);
  using _ = repository;
  assert.equal(report.checkins, 3);
  assert.deepEqual(report.notices.counts, { note: 1, ref: 1 });
  const names = "SELECT group_concat(name) FROM (SELECT name FROM filename ORDER BY name)";
  assert.equal(repository.db.value(names), "a,b");
  await assert.rejects(imported(scratch, stream), /Line \d+ of the stream: The stream is cut off/);
});

Deno.test("a malformed or greedy stream is refused with the number of its line", async () => {
  const main = "refs/heads/main";
  const streams: [string, RegExp][] = [
    ["lsx :1 x\n", /Line 1 .*not a command/],
    ["blob\nmark :1\ndata 99999999999\n", /Line 3 .*over the limit/],
    ["blob\nmark :1\ndata 50\nshort", /Line 3 .*ends within data/],
    ["blob\nmark :x\ndata 0\n", /Line 2 .*not a mark/],
    ["blob\nmark :1\ndata -1\n", /Line 3 .*not a length/],
    [`commit ${main}\ndata 0\n`, /"committer"/],
    [commit(main, "M 100644 :7 a\n"), /Line 1 .*not in the stream/],
    [commit(main, `M 100644 ${"a".repeat(40)} a\n`), /Line 1 .*not in the stream/],
    [commit(main, "M 040000 inline a\ndata 1\nx\n"), /Line 1 .*Mode "040000"/],
    [commit(main, "", "from :3\n"), /Line 1 .*not a commit of the stream/],
    [commit(main, 'M 100644 inline "a\ndata 1\nx\n'), /Line \d+ .*path is malformed/],
    ["tag v\nfrom :1\ndata 0\n", /Line 1 .*not a commit of the stream/],
    [`reset refs/heads/${"x".repeat(2000)}\n`, /Line 1 .*too long/],
    [
      commit(
        main,
        "M 100644 inline d/a\ndata 1\nx\n" +
          Array.from({ length: 40 }, (_, i) => `C d d/${i}\n`).join(""),
      ),
      /Line 1 .*more than 200000 files/,
    ],
    ["x".repeat(100_000), /Line 1 .*longer/],
  ];
  for (const [stream, message] of streams) {
    using scratch = new Scratch();
    await assert.rejects(imported(scratch, stream), (error: unknown) => {
      assert.ok(error instanceof FossilError, String(error));
      assert.equal(error.code, "invalid");
      assert.match(error.message, message);
      return true;
    });
  }
});

Deno.test("a clone is imported without the branches of its remote and can be exported again", async () => {
  using scratch = new Scratch();
  makeEverything(scratch, "origin");
  git(scratch, "origin", ["update-ref", "refs/heads/behind", "main~1"]);
  git(scratch, ".", ["clone", "-q", "origin", "clone"]);
  const run = (...args: string[]) =>
    new TextDecoder().decode(
      git(scratch, "clone", ["-c", "user.name=A", "-c", "user.email=a@b", ...args]),
    );
  run("checkout", "-q", "-b", "mine", "origin/behind");
  run("-c", "i18n.commitEncoding=ISO-8859-1", "commit", "-q", "--allow-empty", "-m", "mine");
  run("checkout", "-q", "--detach");
  run("commit", "-q", "--allow-empty", "-m", "detached");
  for (
    const args of [
      ["--branches", "--tags", "--mark-tags", "--signed-tags=verbatim", "--reencode=no"],
      ["--all", "--mark-tags", "--signed-tags=verbatim", "--reencode=no"],
    ]
  ) {
    const stream = git(scratch, "clone", ["fast-export", "--use-done-feature", ...args]);
    const { repository, report } = await imported(scratch, stream);
    using _ = repository;
    assert.deepEqual(repository.verify(), []);
    // --all has the detached HEAD, too.
    const heads = args[0] === "--all" ? ["HEAD"] : [];
    const reached = run("rev-list", "--count", "--branches", "--tags", ...heads).trim();
    assert.equal(report.checkins, Number(reached), args[0]);
    const closed =
      "SELECT group_concat(value) FROM tagxref JOIN tag USING(tagid) WHERE tagname='branch' AND value GLOB '*remotes*'";
    assert.equal(repository.db.value(closed), null);
    const left = report.notices.first.filter(({ subject }) => /refs\/remotes/.test(subject));
    const names = left.map(({ subject }) => subject);
    assert.deepEqual(names, args[0] === "--all" ? ["refs/remotes/origin/signed"] : []);
    initGit(scratch, `again${args.length}`);
    git(scratch, `again${args.length}`, ["fast-import", "--quiet"], exported(repository));
  }
});
