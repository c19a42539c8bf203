/** A repository file from an older backup is noticed, and not served until it is accepted. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { call, order } from "../support/api.ts";
import { succeed } from "../support/commands.ts";
import { type Program, runMuster, startProgram } from "../support/program.ts";
import { withFolder } from "../support/temporary.ts";

const REFUSED = /"demo" is older than what the server has received.*muster project accept demo/;

const wiki = (slug: string, page: string) => `/projects/${slug}/fossil/api/wiki/${page}`;

async function write(program: Program, slug: string, page: string): Promise<void> {
  await order(program, `PUT ${wiki(slug, page)}`, { content: page });
}

async function statusOf(program: Program, slug: string, page: string): Promise<number> {
  const response = await call(program, "GET", wiki(slug, page));
  await response.body?.cancel();
  return response.status;
}

/** Runs a program until a task is done. */
async function whileRunning(
  folder: string,
  task: (program: Program) => Promise<void>,
): Promise<void> {
  await using program = await startProgram({ folder });
  await task(program);
  assert.equal(await program.stop(), 0);
}

Deno.test("an older copy of a repository is not served until an operator accepts it", () =>
  withFolder(async (folder) => {
    const file = join(folder, "data", "projects", "demo.fossil");
    const backup = join(folder, "demo.backup");
    await whileRunning(folder, async (program) => {
      for (const slug of ["demo", "other"]) await order(program, "POST /v1/projects", { slug });
      await write(program, "demo", "Old");
      await write(program, "other", "Old");
    });
    await Deno.copyFile(file, backup);
    await whileRunning(folder, (program) => write(program, "demo", "New"));
    await Deno.copyFile(file, `${backup}.new`);
    await Deno.copyFile(backup, file);

    const { stdout } = await runMuster(["doctor", "--json"], { folder });
    assert.match(stdout, /"demo\\" lacks what the server has received/);
    await whileRunning(folder, async (program) => {
      for (const [method, body] of [["GET"], ["PUT", { content: "Lost" }]] as const) {
        const refused = await call(program, method, wiki("demo", "Old"), body);
        assert.equal(refused.status, 503);
        assert.match((await refused.json()).error, REFUSED);
      }
      assert.match(await program.inLog(/A project is not served/), /muster project accept demo/);
      assert.equal(await statusOf(program, "other", "Old"), 200);
      assert.equal((await fetch(`${program.api}/readyz`)).status, 200);
    });

    await Deno.copyFile(`${backup}.new`, file);
    await whileRunning(folder, async (program) => {
      assert.equal(await statusOf(program, "demo", "New"), 200);
      const { status } = await call(program, "POST", "/v1/projects/demo/accept");
      assert.equal(status, 409);
    });

    await Deno.copyFile(backup, file);
    await whileRunning(folder, async (program) => {
      assert.equal(await statusOf(program, "demo", "Old"), 503);
      await succeed(program, "project", "accept", "demo");
      assert.equal(await statusOf(program, "demo", "Old"), 200);
      assert.equal(await statusOf(program, "demo", "New"), 404);
      await write(program, "demo", "Next");
      const { events } = await order(program, "GET /v1/events?types=project.accepted") as {
        events: unknown[];
      };
      assert.equal(events.length, 1);
    });
    await whileRunning(folder, async (program) => {
      assert.equal(await statusOf(program, "demo", "Next"), 200);
    });
  }));

Deno.test("the repository of another project in the place of a project's is not served", () =>
  withFolder(async (folder) => {
    const fileOf = (slug: string) => join(folder, "data", "projects", `${slug}.fossil`);
    await whileRunning(folder, async (program) => {
      for (const slug of ["demo", "other"]) await order(program, "POST /v1/projects", { slug });
      await write(program, "demo", "Page");
      for (const page of ["One", "Two", "Three"]) await write(program, "other", page);
    });
    await Deno.copyFile(fileOf("other"), fileOf("demo"));
    await whileRunning(folder, async (program) => {
      const refused = await call(program, "GET", wiki("demo", "One"));
      assert.equal(refused.status, 503);
      assert.match((await refused.json()).error, /"demo" is that of another project/);
    });
  }));
