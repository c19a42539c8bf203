/** Clients of Git that nobody here wrote clone, fetch and push. */
import assert from "node:assert/strict";
import { commit } from "../../../support/git_pushes.ts";
import { Clone } from "../../../support/git_client.ts";
import { FOREIGN_GITS, type ForeignGit, runForeign } from "../../../support/foreign_git.ts";
import { type GitTest, withGit } from "../../../support/git_door.ts";
import { peer } from "../../../support/peers.ts";
import { commitFiles } from "../../../support/projects.ts";

/** Runs a test once for each client. */
function withEach(
  name: string,
  run: (work: Work, test: GitTest) => Promise<void>,
  isWanted: (client: ForeignGit) => boolean = () => true,
): void {
  for (const client of FOREIGN_GITS.filter(isWanted)) {
    const { ignore } = peer("git");
    Deno.test({
      name: `${client.name} ${name}`,
      ...peer("git clients"),
      ...ignore ? { ignore } : {},
      fn: () => withGit((test) => run(new Work(client, test), test)),
    });
  }
}

/** A client, and its clone of the project. */
class Work {
  readonly client: ForeignGit;
  readonly #test: GitTest;
  readonly folder: string;

  constructor(client: ForeignGit, test: GitTest) {
    this.client = client;
    this.#test = test;
    this.folder = test.client.path("foreign");
  }

  /** Runs the client, which may fail. */
  run(args: readonly string[], secret = this.#test.caller.slice("Bearer ".length)) {
    return runForeign(this.client, args, {
      user: "caller",
      secret,
      home: this.#test.client.folder,
    });
  }

  async do(...args: readonly string[]): Promise<void> {
    const { code, stdout, stderr } = await this.run(args);
    assert.equal(code, 0, `${args.join(" ")}: ${stdout}${stderr}`);
  }

