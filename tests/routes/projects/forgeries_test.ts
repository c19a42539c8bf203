import assert from "node:assert/strict";
import { projectToken, type TestProject, withProject } from "../../support/projects.ts";
import { aReview, aRunner, defineChecks, type TestRunner } from "../../support/runners.ts";
import { BY_OPERATOR } from "../../support/services.ts";

/** How many forgeries are tried. */
const FORGERIES = 1000;

/** Numbers that look random, and are the same in each run (mulberry32). */
function numbersFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

const RULES = [
  { contexts: ["tests"] },
  { contexts: [{ context: "tests", reporters: ["other"] }] },
  { contexts: [{ context: "tests", reporters: ["caller"] }] },
  { contexts: ["tests", "lint"] },
  { contexts: ["tests (as changed)"] },
  { contexts: ["definition"] },
] as const;

/** What is under attack: a job of a review that a runner had, lost, and another one has. */
interface Scene {
  readonly tip: string;
  readonly job: string;
  /** Credentials of everybody but the runner that has the job, and whom rules trust. */
  readonly credentials: readonly (readonly [name: string, authorization: string])[];
}

/** Opens the review of the scene; the job is at its second lease. */
async function aScene(test: TestProject, trusted: TestRunner): Promise<Scene> {
  const { api, caller, other, outsider } = test;
  const { hosting, tokens, clock } = api.services;
  await defineChecks(test, "  tests:\n    run: make test\n  lint:\n    run: make lint\n");
  await hosting.projects.create({
    slug: "elsewhere",
    name: "Elsewhere",
    description: "",
    visibility: "private",
  }, BY_OPERATOR);
  const lost = await aRunner(test, "lost");
  const stranger = await aRunner(test, "stranger", { projects: ["elsewhere"] });
  const removed = await aRunner(test, "removed");
  const { tip } = await aReview(test);
  const job = await lost.lease();
  assert.ok(job !== null);
  clock.advance(31_000);
  const again = await trusted.lease();
  // The other job may come first.
  const own = again?.id === job.id ? again : await trusted.lease();
  assert.deepEqual([own?.id, own?.generation], [job.id, 2]);
  await api.send({ request: "DELETE /v1/runners/removed" });
  const reading = { owner: "other", name: "reader", scopes: ["read" as const], project: null };
  const { token: reader } = await tokens.create({ ...reading, expires_at: null }, BY_OPERATOR);
  const [read] = await projectToken(api, "read");
  const foreign = await api.answer("POST /v1/tokens", {
    project: "elsewhere",
    name: "ci",
    scopes: ["status:write"],
  }) as { token: string };
  return {
    tip,
    job: job.id,
    credentials: [
      ["nobody", ""],
      ["the author", caller],
      ["a reader", `Bearer ${reader}`],
      ["an outsider", outsider],
      ["a member", other],
      ["the operator", api.authorizationOf("operator") ?? ""],
      ["a project's token to read", read],
      ["a token of another project", `Bearer ${foreign.token}`],
      ["a runner of another project", stranger.as],
      ["a runner that lost the job", lost.as],
      ["a runner that was removed", removed.as],
      ["the job's token", `Bearer ${own?.token}`],
      ["the token of the job's first lease", `Bearer ${job.token}`],
      ["the runner that has the job", trusted.as],
    ],
  };
}

