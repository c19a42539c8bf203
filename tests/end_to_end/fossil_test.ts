/** `muster fossil`, judged by the `fossil` program and by `git`. */
import assert from "node:assert/strict";
import { judged } from "../services/engines/fossil/support/judges.ts";
import { peer } from "../support/peers.ts";
import { musterCommand, runMuster } from "../support/program.ts";
import { Workbench } from "../support/workbench.ts";

const fossil = peer("fossil");
const git = peer("git");

judged(
  "a folder is committed, opened by fossil, committed on top there and read here",
  async (program) => {
    using bench = new Workbench(program);
    await bench.muster("init");
    bench.write("tree/README.md", "one\ntwo\n");
    bench.write("tree/src/ünï cödé 😀.txt", "text");
    bench.write("tree/.hidden", "dot");
    bench.write("tree/empty", "");
    bench.write("tree/bytes.bin", Uint8Array.from({ length: 256 }, (_, index) => index));
    bench.write("tree/.fslckout", "no file of the tree");
    bench.write("tree/.git/config", "neither");
    Deno.chmodSync(bench.write("tree/src/tool", "#!/bin/sh\n"), 0o755);
    Deno.symlinkSync("README.md", bench.path("tree/link"));
    const first = await bench.commit("the first files");

    const checkout = bench.path("checkout");
    Deno.mkdirSync(checkout);
    bench.fossil(["open", "--nested", bench.repository], checkout);
    assert.equal(Deno.readTextFileSync(`${checkout}/src/ünï cödé 😀.txt`), "text");
    assert.equal(Deno.readTextFileSync(`${checkout}/.hidden`), "dot");
    assert.equal(Deno.readFileSync(`${checkout}/bytes.bin`).length, 256);
    assert.ok((Deno.statSync(`${checkout}/src/tool`).mode ?? 0) & 0o100);
    Deno.writeTextFileSync(`${checkout}/README.md`, "one\ntwo\nthree\n");
    bench.fossil(["mv", "--hard", "empty", "still empty"], checkout);
    bench.fossil(["commit", "-m", "from the program", "--user-override", "carl"], checkout);

    const { checkins, total } = await bench.json("timeline", "-n", "2");
    assert.equal(total, 3);
    assert.deepEqual(
      checkins.map(({ user, comment }: { user: string; comment: string }) => [user, comment]),
      [["carl", "from the program"], ["bob", "the first files"]],
    );
    assert.equal(checkins[1].uuid, first);
    assert.deepEqual(checkins[0].parents, [first]);
    const { checkin, entries } = await bench.json("ls", "--checkin", first.slice(0, 12));
    assert.equal(checkin, first);
    const kinds = entries.map((entry: { name: string; type: string; executable: boolean }) =>
      `${entry.name} ${entry.type}${entry.executable ? " executable" : ""}`
    );
    assert.deepEqual(kinds, [
      ".hidden file",
      "README.md file",
      "bytes.bin file",
      "empty file",
      "link link",
      "src/tool file executable",
      "src/ünï cödé 😀.txt file",
    ]);
    assert.equal(await bench.muster("cat", ["README.md"]), "one\ntwo\nthree\n");
    assert.equal(await bench.muster("cat", ["README.md", "--checkin", first]), "one\ntwo\n");
    assert.match(await bench.muster("diff", ["README.md"]), /^\+three$/m);
    const { lines } = await bench.json("blame", "README.md");
    assert.deepEqual(
      lines.map(({ text, user }: { text: string; user: string }) => `${user}: ${text}`),
      ["bob: one", "bob: two", "carl: three"],
    );
    const history = await bench.json("history", "still empty");
    assert.equal(history.total, 2);
    await bench.assertSound();
  },
);

