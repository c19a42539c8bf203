/** What Git's own tests of pushes expect of a server, by the names of their cases. */
import assert from "node:assert/strict";
import { commit } from "../../../support/git_pushes.ts";
import { type CaseTest, gitCases } from "../../../support/git_cases.ts";
import type { GitTest } from "../../../support/git_door.ts";

/** A clone of a project whose branch `main` has two commits. */
async function prepare(test: GitTest) {
  const clone = await test.clone();
  await clone.git("checkout", "--quiet", "-b", "main");
  await commit(clone, { path1: "1\n" }, "initial");
  await commit(clone, { path2: "2\n" }, "second");
  await clone.git("push", "--quiet", "--set-upstream", "origin", "main");
  return clone;
}

/** What a reference of the project points at; "" if it is not there. */
async function remote({ client, url }: CaseTest, ref: string): Promise<string> {
  return (await client.git(["ls-remote", url, ref])).split("\t")[0]!;
}

async function head({ clone1 }: CaseTest, name = "HEAD"): Promise<string> {
  return (await clone1.git("rev-parse", name)).trim();
}

/** Puts the clone back on the project's `main`. */
async function reset({ clone1 }: CaseTest): Promise<void> {
  await clone1.git("fetch", "--quiet", "origin");
  await clone1.git("checkout", "--quiet", "-B", "main", "origin/main");
}

