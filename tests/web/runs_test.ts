/** The pages of runs, jobs and their logs. */
import assert from "node:assert/strict";
import { EventReader } from "../support/event_reader.ts";
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
    assert.match(started.text, /run 3 waiting .*started by ann on trunk/);
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
    assert.doesNotMatch(html, /id="L254"/);
    assert.match(html, /id="L255"/);
    assert.match(html, /class="earlier" href="[^"]*\?before=255"/);
    const before = await web.person.see(`${path}?before=255`);
    assert.match(before.html, /id="L105".*id="L254"/s);
    assert.match(before.html, /class="later" href="[^"]*\?from=255"/);
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

Deno.test("a review shows its checks with their jobs, and why a red one failed", async () => {
  await withWeb(async (web) => {
    const runner = await prepare(web);
    const { id } = await aReview(web);
    const build = await runWith(runner, "failure", [["command", "make"], ["out", "no rule"]]);
    const path = `/projects/demo/reviews/${id}`;
    const seen = await web.person.see(path);
    assert.match(seen.text, /Checks failed build Failed with exit code 2 \(by runner east-1\)/);
    assert.match(seen.text, /Last lines of build make no rule/);
    assert.match(seen.html, new RegExp(`href="/projects/demo/jobs/${build.id}"`));
    const again = await web.person.post(path, { action: "rerun-job", job: build.id });
    assert.match(again.text, /queued build Waits for a runner that is free\./);
    await runWith(runner, "success", [["command", "make"]]);
    const home = await web.person.see("/");
    assert.match(home.text, /Flaky checks build demo · failed and passed without a change once/);
  });
});

Deno.test("a review that changes the definition shows both, and that one does not count", async () => {
  await withWeb(async (web) => {
    await prepare(web);
    const changed = { ".muster/checks.yaml": "checks:\n  tests:\n    run: 'true'\n" };
    const { id } = await aReview(web, "work", changed);
    await begun(web);
    const { text } = await web.person.see(`/projects/demo/reviews/${id}`);
    assert.match(text, /tests \(as changed\)/);
    assert.match(text, /This review changes \.muster\/checks\.yaml.*A person must approve/s);
    const run = await web.person.see("/projects/demo/runs/1");
    assert.match(run.text, /tests \(as changed\) queued does not count/);
  });
});

Deno.test("a landing says how its checks come, and what they wait for", async () => {
  await withWeb(async (web) => {
    const { answer, caller, other } = web;
    const runner = await prepare(web, "  tests:\n    run: make test\n");
    await answer("PUT /api/protection", {
      body: [{ pattern: "trunk", contexts: ["tests"], landing: "required" }],
    });
    const { id } = await aReview(web);
    await runner.run("success");
    await answer(`POST /api/reviews/${id}/approve`, { as: other, body: {} });
    await answer(`POST /api/reviews/${id}/land`, { as: caller, body: {} });
    await begun(web, 2);
    const seen = await web.person.see("/projects/demo/landing");
    assert.match(seen.text, /Runners of this server test each candidate/);
    assert.match(seen.text, /tests: queued.*tests waits for a runner that is free\./s);
    assert.match(seen.html, /href="\/projects\/demo\/jobs\/[0-9A-Z]{26}"/);
  });
});

Deno.test("an admin makes, pauses and removes runners; the token is shown once", async () => {
  await withWeb(async (web) => {
    const { admin, person } = web;
    const path = "/settings/runners";
    assert.equal((await person.get(path)).status, 403);
    assert.match((await admin.see(path)).text, /No runner runs checks/);
    const wrong = await admin.post(path, { action: "create", name: "no good", labels: "" });
    assert.equal(wrong.status, 400);
    const made = await admin.post(path, {
      action: "create",
      name: "east-1",
      labels: "linux, gpu",
      projects: "demo",
    });
    const [, token = ""] = /MUSTER_RUNNER_TOKEN=(\S+)/.exec(made.text) ?? [];
    assert.notEqual(token, "");
    const listed = await admin.see(path);
    assert.match(listed.text, /east-1 new linux gpu never seen demo Pause east-1/);
    assert.doesNotMatch(listed.html, new RegExp(token));
    const paused = await admin.post(path, { action: "pause", name: "east-1" });
    assert.match(paused.text, /takes no more jobs.*east-1 paused/s);
    const resumed = await admin.post(path, { action: "resume", name: "east-1" });
    assert.match(resumed.text, /east-1 takes jobs.*Pause east-1/s);
    const removed = await admin.post(path, { action: "remove", name: "east-1" });
    assert.match(removed.text, /east-1 is removed\..*No runner runs checks/s);
  });
});

Deno.test("a project's admin sets and removes secrets, whose values no page shows", async () => {
  await withWeb(async (web) => {
    await web.api.services.hosting.projects.setMember("demo", "ann", "admin", BY_OPERATOR);
    const { person } = web;
    const path = "/projects/demo/settings/checks";
    const set = (name: string, content: string) =>
      person.post(path, { action: "set-secret", name, check: "", content });
    const done = await set("NPM_TOKEN", "s3cret-value");
    assert.match(done.text, /The secret NPM_TOKEN is set\..*NPM_TOKEN set by ann/s);
    assert.doesNotMatch(done.html, /s3cret-value/);
    const short = await set("SHORT", "abc");
    assert.equal(short.status, 400);
    assert.doesNotMatch(short.html, />\s*abc\s*</);
    const removed = await person.post(path, { action: "remove-secret", name: "NPM_TOKEN" });
    assert.match(removed.text, /is removed\..*There is no secret/s);
  });
});

Deno.test("the stream of a log brings its lines as they come, resumes, and ends with the job", async () => {
  await withWeb(async (web) => {
    const runner = await prepare(web, "  tests:\n    run: make test\n");
    await aReview(web);
    const job = await runner.lease();
    assert.ok(job !== null);
    const { generation } = job;
    const log = (from: number, texts: readonly string[]) =>
      runner.tell(job, "log", {
        generation,
        from,
        lines: texts.map((text) => ({ at: 5, stream: "out", text })),
      });
    await log(1, ["one", "two"]);
    const path = `/live/projects/demo/jobs/${job.id}`;
    const cookie = `muster_session=${web.person.cookie("muster_session")}`;
    const open = async (headers: Readonly<Record<string, string>> = {}) => {
      const response = await web.api.handle(
        new Request(`http://muster.test${path}?after=1`, { headers: { cookie, ...headers } }),
      );
      return new EventReader(response);
    };
    const four = 'id: 4\ndata: [[4,5,"out","\\u001b[31mfour"]]\n\n';
    const reader = await open();
    assert.equal(await reader.text(), 'id: 2\ndata: [[2,5,"out","two"]]\n\n');
    await log(3, ["three"]);
    assert.equal(await reader.text(), 'id: 3\ndata: [[3,5,"out","three"]]\n\n');
    await log(4, ["\x1b[31mfour"]);
    assert.equal(await reader.text(), four);
    const resumed = await open({ "last-event-id": "3" });
    assert.equal(await resumed.text(), four);
    await runner.tell(job, "finish", { generation, outcome: "success", exit_code: 0 });
    const late = await open({ "last-event-id": "4" });
    for (const one of [reader, resumed, late]) {
      assert.equal(await one.text(), "event: end\ndata: end\n\n");
      assert.equal(await one.text(), null);
    }
    const guest = await web.api.handle(new Request(`http://muster.test${path}`));
    assert.equal(guest.status, 404);
    await guest.body?.cancel();
  });
});
