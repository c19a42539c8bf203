import assert from "node:assert/strict";
import { join } from "node:path";
import { peer } from "../../../support/peers.ts";
import { byEverybody, type TestApi, withApi } from "../../../support/scenarios.ts";
import { withFolder } from "../../../support/temporary.ts";
import { pushToGit } from "../../../../services/work/mirrors/git.ts";
import { GitServer } from "./git_server.ts";

const OPEN = { config: { webhooks: { allow_private: true } } };
const PATH = "/v1/projects/demo/mirror";

interface View {
  readonly git: { readonly username: string | null; readonly has_password: boolean };
  readonly last_error: string | null;
  readonly last_success_at: string | null;
  readonly next_run_at: string;
  readonly failures: number;
}

/** Runs a test with a project that has one check-in, and a Git remote. */
async function withRemote(
  run: (api: TestApi, remote: GitServer) => Promise<void>,
  options: typeof OPEN | Record<string, never> = OPEN,
): Promise<void> {
  await withFolder(async (folder) => {
    await using remote = await GitServer.start(folder);
    await withApi(async (api) => {
      await api.answer("POST /v1/projects", { slug: "demo", name: "Demo", agents_md: true });
      await run(api, remote);
    }, options);
  });
}

async function ended(api: TestApi): Promise<View> {
  await api.services.hosting.mirrors.idle();
  return await api.answer(`GET ${PATH}`) as View;
}

const test = (name: string, fn: () => Promise<void>) => Deno.test({ name, fn, ...peer("git") });