judged(
  "branches are started, merged and closed, tags and comments changed, as fossil sees it",
  async (program) => {
    using bench = new Workbench(program);
    await bench.muster("init");
    bench.write("tree/a", "1\n2\n3\n4\n5\n");
    bench.write("tree/b", "b\n");
    const base = await bench.commit("base");
    bench.write("tree/a", "1\n2\n3\n4\nfive\n");
    const work = await bench.commit("work", "--branch", "feature", "--tag", "v1");
    bench.write("tree/a", "one\n2\n3\n4\n5\n");
    Deno.removeSync(bench.path("tree/b"));
    await bench.commit("on trunk", "--branch", "trunk");
    await bench.muster("merge", ["feature", "--integrate", "--user", "bob"]);
    assert.equal(await bench.muster("cat", ["a"]), "one\n2\n3\n4\nfive\n");
    await bench.muster("amend", [work, "--message", "better work"]);
    await bench.muster("tag", ["v0", base]);
    await bench.muster("branch", ["later", "--from", base]);

    const listing = bench.fossil(["branch", "list", "-a", "-R", bench.repository]);
    assert.deepEqual(listing.match(/\w+/g), ["feature", "later", "trunk"]);
    const open = bench.fossil(["branch", "list", "-R", bench.repository]);
    assert.deepEqual(open.match(/\w+/g), ["later", "trunk"]);
    assert.match(bench.fossil(["tag", "list", "-R", bench.repository]), /^v0\n.*v1$/ms);
    assert.match(bench.fossil(["timeline", "-R", bench.repository]), /better work/);
    assert.deepEqual((await bench.json("timeline", "--branch", "feature")).total, 1);
    const states = (await bench.json("branches")).map((
      { name, status }: { name: string; status: string },
    ) => `${name} ${status}`);
    assert.deepEqual(states.sort(), ["feature closed", "later open", "trunk open"]);

    const checkout = bench.path("checkout");
    Deno.mkdirSync(checkout);
    bench.fossil(["open", "--nested", bench.repository, "later"], checkout);
    bench.fossil(["merge", "trunk"], checkout);
    bench.fossil(["commit", "-m", "merged by the program", "--no-warnings"], checkout);
    assert.equal(await bench.muster("cat", ["a", "--checkin", "later"]), "one\n2\n3\n4\nfive\n");
    await bench.assertSound();
  },
);

judged("wiki pages and tickets of either program are read by the other", async (program) => {
  using bench = new Workbench(program);
  const at = ["-R", bench.repository];
  await bench.muster("init");
  await bench.muster("wiki", ["Home", "--write", "--mimetype", "text/x-markdown"], "# Hello\n");
  assert.equal(bench.fossil(["wiki", "export", "Home", ...at]).trimEnd(), "# Hello");
  bench.write("page", "from the program");
  bench.fossil(["wiki", "create", "Second", bench.path("page"), ...at]);
  assert.equal(await bench.muster("wiki", ["Second"]), "from the program\n");
  const pages = (await bench.json("wiki")).map(({ name }: { name: string }) => name);
  assert.deepEqual(pages.sort(), ["Home", "Second"]);

  const id =
    (await bench.muster("ticket", ["--new", "--set", "title=Broken", "--set", "status=Open"]))
      .trim();
  assert.match(bench.fossil(["ticket", "show", "0", ...at]), /Broken/);
  bench.fossil(["ticket", "set", id, "status", "Fixed", ...at]);
  const shown = await bench.json("ticket", id.slice(0, 10));
  assert.equal(shown.status, "Fixed");
  await bench.muster("ticket", [id, "--set", "status=Closed"]);
  assert.match(bench.fossil(["ticket", "show", "0", ...at]), /Closed/);
  await bench.assertSound();
  assert.match(await bench.muster("search", ["hello"]), /^wiki Home$/m);
});

