import assert from "node:assert/strict";
import { parse } from "yaml";
import { DefinitionInvalid } from "../../../../services/work/definitions/mod.ts";
import {
  expand,
  heardAs,
  inputsOf,
  noticesOf,
  readWorkflow,
  type RunContexts,
  schedulesOf,
  type WorkflowEvent,
  type WorkflowJob,
} from "../../../../services/work/workflows/mod.ts";

const FILE = ".forgejo/workflows/ci.yml";
const CONTEXTS: RunContexts = {
  github: { ref: "refs/heads/main", event_name: "push", event: { title: "${{ secrets.X }}" } },
  inputs: {},
  vars: { LEVEL: "high" },
};

function jobsOf(text: string, contexts = CONTEXTS): readonly WorkflowJob[] {
  return expand(readWorkflow(text, FILE), contexts).jobs;
}

function contextsOf(text: string): string[] {
  return jobsOf(text).map(({ context }) => context);
}

function payload({ payload }: WorkflowJob) {
  return parse(payload);
}

/** A workflow of one job with these lines. */
function withJob(lines: string, before = ""): string {
  const indented = lines.split("\n").map((line) => `    ${line}`).join("\n");
  return `on: push\n${before}jobs:\n  test:\n    runs-on: linux\n${indented}\n`;
}

function faultsOf(text: string): string[] {
  try {
    jobsOf(text);
  } catch (error) {
    assert.ok(error instanceof DefinitionInvalid);
    return error.message.split("\n");
  }
  return [];
}

Deno.test("a job becomes a workflow of its own, without what is decided on the server", () => {
  const [job, ...others] = jobsOf(`
name: CI
on: [push, pull_request]
env: { TOP: "1" }
jobs:
  build:
    runs-on: [self-hosted, "\${{ vars.LEVEL }}"]
    if: github.ref == 'refs/heads/main'
    timeout-minutes: 5
    permissions: read-all
    outputs: { v: "\${{ steps.x.outputs.v }}" }
    steps:
      - uses: actions/checkout@v4
      - id: x
        name: Say it
        run: echo v=1.10 >> $GITHUB_OUTPUT
        env: { V: 1.10, TOKEN: "\${{ secrets.TOKEN }}" }
`);
  assert.deepEqual(others, []);
  assert.ok(job !== undefined);
  assert.equal(job.context, "CI / build");
  assert.deepEqual(job.labels, ["self-hosted", "high"]);
  assert.equal(job.timeoutSeconds, 300);
  assert.deepEqual(job.steps, ["actions/checkout@v4", "Say it"]);
  assert.deepEqual(payload(job), {
    name: "CI",
    on: ["push", "pull_request"],
    env: { TOP: "1" },
    jobs: {
      build: {
        name: "build",
        "runs-on": ["self-hosted", "high"],
        if: "always()",
        outputs: { v: "${{ steps.x.outputs.v }}" },
        steps: [{ uses: "actions/checkout@v4" }, {
          id: "x",
          name: "Say it",
          run: "echo v=1.10 >> $GITHUB_OUTPUT",
          env: { V: "1.10", TOKEN: "${{ secrets.TOKEN }}" },
        }],
      },
    },
  });
});

Deno.test("a matrix makes a job for each combination, with what include and exclude say", () => {
  const text = withJob(`strategy:
  matrix:
    os: [linux, mac]
    node: [20, 22]
    exclude: [{ os: mac, node: 20 }]
    include: [{ os: linux, fast: true }, { os: win, node: 18 }]
steps: [{ run: "true" }]`);
  assert.deepEqual(contextsOf(text), [
    "ci.yml / test (linux, 20, true)",
    "ci.yml / test (linux, 22, true)",
    "ci.yml / test (mac, 22)",
    "ci.yml / test (win, 18)",
  ]);
  const [first] = jobsOf(text);
  assert.ok(first !== undefined);
  assert.deepEqual(payload(first).jobs.test.strategy, {
    matrix: { os: ["linux"], node: [20], fast: [true] },
  });
});

Deno.test("an entry of include without a shared variable is added to every combination", () => {
  const text = withJob(`strategy: { matrix: { a: [1, 2], include: [{ b: x }] } }
steps: []`);
  assert.deepEqual(contextsOf(text), ["ci.yml / test (1, x)", "ci.yml / test (2, x)"]);
});

