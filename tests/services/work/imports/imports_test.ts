/** Projects that are filled from a Git server: `git http-backend` is the peer. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import type { ImportView } from "../../../../services/work/imports/mod.ts";
import { commit, inline, ODD_ZONES, PLAIN, streamOf } from "../../../support/odd_history.ts";
import { type GitTest, withGit } from "../../../support/git_door.ts";
import { peer } from "../../../support/peers.ts";
import { GitServer } from "../mirrors/git_server.ts";

const OPEN = { config: { webhooks: { allow_private: true } } };

interface ImportTest extends GitTest {
  readonly upstream: GitServer;
  /** Starts an import from a URL, by default upstream's. */
  start(fields?: Record<string, string>): Promise<ImportView>;
  /** Waits for the end of the import. */
  ended(): Promise<ImportView>;
}

/** Runs a test with an empty project and an upstream with an odd history. */
async function withUpstream(
  run: (test: ImportTest) => Promise<void>,
  options: Parameters<typeof withGit>[1] = OPEN,
): Promise<void> {
  await withGit(async (test) => {
    await using upstream = await GitServer.start(test.client.folder);
    for (const setting of ["fsck.badTimezone", "fetch.fsck.badTimezone"]) {
      await test.client.git(["config", "--global", setting, "ignore"]);
    }
    const zones = { mark: 20, head: ODD_ZONES, ref: "refs/heads/zones" };
    const stream = streamOf(
      commit({ ...zones, changes: inline("100644", "q", "q") }),
      ...PLAIN,
    );
    await test.client.git(
      ["-C", upstream.folder, "fast-import", "--quiet", "--date-format=raw-permissive"],
      undefined,
      stream,
    );
    await run({
      ...test,
      upstream,
      start: (fields = {}) =>
        test.answer("POST /api/import", { body: { url: upstream.url, ...fields } }),
      ended: async () => {
        await test.api.services.hosting.imports.idle();
        return await test.answer("GET /api/import");
      },
    });
  }, options);
}

const test = (name: string, fn: () => Promise<void>) => Deno.test({ name, fn, ...peer("git") });

for (const knowsVersions of [true, false]) {
  const version = knowsVersions ? 2 : 0;
  test(`an import by version ${version} keeps every reference and hash`, () =>
    withUpstream(async ({ start, ended, upstream, client, url }) => {
      upstream.knowsVersions = knowsVersions;
      await upstream.git("symbolic-ref", "HEAD", "refs/heads/side");
      assert.equal((await start()).state, "running");
      const view = await ended();
      assert.deepEqual([view.error, view.state], [null, "done"]);
      assert.equal(view.checkins, Number(await upstream.git("rev-list", "--all", "--count")));
      assert.deepEqual(view.notices, { counts: {}, first: [] });
      const mirror = await client.clone(url, "--mirror");
      assert.equal((await mirror.refs()).trim(), await upstream.refs());
      assert.equal((await mirror.git("symbolic-ref", "HEAD")).trim(), "refs/heads/side");
    }));
}

test("clones after an import get the pack that was fetched", () =>
  withUpstream(async ({ start, ended, upstream, client, url, api, project }) => {
    const sent: Buffer[] = [];
    upstream.change = (content) => {
      sent.push(Buffer.from(content));
      return content;
    };
    await start();
    assert.equal((await ended()).state, "done");
    const { files } = api.services.hosting.repositories;
    const pack = await Deno.readFile(files.pathOf(project).replace(/fossil$/, "pack"));
    // Git sends the last byte alone, once it knows that all is well.
    const checksum = Buffer.from(pack.slice(-20, -1));
    assert.ok(sent.some((content) => content.includes(checksum)));
    const mirror = await client.clone(url, "--mirror");
    assert.equal((await mirror.refs()).trim(), await upstream.refs());
  }));

