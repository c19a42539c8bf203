/** `muster pull` and `muster push`: a folder without Git and Fossil. */
import assert from "node:assert/strict";
import { dirname } from "node:path";
import { type GitTest, withGit } from "../support/git_door.ts";
import { commitFiles } from "../support/projects.ts";
import { commit } from "../support/git_pushes.ts";
import { peer } from "../support/peers.ts";
import { namedExecutable } from "../support/executable.ts";
import { type Finished, runMuster } from "../support/program.ts";

/** A folder of the project, and commands in it. */
class Folder {
  readonly path: string;
  readonly #test: GitTest;
  readonly #who: "caller" | "other";

  constructor(test: GitTest, name: string, who: "caller" | "other" = "caller") {
    this.#test = test;
    this.#who = who;
    this.path = test.client.path(name);
    Deno.mkdirSync(this.path);
  }

  run(...args: readonly string[]): Promise<Finished> {
    const { origin } = this.#test;
    const token = this.#test[this.#who].slice("Bearer ".length);
    const environment = { MUSTER_URL: origin, MUSTER_TOKEN: token };
    return runMuster(args, { folder: this.path, environment });
  }

  async succeed(...args: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await this.run(...args);
    assert.equal(code, 0, stdout + stderr);
    return stdout;
  }

  async fail(...args: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await this.run(...args);
    assert.notEqual(code, 0, stdout);
    return stderr;
  }

  write(files: Readonly<Record<string, string | Uint8Array>>): void {
    for (const [path, content] of Object.entries(files)) {
      Deno.mkdirSync(dirname(`${this.path}/${path}`), { recursive: true });
      if (typeof content === "string") Deno.writeTextFileSync(`${this.path}/${path}`, content);
      else Deno.writeFileSync(`${this.path}/${path}`, content);
    }
  }

  read(path: string): string {
    return Deno.readTextFileSync(`${this.path}/${path}`);
  }

  has(path: string): boolean {
    try {
      Deno.lstatSync(`${this.path}/${path}`);
      return true;
    } catch {
      return false;
    }
  }

  remove(path: string): void {
    Deno.removeSync(`${this.path}/${path}`, { recursive: true });
  }
}

function folderTest(name: string, run: (test: GitTest) => Promise<void>): void {
  Deno.test({ name, ...peer("git"), fn: () => withGit(run) });
}

/** Bytes that are no text and do not shrink, in several pieces of a pack. */
const BINARY = new Uint8Array(700_000);
for (let at = 0; at < BINARY.length; at += 50_000) {
  crypto.getRandomValues(BINARY.subarray(at, at + 50_000));
}
const LINES = Array.from({ length: 40 }, (_, line) => `line ${line}\n`);
const TEXT = LINES.join("");

