/** Runs of checks in every state, which a runner that a test plays has done. */
import { order, type Server } from "./api.ts";
import { textAt } from "./json.ts";

/** What the project `demo` defines. */
export const DEFINITION = `checks:
  build:
    run: deno task build
  tests:
    run: [deno task lint, deno task test]
    needs: [build]
    artifacts: [coverage/**]
  gpu:
    run: ./bench
    labels: [gpu]
`;

/** The ids of what ran. */
export interface CheckPlaces {
  /** A job that failed, with a long log. */
  readonly failed: string;
  /** A job that runs. */
  readonly running: string;
}

interface Job {
  readonly id: string;
  readonly generation: number;
  readonly name: string;
}

/** Lines of a log: a command that passes, and one with 400 lines that fails. */
const LOG = [
  ["note", "Runs in bwrap"],
  ["command", "deno task lint"],
  ["out", "\x1b[32mChecked 214 files\x1b[0m"],
  ["command", "deno task test"],
  ...Array.from(
    { length: 400 },
    (_, place) => ["out", `merges timetable ${place + 1} ... \x1b[32mok\x1b[0m (3ms)`],
  ),
  ["err", "\x1b[1;31merror\x1b[0m: AssertionError: two departures at \x1b[4m08:15\x1b[0m"],
  ["err", "    at merge (\x1b[36mfile:///src/timetable.ts\x1b[0m:\x1b[33m12\x1b[0m)"],
  ["out", ""],
  ["out", "\x1b[41;97m FAILED \x1b[0m | 399 passed | \x1b[31m1 failed\x1b[0m"],
] as const;

/** A runner that fails the first tests, passes the rest but one, and goes on with that. */
export async function fillChecks(server: Server): Promise<CheckPlaces> {
  const made = await order(server, "POST /v1/runners", { name: "east-1", labels: ["linux"] });
  await order(server, "POST /v1/runners", { name: "west-1", projects: ["demo"] });
  await order(server, "PATCH /v1/runners/west-1", { paused: true });
  await order(server, "PUT /projects/demo/fossil/api/check-secrets/NPM_TOKEN", {
    value: "s3cret-value",
  });
  const runner: Server = { api: server.api, token: textAt(made, "token") };
  const lease = async () =>
    await order(runner, "POST /v1/runner/jobs", {
      wait_seconds: 10,
      isolation: ["bwrap"],
      version: "1.0.0",
    }) as Job;
  const tell = ({ id, generation }: Job, what: string, body: object) =>
    order(runner, `POST /v1/runner/jobs/${id}/${what}`, { generation, ...body });
  const log = (job: Job) => {
    const lines = LOG.map(([stream, text], at) => ({ at: at * 40, stream, text }));
    return tell(job, "log", { from: 1, lines });
  };
  const finish = (job: Job, outcome: string) =>
    tell(job, "finish", { outcome, exit_code: outcome === "success" ? 0 : 1 });
  for (let failed: Job | null = null;;) {
    const job = await lease();
    await log(job);
    if (job.name !== "tests") await finish(job, "success");
    else if (failed === null) {
      failed = job;
      await finish(job, "failure");
    } else return { failed: failed.id, running: job.id };
  }
}