judged("a Git repository is imported, and exported to the same commits", async (program) => {
  using bench = new Workbench(program);
  const run = (args: readonly string[], folder: string, stdin?: string) => {
    const words = ["-c", "user.name=A Ü", "-c", "user.email=a@b", "-c", "core.quotePath=off"];
    const command = new Deno.Command("git", {
      args: [...words, "-C", folder, ...args],
      env: { HOME: bench.folder, GIT_CONFIG_NOSYSTEM: "1" },
      stdin: stdin === undefined ? "null" : "piped",
      stdout: "piped",
      stderr: "piped",
    });
    return feed(command, stdin ?? "");
  };
  const source = bench.path("source");
  Deno.mkdirSync(source);
  await run(["init", "-q", "-b", "main"], source);
  bench.write("source/dir/a ü", "text\n");
  Deno.chmodSync(bench.write("source/tool", "tool\n"), 0o755);
  await run(["add", "-A"], source);
  await run(["commit", "-qm", "first"], source);
  await run(["checkout", "-qb", "side"], source);
  await run(["mv", "tool", "moved"], source);
  await run(["commit", "-qam", "moved"], source);
  await run(["tag", "v1"], source);
  await run(["checkout", "-q", "main"], source);
  bench.write("source/b", "b\n");
  await run(["add", "-A"], source);
  await run(["commit", "-qm", "second"], source);
  await run(["merge", "-q", "--no-edit", "side"], source);

  await bench.muster("import", [], await run(["fast-export", "--all", "-M"], source));
  assert.deepEqual(
    (await bench.json("ls")).entries.map(({ name }: { name: string }) => name),
    ["b", "dir/a ü", "moved"],
  );
  await bench.assertSound();
  const target = bench.path("target");
  Deno.mkdirSync(target);
  await run(["init", "-q", "-b", "main"], target);
  await run(["fast-import", "--quiet"], target, await bench.muster("export"));
  const log = ["log", "--all", "--format=%H %an <%ae> %s"];
  assert.deepEqual((await run(log, target)).split("\n"), (await run(log, source)).split("\n"));
}, git.ignore);

async function feed(command: Deno.Command, stdin: string): Promise<string> {
  const process = command.spawn();
  if (stdin !== "") {
    const writer = process.stdin.getWriter();
    await writer.write(new TextEncoder().encode(stdin));
    await writer.close();
  }
  const { code, stdout, stderr } = await process.output();
  const decoder = new TextDecoder();
  assert.equal(code, 0, decoder.decode(stderr));
  return decoder.decode(stdout);
}

Deno.test("muster fossil explains an error in one sentence, and its exit code shows whose fault it is", async () => {
  using bench = new Workbench();
  await bench.muster("init");
  bench.write("tree/a", "a\n");
  await bench.commit("first");
  bench.write("tree/a", "b\n");
  await bench.commit("second", "--branch", "side");
  bench.write("tree/a", "c\n");
  await bench.commit("third", "--branch", "trunk");
  bench.write("plain", "no database at all, but quite long ".repeat(100));
  const table: [code: number, message: RegExp, command: string, ...args: string[]][] = [
    [1, /"nowhere"/, "info", "--checkin", "nowhere"],
    [1, /"none"/, "cat", "none"],
    [1, /conflict/i, "merge", "side"],
    [1, /changes nothing/, "commit", "--from", "tree", "-m", "again"],
    [1, /no folder/, "commit", "--from", "absent", "-m", "x"],
    [1, /exists/, "init"],
    [2, /--from is missing/, "commit", "-m", "x"],
    [2, /whole number/, "timeline", "-n", "many"],
    [2, /Unknown option "--colour"/, "timeline", "--colour"],
    [2, /name=value/, "ticket", "--new", "--set", "title"],
  ];
  for (const [code, message, command, ...args] of table) {
    const result = await bench.try(command, args);
    assert.equal(result.code, code, `${command} ${args.join(" ")}: ${result.stderr}`);
    assert.match(result.stderr, message);
    assert.doesNotMatch(result.stderr, /\n {4}at /);
  }
  for (const file of ["absent.fossil", "plain"]) {
    const result = await runMuster(["fossil", "timeline", file], { folder: bench.folder });
    assert.equal(result.code, 1);
    assert.match(result.stderr, new RegExp(`"${file}"`));
  }
  assert.equal((await bench.json("timeline")).total, 4);
});