folderTest(
  "a folder is pulled, changed, pushed for a review, and pushed again for the next round",
  async (test) => {
    await commitFiles(test, {
      "a.txt": TEXT,
      "src/old.ts": TEXT,
      "src/gone.ts": "export {};\n",
      ".gitignore": "build/\n*.log\n!keep.log\n",
    });
    const folder = new Folder(test, "demo");
    assert.match(await folder.succeed("pull", "demo", "."), /4 files written/);
    assert.equal(folder.read("src/old.ts"), TEXT);
    // As the system's mask has it.
    const { mode } = Deno.statSync(`${folder.path}/a.txt`);
    assert.equal((mode ?? 0) & 0o777, 0o666 & ~Deno.umask());

    assert.match(await folder.succeed("push", "--dry-run"), /Nothing has changed/);
    assert.match(await folder.succeed("push", "--title", "Nothing"), /Nothing has changed since/);
    folder.write({
      "a.txt": TEXT.replace("line 3", "line three"),
      "logo.bin": BINARY,
      "run.sh": "#!/bin/sh\n",
      "build/out.js": "built",
      "x.log": "log",
      "keep.log": "log",
      ".env": "SECRET=1",
      ".cache/a": "a",
      "server.pem": "key",
    });
    Deno.chmodSync(`${folder.path}/run.sh`, 0o755);
    Deno.symlinkSync("a.txt", `${folder.path}/link`);
    Deno.renameSync(`${folder.path}/src/old.ts`, `${folder.path}/src/new.ts`);
    folder.remove("src/gone.ts");
    assert.match(await folder.fail("push"), /Say what you have changed/);
    const { stdout, stderr, code } = await folder.run(
      "push",
      "--title",
      "Change much",
      "--topic",
      "much",
    );
    assert.equal(code, 0, stderr);
    assert.match(
      stdout,
      /1 changed, 5 new, 2 deleted\nReview 1: http:\S+\/projects\/demo\/reviews\/1\n$/,
    );
    assert.match(stderr, /Left out: \.cache\/, \.env, server\.pem; --add PATH/);
    const review = await test.answer("GET /api/reviews/1");
    assert.equal(review.title, "Change much");
    const { files } = await test.answer("GET /api/workspaces/much");
    const changes = files.map(({ name, change_type, prev_name }: Record<string, string>) =>
      [change_type, prev_name, name].filter((part) => part).join(" ")
    ).toSorted();
    assert.deepEqual(changes, [
      "added keep.log",
      "added link",
      "added logo.bin",
      "added run.sh",
      "deleted src/gone.ts",
      "modified a.txt",
      "renamed src/old.ts src/new.ts",
    ]);
    const clone = await test.clone("--branch=workspace/much");
    assert.deepEqual(Deno.readFileSync(`${clone.folder}/logo.bin`), BINARY);
    assert.match(await clone.git("ls-files", "--stage"), /^100755 \S+ 0\trun\.sh$/m);
    assert.match(await clone.git("ls-files", "--stage"), /^120000 \S+ 0\tlink$/m);
    assert.equal((await clone.git("log", "-1", "--format=%an|%s")).trim(), "caller|Change much");
    folder.write({ "a.txt": TEXT, ".env.example": "SECRET=\n" });
    assert.match(
      await folder.succeed("push", "--title", "Less", "--add", ".env.example"),
      /1 changed, 1 new, 0 deleted\nReview 1:/,
    );
    const { rounds } = await test.answer("GET /api/reviews/1");
    assert.equal(rounds.length, 2);
    // What is pushed is a commit on top of the last one, so that the same again is nothing.
    assert.match(await folder.succeed("push"), /0 changed, 0 new, 0 deleted\nReview 1:/);
    assert.equal((await test.answer("GET /api/reviews/1")).rounds.length, 2);
  },
);

folderTest(
  "landed work is never reverted: a pull merges it, and marks what both changed",
  async (test) => {
    await commitFiles(test, {
      "a.txt": TEXT,
      "b.txt": "b\n",
      "c.bin": BINARY,
      "d.txt": "d\n",
      "e.txt": "e\n",
    });
    const folder = new Folder(test, "demo");
    await folder.succeed("pull", "demo", ".");
    folder.write({
      "a.txt": TEXT.replace("line 3\n", "line three\n"),
      "b.txt": "mine\n",
      "new.txt": "new\n",
      "e.txt": "mine\n",
    });
    folder.remove("d.txt");
    await commitFiles(test, {
      "a.txt": TEXT.replace("line 30\n", "line thirty\n"),
      "c.bin": BINARY.subarray(1),
      "d.txt": "changed\n",
      "sub/f.txt": "f\n",
    });
    // A push on an old base is a commit on that base: the review shows what is mine alone.
    await folder.succeed("push", "--title", "Mine", "--topic", "mine");
    const { files } = await test.answer("GET /api/workspaces/mine");
    const names = files.map(({ name }: { name: string }) => name).toSorted();
    assert.deepEqual(names, ["a.txt", "b.txt", "d.txt", "e.txt", "new.txt"]);
    const pulled = await folder.succeed("pull");
    assert.match(pulled, /3 files written, 1 merged/);
    assert.match(pulled, /d\.txt is back/);
    const both = TEXT.replace("line 3\n", "line three\n").replace("line 30\n", "line thirty\n");
    assert.equal(folder.read("a.txt"), both);
    assert.equal(folder.read("b.txt"), "mine\n");
    assert.equal(folder.read("sub/f.txt"), "f\n");
    assert.deepEqual(Deno.readFileSync(`${folder.path}/c.bin`), BINARY.subarray(1));
    await folder.succeed("push", "--title", "With what is new");
    const clone = await test.clone("--branch=workspace/mine");
    assert.equal((await clone.git("log", "-1", "--format=%P")).trim().split(" ").length, 2);
    assert.equal(
      await clone.git("diff", "--stat", "origin/trunk", "HEAD", "--", "c.bin", "sub"),
      "",
    );
    // Both change one line.
    folder.write({ "b.txt": "mine again\n" });
    await commitFiles(test, { "b.txt": "theirs\n" });
    assert.match(await folder.fail("pull"), /resolve the conflicts between the markers in\nb\.txt/);
    assert.match(
      folder.read("b.txt"),
      /<<<<<<< this folder\nmine again\n\|\|\|\|\|\|\| before\nb\n=======\ntheirs\n>>>>>>> trunk\n/,
    );
    assert.match(
      await folder.fail("push", "--title", "Too early"),
      /Resolve the conflicts in b\.txt/,
    );
    folder.write({ "b.txt": "both\n" });
    await folder.succeed("push", "--title", "Both");
    await test.answer("POST /api/reviews/1/approve", { as: test.other, body: {} });
    await test.answer("POST /api/reviews/1/merge", { body: {} });
    // What follows a merge is a new review.
    folder.write({ "b.txt": "after\n" });
    await folder.succeed("pull");
    assert.equal(folder.read("b.txt"), "after\n");
    assert.match(await folder.succeed("push", "--title", "After"), /Review 2:/);
    await clone.git("fetch", "--quiet");
    const { workspaces } = await test.answer("GET /api/workspaces?status=active");
    const line = `origin/trunk..origin/workspace/${workspaces[0].name}`;
    assert.equal(await clone.git("log", "--format=%s", line), "After\n");
  },
);