Deno.test("a matrix may come from an expression, and names and labels read it", () => {
  const text = withJob(`name: on \${{ matrix.os }}
strategy: { matrix: { os: "\${{ fromJSON('[\\"a\\", \\"b\\"]') }}" } }
steps: []`).replace("runs-on: linux", "runs-on: ${{ matrix.os }}");
  assert.deepEqual(contextsOf(text), ["ci.yml / on a", "ci.yml / on b"]);
  assert.deepEqual(jobsOf(text).map(({ labels }) => labels), [["a"], ["b"]]);
});

Deno.test("what an expression yields is no expression for the runner", () => {
  const [job] = jobsOf(withJob("name: ${{ github.event.title }}\nsteps: []"));
  assert.ok(job !== undefined);
  assert.equal(job.context, "ci.yml / ${{ secrets.X }}");
  assert.equal(payload(job).jobs.test.name, "${{ '${{' }} secrets.X }}");
});

Deno.test("concurrency of workflows and of jobs is evaluated", () => {
  const text = withJob(
    "concurrency: lone\nsteps: []",
    'concurrency: { group: "ci-${{ github.ref }}", cancel-in-progress: "${{ 1 == 1 }}" }\n',
  );
  const { concurrency, jobs: [job] } = expand(readWorkflow(text, FILE), CONTEXTS);
  assert.deepEqual(concurrency, { group: "ci-refs/heads/main", cancels: true });
  assert.deepEqual(job?.concurrency, { group: "lone", cancels: false });
});

Deno.test("a fault names its file, line and key", () => {
  assert.deepEqual(
    faultsOf("on: push\njobs:\n  a:\n    runs-on: x\n    steps: []\n    needs: b\n"),
    [
      `${FILE}:6:5: jobs.a.needs: names "b", which is no job`,
    ],
  );
  assert.deepEqual(faultsOf(withJob("name: ${{ nope.x }}\nsteps: []")).length, 1);
  assert.match(
    faultsOf(withJob("name: ${{ nope.x }}\nsteps: []"))[0] ?? "",
    /:5:5: jobs\.test\.name: /,
  );
  assert.match(faultsOf("on: push\njobs: {}\n")[0] ?? "", /jobs: must have a job/);
  assert.match(faultsOf(withJob("steps: [")).join(), /ci\.yml:\d+:\d+: /);
});

Deno.test("jobs that need each other in a circle are refused", () => {
  const job = (needs: string) => `{ runs-on: x, steps: [], needs: ${needs} }`;
  const text = `on: push\njobs:\n  a: ${job("[b]")}\n  b: ${job("[c]")}\n  c: ${job("[b]")}\n`;
  assert.match(faultsOf(text).join(), /leads back to the job itself/);
});

Deno.test("what costs too much is refused", async (test) => {
  const list = (length: number) => JSON.stringify(Array.from({ length }, (_, index) => index));
  const cases: Readonly<Record<string, string>> = {
    "a matrix": withJob(`strategy: { matrix: { a: ${list(17)}, b: ${list(17)} } }\nsteps: []`),
    "a matrix of includes": withJob(
      `strategy: { matrix: { include: [${
        Array.from({ length: 257 }, (_, x) => `{ x: ${x} }`).join()
      }] } }\nsteps: []`,
    ),
    "a deep expression": withJob(`name: \${{ ${"(".repeat(60)}1${")".repeat(60)} }}\nsteps: []`),
    "an expression that grows": withJob(
      `name: \${{ ${"format('{0}{0}{0}{0}', ".repeat(20)}'x'${")".repeat(20)} }}\nsteps: []`,
    ),
    "a file": `# ${"x".repeat(70_000)}\n`,
    "aliases": "on: push\nx: &a [1]\ny: *a\njobs: {}\n",
  };
  for (const [name, text] of Object.entries(cases)) {
    await test.step(name, () => assert.equal(faultsOf(text).length, 1));
  }
});

const PUSH: WorkflowEvent = { name: "push", branch: "main", paths: ["src/a.ts"] };

