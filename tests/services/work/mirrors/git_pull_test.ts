/** Projects that follow a Git repository elsewhere; `git http-backend` is the peer. */
import assert from "node:assert/strict";
import { type GitTest, withGit } from "../../../support/git_door.ts";
import type { Clone } from "../../../support/git_client.ts";
import { peer } from "../../../support/peers.ts";
import type { MirrorView } from "../../../../services/work/mirrors/mod.ts";
import { GitServer } from "./git_server.ts";

interface PullTest extends GitTest {
  readonly upstream: GitServer;
  /** A clone in which upstream's people work. */
  readonly theirs: Clone;
  /** Writes a file, commits and pushes it to a branch upstream. */
  commit(name: string, branch?: string): Promise<string>;
  /** Lets the mirror run; returns how that ended. */
  pull(): Promise<MirrorView>;
  /** The references of the project, a line each. */
  refs(): Promise<string>;
  /** The events of lost tips, as references and where they were. */
  lost(): Promise<string[]>;
}

/** Runs a test with a project that follows upstream, which has a commit on `main`. */
async function withPull(run: (test: PullTest) => Promise<void>): Promise<void> {
  await withGit(async (test) => {
    const { client, api, answer, project } = test;
    await using upstream = await GitServer.start(client.folder);
    const theirs = await client.clone(upstream.url);
    const commit = async (name: string, branch = "main") => {
      await Deno.writeTextFile(`${theirs.folder}/${name}`, `${name}\n`);
      await theirs.git("add", ".");
      await theirs.git("commit", "--quiet", `--message=Add ${name}`);
      await theirs.git("push", "--quiet", "--force", "origin", `HEAD:refs/heads/${branch}`);
      return (await theirs.git("rev-parse", "HEAD")).trim();
    };
    await theirs.git("checkout", "--quiet", "-b", "main");
    await commit("one");
    const ended = async () => {
      await api.services.hosting.mirrors.idle();
      return await answer("GET /api/mirror");
    };
    await answer("PUT /api/mirror", { body: { pull: { git: { url: upstream.url } } } });
    assert.equal((await ended()).last_error, null);
    await run({
      ...test,
      upstream,
      theirs,
      commit,
      pull: async () => {
        await answer("POST /api/mirror/run");
        return await ended();
      },
      refs: async () => {
        const list = await client.git(["ls-remote", test.url, "refs/heads/*", "refs/tags/*"]);
        return list.split("\n").filter((line) => line !== "" && !line.endsWith("^{}"))
          .map((line) => line.replace("\t", " ")).join("\n");
      },
      lost: async () => {
        const { events } = await api.services.eventLog.read({ types: ["project.rewound"] });
        return events.filter(({ data }) => data["project"] === project.slug)
          .map(({ data: { ref, from, to } }) => `${ref} ${from} ${to}`);
      },
    });
  }, { config: { webhooks: { allow_private: true } } });
}

const test = (name: string, fn: () => Promise<void>) => Deno.test({ name, fn, ...peer("git") });

test("a project follows a Git repository, and fetches only what is new", () =>
  withPull(async ({ pull, refs, upstream, theirs, commit, lost }) => {
    assert.equal(await refs(), await upstream.refs());
    await commit("two");
    await theirs.git("checkout", "--quiet", "-b", "side");
    await commit("three", "side");
    await theirs.git("tag", "--annotate", "--message=First", "v1");
    await theirs.git("push", "--quiet", "origin", "v1");
    let sent = 0;
    upstream.change = (pack) => {
      sent += pack.length;
      return pack;
    };
    assert.equal((await pull()).last_error, null);
    assert.equal(await refs(), await upstream.refs());
    assert.ok(sent > 0 && sent < 2000, `${sent} bytes`);
    const before = upstream.requests.length;
    sent = 0;
    assert.equal((await pull()).last_error, null);
    // The references, in two requests of version 2.
    assert.deepEqual([upstream.requests.length - before, sent], [2, 0]);
    assert.deepEqual(await lost(), []);
  }));

test("forced moves and deletions are followed; what was there is fetched by its hash", () =>
  withPull(async ({ pull, refs, upstream, theirs, commit, lost, clone }) => {
    const old = await commit("two");
    await theirs.git("push", "--quiet", "origin", "HEAD:refs/heads/gone", "HEAD:refs/tags/moving");
    await pull();
    assert.equal(await refs(), await upstream.refs());
    await theirs.git("reset", "--quiet", "--hard", "HEAD~");
    const now = await commit("other");
    await theirs.git(
      "push",
      "--quiet",
      "--force",
      "origin",
      ":refs/heads/gone",
      "HEAD:refs/tags/moving",
    );
    assert.equal((await pull()).last_error, null);
    assert.equal(await refs(), await upstream.refs());
    assert.deepEqual((await lost()).toSorted(), [
      `refs/heads/gone ${old} null`,
      `refs/heads/main ${old} ${now}`,
      `refs/tags/moving ${old} ${now}`,
    ]);
    const here = await clone();
    await here.git("fetch", "--quiet", "origin", old);
    assert.equal((await here.git("rev-parse", "FETCH_HEAD")).trim(), old);
    // A branch may lose all that is its own.
    await theirs.git("push", "--quiet", "origin", `${old}:refs/heads/side`);
    await pull();
    await theirs.git("push", "--quiet", "--force", "origin", `${now}:refs/heads/side`);
    assert.equal((await pull()).last_error, null);
    assert.equal(await refs(), await upstream.refs());
    // And back again, as if nothing had been.
    await theirs.git("push", "--quiet", "--force", "origin", `${old}:refs/heads/main`);
    assert.equal((await pull()).last_error, null);
    assert.equal(await refs(), await upstream.refs());
  }));