folderTest("files that cannot be merged stop a pull before it changes anything", async (test) => {
  await commitFiles(test, { "c.bin": BINARY, "a.txt": "a\n" });
  const folder = new Folder(test, "demo");
  await folder.succeed("pull", "demo", ".");
  folder.write({ "c.bin": BINARY.subarray(5), "x/local.txt": "local\n" });
  await commitFiles(test, { "c.bin": BINARY.subarray(9), "a.txt": "theirs\n" });
  assert.match(await folder.fail("pull"), /Nothing was pulled.*c\.bin/);
  assert.equal(folder.read("a.txt"), "a\n");
  folder.remove("c.bin");
  await folder.succeed("pull");
  assert.deepEqual(Deno.readFileSync(`${folder.path}/c.bin`), BINARY.subarray(9));
  await commitFiles(test, { x: "a file\n" });
  assert.match(await folder.fail("pull"), /Nothing was pulled.*x/);
  assert.equal(folder.read("x/local.txt"), "local\n");
  // A link out of the folder is not followed.
  folder.remove("x");
  await folder.succeed("pull");
  const outside = test.client.path("outside");
  Deno.mkdirSync(outside);
  Deno.symlinkSync(outside, `${folder.path}/lib`);
  await commitFiles(test, { "lib/f.txt": "f\n" });
  assert.match(await folder.fail("pull"), /Nothing was pulled.*lib\/f\.txt/);
  assert.deepEqual([...Deno.readDirSync(outside)], []);
});

folderTest(
  "a workspace that others have changed is pulled before it is pushed to",
  async (test) => {
    await commitFiles(test, { "a.txt": TEXT });
    const folder = new Folder(test, "demo");
    await folder.succeed("pull", "demo", ".");
    folder.write({ "a.txt": `${TEXT}mine\n` });
    await folder.succeed("push", "--title", "Mine", "--topic", "mine", "--draft");
    assert.deepEqual((await test.answer("GET /api/reviews")).reviews, []);
    // What was pulled of the branch meanwhile stays a parent, too.
    await commitFiles(test, { "c.txt": "c\n" });
    await folder.succeed("pull");
    const clone = await test.clone("--branch=workspace/mine");
    await commit(clone, { "b.txt": "b\n" });
    await clone.git("push", "--quiet", "origin", "HEAD:workspace/mine");
    assert.match(
      await folder.fail("push"),
      /has commits that this folder does not have: run muster pull/,
    );
    await folder.succeed("pull");
    assert.equal(folder.read("b.txt"), "b\n");
    await folder.succeed("push", "--title", "Both", "--draft");
    await clone.git("pull", "--quiet", "origin", "workspace/mine");
    await clone.git("fetch", "--quiet");
    const parents = (await clone.git("log", "-1", "--format=%P")).trim().split(" ");
    assert.equal(parents[1], (await clone.git("rev-parse", "origin/trunk")).trim());
    assert.equal(await clone.git("diff", "--name-only", "origin/trunk"), "a.txt\nb.txt\n");
    // Without a change, a push opens the review that the draft had not.
    assert.match(await folder.succeed("push", "--title", "Ready"), /Review 1:/);
    const stranger = new Folder(test, "theirs", "other");
    await stranger.succeed("pull", "demo", ".");
    stranger.write({ "a.txt": "other\n" });
    assert.match(
      await stranger.fail("push", "--title", "x", "--topic", "mine"),
      /choose another --topic/,
    );
  },
);