  /** Clones the project, and checks the clone; returns it. */
  async clone(...options: readonly string[]): Promise<Clone> {
    await this.do("clone", this.#test.bareUrl, this.folder, ...options);
    const clone = new Clone(this.#test.client, this.folder);
    await clone.check();
    return clone;
  }

  async commit(path: string, text: string): Promise<void> {
    await this.do("commit", this.folder, path, text, `Change ${path}\n`);
  }

  /** What a fresh clone of Git's own program has, as lines of a hash and a reference. */
  async refs(): Promise<string> {
    const mirror = await this.#test.client.clone(this.#test.url, "--mirror");
    return await mirror.refs();
  }
}

async function hashOf(clone: Clone, name: string): Promise<string> {
  return (await clone.git("rev-parse", name)).trim();
}

withEach("clones and fetches what git does", async (work, test) => {
  await commitFiles(test, { "README.md": "hello\n", "src/ü ö.txt": "1\n".repeat(500), empty: "" });
  await commitFiles(test, { "README.md": "hello there\n", noise: new Uint8Array(70_000).fill(7) });
  const clone = await work.clone();
  const own = await test.clone();
  assert.equal(await hashOf(clone, "HEAD"), await hashOf(own, "HEAD"));
  assert.equal((await clone.git("branch", "--show-current")).trim(), "trunk");
  assert.equal(await Deno.readTextFile(`${clone.folder}/README.md`), "hello there\n");
  // The file is in the new pack as a delta of what the client has.
  await commitFiles(test, { "src/ü ö.txt": "1\n".repeat(499) + "2\n" });
  await commitFiles(test, { "new/file": "new\n" });
  await own.git("pull", "--quiet");
  await own.git("checkout", "--quiet", "-b", "side");
  await commit(own, { side: "1\n" });
  await own.git("tag", "-a", "v1", "-m", "One");
  await own.git("push", "--quiet", "origin", "side", "v1");
  await work.do("fetch", work.folder);
  await clone.check();
  for (const name of ["origin/trunk", "origin/side", "v1"]) {
    assert.equal(await hashOf(clone, name), await hashOf(own, name), name);
  }
  await work.do("fetch", work.folder);
});

withEach("pushes commits, branches and tags, and deletes them", async (work, test) => {
  await commitFiles(test, { "a.txt": "a\n".repeat(100) });
  const clone = await work.clone();
  await work.commit("a.txt", `${"a\n".repeat(99)}b\n`);
  await work.commit("b.txt", "b\n");
  await work.do("push", work.folder, "refs/heads/trunk:refs/heads/trunk");
  const trunk = await hashOf(clone, "trunk");
  assert.match(await work.refs(), new RegExp(`${trunk} refs/heads/trunk\n`));
  await clone.git("branch", "side");
  await work.do("tag", work.folder, "v1", "One");
  await work.do("push", work.folder, "refs/heads/side:refs/heads/side");
  await work.do("push", work.folder, "refs/tags/v1:refs/tags/v1");
  const tag = await hashOf(clone, "v1");
  assert.equal((await clone.git("cat-file", "-t", tag)).trim(), "tag");
  assert.equal(
    await work.refs(),
    `${trunk} refs/heads/side\n${trunk} refs/heads/trunk\n${tag} refs/tags/v1\n`,
  );
  await work.do("push", work.folder, ":refs/heads/side");
  await work.do("push", work.folder, ":refs/tags/v1");
  assert.equal(await work.refs(), `${trunk} refs/heads/trunk\n`);
});

withEach("makes the first branch of an empty project", async (work, test) => {
  await test.client.git(["init", "--quiet", "--initial-branch=main", work.folder]);
  const clone = new Clone(test.client, work.folder);
  const tip = await commit(clone, { "a.txt": "a\n" });
  await clone.git("remote", "add", "origin", test.bareUrl);
  await work.do("push", work.folder, "refs/heads/main:refs/heads/main");
  assert.equal(await work.refs(), `${tip} refs/heads/main\n`);
});

withEach("is told why a push is refused", async (work, test) => {
  await commitFiles(test, { "a.txt": "a\n" });
  const clone = await work.clone();
  const own = await test.clone();
  await commit(own, { "a.txt": "own\n" });
  await own.git("push", "--quiet", "origin", "trunk");
  await work.commit("b.txt", "b\n");
  const late = await work.run(["push", work.folder, "refs/heads/trunk:refs/heads/trunk"]);
  assert.notEqual(late.code, 0);
  const forced = await work.run(["push", work.folder, "+refs/heads/trunk:refs/heads/trunk"]);
  assert.notEqual(forced.code, 0, forced.stdout + forced.stderr);
  assert.match(forced.stdout + forced.stderr, /would lose commits/);
  const tip = await hashOf(own, "trunk");
  assert.equal(await work.refs(), `${tip} refs/heads/trunk\n`);
  await work.do("push", work.folder, "refs/heads/trunk:refs/heads/workspace/mine");
  assert.match(
    await work.refs(),
    new RegExp(`${await hashOf(clone, "trunk")} refs/heads/workspace/mine`),
  );
});

withEach("is refused with a wrong credential", async (work, test) => {
  await commitFiles(test, { "a.txt": "a\n" });
  const { code, stderr } = await work.run(["clone", test.bareUrl, work.folder], "wrong");
  assert.notEqual(code, 0);
  assert.match(stderr, /401|auth|credential|not authorized/i);
});

withEach("clones to a depth, fetches and pushes", async (work, test) => {
  for (let count = 1; count <= 5; count++) await commitFiles(test, { "a.txt": `${count}\n` });
  const clone = await work.clone("2");
  assert.equal((await clone.log()).length, 2);
  await commitFiles(test, { "a.txt": "6\n" });
  await work.do("fetch", work.folder);
  await clone.check();
  assert.equal((await clone.log("origin/trunk")).length, 3);
  await work.commit("b.txt", "b\n");
  await work.do("push", work.folder, "+refs/heads/trunk:refs/heads/workspace/shallow");
  if (!work.client.deepens) return;
  await work.do("fetch", work.folder, "4");
  await clone.check();
  assert.equal((await clone.log("origin/trunk")).length, 4);
});

withEach("clones without files", async (work, test) => {
  await commitFiles(test, { "a.txt": "old\n" });
  await commitFiles(test, { "a.txt": "new\n" });
  await work.do("clone", test.bareUrl, work.folder, "0", "blob:none");
  const clone = new Clone(test.client, work.folder);
  await clone.git("remote", "set-url", "origin", test.url);
  // Only Git's own program notes that the rest is at the server.
  await clone.git("config", "remote.origin.promisor", "true");
  assert.match(await clone.git("rev-list", "--objects", "--all", "--missing=print"), /^\?/m);
  await clone.git("checkout", "--quiet", "--force", "trunk");
  assert.equal(await Deno.readTextFile(`${clone.folder}/a.txt`), "new\n");
}, ({ isPartial }) => isPartial);
