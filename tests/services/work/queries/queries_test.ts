import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { type Caller, GUEST, type Principal } from "../../../../services/people/identity/mod.ts";
import { QUERY_LIMITS, SqlQueries } from "../../../../services/work/queries/mod.ts";
import { systemScheduler } from "../../../../services/kernel/scheduler.ts";
import type { QueryRequest } from "../../../../services/engines/fossil/sql/mod.ts";
import type { FromWorker, ToWorker, WorkerPort } from "../../../../services/kernel/worker_pool.ts";
import { withProject } from "../../../support/projects.ts";
import { BY_OPERATOR } from "../../../support/services.ts";
import { SECRET, SECRETS_SQL, SQL_ATTEMPTS } from "../../../support/sql_attempts.ts";
import { until } from "../../../support/until.ts";
import { THOROUGH } from "../../../support/level.ts";

Deno.test("statements that would run on for long are ended at the limit", THOROUGH, async () => {
  await withProject(async ({ api: { services }, project }) => {
    const { repositories } = services.hosting;
    {
      using file = new DatabaseSync(repositories.files.pathOf(project));
      file.exec(SECRETS_SQL);
    }
    const milliseconds = 500;
    const queries = new SqlQueries({
      repositories,
      scheduler: systemScheduler,
      log: services.log,
      limits: { ...QUERY_LIMITS, milliseconds },
    });
    const { signal } = new AbortController();
    for (const { sql, refusal } of SQL_ATTEMPTS.filter(({ isLong }) => isLong)) {
      const query = { project, sql, caller: BY_OPERATOR, signal };
      await assert.rejects(queries.run(query), (error) => {
        assert.ok(error instanceof Error);
        assert.match(error.message.replace("longer than 0.5", "longer than 5"), refusal, sql);
        return !error.message.includes(SECRET);
      });
    }
    queries.close();
  });
});

Deno.test("a crowd cannot fill the queue, and the operator's statement comes next", async () => {
  await withProject(async ({ api: { services }, project }) => {
    const started: string[] = [];
    const ends: (() => void)[] = [];
    const queries = new SqlQueries({
      repositories: services.hosting.repositories,
      scheduler: systemScheduler,
      log: services.log,
      start: () => {
        const send = (data: FromWorker) =>
          port.onmessage?.call(port as Worker, new MessageEvent("message", { data }));
        const port: WorkerPort = {
          onmessage: null,
          onerror: null,
          postMessage: (message: ToWorker) => {
            if (message.kind === "open") return;
            started.push((message.request as QueryRequest).sql);
            ends.push(() => send({ kind: "failed", message: "ended" }));
          },
          terminate: () => {},
        };
        queueMicrotask(() => send({ kind: "ready" }));
        return port;
      },
    });
    const { signal } = new AbortController();
    const run = (name: string, caller: Caller) =>
      queries.run({ project, sql: name, caller, signal }).then(() => "done", (error) => error.name);
    const outcomes: Promise<string>[] = [];
    for (let number = 0; number < 20; number++) {
      const principal: Principal = { ...GUEST, kind: "agent", id: `${number}`, name: `${number}` };
      outcomes.push(run(`agent ${number}`, { ...BY_OPERATOR, principal }));
    }
    const refused = await Promise.race([outcomes.at(-1), outcomes.at(-2)]);
    assert.equal(refused, "TooMany");
    const own = run("operator", BY_OPERATOR);
    await until(() => started.length >= 2);
    ends[0]?.();
    await until(() => started.length >= 3);
    assert.equal(started[2], "operator");
    queries.close();
    await Promise.all([own, ...outcomes]);
  });
});