folderTest("a push whose answer is lost makes no second commit", async (test) => {
  await commitFiles(test, { "a.txt": TEXT });
  const folder = new Folder(test, "demo");
  await folder.succeed("pull", "demo", ".");
  const before = folder.read(".muster/base.json");
  folder.write({ "a.txt": "mine\n" });
  await folder.succeed("push", "--title", "Mine");
  const { workspaces: [first] } = await test.answer("GET /api/workspaces");
  // The record as it was when the push began.
  const tree = (await (await test.clone(`--branch=workspace/${first.name}`)).git(
    "log",
    "-1",
    "--format=%T %ct",
  )).trim().split(" ");
  const pending = { tree: tree[0], message: "Mine", seconds: Number(tree[1]) };
  folder.write({ ".muster/base.json": JSON.stringify({ ...JSON.parse(before), pending }) });
  assert.match(await folder.succeed("push"), /Review 1:/);
  const { workspaces } = await test.answer("GET /api/workspaces");
  assert.equal(workspaces.length, 1);
  assert.equal(workspaces[0].tip, first.tip);
});

folderTest("a folder from an archive gets its base by name", async (test) => {
  await commitFiles(test, { "a.txt": TEXT, "b.txt": "b\n" });
  const clone = await test.clone();
  await clone.git("tag", "v1");
  await clone.git("push", "--quiet", "origin", "v1");
  const folder = new Folder(test, "unpacked");
  folder.write({ "a.txt": `${TEXT}mine\n`, "b.txt": "b\n" });
  await commitFiles(test, { "b.txt": "theirs\n" });
  await folder.succeed("pull", "demo", ".", "--base", "v1");
  assert.equal(folder.read("a.txt"), `${TEXT}mine\n`);
  assert.equal(folder.read("b.txt"), "theirs\n");
  assert.match(await folder.succeed("push", "--dry-run"), /^changed +a\.txt\n$/);
});

folderTest("an interrupted pull goes on", async (test) => {
  const files = Object.fromEntries(
    Array.from({ length: 30 }, (_, n) => [`d${n % 3}/f${n}`, `${n}\n`]),
  );
  await commitFiles(test, files);
  const folder = new Folder(test, "demo");
  // What an interruption leaves: some files, and a part of another one beside the record.
  folder.write({ "d0/f0": "0\n", "d1/f1": "1\n", ".muster/file": "half" });
  assert.match(await folder.succeed("pull", "demo", "."), /28 files written/);
  for (const [path, content] of Object.entries(files)) assert.equal(folder.read(path), content);
  assert.ok(!folder.has(".muster/file"));
});

folderTest("an empty project gets its first branch from a folder", async (test) => {
  const folder = new Folder(test, "demo");
  assert.match(await folder.succeed("pull", "demo", "."), /is empty/);
  folder.write({ "a.txt": TEXT });
  await folder.succeed("push", "--title", "Begin");
  const clone = await test.clone();
  assert.deepEqual(await clone.log(), ["Begin"]);
  folder.write({ "a.txt": "more\n" });
  assert.match(await folder.succeed("push", "--title", "More"), /Review 1:/);
});

