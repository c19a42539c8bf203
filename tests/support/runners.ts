/** A runner of checks that a test plays, and the reviews that it runs. */
import assert from "node:assert/strict";
import type { Assignment } from "../../services/work/runs/assignment.ts";
import { commitFiles, type TestProject } from "./projects.ts";

/** A runner that a test plays. */
export interface TestRunner {
  readonly name: string;
  /** The value of `Authorization`. */
  readonly as: string;
  /** Asks for a job; null if none comes. */
  lease(wait?: number): Promise<Assignment | null>;
  /** Sends something about a job. */
  send(job: Pick<Assignment, "id">, what: string, body: unknown): Promise<Response>;
  /** Sends something about a job, which must succeed. */
  tell(
    job: Pick<Assignment, "id">,
    what: string,
    body: unknown,
  ): Promise<ReturnType<typeof JSON.parse>>;
  /** Runs the next job: it prints a line and ends. */
  run(outcome: string, line?: string): Promise<Assignment>;
}

/** Makes a runner. */
export async function aRunner(
  { api }: Pick<TestProject, "api">,
  name = "east-1",
  more: { labels?: string[]; projects?: string[] } = {},
): Promise<TestRunner> {
  const { token } = await api.answer("POST /v1/runners", { name, ...more }) as { token: string };
  const as = `Bearer ${token}`;
  const send = (path: string, body: unknown) =>
    api.send({
      who: "guest",
      request: `POST /v1/runner/jobs${path}`,
      headers: { authorization: as },
      body,
    });
  const runner: TestRunner = {
    name,
    as,
    async lease(wait = 60) {
      const response = await send("", { wait_seconds: wait, isolation: ["bwrap"] });
      if (response.status === 204) return null;
      assert.equal(response.status, 200, await response.clone().text());
      return await response.json();
    },
    send: ({ id }, what, body) => send(`/${id}/${what}`, body),
    async tell(job, what, body) {
      const response = await runner.send(job, what, body);
      assert.equal(response.status, 200, await response.clone().text());
      return await response.json();
    },
    async run(outcome, line = "hello") {
      const job = await runner.lease();
      assert.ok(job !== null);
      const { generation } = job;
      const lines = [
        { at: 0, stream: "command", text: job.commands[0] ?? "" },
        { at: 1, stream: "out", text: line },
      ];
      await runner.tell(job, "log", { generation, from: 1, lines });
      const exit_code = outcome === "success" ? 0 : 1;
      await runner.tell(job, "finish", { generation, outcome, exit_code });
      return job;
    },
  };
  return runner;
}

/** Puts checks into trunk; `yaml` is what stands below `checks:`. */
export async function defineChecks(test: TestProject, yaml: string): Promise<string> {
  return await commitFiles(test, { ".muster/checks.yaml": `checks:\n${yaml}` });
}

/** Opens a review of a workspace with one file; gives its number and the check-in. */
export async function aReview(
  { answer, caller }: TestProject,
  name = "work",
  files: Readonly<Record<string, string>> = { "a.txt": "a\n" },
): Promise<{ readonly id: number; readonly tip: string }> {
  await answer("POST /api/workspaces/create", { as: caller, body: { name } });
  const tip = await commitTo({ answer, caller }, name, files);
  const body = { title: `Add ${name}`, workspace: name };
  const { id } = await answer("POST /api/reviews/create", { as: caller, body });
  return { id, tip };
}

/** Commits files to a workspace; gives the check-in. */
export async function commitTo(
  { answer, caller }: Pick<TestProject, "answer" | "caller">,
  name: string,
  files: Readonly<Record<string, string>>,
): Promise<string> {
  const changes = Object.entries(files).map(([path, content]) => ({ path, content }));
  const { uuid } = await answer(`POST /api/workspaces/${name}/commit`, {
    as: caller,
    body: { message: name, changes },
  });
  return uuid;
}

/** Waits until a job of a review's newest round is as it should be. */
export async function jobOf(
  { api, answer }: Pick<TestProject, "api" | "answer">,
  filter: string,
  check: string,
  isReady: (job: Shown) => boolean,
): Promise<Shown> {
  const { promise, resolve, reject } = Promise.withResolvers<Shown>();
  const look = async () => {
    const { runs } = await answer(`GET /api/runs?${filter}`);
    const job = runs[0]?.jobs.find((one: Shown) => one.check === check);
    if (job !== undefined && isReady(job)) resolve(job);
  };
  const stop = api.services.database.onAppended(() => void look().catch(reject));
  try {
    await look();
    return await promise;
  } finally {
    stop();
  }
}

/** A job as the API shows it. */
export interface Shown {
  readonly id: string;
  readonly run: number;
  readonly check: string;
  readonly counts: boolean;
  readonly checkin: string;
  readonly attempt: number;
  readonly state: string;
  readonly summary: string;
  readonly runner: string | null;
  readonly waits_for: string | null;
}
