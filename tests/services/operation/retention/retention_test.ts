import assert from "node:assert/strict";
import { join } from "node:path";
import { statement } from "../../../../services/engines/database/mod.ts";
import { BY_OPERATOR } from "../../../support/services.ts";
import { commitFiles, type TestProject, withProject } from "../../../support/projects.ts";

const DAY = 24 * 60 * 60 * 1000;
/** Longer than anything is kept by default. */
const AGES = 1200 * DAY;

/** Lets time pass, and removes what is due. */
async function pass({ api }: TestProject, milliseconds: number): Promise<void> {
  const { clock, hosting, log } = api.services;
  clock.setClock(milliseconds);
  const before = log.lines.length;
  await hosting.retention.run();
  assert.deepEqual(log.lines.slice(before).filter((line) => line.startsWith("warn")), []);
}

async function count({ api }: TestProject, table: "claims" | "check_history" | "newest_reports") {
  const { tables } = api.services.database;
  const { rows } = await tables.selectFrom(table)
    .select(({ fn }) => fn.countAll<number>().as("rows")).executeTakeFirstOrThrow();
  return Number(rows);
}

Deno.test("claims that ended are removed, and no generation is used again", async () => {
  await withProject(async (test) => {
    const { answer, caller, other } = test;
    const ticket = await answer("POST /api/tickets", { as: caller, body: { title: "A" } });
    const path = `/api/tickets/${ticket.uuid}`;
    const generations: number[] = [];
    for (const as of [caller, other, caller]) {
      const claim = await answer(`POST ${path}/claim`, { as, body: {} });
      generations.push(claim.generation);
      await answer(`POST ${path}/release`, { as, body: {} });
    }
    await pass(test, AGES);
    assert.equal(await count(test, "claims"), 1);
    const claim = await answer(`POST ${path}/claim`, { as: other, body: {} });
    assert.deepEqual([...generations, claim.generation], [1, 2, 3, 4]);
    await pass(test, DAY / 2);
    assert.equal(await count(test, "claims"), 1);
  });
});

Deno.test("reports of a check-in that something refers to stay, and those of others end", async () => {
  await withProject(async (test) => {
    const { answer, caller, other } = test;
    const report = (checkin: string, as: string, state: string) =>
      answer("POST /api/status", { as, body: { checkin, context: "ci", state } });
    const past = await commitFiles(test, { "a.txt": "1" });
    const tip = await commitFiles(test, { "a.txt": "2" });
    const numbers: number[] = [];
    for (const checkin of [past, tip]) {
      numbers.push((await report(checkin, caller, "failure")).id);
      await report(checkin, other, "success");
    }
    await pass(test, AGES);
    assert.deepEqual((await answer(`GET /api/status?checkin=${past}`)).checks, []);
    const [check] = (await answer(`GET /api/status?checkin=${tip}`)).checks;
    assert.equal(check.state, "success");
    assert.equal(await count(test, "check_history"), 0);
    assert.equal(await count(test, "newest_reports"), 2);
    numbers.push((await report(past, caller, "success")).id);
    assert.deepEqual(numbers, [1, 2, 3]);
  });
});

Deno.test("reviews and their workspaces are removed together, and open ones stay", async () => {
  await withProject(async (test) => {
    const { answer, send, caller, other } = test;
    const numbers: number[] = [];
    for (const name of ["one", "two", "three"]) {
      await answer("POST /api/workspaces/create", { as: caller, body: { name } });
      const changes = [{ path: `${name}.txt`, content: name }];
      await answer(`POST /api/workspaces/${name}/commit`, {
        as: caller,
        body: { message: name, changes },
      });
      const body = { title: name, workspace: name };
      numbers.push((await answer("POST /api/reviews/create", { as: caller, body })).id);
    }
    const [merged, open, newest] = numbers;
    for (const id of [merged, newest]) {
      await answer(`POST /api/reviews/${id}/approve`, { as: other, body: {} });
      await answer(`POST /api/reviews/${id}/merge`, { as: other, body: {} });
    }
    await pass(test, AGES);
    assert.equal((await send(`GET /api/reviews/${merged}`)).status, 404);
    assert.equal((await send("GET /api/workspaces/one")).status, 404);
    assert.equal((await answer(`GET /api/reviews/${open}`)).status, "pending");
    assert.equal((await answer("GET /api/workspaces/two")).status, "active");
    const later = await answer("POST /api/reviews/create", {
      as: caller,
      body: { title: "Later", workspace: "two" },
    }).catch(() => null);
    assert.ok(later === null || later.id > Number(newest));
    assert.equal((await answer(`GET /api/reviews/${newest}`)).status, "merged");
  });
});

Deno.test("many old rows are removed in slices, and 0 days keep everything", async () => {
  for (const [days, left] of [[1, 0], [0, 1201]] as const) {
    await withProject(async (test) => {
      const { project, caller, answer } = test;
      const checkin = await commitFiles(test, { "a.txt": "1" });
      await answer("POST /api/status", {
        as: caller,
        body: { checkin, context: "ci", state: "success" },
      });
      const { database } = test.api.services;
      const rows = Array.from({ length: 1200 }, (_, index) => ({
        id: `row-${index}`,
        project_id: project.id,
        checkin,
        context: "ci",
        state: "success",
        description: "",
        target_url: "",
        reporter_name: "caller",
        reported_at: 1000 + Math.floor(index / 3),
      }));
      for (let at = 0; at < rows.length; at += 400) {
        const insertion = database.tables.insertInto("check_history")
          .values(rows.slice(at, at + 400));
        await database.commit({ statements: [statement(insertion)] });
      }
      await pass(test, 2 * DAY);
      assert.equal(await count(test, "check_history"), left);
      const removed = test.api.services.hosting.retention.removed.get("check_history");
      assert.equal(removed, 1201 - left);
    }, { config: { retention: { check_history_days: days } } });
  }
});

Deno.test("a removed project ends with its rows and its file, and others stay", async () => {
  await withProject(async (test) => {
    const { api: { services }, answer, caller } = test;
    const checkin = await commitFiles(test, { "a.txt": "1" });
    await answer("POST /api/status", {
      as: caller,
      body: { checkin, context: "ci", state: "success" },
    });
    await services.hosting.projects.create({
      slug: "kept",
      name: "Kept",
      description: "",
      visibility: "private",
    }, BY_OPERATOR);
    await services.hosting.projects.remove("demo", BY_OPERATOR);
    const { folder } = services.hosting.repositories.files;
    const names = async () => (await Array.fromAsync(Deno.readDir(join(folder, "removed")))).length;
    await pass(test, DAY);
    assert.deepEqual([await names(), await count(test, "check_history")], [1, 1]);
    await pass(test, AGES);
    assert.deepEqual([await names(), await count(test, "check_history")], [0, 0]);
    const rows = await services.database.tables.selectFrom("projects").select("slug").execute();
    assert.deepEqual(rows.map(({ slug }) => slug), ["kept"]);
  });
});
