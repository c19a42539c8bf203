/** The pages of runs, jobs and their logs. */
import assert from "node:assert/strict";
import { aReview, aRunner, defineChecks, type TestRunner } from "../support/runners.ts";
import { asked } from "../support/until.ts";
import { type TestWeb, withWeb } from "../support/web.ts";
import { BY_OPERATOR } from "../support/services.ts";

const TWO_CHECKS = "  build:\n    run: make\n  tests:\n    run: make test\n    needs: [build]\n";

/** The project with checks, a runner, and `ann` with a role. */
async function prepare(web: TestWeb, yaml = TWO_CHECKS, role: "read" | "write" = "write") {
  await web.api.services.hosting.projects.setMember("demo", "ann", role, BY_OPERATOR);
  await defineChecks(web, yaml);
  return await aRunner(web);
}

/** Waits until a run has begun. */
async function begun({ api, project }: TestWeb, number = 1): Promise<void> {
  const { store } = api.services.hosting.runs;
  await asked(() => store.numbered(project.id, number), (run) => run !== null);
}

type Line = readonly [stream: "out" | "err" | "note" | "command", text: string];

/** Runs the next job with a log. */
async function runWith(runner: TestRunner, outcome: string, lines: readonly Line[]) {
  const job = await runner.lease();
  assert.ok(job !== null);
  const { generation } = job;
  const sent = lines.map(([stream, text], at) => ({ at: at * 1000, stream, text }));
  for (let first = 0; first < sent.length; first += 1000) {
    const part = sent.slice(first, first + 1000);
    await runner.tell(job, "log", { generation, from: first + 1, lines: part });
  }
  await runner.tell(job, "finish", {
    generation,
    outcome,
    exit_code: outcome === "success" ? 0 : 2,
  });
  return job;
}

Deno.test("a run shows its jobs, what each waits for, and offers only what a right allows", async () => {
  await withWeb(async (web) => {
    const runner = await prepare(web);
    const { id } = await aReview(web);
    const path = "/projects/demo/runs/1";
    await begun(web);
    const waiting = await web.person.see(path);
    assert.match(waiting.text, /run 1 waiting .*review #1 into trunk/s);
    assert.match(waiting.text, /build queued Waits for a runner that is free\./);
    assert.match(waiting.text, /tests waiting Waits for build\./);
    assert.match(waiting.html, new RegExp(`href="/projects/demo/reviews/${id}"`));
    const job = await runWith(runner, "failure", [["command", "make"], ["out", "no rule"]]);
    const failed = await web.person.see(path);
    assert.match(failed.text, /run 1 failed/);
    assert.match(failed.text, /build failed Failed with exit code 2 .* on east-1/s);
    assert.match(failed.text, /tests skipped .*after build/s);
    assert.match(failed.html, new RegExp(`href="/projects/demo/jobs/${job.id}"`));
    const again = await web.person.post(path, { action: "rerun-job", job: job.id });
    assert.match(again.text, /It runs again\..*build queued .*attempt 2.*Earlier attempts/s);
    const ended = await web.person.post(path, { action: "cancel-run" });
    assert.match(ended.text, /The run is cancelled\..*build cancelled Cancelled by ann/s);
  });
});

Deno.test("who may only read a project sees no buttons of its runs", async () => {
  await withWeb(async (web) => {
    await prepare(web, TWO_CHECKS, "read");
    await aReview(web);
    const path = "/projects/demo/runs/1";
    await begun(web);
    const seen = await web.person.see(path);
    assert.doesNotMatch(seen.html, /value="(?:cancel|rerun)-/);
    assert.equal((await web.person.post(path, { action: "cancel-run" })).status, 403);
    assert.equal((await web.guest.get(path, { follow: false })).status, 404);
  });
});

Deno.test("a definition with a fault is shown with a link to its line", async () => {
  await withWeb(async (web) => {
    await prepare(web, "  tests:\n    runs: make\n");
    await aReview(web);
    await begun(web);
    const { html, text } = await web.person.see("/projects/demo/runs/1");
    assert.match(text, /The definition of the checks is not right: .*\.muster\/checks\.yaml:3/s);
    assert.match(html, /\/file\/[0-9a-f]+\/\.muster\/checks\.yaml#L3"/);
  });
});

Deno.test("the list of runs has filters, and the figures of each check", async () => {
  await withWeb(async (web) => {
    const runner = await prepare(web);
    assert.match((await web.person.see("/projects/demo/runs")).text, /No check has run/);
    await aReview(web);
    await runner.run("success");
    await runner.run("failure");
    await aReview(web, "more", { "b.txt": "b\n" });
    await runner.run("success");
    await runner.run("success");
    const all = await web.person.see("/projects/demo/runs");
    assert.match(all.text, /Run 2 passed build : success tests : success .*Run 1 failed/s);
    assert.match(all.text, /The last 30 days .*build passed .* 2 100%.*tests passed .* 2 50%/s);
    const failing = await web.person.see("/projects/demo/runs?state=failing");
    assert.doesNotMatch(failing.text, /Run 2 /);
    assert.match(failing.text, /Run 1 failed/);
    const started = await web.person.post("/projects/demo/runs", {
      action: "start",
      branch: "trunk",
    });
    assert.match(started.text, /run 3 waiting started by ann on trunk/);
  });
});

Deno.test("a log opens at its end, folded by command, and links to what is before", async () => {
  await withWeb(async (web) => {
    const runner = await prepare(web, "  tests:\n    run: [make, make test]\n");
    await aReview(web);
    const many = Array.from({ length: 400 }, (_, place): Line => ["out", `line ${place + 2}`]);
    const job = await runWith(runner, "failure", [
      ["command", "make"],
      ...many,
      ["command", "make test"],
      ["err", "\x1b[1;31mfailed\x1b[0m: <b>1 & 2</b> \x1b]8;;http://x\x07link\x1b]8;;\x07"],
      ["note", "The output was cut after 10 MB"],
    ]);
    const path = `/projects/demo/jobs/${job.id}`;
    const { html, text } = await web.person.see(path);
    assert.match(html, /<summary id="L402"[^>]*>.*make test/);
    assert.match(
      html,
      /<span class="bold fg-1">failed<\/span>: &lt;b&gt;1 &amp; 2&lt;\/b&gt; link/,
    );
    assert.match(html, /<tr id="L404" class="note">/);
    assert.match(text, /404 lines/);
    assert.doesNotMatch(html, /id="L204"/);
    assert.match(html, /id="L205"/);
    assert.match(html, /class="earlier" href="[^"]*\?before=205"/);
    const before = await web.person.see(`${path}?before=205`);
    assert.match(before.html, /id="L5".*id="L204"/s);
    assert.match(before.html, /class="later" href="[^"]*\?from=205"/);
    const start = await web.person.see(`${path}?before=5`);
    assert.match(start.html, /<summary id="L1"[^>]*>/);
    assert.doesNotMatch(start.html, /class="earlier"/);
    const line = await web.person.get(`${path}?line=120`, { follow: false });
    assert.equal(line.to, `${path}?from=100#L120`);
    const found = await web.person.see(`${path}?q=line+39`);
    assert.match(found.text, /11 lines have “line 39”/);
    assert.match(
      found.html,
      /href="[^"]*\?line=39"[^>]*><\/a><\/td><td class="code"><mark>line 39<\/mark>/,
    );
    assert.match((await web.person.see(`${path}?q=nowhere`)).text, /No line has “nowhere”/);
    const again = await web.person.post(path, { action: "rerun-job", job: job.id });
    assert.match(again.text, /tests queued .*attempt 2 .*Waits for a runner that is free/s);
  });
});
