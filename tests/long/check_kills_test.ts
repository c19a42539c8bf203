/** Jobs of checks over kills of the server and of runners. */
import assert from "node:assert/strict";
import { registerAgent } from "../support/api.ts";
import { type Program, startProgram } from "../support/program.ts";
import { withFolder } from "../support/temporary.ts";

const BASE = "/projects/demo/fossil/api";

/** Jobs, runners that work at the same time, and kills of the server. */
const [JOBS, RUNNERS, KILLS] = [50, 10, 60];

/** Lines of the log of each job. */
const LINES = 20;

interface Job {
  readonly id: string;
  readonly generation: number;
}

/** The server, which is killed and started again. */
class Server {
  readonly #folder: string;
  #program: Promise<Program>;

  constructor(folder: string) {
    this.#folder = folder;
    this.#program = startProgram({ folder });
  }

  /** Kills it, and starts it again. */
  async kill(): Promise<void> {
    const program = await this.#program;
    await program.stop("SIGKILL");
    this.#program = startProgram({ folder: this.#folder });
    await this.#program;
  }

  async program(): Promise<Program> {
    return await this.#program;
  }

  /** Sends a request until it is answered; a kill may cost the answer of what was done. */
  async ask(
    method: string,
    path: string,
    body?: unknown,
    token?: string,
  ): Promise<{ readonly status: number; readonly json: ReturnType<typeof JSON.parse> }> {
    for (;;) {
      const program = await this.#program;
      try {
        const response = await fetch(program.api + path, {
          method,
          headers: { authorization: `Bearer ${token ?? program.token}` },
          ...body === undefined ? {} : { body: JSON.stringify(body) },
        });
        const text = await response.text();
        if (response.status === 503) continue;
        return { status: response.status, json: text === "" ? null : JSON.parse(text) };
      } catch {
        await program.ended;
        await Promise.race([
          this.#program.catch(() => {}),
          new Promise((go) => setTimeout(go, 50)),
        ]);
      }
    }
  }

  async order(method: string, path: string, body?: unknown) {
    const { status, json } = await this.ask(method, path, body);
    assert.ok(status < 300, `${method} ${path} ${status} ${JSON.stringify(json)}`);
    return json;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await (await this.#program).stop("SIGKILL");
  }
}

/** A runner that works until all jobs have ended, and is killed in the midst of a job now and then. */
async function work(
  server: Server,
  token: string,
  { isOver, isKilled }: { isOver(): boolean; isKilled(): boolean },
): Promise<number> {
  let killed = 0;
  while (!isOver()) {
    const body = { wait_seconds: 1, isolation: [] };
    const leased = await server.ask("POST", "/v1/runner/jobs", body, token);
    if (leased.status !== 200) continue;
    if (await workOn(server, token, leased.json, isKilled)) killed++;
  }
  return killed;
}

/** @returns whether the runner was killed */
async function workOn(
  server: Server,
  token: string,
  { id, generation }: Job,
  isKilled: () => boolean,
): Promise<boolean> {
  const path = `/v1/runner/jobs/${id}`;
  for (let from = 1; from <= LINES;) {
    if (isKilled()) return true;
    const lines = [0, 1, 2].map((place) => ({
      at: from,
      stream: "out",
      text: `line ${from + place}`,
    }));
    const told = await server.ask("POST", `${path}/log`, { generation, from, lines }, token);
    if (told.status === 409) return false;
    assert.equal(told.status, 200, JSON.stringify(told));
    from = told.json.next;
    await server.ask("POST", `${path}/renew`, { generation }, token);
  }
  const result = { generation, outcome: "success", exit_code: 0 };
  const { status } = await server.ask("POST", `${path}/finish`, result, token);
  assert.ok(status === 200 || status === 409);
  return false;
}

Deno.test("over kills of the server and of runners, each job ends once, and no line is there twice", async () => {
  await withFolder(async (folder) => {
    await using server = new Server(folder);
    await server.order("POST", "/v1/projects", { slug: "demo", name: "Demo", agents_md: true });
    await registerAgent(await server.program(), "ann");
    await server.order("PUT", "/v1/projects/demo/members/ann", { role: "write" });
    const agent_id = "ann";
    const checks = Array.from({ length: JOBS }, (_, place) => `  c${place}:\n    run: make\n`);
    const content = `checks:\n${checks.join("")}`;
    await server.order("POST", `${BASE}/workspaces/create`, { name: "ci", agent_id });
    await server.order("POST", `${BASE}/workspaces/ci/commit`, {
      message: "Checks",
      changes: [{ path: ".muster/checks.yaml", content }],
      agent_id,
    });
    await server.order("POST", `${BASE}/workspaces/ci/merge`, { agent_id });
    const tokens: string[] = [];
    for (let place = 0; place < RUNNERS; place++) {
      tokens.push((await server.order("POST", "/v1/runners", { name: `r${place}` })).token);
    }
    const run = await server.order("POST", `${BASE}/runs`, {});
    let isOver = false;
    let left = JOBS;
    const working = tokens.map((token) =>
      work(server, token, {
        isOver: () => isOver,
        // At most one of each job on average, so that few lose three.
        isKilled: () => left > 0 && Math.random() < 0.05 && left-- > 0,
      })
    );
    for (let kills = 0; kills < KILLS; kills++) {
      await new Promise((go) => setTimeout(go, 100 + Math.random() * 500));
      await server.kill();
    }
    for (;;) {
      const { state, jobs } = await server.order("GET", `${BASE}/runs/${run.id}`);
      const open = jobs.filter((job: { ended_at: string | null }) => job.ended_at === null);
      if (open.length === 0 && state !== "running") break;
      await new Promise((go) => setTimeout(go, 500));
    }
    isOver = true;
    const killed = (await Promise.all(working)).reduce((sum, count) => sum + count, 0);
    const { jobs } = await server.order("GET", `${BASE}/runs/${run.id}`);
    assert.equal(jobs.length, JOBS);
    for (const { id, check, state, checkin } of jobs) {
      assert.ok(["success", "error"].includes(state), `${check} ${state}`);
      const history = await server.order(
        "GET",
        `${BASE}/status/${checkin}/history?context=${check}&per_page=100`,
      );
      const ends = history.reports.filter((report: { state: string }) =>
        report.state !== "pending"
      );
      assert.deepEqual([check, ends.length], [check, 1]);
      if (state !== "success") continue;
      const { lines } = await server.order("GET", `${BASE}/jobs/${id}/log?count=1000`);
      const texts = lines.map(({ text }: { text: string }) => text);
      assert.equal(new Set(texts).size, texts.length);
      assert.ok(texts.length >= LINES, `${check} ${texts.length}`);
    }
    assert.ok(killed > 0);
  });
});