gitCases("t5541: pushes over HTTP", prepare, {
  "no empty path components": async ({ client, url }) => {
    await client.clone(`${url}/`);
  },
  "push to remote repository (standard)": async (test) => {
    const tip = await commit(test.clone1, { path3: "3\n" });
    await test.clone1.git("push", "--quiet");
    assert.equal(await remote(test, "refs/heads/main"), tip);
  },
  "push already up-to-date": async ({ clone1, requests }) => {
    const before = requests.length;
    const push = await clone1.run("push");
    assert.match(push.stderr, /Everything up-to-date/);
    assert.deepEqual(
      requests.slice(before),
      [401, 200].map((status) =>
        `GET /projects/demo.git/info/refs?service=git-receive-pack ${status}`
      ),
    );
  },
  "create and delete remote branch": async (test) => {
    await test.clone1.git("push", "--quiet", "origin", "HEAD:dev");
    assert.equal(await remote(test, "refs/heads/dev"), await head(test));
    await test.clone1.git("push", "--quiet", "origin", ":dev");
    assert.equal(await remote(test, "refs/heads/dev"), "");
  },
  "rejected update prints status": async ({ clone1 }) => {
    const push = await clone1.run("push", "origin", "HEAD:refs/heads/landing/x");
    assert.equal(push.code, 1);
    assert.match(
      push.stderr,
      /remote: refs\/heads\/landing\/x: only the landing queue writes to it/,
    );
    assert.match(
      push.stderr,
      /! \[remote rejected\] HEAD -> landing\/x \(only the landing queue writes to it\)/,
    );
  },
  "non-fast-forward push fails": async (test) => {
    const { clone1 } = test;
    const before = await remote(test, "refs/heads/main");
    await clone1.git("commit", "--quiet", "--amend", "--message", "amended");
    const push = await clone1.run("push", "origin", "main");
    assert.match(push.stderr, /! \[rejected\] +main -> main \(non-fast-forward\)/);
    assert.equal(await remote(test, "refs/heads/main"), before);
  },
  "push fails for non-fast-forward refs unmatched by remote helper": async (test) => {
    const { clone1 } = test;
    await clone1.git("push", "--quiet", "origin", "origin/main:refs/heads/niam");
    const push = await clone1.run("push", "origin", "+main", "main:niam");
    assert.match(push.stderr, /! \[remote rejected\] main -> main \(non-fast-forward/);
    assert.match(push.stderr, /! \[rejected\] +main -> niam \(non-fast-forward\)/);
    await reset(test);
  },
  "push (chunked)": async (test) => {
    const tip = await commit(test.clone1, { path4: "4\n" });
    await test.clone1.git("-c", "http.postBuffer=4", "push", "--quiet", "origin", "main");
    assert.equal(await remote(test, "refs/heads/main"), tip);
  },
  "push --atomic also prevents branch creation, reports collateral": async (test) => {
    const { clone1 } = test;
    const before = await remote(test, "refs/heads/main");
    await clone1.git("push", "--quiet", "origin", "HEAD:collateral");
    await clone1.git("branch", "--force", "collateral", "HEAD");
    await clone1.git("reset", "--quiet", "--hard", "HEAD^");
    await clone1.git("branch", "atomic");
    const push = await clone1.run("push", "--atomic", "origin", "main", "atomic", "collateral");
    assert.match(push.stderr, /! .*rejected.* main -> main/);
    assert.match(push.stderr, /! .*rejected.* atomic -> atomic .*atomic push failed/);
    assert.equal(await remote(test, "refs/heads/atomic"), "");
    assert.equal(await remote(test, "refs/heads/main"), before);
    await reset(test);
  },
  "push --atomic fails on server-side errors": async (test) => {
    const { clone1 } = test;
    const push = await clone1.run("push", "--atomic", "origin", "HEAD:both", "HEAD:landing/1");
    assert.match(push.stderr, /! \[remote rejected\] HEAD -> landing\/1 \(only the landing queue/);
    assert.match(push.stderr, /! \[remote rejected\] HEAD -> both \(another reference/);
    assert.equal(await remote(test, "refs/heads/both"), "");
  },
  "push --progress shows progress to non-tty": async ({ clone1 }) => {
    await commit(clone1, { path5: "5\n" });
    const push = await clone1.run("push", "--progress", "origin", "main");
    assert.match(push.stderr, /Writing objects/);
    assert.match(push.stderr, /^To http/m);
  },
  "push --quiet silences status and progress": async ({ clone1 }) => {
    await commit(clone1, { path6: "6\n" });
    assert.equal((await clone1.run("push", "--quiet", "origin", "main")).stderr, "");
  },
  "push over smart http with auth": async ({ clone1, bareUrl }) => {
    const push = await clone1.run("push", bareUrl, "main");
    assert.match(push.stderr, /could not read Username|terminal prompts disabled/);
  },
  "push 2000 tags over http: 300 of them": async ({ clone1, client, url }) => {
    const name = await head({ clone1 } as CaseTest);
    const lines = Array.from(
      { length: 300 },
      (_, at) => `create refs/tags/long-tag-${at} ${name}\n`,
    );
    await client.git(
      ["update-ref", "--stdin"],
      clone1.folder,
      new TextEncoder().encode(lines.join("")),
    );
    await clone1.git("push", "--quiet", "--tags", "origin");
    const listed = await client.git(["ls-remote", "--tags", url]);
    assert.equal(listed.trim().split("\n").length, 300);
  },
  "push --signed says that the server takes no certificates": async ({ clone1 }) => {
    const push = await clone1.run("push", "--signed", "origin", "main:signed");
    assert.match(push.stderr, /the receiving end does not support --signed push/);
  },
  "Non-ASCII branch name can be used with --force-with-lease": async (test) => {
    const { clone1 } = test;
    await clone1.git("push", "--quiet", "origin", "HEAD^:refs/heads/rama-de-árbol");
    await clone1.git("fetch", "--quiet", "origin");
    const tip = await head(test);
    await clone1.git("push", "--quiet", "--force-with-lease", "origin", "HEAD:rama-de-árbol");
    assert.equal(await remote(test, "refs/heads/rama-de-árbol"), tip);
  },
});

gitCases("t5516: pushes and what is fetched of them", prepare, {
  "push without wildcard": async (test) => {
    await test.clone1.git("push", "--quiet", "origin", "refs/heads/main:refs/heads/copy");
    assert.equal(await remote(test, "refs/heads/copy"), await head(test));
  },
  "push with wildcard": async (test) => {
    const push = await test.clone1.run("push", "origin", "refs/heads/*:refs/remotes/mine/*");
    assert.match(push.stderr, /this server keeps branches and tags/);
    await test.clone1.git("push", "--quiet", "origin", "refs/heads/*:refs/heads/mine/*");
    assert.equal(await remote(test, "refs/heads/mine/main"), await head(test));
  },
  "push with matching heads": async (test) => {
    const tip = await commit(test.clone1, { path3: "3\n" });
    await test.clone1.git("push", "--quiet", "origin", ":");
    assert.equal(await remote(test, "refs/heads/main"), tip);
  },
  "failed (non-fast-forward) push with matching heads": async (test) => {
    const before = await head(test);
    await test.clone1.git("commit", "--quiet", "--amend", "--message", "amended");
    assert.equal((await test.clone1.run("push", "origin", ":")).code, 1);
    assert.equal(await remote(test, "refs/heads/main"), before);
    await reset(test);
  },
  "push with HEAD": async (test) => {
    const tip = await commit(test.clone1, { path4: "4\n" });
    await test.clone1.git("push", "--quiet", "origin", "HEAD");
    assert.equal(await remote(test, "refs/heads/main"), tip);
  },
  "push of a detached HEAD, a tag, a hash and an expression": async (test) => {
    const { clone1 } = test;
    await clone1.git("checkout", "--quiet", "--detach");
    const tip = await commit(clone1, { path5: "5\n" });
    await clone1.git("tag", "light");
    await clone1.git("push", "--quiet", "origin", "HEAD:refs/heads/detached", "light");
    await clone1.git(
      "push",
      "--quiet",
      "origin",
      `${tip}:refs/heads/hash`,
      "HEAD^:refs/heads/before",
    );
    for (const ref of ["heads/detached", "tags/light", "heads/hash"]) {
      assert.equal(await remote(test, `refs/${ref}`), tip, ref);
    }
    assert.equal(await remote(test, "refs/heads/before"), await head(test, "HEAD^"));
    await reset(test);
  },
  "push with dry-run": async (test) => {
    const before = await remote(test, "refs/heads/main");
    await commit(test.clone1, { path6: "6\n" });
    await test.clone1.git("push", "--quiet", "--dry-run", "origin", "main");
    assert.equal(await remote(test, "refs/heads/main"), before);
    await test.clone1.git("push", "--quiet", "origin", "main");
  },
  "push does not update local refs on failure": async (test) => {
    const { clone1 } = test;
    const before = await head(test, "origin/main");
    await commit(clone1, { path7: "7\n" });
    await clone1.run("push", "--atomic", "origin", "main", "HEAD:landing/1");
    assert.equal(await head(test, "origin/main"), before);
    await clone1.git("push", "--quiet", "origin", "main");
  },
  "allow deleting a ref using --delete": async (test) => {
    await test.clone1.git("push", "--quiet", "--delete", "origin", "copy");
    assert.equal(await remote(test, "refs/heads/copy"), "");
  },
  "allow deleting a tag using --delete": async (test) => {
    await test.clone1.git("push", "--quiet", "--delete", "origin", "light");
    assert.equal(await remote(test, "refs/tags/light"), "");
  },
  "push --delete of what is not there": async ({ clone1 }) => {
    const push = await clone1.run("push", "--delete", "origin", "absent");
    assert.match(push.stderr, /remote ref does not exist/);
  },
  "push to update a hidden ref": async ({ clone1 }) => {
    const push = await clone1.run("push", "origin", "HEAD:refs/heads/landing/2");
    assert.match(push.stderr, /only the landing queue writes to it/);
  },
  "fetch exact SHA1": async (test) => {
    await test.clone1.git("push", "--quiet", "origin", "HEAD:refs/heads/gone");
    const tip = await commit(test.clone1, { path8: "8\n" });
    await test.clone1.git("push", "--quiet", "origin", "HEAD:gone");
    await test.clone1.git("push", "--quiet", "origin", ":gone");
    const fresh = await test.clone();
    await fresh.git("fetch", "--quiet", "origin", tip);
    assert.equal((await fresh.git("rev-parse", "FETCH_HEAD")).trim(), tip);
    await fresh.git("-c", "protocol.version=0", "fetch", "--quiet", "--depth=1", "origin", tip);
    await reset(test);
  },
  "fetch of a hash that nobody has": async ({ clone1 }) => {
    const fetch = await clone1.run("fetch", "origin", "1".repeat(40));
    assert.match(fetch.stderr, /1{40}/);
    assert.notEqual(fetch.code, 0);
  },
  "fetch follows tags by default": async (test) => {
    const fresh = await test.clone();
    await commit(test.clone1, { path9: "9\n" });
    await test.clone1.git("tag", "-a", "-m", "One", "one");
    await test.clone1.git("push", "--quiet", "origin", "main", "one");
    await fresh.git("pull", "--quiet");
    assert.equal(await fresh.refs("refs/tags/one"), await test.clone1.refs("refs/tags/one"));
  },
  "push does not follow tags by default, and --follow-tags only pushes relevant tags": async (
    test,
  ) => {
    const { clone1 } = test;
    await commit(clone1, { path10: "10\n" });
    await clone1.git("tag", "-a", "-m", "Two", "two");
    await clone1.git("push", "--quiet", "origin", "main");
    assert.equal(await remote(test, "refs/tags/two"), "");
    await clone1.git("tag", "-a", "-m", "Three", "three", "HEAD^");
    await commit(clone1, { path11: "11\n" });
    await clone1.git("tag", "light2");
    await clone1.git("push", "--quiet", "--follow-tags", "origin", "main");
    assert.notEqual(await remote(test, "refs/tags/two"), "");
    assert.equal(await remote(test, "refs/tags/light2"), "");
  },
  "pushing valid refs triggers no error, and over a tag requires --force": async (test) => {
    const { clone1 } = test;
    await clone1.git("push", "--quiet", "origin", "HEAD^:refs/tags/moved");
    const plain = await clone1.run("push", "origin", "HEAD:refs/tags/moved");
    assert.match(plain.stderr, /\[rejected\].*already exists/);
    await clone1.git("push", "--quiet", "--force", "origin", "HEAD:refs/tags/moved");
    assert.equal(await remote(test, "refs/tags/moved"), await head(test));
  },
  "push --prune": async (test) => {
    const { clone1 } = test;
    await clone1.git(
      "push",
      "--quiet",
      "origin",
      "HEAD:refs/heads/team/a",
      "HEAD:refs/heads/team/b",
    );
    await clone1.git("branch", "team/a");
    await clone1.git("push", "--quiet", "--prune", "origin", "refs/heads/team/*:refs/heads/team/*");
    assert.notEqual(await remote(test, "refs/heads/team/a"), "");
    assert.equal(await remote(test, "refs/heads/team/b"), "");
  },
  "push --no-thin must produce non-thin pack, and is taken": async (test) => {
    const tip = await commit(test.clone1, { path1: "another line\n".repeat(50) });
    await test.clone1.git("push", "--quiet", "--no-thin", "origin", "main");
    assert.equal(await remote(test, "refs/heads/main"), tip);
    const next = await commit(test.clone1, { path1: `${"another line\n".repeat(50)}more\n` });
    await test.clone1.git("push", "--quiet", "--thin", "origin", "main");
    assert.equal(await remote(test, "refs/heads/main"), next);
  },
  "a push of all that a mirror has": async (test) => {
    const mirror = await test.client.clone(test.url, "--mirror");
    await mirror.git("push", "--quiet", "--mirror", test.url);
    assert.equal(
      await (await test.client.clone(test.url, "--mirror")).refs(),
      await mirror.refs(),
    );
  },
});

for (const [how, kind] of [["--all", "heads"], ["--mirror", ""]] as const) {
  gitCases(`t5541: push ${how} can push to an empty repository`, (test) => test.clone(), {
    "all that it has arrives": async ({ clone1, client, url }) => {
      await clone1.git("checkout", "--quiet", "-b", "main");
      await commit(clone1, { a: "a\n" });
      await clone1.git("branch", "other");
      await clone1.git("remote", "remove", "origin");
      await clone1.git("push", "--quiet", how, url);
      const mirror = await client.clone(url, "--mirror");
      assert.equal(await mirror.refs(`refs/${kind}`), await clone1.refs(`refs/${kind}`));
    },
  });
}