folderTest("what a folder cannot hold stays as the project has it", async (test) => {
  const clone = await test.clone();
  await commit(clone, { "a.txt": TEXT });
  const head = (await clone.git("rev-parse", "HEAD")).trim();
  await clone.git("update-index", "--add", "--cacheinfo", `160000,${head},vendor/lib`);
  await clone.git("commit", "--quiet", "--message", "Add a submodule");
  await clone.git("push", "--quiet", "origin", "HEAD:main");
  const folder = new Folder(test, "demo");
  await folder.succeed("pull", "demo", ".");
  folder.write({ "a.txt": "mine\n" });
  await folder.succeed("push", "--title", "Mine", "--topic", "mine");
  const fresh = await test.clone("--branch=workspace/mine");
  assert.match(
    await fresh.git("diff", "--name-status", head, "HEAD"),
    /^M\ta\.txt\nA\tvendor\/lib\n$/,
  );
});

folderTest("a folder of another project inside is no part of this one", async (test) => {
  const clone = await test.clone();
  await commit(clone, { "a.txt": "a\n", "dir/.muster/base.json": "{}" });
  await clone.git("push", "--quiet", "origin", "HEAD:main");
  const folder = new Folder(test, "plain");
  await folder.succeed("pull", "demo", ".", "--branch", "main");
  assert.ok(!folder.has("dir/.muster"), "a record of somebody else");
  await folder.succeed("pull", "demo", "inside");
  folder.write({ "inside/b.txt": "b", "b.txt": "b" });
  assert.equal(await folder.succeed("push", "--dry-run"), "new      b.txt\n");
});

folderTest("a name that is no UTF-8 stops a push, and is named", async (test) => {
  await commitFiles(test, { "a.txt": "a\n", ".gitignore": "build/\n" });
  const folder = new Folder(test, "plain");
  await folder.succeed("pull", "demo", ".");
  const write = async (line: string) => {
    const args = ["-c", line];
    const { code } = await new Deno.Command("sh", { args, cwd: folder.path }).output();
    assert.equal(code, 0);
  };
  await write(`mkdir build && : > "build/$(printf 'a\\377')"`);
  assert.match(await folder.succeed("push", "--dry-run"), /Nothing has changed/);
  await write(`: > "$(printf 'b\\377')"`);
  if (namedExecutable() !== undefined) {
    // Its runtime, Deno 2.4, lists no such names.
    assert.match(await folder.succeed("push", "--dry-run"), /Nothing has changed/);
    return;
  }
  assert.match(
    await folder.fail("push", "--title", "Add b"),
    /b\ufffd has a name that is no UTF-8/,
  );
});

folderTest("a push says what it cannot send", async (test) => {
  await commitFiles(test, { "a.txt": "a\n" });
  const folder = new Folder(test, "plain");
  await folder.succeed("pull", "demo", ".");
  folder.write({ "a.txt": "b\n" });
  const push = (...options: readonly string[]) => folder.fail("push", "--title", "B", ...options);
  assert.match(await push("--topic", "a b"), /No workspace can be called "a b"/);
  assert.match(await push("--description", "x".repeat(70_000)), /at most 65516 bytes/);
});

folderTest("a claim goes with a push, and one that is lost refuses it", async (test) => {
  await commitFiles(test, { "a.txt": TEXT });
  const { uuid } = await test.answer("POST /api/tickets", { body: { title: "T" } });
  const folder = new Folder(test, "demo");
  await folder.succeed("pull", "demo", ".");
  folder.write({ "a.txt": "mine\n" });
  assert.match(await folder.fail("push", "--title", "Mine", "--ticket", uuid), /claim/);
  await test.answer(`POST /api/tickets/${uuid}/claim`, { as: test.caller, body: {} });
  assert.match(await folder.succeed("push", "--title", "Mine", "--ticket", uuid), /Review 1:/);
  assert.equal((await test.answer("GET /api/reviews/1")).ticket_uuid, uuid);
});

folderTest("a folder that is no one's, or a checkout, is told where to go", async (test) => {
  const folder = new Folder(test, "demo");
  assert.match(await folder.fail("push"), /is of no project: muster pull PROJECT makes one/);
  assert.match(await folder.fail("pull"), /is of no project/);
  assert.match(await folder.fail("pull", "nothing", "."), /no project|There is no/i);
  Deno.mkdirSync(`${folder.path}/.git`);
  assert.match(await folder.fail("pull", "demo", "."), /is a checkout: use git pull/);
});