Deno.test("events start the workflows whose filters let them pass", async (test) => {
  const cases: readonly (readonly [string, Partial<WorkflowEvent>, boolean])[] = [
    ["push", {}, true],
    ["pull_request", {}, false],
    ["{ push: { branches: [main] } }", {}, true],
    ["{ push: { branches: ['release/**'] } }", { branch: "release/1/2" }, true],
    ["{ push: { branches: ['release/*'] } }", { branch: "release/1/2" }, false],
    ["{ push: { branches: ['**', '!main'] } }", {}, false],
    ["{ push: { branches: ['v[0-9]+.?x'] } }", { branch: "v12x" }, true],
    ["{ push: { branches-ignore: [main] } }", {}, false],
    ["{ push: { tags: ['v*'] } }", {}, false],
    ["{ push: { paths: ['**.ts'] } }", {}, true],
    ["{ push: { paths: ['**/*.ts', '!src/**'] } }", {}, false],
    ["{ push: { paths: ['**/top.ts'] } }", { paths: ["top.ts"] }, true],
    ["{ push: { paths-ignore: ['src/**'] } }", {}, false],
    ["{ push: { paths-ignore: ['docs/**'] } }", { paths: ["docs/a", "b"] }, true],
    ["{ push: { paths: [docs/**] } }", { paths: null }, true],
    ["{ pull_request: { types: [opened] } }", {
      name: "pull_request",
      activity: "synchronize",
    }, false],
    ["{ schedule: [{ cron: '1 2 * * *' }] }", { name: "schedule", cron: "1 2 * * *" }, true],
    ["{ schedule: [{ cron: '1 2 * * *' }] }", { name: "schedule", cron: "2 2 * * *" }, false],
  ];
  for (const [on, event, isStarted] of cases) {
    await test.step(`${on} ${JSON.stringify(event)}`, () => {
      const workflow = readWorkflow(withJob("steps: []").replace("on: push", `on: ${on}`), FILE);
      assert.equal(heardAs(workflow, { ...PUSH, ...event }) !== null, isStarted);
    });
  }
});

Deno.test("a candidate for landing starts what a review starts", () => {
  const event: WorkflowEvent = { name: "merge_group", branch: "main", paths: null };
  const heard = (on: string) =>
    heardAs(readWorkflow(withJob("steps: []").replace("on: push", `on: ${on}`), FILE), event);
  assert.equal(heard("pull_request"), "pull_request");
  assert.equal(heard("[pull_request, merge_group]"), "merge_group");
  assert.equal(heard("push"), null);
});

Deno.test("the inputs of a workflow that somebody starts have their types and defaults", () => {
  const on = `on:
  workflow_dispatch:
    inputs:
      level: { type: choice, options: [a, b], default: a }
      dry: { type: boolean, default: true }
      tag: { required: true }
`;
  const workflow = readWorkflow(withJob("steps: []").replace("on: push\n", on), FILE);
  assert.deepEqual(inputsOf(workflow, { tag: "v1", dry: "false" }), {
    inputs: { level: "a", dry: false, tag: "v1" },
  });
  assert.deepEqual(inputsOf(workflow, {}), { fault: "inputs.tag: is required" });
  assert.deepEqual(inputsOf(workflow, { tag: "v1", level: "c" }), {
    fault: "inputs.level: must be one of: a, b",
  });
  assert.ok("fault" in inputsOf(workflow, { tag: "v1", nope: "1" }));
});

Deno.test("what is not supported is named, with its line", () => {
  const workflow = readWorkflow(
    `on: { push: , issues: , schedule: [{ cron: "1 2 * * *" }] }
permissions: read-all
jobs:
  a:
    runs-on: { group: big, labels: [linux] }
    environment: production
    steps: [{ uses: actions/upload-artifact@v4 }]
  b: { uses: ./.forgejo/workflows/other.yml }
`,
    FILE,
  );
  assert.deepEqual(noticesOf(workflow, null).map(({ line, what }) => [line, what]), [
    [2, "permissions"],
    [1, "on.issues"],
    [6, "jobs.a.environment"],
    [5, "jobs.a.runs-on.group"],
    [7, "jobs.a.steps[0].uses"],
  ]);
  assert.deepEqual(schedulesOf(workflow), ["1 2 * * *"]);
  assert.match(expand(workflow, CONTEXTS).jobs[1]?.refusal ?? "", /cannot be called here/);
});