test("a main branch of another name is followed, and the old one goes", () =>
  withPull(async ({ pull, refs, upstream, theirs, client, url }) => {
    await theirs.git("push", "--quiet", "origin", "HEAD:refs/heads/trunk2");
    await upstream.git("symbolic-ref", "HEAD", "refs/heads/trunk2");
    await theirs.git("push", "--quiet", "origin", ":refs/heads/main");
    assert.equal((await pull()).last_error, null);
    assert.equal(await refs(), await upstream.refs());
    const head = await client.git(["ls-remote", "--symref", url, "HEAD"]);
    assert.match(head, /^ref: refs\/heads\/trunk2\tHEAD/);
  }));

test("what people make here stays, whatever upstream does", () =>
  withPull(async ({ pull, refs, upstream, theirs, commit, clone, lost }) => {
    const here = await clone();
    await here.git("commit", "--quiet", "--allow-empty", "--message=Ours");
    await here.git("push", "--quiet", "origin", "HEAD:refs/heads/ours");
    await here.git("push", "--quiet", "origin", "HEAD:refs/heads/main", "HEAD:refs/tags/t");
    const ours = (await here.git("rev-parse", "HEAD")).trim();
    const theirs1 = await commit("two");
    await theirs.git("push", "--quiet", "origin", "HEAD:refs/heads/other", "HEAD:refs/tags/t");
    const view = await pull();
    assert.match(view.last_error ?? "", /refs\/heads\/main: non-fast-forward/);
    assert.match(view.last_error ?? "", /refs\/tags\/t: this project has another tag/);
    assert.match(await refs(), new RegExp(`${ours} refs/heads/main`));
    assert.match(await refs(), new RegExp(`${ours} refs/heads/ours`));
    assert.match(await refs(), new RegExp(`${theirs1} refs/heads/other`));
    // Once upstream has it, main follows again.
    await theirs.git("fetch", "--quiet", here.folder, "main");
    await theirs.git("merge", "--quiet", "--message=Merge", "FETCH_HEAD");
    await theirs.git(
      "push",
      "--quiet",
      "--force",
      "origin",
      "HEAD:refs/heads/main",
      `${ours}:refs/tags/t`,
    );
    assert.equal((await pull()).last_error, null);
    const main = (await theirs.git("rev-parse", "HEAD")).trim();
    assert.match(await refs(), new RegExp(`${main} refs/heads/main`));
    assert.match(await refs(), new RegExp(`${ours} refs/heads/ours`));
    assert.deepEqual(await lost(), []);
    assert.notEqual(await refs(), await upstream.refs());
  }));

test("an imported project is followed, and a mirror of another repository owns nothing of it", () =>
  withPull(async ({ pull, refs, upstream, answer, client, api, commit }) => {
    await commit("two");
    await answer("DELETE /api/mirror");
    await answer("PUT /api/mirror", { body: { pull: { git: { url: upstream.url } } } });
    await api.services.hosting.mirrors.idle();
    assert.equal(await refs(), await upstream.refs());
    const before = await refs();
    await client.git([
      "clone",
      "--quiet",
      "--bare",
      upstream.folder,
      `${upstream.root}/second.git`,
    ]);
    const second = upstream.url.replace("demo.git", "second.git");
    await client.git(["-C", `${upstream.root}/second.git`, "branch", "--move", "main", "new"]);
    await answer("PUT /api/mirror", { body: { pull: { git: { url: second } } } });
    await api.services.hosting.mirrors.idle();
    assert.equal((await answer("GET /api/mirror")).last_error, null);
    assert.equal(await refs(), `${before}\n${before.replace("/main", "/new")}`);
    await pull();
  }));

test("an upstream that is away, or lost everything, changes nothing and says so", () =>
  withPull(async ({ pull, refs, upstream }) => {
    const before = await refs();
    upstream.instead = () => new Response("", { status: 503 });
    const view = await pull();
    assert.match(view.last_error ?? "", /status 503/);
    assert.equal(view.failures, 1);
    upstream.instead = () => null;
    await upstream.git("update-ref", "-d", "refs/heads/main");
    assert.match((await pull()).last_error ?? "", /no branches and no tags any more/);
    assert.equal(await refs(), before);
  }));
