import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { Result, type Task } from "../../../routes/actions/proto/runner_pb.ts";
import { ForgeRunner } from "../../support/forge_runner.ts";
import { type GitTest, withGit } from "../../support/git_door.ts";
import { commitFiles } from "../../support/projects.ts";
import { aReview } from "../../support/runners.ts";

const ROOT = "/api/actions_pipeline";
const STEPS = "steps: [{ run: 'true' }]";

/** Sends a request with the token of a task's job. */
async function send(
  { origin }: GitTest,
  { secrets }: Pick<Task, "secrets">,
  request: string,
  init: RequestInit = {},
): Promise<Response> {
  const [method = "", path = ""] = request.split(" ");
  const headers = new Headers(init.headers);
  headers.set("authorization", `Bearer ${secrets["GITHUB_TOKEN"]}`);
  return await fetch(`${origin}${ROOT}${path}`, { ...init, method, headers });
}

async function sent(...args: Parameters<typeof send>): Promise<string> {
  const response = await send(...args);
  const text = await response.text();
  assert.ok(response.ok, text);
  return text;
}

/** Sends a part of a file. */
function part(start: number, text: string, total: number): RequestInit {
  const range = `bytes ${start}-${start + text.length - 1}/${total}`;
  return { body: text, headers: { "content-range": range } };
}

Deno.test("jobs keep artifacts for later jobs of their run and for people", async () => {
  await withGit(async (test) => {
    const text = `name: CI\non: pull_request\njobs:\n  a: { runs-on: linux, ${STEPS} }\n` +
      `  b: { needs: a, runs-on: linux, ${STEPS} }\n`;
    await commitFiles(test, { ".forgejo/workflows/ci.yml": text });
    const runner = await ForgeRunner.make(test);
    const { tip } = await aReview(test);
    const first = await runner.fetch(20_000);
    assert.ok(first !== undefined);
    const artifacts = `/_apis/pipelines/workflows/${first.context?.["run_id"]}/artifacts`;
    const body = JSON.stringify({ Type: "actions_storage", Name: "site" });
    const headers = { "content-type": "application/json" };
    const made = JSON.parse(await sent(test, first, `POST ${artifacts}`, { body, headers }));
    assert.equal(made.fileContainerResourceUrl, `${test.origin}${ROOT}/files`);
    const bytes = new Uint8Array(gzipSync("hello"));
    const range = `bytes 0-${bytes.length - 1}/${bytes.length}`;
    const zipped = { "content-encoding": "gzip", "content-range": range };
    await sent(test, first, "PUT /files?itemPath=site/a.txt", { body: bytes, headers: zipped });
    await sent(test, first, "PUT /files?itemPath=site/b/c.txt", part(0, "one ", 7));
    const gap = await send(test, first, "PUT /files?itemPath=site/b/c.txt", part(5, "wo", 7));
    assert.equal(gap.status, 409);
    await gap.body?.cancel();
    await sent(test, first, "PUT /files?itemPath=site/b/c.txt", part(4, "two", 7));
    const empty = { body: "", headers: { "content-range": "bytes 0--1/0" } };
    await sent(test, first, "PUT /files?itemPath=site/empty", empty);
    for (let count = 0; count < 20; count++) {
      await sent(test, first, `PUT /files?itemPath=open/${count}`, part(0, "x", 2));
    }
    const many = await send(test, first, "PUT /files?itemPath=open/20", part(0, "x", 2));
    assert.deepEqual(
      [many.status, (await many.json()).error],
      [409, "At most 20 files may be unfinished: send the rest of them"],
    );
    await sent(test, first, `PATCH ${artifacts}?artifactName=site`, { body: "{}", headers });
    await runner.log(first, 0, [], true);
    await runner.update(first, Result.SUCCESS);
    const late = await send(test, first, "PUT /files?itemPath=site/late", { body: "x" });
    assert.equal(late.status, 401);
    await late.body?.cancel();

    const second = await runner.fetch(20_000);
    assert.ok(second !== undefined);
    const listed = JSON.parse(await sent(test, second, `GET ${artifacts}`));
    assert.deepEqual(
      listed.value.map(({ name, size }: { name: string; size: number }) => [name, size]),
      [["site", 12]],
    );
    const { value } = JSON.parse(await sent(test, second, "GET /files?itemPath=site"));
    const contents: Record<string, string> = {};
    for (const { path, contentLocation } of value) {
      const place = contentLocation.slice(test.origin.length + ROOT.length);
      contents[path] = await sent(test, second, `GET ${place}`);
    }
    assert.deepEqual(contents, {
      "site/a.txt": "hello",
      "site/b/c.txt": "one two",
      "site/empty": "",
    });

    const { jobArtifacts, runs } = test.api.services.hosting;
    const [job] = await runs.store.jobsOn(test.project.id, tip, "CI / a");
    const kept = await jobArtifacts.list(job?.id ?? "");
    assert.deepEqual(kept.map(({ path }) => path), ["site/a.txt", "site/b/c.txt", "site/empty"]);
    const wrong = await send(test, { secrets: { GITHUB_TOKEN: runner.token } }, `GET ${artifacts}`);
    assert.equal(wrong.status, 403);
    await wrong.body?.cancel();
    const bad = await send(test, second, "PUT /files?itemPath=site/../../x", { body: "x" });
    assert.equal(bad.status, 400);
    await bad.body?.cancel();
  });
});
