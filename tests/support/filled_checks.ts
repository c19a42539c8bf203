/** Runs of checks in every state, which a runner that a test plays has done. */
import { order, type Server } from "./api.ts";
import { numberAt, textAt } from "./json.ts";

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

/** What ran. */
export interface CheckPlaces {
  /** The id of a job that failed, with a long log. */
  readonly failed: string;
  /** The id of a job that ran when this was made; its lease lasts half a minute. */
  readonly running: string;
  /** Begins another one with the same log. */
  begin(): Promise<RunningJob>;
}

/** A job that the runner has. */
export interface RunningJob {
  readonly id: string;
  /** Adds lines to its log, and renews its lease; gives the number of the last line. */
  print(lines: readonly (readonly [stream: string, text: string])[]): Promise<number>;
  finish(outcome: string): Promise<void>;
}

interface Job {
  readonly id: string;
  readonly generation: number;
  readonly name: string;
}

/** Lines of a log: a command that passes, and one with 400 lines that fails. */
const LOG: readonly (readonly [stream: string, text: string])[] = [
  ["note", "Runs in bwrap"],
  ["command", "deno task lint"],
  ["out", "\x1b[32mChecked 214 files\x1b[0m"],
  ["command", "deno task test"],
  ...Array.from(
    { length: 400 },
    (_, place) => ["out", `merges timetable ${place + 1} ... \x1b[32mok\x1b[0m (3ms)`] as const,
  ),
  ["err", "\x1b[1;31merror\x1b[0m: AssertionError: two departures at \x1b[4m08:15\x1b[0m"],
  ["err", "    at merge (\x1b[36mfile:///src/timetable.ts\x1b[0m:\x1b[33m12\x1b[0m)"],
  ["out", ""],
  ["out", "\x1b[41;97m FAILED \x1b[0m | 399 passed | \x1b[31m1 failed\x1b[0m"],
];

/** A runner that fails the first tests, passes what they need, and goes on with the next tests. */
export async function fillChecks(server: Server): Promise<CheckPlaces> {
  const made = await order(server, "POST /v1/runners", { name: "east-1", labels: ["linux"] });
  await order(server, "POST /v1/runners", { name: "west-1", projects: ["demo"] });
  await order(server, "PATCH /v1/runners/west-1", { paused: true });
  await order(server, "PUT /projects/demo/fossil/api/check-secrets/NPM_TOKEN", {
    value: "s3cret-value",
  });
  const runner: Server = { api: server.api, token: textAt(made, "token") };
  const lease = async () => {
    const asked = { wait_seconds: 10, isolation: ["bwrap"], version: "1.0.0" };
    return begun(runner, await order(runner, "POST /v1/runner/jobs", asked) as Job);
  };
  const begin = async () => {
    for (;;) {
      const job = await lease();
      await job.print(LOG);
      if (job.name === "tests") return job;
      await job.finish("success");
    }
  };
  const failed = await begin();
  await failed.finish("failure");
  return { failed: failed.id, running: (await begin()).id, begin };
}

function begun(runner: Server, { id, generation, name }: Job): RunningJob & Pick<Job, "name"> {
  const tell = (what: string, body: object) =>
    order(runner, `POST /v1/runner/jobs/${id}/${what}`, { generation, ...body });
  let from = 1;
  return {
    id,
    name,
    print: async (log) => {
      const lines = log.map(([stream, text], at) => ({ at: (from + at - 1) * 40, stream, text }));
      from = numberAt(await tell("log", { from, lines }), "next");
      await tell("renew", { wait_seconds: 0 });
      return from - 1;
    },
    finish: async (outcome) => {
      await tell("finish", { outcome, exit_code: outcome === "success" ? 0 : 1 });
    },
  };
}
