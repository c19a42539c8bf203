import assert from "node:assert/strict";
import { commitFiles, type TestProject, withProject } from "../../support/projects.ts";

/** The status and the error of a commit of random bytes, which nothing compresses. */
async function commit({ send }: TestProject, as: string, bytes: number) {
  const content = crypto.getRandomValues(new Uint8Array(bytes)).toBase64();
  const changes = [{ path: `${crypto.randomUUID()}.bin`, content_base64: content }];
  const body = { message: "More", changes };
  const response = await send("POST /api/workspaces/work/commit", { as, body });
  return [response.status, (await response.json()).error ?? null] as const;
}

async function begin({ answer, caller }: TestProject): Promise<void> {
  await answer("POST /api/workspaces/create", { as: caller, body: { name: "work" } });
}

Deno.test("a full project takes nothing more, and still gives and makes room", async () => {
  await withProject(async (test) => {
    const { answer, send, caller } = test;
    await begin(test);
    let last: readonly [number, string | null] = [0, null];
    for (let tries = 0; tries < 20 && last[0] !== 507; tries++) {
      last = await commit(test, caller, 60_000);
    }
    assert.equal(last[0], 507);
    assert.match(
      last[1] ?? "",
      /^The project "demo" has \d+ bytes of 1000000 \(limits\.project_bytes\)/,
    );
    assert.equal(
      (await send("POST /api/tickets", { as: caller, body: { title: "A" } })).status,
      507,
    );
    assert.ok((await answer("GET /api/timeline", { as: caller })).total > 0);
  }, { config: { limits: { project_bytes: 1_000_000 } } });
});

Deno.test("an account stores so much in all projects, and others go on", async () => {
  await withProject(async (test) => {
    const { caller, other, send } = test;
    await begin(test);
    await commitFiles(test, { "a.txt": "1" });
    let last: readonly [number, string | null] = [0, null];
    for (let tries = 0; tries < 20 && last[0] !== 507; tries++) {
      last = await commit(test, caller, 60_000);
    }
    assert.equal(last[0], 507);
    assert.match(
      last[1] ?? "",
      /^"caller" has stored \d+ bytes of 200000 \(limits\.account_bytes\)/,
    );
    assert.equal(
      (await send("POST /api/tickets", { as: other, body: { title: "A" } })).status,
      201,
    );
  }, { config: { limits: { account_bytes: 200_000 } } });
});

Deno.test("a caller reports so often within an hour", async () => {
  await withProject(async (test) => {
    const { api, send, caller, other } = test;
    const checkin = await commitFiles(test, { "a.txt": "1" });
    const report = (as: string) =>
      send("POST /api/status", { as, body: { checkin, context: "ci", state: "success" } });
    for (let count = 0; count < 3; count++) assert.ok((await report(caller)).ok);
    const refused = await report(caller);
    assert.equal(refused.status, 429);
    assert.equal(refused.headers.get("retry-after"), "3600");
    assert.match(
      (await refused.json()).error,
      /3 reports within an hour.*limits\.reports_per_hour/,
    );
    assert.ok((await report(other)).ok);
    api.services.clock.setClock(3_600_000);
    assert.ok((await report(caller)).ok);
  }, { config: { limits: { reports_per_hour: 3 } } });
});

Deno.test("reports that come at the same time are counted, and those that are refused are not", async () => {
  await withProject(async (test) => {
    const { api, send, caller } = test;
    const checkin = await commitFiles(test, { "a.txt": "1" });
    const report = (body: Record<string, unknown>) =>
      send("POST /api/status", { as: caller, body: Object.assign({ context: "ci" }, body) });
    const unknown = { checkin: "f".repeat(64), state: "success" };
    for (let count = 0; count < 5; count++) assert.equal((await report(unknown)).status, 404);
    const all = Array.from(
      { length: 20 },
      (_, at) => report({ checkin, context: `ci-${at}`, state: "success" }),
    );
    const statuses = (await Promise.all(all)).map(({ status }) => status);
    assert.equal(statuses.filter((status) => status === 429).length, 17);
    assert.deepEqual(api.services.hosting.hourlyQuotas.reports.figures, {
      setting: "limits.reports_per_hour",
      most: 3,
      highest: 3,
      refused: 17,
    });
  }, { config: { limits: { reports_per_hour: 3 } } });
});
