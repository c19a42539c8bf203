/** The `forgejo-runner` program, in host mode: a developer has it; see `docs/dev/testing.md`. */
import assert from "node:assert/strict";
import { type GitTest, withGit } from "../../support/git_door.ts";
import { forgejoRunner } from "../../support/peers.ts";
import { commitFiles } from "../../support/projects.ts";
import { aReview } from "../../support/runners.ts";
import { BY_OPERATOR } from "../../support/services.ts";
import { withFolder } from "../../support/temporary.ts";
import { asked } from "../../support/until.ts";
import type { Job } from "../../../services/work/runs/mod.ts";

const FILE = ".forgejo/workflows/ci.yml";

const CONFIG = `log: { level: info, job_level: info }
runner: { file: .runner, capacity: 2, report_interval: 200ms, fetch_interval: 200ms }
cache: { enabled: false }
host: { workdir_parent: work }
`;

/** Runs a test with the real runner beside the server. */
function realTest(name: string, run: (test: GitTest) => Promise<void>): void {
  Deno.test({
    name,
    ignore: forgejoRunner() === "",
    fn: () => withGit((test) => running(test, run)),
  });
}

async function running(test: GitTest, run: (test: GitTest) => Promise<void>): Promise<void> {
  await withFolder(async (folder) => {
    const { token } = await test.api.answer("POST /v1/runners", { name: "real" }) as {
      token: string;
    };
    await Deno.writeTextFile(`${folder}/config.yml`, CONFIG.replace("work }", `${folder}/work }`));
    const command = (...args: string[]) =>
      new Deno.Command(forgejoRunner(), {
        args: [...args, "--config", "config.yml"],
        cwd: folder,
        stdout: "null",
        stderr: "null",
      });
    const words = ["--instance", test.origin, "--token", token, "--labels", "linux:host"];
    const { success } = await command("register", "--no-interactive", ...words).output();
    assert.ok(success);
    const child = command("daemon").spawn();
    try {
      await run(test);
    } finally {
      child.kill("SIGKILL");
      await child.status;
    }
  });
}

/** The newest job of each context of a check-in, once all have ended. */
async function ended(
  { api, project }: GitTest,
  tip: string,
  count: number,
): Promise<Map<string, Job>> {
  const { store } = api.services.hosting.runs;
  const jobs = await asked(
    () => store.jobsOn(project.id, tip),
    (found) => found.length === count && found.every(({ endedAt }) => endedAt !== null),
  );
  return new Map(jobs.map((job) => [job.context.slice("CI / ".length), job]));
}

/** What a job printed, without what the runner says. */
async function printed({ api, project }: GitTest, job: Job | undefined): Promise<string[]> {
  assert.ok(job !== undefined);
  const key = { projectId: project.id, jobId: job.id, generation: job.generation };
  const { lines, total } = await api.services.hosting.jobLogs.read(key, 1, 5000);
  assert.deepEqual(
    lines.map(({ number }) => number),
    Array.from({ length: total }, (_, at) => at + 1),
  );
  return lines.filter(({ stream }) => stream === "out").map(({ text }) => text);
}

realTest(
  "a real forgejo-runner runs needs, a matrix, variables, secrets, failures and a checkout",
  async (test) => {
    const { checkSecrets } = test.api.services.hosting;
    const secret = { name: "DEPLOY", check: null, value: "k3y-of-deployment" };
    await checkSecrets.set(test.project, secret, BY_OPERATOR);
    await test.answer("PUT /api/protection", { body: [{ pattern: "trunk", push: "nobody" }] });
    const tip = await commitFiles(test, {
      "hello.txt": "hello from the project\n",
      [FILE]: `name: CI
on: push
env: { TOP: top }
jobs:
  build:
    runs-on: linux
    outputs: { v: "\${{ steps.x.outputs.v }}" }
    steps:
      - uses: actions/checkout@v4
      - run: cat hello.txt
      - id: x
        run: echo v=\$(git rev-parse HEAD) >> $GITHUB_OUTPUT
  test:
    needs: [build]
    runs-on: [linux]
    strategy: { fail-fast: false, matrix: { a: [1, 2] } }
    env: { OWN: "own \${{ matrix.a }}" }
    steps:
      - run: echo "$TOP $OWN \${{ needs.build.outputs.v == github.sha }}"
      - run: test \${{ matrix.a }} = 1
  secret:
    runs-on: linux
    steps:
      - run: |
          test "\${{ secrets.DEPLOY }}" = "$(printf 'k3y-of-%s' deployment)"
          echo "it is \${{ secrets.DEPLOY }}"
  lines:
    runs-on: linux
    steps: [{ run: "seq 1 3000" }]
  may-fail:
    runs-on: linux
    continue-on-error: true
    steps: [{ run: "exit 3" }]
  after:
    needs: test
    if: failure()
    runs-on: linux
    steps: [{ run: "echo after \${{ needs.test.result }}" }]
  skipped: { needs: test, runs-on: linux, steps: [{ run: "true" }] }
`,
    });
    const jobs = await ended(test, tip, 8);
    assert.deepEqual(
      Object.fromEntries(
        Array.from(jobs, ([name, { state, summary }]) => [name, `${state}: ${summary}`]),
      ),
      {
        build: "success: Passed",
        "test (1)": "success: Passed",
        "test (2)": 'failure: Failed in the step "test ${{ matrix.a }} = 1"',
        secret: "success: Passed",
        lines: "success: Passed",
        "may-fail": 'success: Failed in the step "exit 3", which its workflow allows',
        after: "success: Passed",
        skipped: "skipped: Skipped: the job test has not passed",
      },
    );
    assert.ok((await printed(test, jobs.get("build"))).includes("hello from the project"));
    assert.ok((await printed(test, jobs.get("test (2)"))).includes("top own 2 true"));
    assert.ok((await printed(test, jobs.get("secret"))).includes("it is ***"));
    assert.ok((await printed(test, jobs.get("after"))).includes("after failure"));
    const numbers = (await printed(test, jobs.get("lines"))).filter((line) => /^\d+$/.test(line));
    assert.deepEqual(numbers, Array.from({ length: 3000 }, (_, at) => String(at + 1)));
  },
);

realTest("a real forgejo-runner ends a job that is cancelled", async (test) => {
  await commitFiles(test, {
    [FILE]: `name: CI
on: pull_request
jobs:
  slow:
    runs-on: linux
    steps: [{ run: "echo begun; sleep 600" }]
  reads:
    runs-on: linux
    steps:
      - uses: actions/checkout@v4
      - run: cat a.txt
`,
  });
  const { tip } = await aReview(test, "work", { "a.txt": "as the review has it\n" });
  const { runs } = test.api.services.hosting;
  const [slow] = await asked(
    () => runs.store.jobsOn(test.project.id, tip, "CI / slow"),
    ([job]) => job?.state === "running",
  );
  assert.ok(slow !== undefined);
  await asked(() => printed(test, slow), (lines) => lines.includes("begun"));
  await runs.cancel(test.project, { job: slow.id }, BY_OPERATOR);
  const jobs = await ended(test, tip, 2);
  assert.equal(jobs.get("slow")?.state, "cancelled");
  assert.equal(jobs.get("reads")?.state, "success");
  assert.ok((await printed(test, jobs.get("reads"))).includes("as the review has it"));
});