Deno.test("killing a commit leaves the repository whole", async () => {
  using bench = new Workbench();
  await bench.muster("init");
  for (let round = 1; round <= 4; round++) {
    for (let file = 0; file < 300; file++) {
      bench.write(`tree/${file}`, `round ${round} file ${file}\n`.repeat(500 + file));
    }
    const watcher = Deno.watchFs(bench.folder, { recursive: false })[Symbol.asyncIterator]();
    const args = ["fossil", "commit", bench.repository, "--from", "tree", "-m", "killed"];
    const process = musterCommand(args, { stdin: "null", stdout: "null", stderr: "null" }).spawn();
    // Killed at its `round`th write to the repository or its journal, unless it has ended by then.
    const ended = process.status.then(() => null);
    for (let writes = 0; writes < round;) {
      const event = await Promise.race([watcher.next(), ended]);
      if (event === null) break;
      const isWrite = event.value?.kind === "modify" &&
        event.value.paths.some((path: string) => path.startsWith(bench.repository));
      if (isWrite) writes++;
    }
    kill(process);
    await ended;
    await watcher.return?.();
    assert.match(await bench.muster("verify"), /all whole/);
    assert.equal(Deno.readFileSync(bench.repository)[18], 1, "It has a rollback journal");
  }
  bench.write("tree/0", "the last one\n");
  await bench.commit("not killed");
  assert.equal(await bench.muster("cat", ["0"]), "the last one\n");
  if (!fossil.ignore) await bench.assertSound();
});

function kill(process: Deno.ChildProcess): void {
  try {
    process.kill("SIGKILL");
  } catch {
    // It has ended already.
  }
}

Deno.test("shunned and missing files are left out of archives and diffs, and reported", async () => {
  using bench = new Workbench();
  await bench.muster("init");
  for (const name of ["shunned", "missing", "whole"]) {
    bench.write(`tree/${name}.txt`, `${name} 1\n`);
  }
  await bench.commit("before");
  for (const name of ["shunned", "missing", "whole"]) {
    bench.write(`tree/${name}.txt`, `${name} 2\n`);
  }
  await bench.commit("after");
  const { entries } = await bench.json("ls");
  const hashOf = (path: string) =>
    entries.find(({ name }: { name: string }) => name === path).uuid as string;
  const [shunned, missing] = [hashOf("shunned.txt"), hashOf("missing.txt")];
  bench.alter(
    `DELETE FROM delta WHERE srcid IN (SELECT rid FROM blob WHERE uuid IN ('${shunned}','${missing}'));
     INSERT INTO shun(uuid,mtime,scom) VALUES('${shunned}',0,'');
     DELETE FROM blob WHERE uuid='${shunned}';
     UPDATE blob SET size=-1, content=NULL WHERE uuid='${missing}'`,
  );
  const leftOut = [
    `missing.txt: left out: Content of artifact "${missing}" is missing`,
    `shunned.txt: left out: Artifact "${shunned}" is shunned`,
  ];
  for (const format of ["zip", "tar.gz"]) {
    const { code, stderr } = await bench.try("archive", [
      "-o",
      `all.${format}`,
      "--format",
      format,
    ]);
    assert.deepEqual(
      [code, stderr.trimEnd().split("\n")],
      [1, [...leftOut, "Files left out of the archive: 2"]],
    );
  }
  const { stdout } = new Deno.Command("tar", { args: ["-tzf", bench.path("all.tar.gz")] })
    .outputSync();
  assert.match(new TextDecoder().decode(stdout), /^[^\n]*\/whole\.txt\n$/);
  const diff = await bench.try("diff");
  assert.equal(diff.code, 1);
  assert.deepEqual(
    diff.stderr.trimEnd().split("\n"),
    [...leftOut, "Files left out of the diff: 2"],
  );
  assert.match(
    diff.stdout,
    /^--- a\/whole\.txt\n\+\+\+ b\/whole\.txt\n@@ -1 \+1 @@\n-whole 1\n\+whole 2\n$/,
  );
  const { files } = JSON.parse((await bench.try("diff", ["--json"])).stdout);
  assert.deepEqual(
    files.map(({ unreadable }: { unreadable: string | null }) => unreadable),
    [...leftOut.map((line) => line.replace(/^.*left out: /, "")), null],
  );
});
