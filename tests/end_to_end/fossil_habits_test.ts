/** `muster fossil` as users of the `fossil` program type it. */
import assert from "node:assert/strict";
import { Repository, writeForumPost } from "../../services/engines/fossil/mod.ts";
import { judged } from "../services/engines/fossil/support/judges.ts";
import { runMuster } from "../support/program.ts";
import { Workbench } from "../support/workbench.ts";

Deno.test("a subcommand of fossil is not taken for the name of a branch or a tag", async () => {
  using bench = new Workbench();
  await bench.muster("init");
  const before = Deno.readFileSync(bench.repository);
  const file = bench.repository;
  const table: [meant: string, ...words: string[]][] = [
    [`branch ${file}`, "branch", file, "list"],
    [`branch ${file}`, "branch", "list", "-R", file],
    [`branch ${file}`, "branch", file, "--user", "bob", "ls"],
    [`branch ${file} x --from trunk`, "branch", "new", "x", "trunk", "-R", file],
    [`branch ${file} x --close`, "branch", file, "close", "x"],
    [`tag ${file}`, "tag", file, "list"],
    [`tag ${file} v1.0 --cancel`, "tag", file, "cancel", "v1.0"],
    [`tag ${file} v1.0 trunk`, "tag", "add", "v1.0", "trunk", "--repository", file],
  ];
  await Promise.all(table.map(async ([meant, ...words]) => {
    const { code, stderr } = await runMuster(["fossil", ...words], bench);
    assert.equal(code, 2, words.join(" "));
    assert.ok(stderr.includes(`fossil ${meant}"`), `${words.join(" ")}: ${stderr}`);
  }));
  assert.deepEqual(Deno.readFileSync(bench.repository), before);
});

Deno.test("a list shows a comment of several lines on one line", async () => {
  using bench = new Workbench();
  await bench.muster("init");
  bench.write("tree/a", "1\n");
  await bench.muster("commit", ["--from", "tree", "-m", "Say a\n\nIt was\r\n\tunsaid.\n"]);
  const options: [string, string[]][] = [
    ["timeline", []],
    ["timeline", ["-t", "ci"]],
    ["history", ["a"]],
  ];
  for (const [command, words] of options) {
    assert.match(await bench.muster(command, words), / Say a It was unsaid\.$/m);
  }
});

Deno.test("a command that needs a checkout says so", async () => {
  using bench = new Workbench();
  for (const command of ["status", "update", "add"]) {
    const { code, stderr } = await runMuster(["fossil", command, "--verbose", "x"], bench);
    assert.equal(code, 2);
    assert.match(stderr, new RegExp(`^"${command}" needs a checkout; [^\n]*\n$`));
  }
});

Deno.test("a command of fossil or git that muster lacks names what to use instead", async () => {
  using bench = new Workbench();
  const table = [
    ["clone", "do it with the fossil program: fossil clone"],
    ["sync", "do it with the fossil program: fossil sync"],
    ["ui", "do it with the fossil program: fossil ui"],
    ["log", '"muster fossil timeline" lists check-ins'],
    ["show", '"muster fossil info" shows a repository or a check-in'],
  ] as const;
  for (const [command, advice] of table) {
    const { code, stderr } = await runMuster(["fossil", command, "x"], bench);
    assert.equal(code, 2);
    assert.match(stderr, /^muster fossil has no command "[a-z]+"/);
    assert.ok(stderr.includes(advice), stderr);
  }
});

Deno.test("the words and options of fossil work", async () => {
  using bench = new Workbench();
  await bench.muster("init");
  bench.write("tree/a", "1\n");
  const run = async (...words: string[]) => {
    const { code, stdout, stderr } = await runMuster(["fossil", ...words], bench);
    assert.equal(code, 0, `${words.join(" ")}: ${stderr}`);
    return stdout;
  };
  const file = bench.repository;
  const first = (await run("ci", "-R", file, "--from", "tree", "-m", "first")).trim();
  await bench.commitFile("a", "2\n", "second");
  assert.equal(await run("cat", "a", "-r", first, "-R", file), "1\n");
  assert.match(await run("finfo", `--repository=${file}`, "a"), /second[^]*first/);
  assert.match(await run("annotate", "-R", file, "a"), /2$/m);
  assert.match(await run("timeline", "-R", file, "-t", "ci", "-n", "1"), /second/);
  assert.match(await run("branch", file), /^trunk /m);
  await run("tag", file, "v1", first);
  assert.match(await run("tag", "-R", file), /^v1 /m);
  await run("zip", first, "out.zip", "-R", file);
  await run("tarball", "trunk", "out.tgz", "--name", "all", "-R", file);
  assert.equal(Deno.readTextFileSync(bench.path("out.zip")).slice(0, 2), "PK");
  assert.equal(Deno.readFileSync(bench.path("out.tgz"))[0], 0x1f);
});

judged("technotes, forum posts, attachments and unversioned files can be read", async (program) => {
  using bench = new Workbench(program);
  await bench.muster("init");
  const at = ["-R", bench.repository];
  const page = bench.write("page", "text of the note\n");
  bench.fossil(["wiki", "create", "a note", page, "--technote", "2026-01-02 03:04:05", ...at]);
  bench.fossil(["wiki", "create", "Home", page, ...at]);
  bench.fossil(["attachment", "add", "Home", page, ...at]);
  bench.fossil(["uv", "add", page, "--as", "small", ...at]);
  const large = bench.write("large", "many lines\n".repeat(1000));
  bench.fossil(["uv", "add", large, "--as", "large", ...at]);
  bench.fossil(["uv", "add", page, "--as", "gone", ...at]);
  bench.fossil(["uv", "rm", "gone", ...at]);
  const post = writePost(bench.repository);

  const { technotes: [note] } = await bench.json("technote");
  assert.equal(note.comment, "a note");
  assert.equal(await bench.muster("technote", [note.id.slice(0, 10)]), "text of the note\n");
  assert.match(await bench.muster("attachment", ["Home"]), /^page +17 /m);
  assert.equal(await bench.muster("attachment", ["Home", "page"]), "text of the note\n");
  assert.match(await bench.muster("forum"), /A question/);
  assert.match(await bench.muster("forum", [post.slice(0, 12)]), /^Who knows\?$/m);
  const listed = (await bench.json("uv")).map(({ name }: { name: string }) => name);
  assert.deepEqual(listed, ["large", "small"]);
  assert.equal(await bench.muster("uv", ["small"]), "text of the note\n");
  assert.equal(await bench.muster("unversioned", ["large"]), "many lines\n".repeat(1000));
  assert.equal((await bench.try("uv", ["gone"])).code, 1);
});

function writePost(path: string): string {
  using repository = Repository.open(path, { writeAheadLog: false });
  const place = { title: "A question" };
  const post = { user: "alice", date: Date.now(), place, text: "Who knows?" };
  return writeForumPost(repository, post);
}