test("an import needs the right password, which is kept nowhere", () =>
  withUpstream(async ({ start, ended, upstream, api }) => {
    upstream.require("bot", "s3cret-word");
    await start();
    assert.match((await ended()).error ?? "", /asks for a user and a password/);
    await start({ username: "bot", password: "wr0ng-word" });
    assert.match((await ended()).error ?? "", /refuses the user or the password/);
    const view = await start({ username: "bot", password: "s3cret-word" });
    assert.doesNotMatch(JSON.stringify([view, await ended()]), /s3cret/);
    assert.equal((await ended()).state, "done");
    const found = await new Deno.Command("grep", {
      args: ["-rlE", "s3cret-word|wr0ng-word", api.services.folder],
    }).output();
    assert.equal(new TextDecoder().decode(found.stdout), "");
  }));

test("redirects are followed, and take no password to another server", () =>
  withUpstream(async ({ start, ended, upstream }) => {
    await using other = GitServer.serve(upstream.root);
    upstream.instead = (request) =>
      Response.redirect(request.url.replace(new URL(upstream.url).host, new URL(other.url).host));
    await start({ username: "bot", password: "s3cret" });
    assert.deepEqual([(await ended()).error, (await ended()).state], [null, "done"]);
    assert.deepEqual([...new Set(other.authorizations)], [null]);
    assert.notEqual(upstream.authorizations[0], null);
  }));

test("addresses inside the network are never reached", () =>
  withUpstream(async ({ start, ended, upstream }) => {
    await start();
    assert.match((await ended()).error ?? "", /which is not on the public internet/);
    assert.deepEqual(upstream.requests, []);
  }, {}));

test("an import is cancelled at once, and leaves the project empty", () =>
  withUpstream(async ({ start, answer, send, upstream, api }) => {
    const { promise: sending, resolve } = Promise.withResolvers<void>();
    upstream.instead = (request) => {
      if (!request.url.endsWith("/git-upload-pack")) return null;
      if (upstream.requests.length < 3) return null;
      const body = new ReadableStream({
        pull(controller) {
          resolve();
          controller.enqueue(new TextEncoder().encode("000dpackfile\n"));
          return new Promise<void>(() => {});
        },
      });
      const headers = { "content-type": "application/x-git-upload-pack-result" };
      return new Response(body, { headers });
    };
    await start();
    await sending;
    assert.equal((await send("POST /api/import", { body: { url: upstream.url } })).status, 409);
    assert.equal((await answer("DELETE /api/import")).state, "cancelled");
    assert.equal((await send("DELETE /api/import")).status, 409);
    const { folder } = api.services.hosting.repositories.files;
    const left = [...Deno.readDirSync(folder)].map(({ name }) => name);
    assert.deepEqual(left.filter((name) => /download|import/.test(name)), []);
    assert.equal((await answer("GET /api/timeline")).total, 1);
  }));

test("what is no repository, or an empty one, is said to be so", () =>
  withUpstream(async ({ start, ended, upstream, client, send }) => {
    await start({ url: `${new URL(upstream.url).origin}/none` });
    assert.match((await ended()).error ?? "", /Neither a Git nor a Fossil repository answers at/);
    await client.git(["init", "--quiet", "--bare", `${upstream.root}/empty.git`]);
    await start({ url: upstream.url.replace("demo.git", "empty.git") });
    assert.match((await ended()).error ?? "", /has no branches and no tags/);
    for (const url of ["https://bot:secret@host/x", "ssh://host/x", "file:///etc", "x"]) {
      assert.equal((await send("POST /api/import", { body: { url } })).status, 400);
    }
  }));

test("a pack that is damaged or cut short changes nothing", () =>
  withUpstream(async ({ start, ended, upstream, answer }) => {
    for (const change of ["cut", "flip"] as const) {
      upstream.change = (bytes) => {
        if (change === "cut") return bytes.slice(0, -200);
        const damaged = bytes.slice();
        damaged[damaged.length - 100]! ^= 1;
        return damaged;
      };
      await start();
      const { state, error } = await ended();
      assert.equal(state, "failed");
      assert.match(error ?? "", /cut short|damaged|size|longer/);
    }
    assert.equal((await answer("GET /api/timeline")).total, 1);
    upstream.change = (bytes) => bytes;
    await start();
    assert.equal((await ended()).state, "done");
  }));