test("a project's branches are pushed to a Git remote, at once and again on demand", async () => {
  await withRemote(async (api, remote) => {
    remote.require("bot", "s3cret");
    const git = { url: remote.url, username: "bot", password: "s3cret" };
    await api.answer(`PUT ${PATH}`, { git });
    const view = await ended(api);
    assert.equal(view.last_error, null);
    assert.notEqual(view.last_success_at, null);
    assert.deepEqual([view.git.username, view.git.has_password], ["bot", true]);
    assert.doesNotMatch(JSON.stringify(view), /s3cret/);
    assert.equal(
      await remote.git("log", "--format=%s", "--reverse", "main"),
      "initial empty check-in\nAdd AGENTS.md",
    );
    assert.match(await remote.git("show", "main:AGENTS.md"), /^# Demo: guide for agents/);

    // A branch of others stays; new check-ins arrive; the stored password is used again.
    await remote.git("branch", "theirs", "main");
    const base = "/projects/demo/fossil/api";
    await api.answer(`POST ${base}/workspaces/create`, { name: "work" });
    await api.answer(`POST ${base}/workspaces/work/commit`, {
      message: "Say hello",
      changes: [{ path: "hello.txt", content: "Hello\n" }],
    });
    await api.answer(`PUT ${PATH}`, { git: { url: remote.url, username: "bot" } });
    assert.equal((await ended(api)).last_error, null);
    assert.match(await remote.git("branch", "--format=%(refname:short)"), /^theirs$/m);
    // Work under way is not published, even if an earlier version did that; what is merged is.
    assert.doesNotMatch(await remote.git("log", "--all", "--format=%s"), /^Say hello$/m);
    const folder = join(api.services.hosting.repositories.files.folder, ".mirrors");
    const [bare] = [...Deno.readDirSync(folder)].filter(({ name }) => name.endsWith(".git"));
    const old = "refs/heads/workspace/work";
    await remote.git("update-ref", old, "main");
    await remote.git("--git-dir", join(folder, bare!.name), "update-ref", old, "main");
    await api.answer(`POST ${base}/workspaces/work/merge`, {});
    await api.answer(`POST ${PATH}/run`);
    assert.equal((await ended(api)).last_error, null);
    const subjects = await remote.git("log", "--format=%s", "main");
    assert.match(subjects, /^Say hello$/m);
    // It begins with the commit that began the workspace: a mirror has the commits of a clone.
    assert.match(subjects, /^Create new branch named "workspace\/work"$/m);
    assert.equal(
      await remote.git("for-each-ref", "--format=%(refname)"),
      "refs/heads/main\nrefs/heads/theirs",
    );
    await api.answer(`POST ${PATH}/run`);
    assert.equal((await ended(api)).failures, 0);
  });
});

test("a failing mirror says why without its password, and waits longer and longer", async () => {
  await withRemote(async (api, remote) => {
    remote.require("bot", "right");
    const { services } = api;
    const git = { url: remote.url, username: "bot", password: "wr0ng-password" };
    await api.answer(`PUT ${PATH}`, { git, every_minutes: 30 });
    for (const [failures, minutes] of [[1, 60], [2, 120], [3, 240]] as const) {
      const view = await ended(api);
      assert.equal(view.failures, failures);
      assert.match(view.last_error ?? "", /^git push failed: /);
      assert.doesNotMatch(view.last_error ?? "", /wr0ng-password/);
      const pause = Date.parse(view.next_run_at) - services.clock.now();
      assert.equal(pause, minutes * 60_000);
      await api.answer(`POST ${PATH}/run`);
    }
    await ended(api);
    // Neither the database nor the folder of the mirror contains the password.
    const found = await new Deno.Command("grep", {
      args: ["-rlE", "wr0ng-password|Ym90OndyMG5nLXBhc3N3b3Jk", services.folder],
    }).output();
    assert.equal(new TextDecoder().decode(found.stdout), "");
    // Another URL does not get the stored password.
    const other = `${remote.url.replace("demo.git", "")}other.git`;
    await api.answer(`PUT ${PATH}`, { git: { url: other, username: "bot" } });
    assert.equal((await ended(api)).git.has_password, false);
  });
});

test("private addresses and redirects are refused", async () => {
  await withRemote(async (api, remote) => {
    await api.answer(`PUT ${PATH}`, { git: { url: remote.url } });
    const expected =
      /has the address 127\.0\.0\.1, which is not on the public internet; webhooks\.allow_private/;
    assert.match((await ended(api)).last_error ?? "", expected);
    assert.deepEqual(remote.requests, []);
  }, {});
  await withRemote(async (api, remote) => {
    remote.instead = () => Response.redirect(`${new URL(remote.url).origin}/elsewhere`);
    await api.answer(`PUT ${PATH}`, { git: { url: remote.url } });
    assert.match((await ended(api)).last_error ?? "", /^git push failed/);
    assert.deepEqual(remote.requests, ["/demo.git/info/refs"]);
  });
});

test("a mirror that is removed leaves nothing behind, and only operators manage it here", async () => {
  await withRemote(async (api, remote) => {
    await api.answer(`PUT ${PATH}`, { git: { url: remote.url } });
    await ended(api);
    const folder = join(api.services.folder, "projects", ".mirrors");
    assert.equal([...Deno.readDirSync(folder)].length, 1);
    const removed = await api.send({ who: "operator", request: `DELETE ${PATH}` });
    assert.equal(removed.status, 204);
    assert.deepEqual([...Deno.readDirSync(folder)], []);
    const { events } = await api.services.eventLog.read({ types: ["project.mirror_changed"] });
    assert.deepEqual(events.map(({ data }) => data["action"]).sort(), ["removed", "set"]);
    await api.expect(byEverybody(`GET ${PATH}`, ["operator"], 404));
    for (
      const url of [
        "file:///etc",
        "ssh://host/x",
        "https://a:b@host/x",
        "http://host/x?q",
        "nonsense",
      ]
    ) {
      const body = { git: { url } };
      const response = await api.send({ who: "operator", request: `PUT ${PATH}`, body });
      assert.equal(response.status, 400, url);
      await response.body?.cancel();
    }
  });
});

Deno.test("a push to Git says that git is missing, and makes no folder", async () => {
  await withFolder(async (folder) => {
    const push = pushToGit({
      stream: join(folder, "stream"),
      folder: join(folder, "demo.git"),
      remote: { url: new URL("http://127.0.0.1/demo.git"), addresses: [], credentials: null },
      signal: new AbortController().signal,
      programs: [join(folder, "git")],
    });
    await assert.rejects(push, {
      message: "git is not installed on the server: install it, and run again",
    });
    assert.deepEqual(Array.from(Deno.readDirSync(folder)), []);
  });
});
