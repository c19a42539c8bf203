/** A project has two doors: what comes through one is seen through the other. */
import { Reader, Repository } from "../../../../services/engines/fossil/mod.ts";
import { GitCompanion } from "../../../../services/engines/fossil/git/door/mod.ts";
import { oddTags, pushRaw, rawPack } from "../../../support/raw_pushes.ts";
import assert from "node:assert/strict";
import { join } from "node:path";
import { peer } from "../../../support/peers.ts";
import { commit, requireSame } from "../../../support/git_pushes.ts";
import type { Clone } from "../../../support/git_client.ts";
import { type GitTest, withGit } from "../../../support/git_door.ts";
import { commitFiles } from "../../../support/projects.ts";

/** A test that needs both programs. */
function bothTest(name: string, run: (test: GitTest) => Promise<void>): void {
  const { ignore } = peer("git");
  Deno.test({ name, ...peer("fossil"), ...ignore ? { ignore } : {}, fn: () => withGit(run) });
}

/** The `fossil` program with a home of its own. */
class FossilClient {
  readonly #test: GitTest;

  constructor(test: GitTest) {
    this.#test = test;
  }

  async run(folder: string, ...args: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await new Deno.Command("fossil", {
      args: [...args],
      cwd: folder,
      clearEnv: true,
      env: { HOME: this.#test.client.folder, USER: "caller", PATH: Deno.env.get("PATH") ?? "" },
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).output();
    const text = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
    assert.equal(code, 0, `fossil ${args.join(" ")}: ${text}`);
    return text;
  }

  /** Clones the project, and opens a checkout of a branch; returns its folder. */
  async open(branch: string): Promise<string> {
    const { client, url } = this.#test;
    const file = client.path("clone.fossil");
    const address = url.replace(/\.git$/, "/fossil");
    await this.run(client.folder, "clone", "--save-http-password", address, file);
    const folder = client.path("checkout");
    await Deno.mkdir(folder);
    await this.run(folder, "open", file, branch);
    return folder;
  }
}

bothTest("after git push, fossil has the check-in, and a rebuild is clean", async (test) => {
  await commitFiles(test, { "a.txt": "a\n" });
  const fossil = new FossilClient(test);
  const folder = await fossil.open("trunk");
  const clone = await test.clone();
  await clone.git("checkout", "--quiet", "-b", "side");
  await commit(clone, { "side.txt": "1\n" });
  await clone.git("checkout", "--quiet", "trunk");
  await commit(clone, { "b.txt": "b\n" }, "Add b");
  await clone.git("merge", "--quiet", "--no-ff", "-m", "Merge side", "side");
  await clone.git("tag", "-a", "v1", "-m", "One");
  await clone.git("push", "--quiet", "origin", "trunk", "side", "v1");
  await fossil.run(folder, "update", "trunk");
  assert.equal(await Deno.readTextFile(join(folder, "b.txt")), "b\n");
  assert.equal(await Deno.readTextFile(join(folder, "side.txt")), "1\n");
  assert.match(await fossil.run(folder, "tag", "list"), /v1/);
  await fossil.run(folder, "rebuild");
  assert.match(await fossil.run(folder, "test-integrity"), / 0 errors/);
});

bothTest("after fossil commit, git fetch has the commit, and can push on top", async (test) => {
  const clone = await test.clone();
  await clone.git("checkout", "--quiet", "-b", "main");
  await commit(clone, { "a.txt": "a\n", "run.sh": "#!/bin/sh\n" });
  await clone.git("push", "--quiet", "origin", "main");
  const fossil = new FossilClient(test);
  const folder = await fossil.open("main");
  await Deno.writeTextFile(join(folder, "a.txt"), "fossil\n");
  await fossil.run(folder, "commit", "-m", "From fossil", "--no-warnings");
  await clone.git("pull", "--quiet", "origin", "main");
  assert.equal(await Deno.readTextFile(`${clone.folder}/a.txt`), "fossil\n");
  await commit(clone, { "a.txt": "git\n" });
  await clone.git("push", "--quiet", "origin", "main");
  await fossil.run(folder, "update");
  assert.equal(await Deno.readTextFile(join(folder, "a.txt")), "git\n");
  await requireSame(test, clone, "refs/heads");
});

bothTest("a fork that fossil pushes takes no reference away", async (test) => {
  await commitFiles(test, { "a.txt": "a\n" });
  const fossil = new FossilClient(test);
  const folder = await fossil.open("trunk");
  const clone = await test.clone();
  const tip = await commit(clone, { "b.txt": "git\n" });
  await clone.git("push", "--quiet", "origin", "trunk");
  await Deno.writeTextFile(join(folder, "a.txt"), "fossil\n");
  await fossil.run(folder, "settings", "autosync", "off");
  await fossil.run(folder, "commit", "-m", "A fork", "--no-warnings", "--allow-fork");
  await fossil.run(folder, "push");
  const fresh = await test.clone();
  assert.equal((await fresh.git("rev-parse", "HEAD")).trim(), tip);
});

bothTest("tags of tags, trees and files survive fossil clone and rebuild", async (test) => {
  const { refs, objects } = oddTags();
  const commands = Object.entries(refs).map(([ref, { hex }]) => [ref, hex] as const);
  assert.doesNotMatch(await pushRaw(test, commands, rawPack(objects)), /ng |unpack [^o]/);
  const fossil = new FossilClient(test);
  const folder = await fossil.open("main");
  await fossil.run(folder, "rebuild");
  assert.match(await fossil.run(folder, "test-integrity"), / 0 errors/);
  using repository = Repository.open(test.client.path("clone.fossil"));
  const companion = GitCompanion.open(
    test.client.path("clone.objects"),
    new Reader(repository),
  );
  companion.update();
  const found = companion.advertisement().refs.map(({ ref, object }) => [ref, object]);
  companion.close();
  assert.deepEqual(Object.fromEntries(found), Object.fromEntries(commands));
});

bothTest("a fork takes no reference away from what fossil pushed before it", async (test) => {
  await commitFiles(test, { "a.txt": "a\n" });
  const clone = await test.clone();
  await commit(clone, { "b.txt": "git\n" });
  await clone.git("push", "--quiet", "origin", "trunk");
  const fossil = new FossilClient(test);
  const folder = await fossil.open("trunk");
  await commitFiles(test, { "a.txt": "first\n" });
  await clone.git("fetch", "--quiet");
  const tip = await clone.git("rev-parse", "origin/trunk");
  await Deno.writeTextFile(join(folder, "a.txt"), "fork\n");
  await fossil.run(folder, "settings", "autosync", "off");
  await fossil.run(folder, "commit", "-m", "A fork", "--no-warnings", "--allow-fork");
  await fossil.run(folder, "push");
  const fresh = await test.clone();
  assert.equal(await fresh.git("rev-parse", "HEAD"), tip);
});

/** A branch `side` with a push, a checkout of it in Fossil, and a look at the branches of the server. */
async function withSide(
  test: GitTest,
  run: (side: {
    readonly pushed: string;
    readonly clone: Clone;
    commitFossil(text: string): Promise<void>;
    fossil(...args: readonly string[]): Promise<string>;
    tip(): Promise<string | undefined>;
  }) => Promise<void>,
): Promise<void> {
  await commitFiles(test, { "a.txt": "a\n" });
  const clone = await test.clone();
  const pushed = await commit(clone, { "b.txt": "git\n" });
  await clone.git("push", "--quiet", "origin", "HEAD:side");
  const client = new FossilClient(test);
  const folder = await client.open("side");
  await run({
    pushed,
    clone,
    commitFossil: async (text) => {
      await Deno.writeTextFile(join(folder, "a.txt"), text);
      await client.run(folder, "commit", "-m", text, "--no-warnings", "--allow-fork");
    },
    fossil: (...args) => client.run(folder, ...args),
    tip: async () => {
      const line = await clone.git("ls-remote", "--heads", "origin", "side");
      return line === "" ? undefined : line.split("\t")[0];
    },
  });
}

bothTest("a branch that fossil closes is gone, until a push begins it again", async (test) => {
  await withSide(test, async ({ pushed, clone, commitFossil, fossil, tip }) => {
    await commitFossil("Continue\n");
    const continued = await tip();
    assert.notEqual(continued, pushed);
    await fossil("amend", "current", "--close");
    await fossil("sync");
    assert.equal(await tip(), undefined);
    await clone.git("push", "--quiet", "origin", `${pushed}:refs/heads/side`);
    assert.equal(await tip(), pushed);
    assert.match(await fossil("update", "side"), /comment: +A change/);
  });
});

bothTest("so is one whose fork fossil has merged into it", async (test) => {
  await withSide(test, async ({ clone, commitFossil, fossil, tip }) => {
    const pushed = await commit(clone, { "b.txt": "again\n" });
    await clone.git("push", "--quiet", "origin", "HEAD:side");
    await fossil("settings", "autosync", "off");
    await commitFossil("A fork\n");
    await fossil("sync");
    await fossil("merge");
    await fossil("commit", "-m", "Merge", "--no-warnings");
    await fossil("sync");
    assert.notEqual(await tip(), pushed);
    await fossil("amend", "current", "--close");
    await fossil("sync");
    assert.equal(await tip(), undefined);
    await clone.git("push", "--quiet", "origin", `${pushed}:refs/heads/side`);
    assert.equal(await tip(), pushed);
    await fossil("sync");
    assert.doesNotMatch(await fossil("leaves"), /A fork|Merge/);
  });
});