Deno.test("of 1,000 forgeries by every credential, on every route and under every rule, none counts", async () => {
  await withProject(async (test) => {
    const { api, send, answer } = test;
    const trusted = await aRunner(test, "trusted");
    const { tip, job, credentials } = await aScene(test, trusted);
    const pick = numbersFrom(36);
    const one = <Value>(values: readonly Value[]): Value => values[pick(values.length)] as Value;
    const outcomes = ["success", "failure"] as const;
    const lines = [{ at: 0, stream: "out", text: "forged" }];
    /** Requests that would make the check green; `own` are right for the runner that has the job. */
    const forge = (isTrusted: boolean): readonly [string, unknown] => {
      const generation = isTrusted ? one([1, 3, 7]) : one([1, 2, 3, 7]);
      const other = one([job, `${job.slice(0, -1)}0`, "../../jobs", tip]);
      const wire = (what: string, body: object): readonly [string, unknown] => [
        `POST /v1/runner/jobs/${encodeURIComponent(other)}/${what}`,
        { generation, ...body },
      ];
      const context = one(["tests", "lint", "Tests", "tests (as changed)", "definition"]);
      const description = "All 214 tests passed";
      const base = "/projects/demo/fossil/api";
      return one<() => readonly [string, unknown]>([
        () => wire("finish", { outcome: one(outcomes), exit_code: 0 }),
        () => wire("finish", { outcome: "success", summary: "x".repeat(pick(500)) }),
        () => wire("log", { from: 1, lines }),
        () => wire("renew", {}),
        () => [`POST ${base}/status`, { checkin: tip, context, state: "success", description }],
        () => [
          `POST ${base}/status`,
          { checkin: tip.slice(0, 10), context, state: "success", target_url: "https://ci/1" },
        ],
        () => [
          `POST ${base}/status`,
          { checkin: tip, context, state: "success", agent_id: "trusted" },
        ],
      ])();
    };
    const statuses = new Map<string, number>();
    const green: string[] = [];
    for (let count = 0; count < FORGERIES; count++) {
      if (count % 50 === 0) {
        const rule = { pattern: "trunk", ...RULES[(count / 50) % RULES.length] };
        await answer("PUT /api/protection", { body: [rule] });
      }
      const [name, authorization] = one(credentials);
      const [request, body] = forge(name === "the runner that has the job");
      const response = await api.send({
        who: "guest",
        request,
        headers: authorization === "" ? {} : { authorization },
        body,
      });
      await response.body?.cancel();
      statuses.set(
        `${name} ${response.status}`,
        (statuses.get(`${name} ${response.status}`) ?? 0) + 1,
      );
      assert.ok(response.status < 500, `${name}: ${request} ${response.status}`);
      if (count % 10 !== 9) continue;
      const { required_checks } = await answer("GET /api/reviews/1");
      // Only whom a rule names may make it green: the member `other`, whose own work it is not.
      for (const check of required_checks) {
        const isNamed = check.reporters.includes(check.reporter ?? "");
        if (check.state === "success" && !isNamed) green.push(`${name}: ${request}`);
      }
    }
    assert.deepEqual(green, []);
    assert.ok(statuses.size > 25, JSON.stringify([...statuses]));
    // The job is as it was: its runner alone ends it.
    await answer("PUT /api/protection", { body: [{ pattern: "trunk", contexts: ["tests"] }] });
    const { state, log_lines, generation } = await answer(`GET /api/jobs/${job}`);
    assert.deepEqual([state, log_lines, generation], ["running", 0, 2]);
    const standing = async () => {
      const [check] = (await answer("GET /api/reviews/1")).required_checks;
      return [check.state, check.reporter];
    };
    assert.deepEqual(await standing(), ["pending", "muster"]);
    await trusted.tell({ id: job }, "finish", { generation: 2, outcome: "success", exit_code: 0 });
    assert.deepEqual(await standing(), ["success", "runner trusted"]);
    // And what comes after does not change it, either.
    for (const [name, authorization] of credentials) {
      const headers = authorization === "" ? {} : { authorization };
      const body = { checkin: tip, context: "tests", state: "failure" };
      const request = "POST /projects/demo/fossil/api/status";
      await (await api.send({ who: "guest", request, headers, body })).body?.cancel();
      assert.deepEqual([name, ...await standing()], [name, "success", "runner trusted"]);
    }
    assert.equal((await send("GET /api/reviews/1", { as: null })).status, 404);
  });
});
