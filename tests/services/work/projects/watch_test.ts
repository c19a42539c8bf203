import assert from "node:assert/strict";
import { Unavailable } from "../../../../services/kernel/errors.ts";
import { RepositoryWatch } from "../../../../services/work/projects/mod.ts";
import { peer } from "../../../support/peers.ts";
import { type TestProject, withProject } from "../../../support/projects.ts";
import { TestScheduler } from "../../../support/scheduler.ts";

/** Runs the real program as `ann` on a project's repository; `-` stands for a text as its input. */
async function fossil({ api, project }: TestProject, ...command: string[]): Promise<string> {
  const path = api.services.hosting.repositories.files.pathOf(project);
  // A program that reads no input may have ended before it is written.
  const isReading = command.includes("-");
  const child = new Deno.Command("fossil", {
    args: [...command, "-R", path],
    env: { USER: "ann", FOSSIL_USER: "ann", HOME: path.slice(0, path.lastIndexOf("/")) },
    stdin: isReading ? "piped" : "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  if (isReading) {
    const writer = child.stdin.getWriter();
    await writer.write(new TextEncoder().encode(`A page: ${command.join(" ")}`));
    await writer.close();
  }
  const { success, stdout, stderr } = await child.output();
  const [out, error] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  assert.ok(success && error === "", `${command.join(" ")}: ${error}`);
  return out ?? "";
}

/** How many locks of this process the system knows on a project's repository and its log. */
async function countLocks({ api, project }: TestProject): Promise<number> {
  const path = api.services.hosting.repositories.files.pathOf(project);
  const inodes = await Promise.all(
    ["", "-shm"].map(async (end) => `:${(await Deno.stat(path + end)).ino} `),
  );
  const { stdout } = await new Deno.Command("cat", { args: ["/proc/locks"] }).output();
  const locks = new TextDecoder().decode(stdout).split("\n")
    .filter((line) => line.includes(` ${Deno.pid} `));
  return locks.filter((line) => inodes.some((inode) => line.includes(inode))).length;
}

Deno.test("a repository that could not be checked is checked again, though its file stays as it is", async () => {
  await withProject(async ({ api }) => {
    const { projects, repositories } = api.services.hosting;
    const scheduler = new TestScheduler();
    const checked = Promise.withResolvers<void>();
    let tries = 0;
    repositories.catchUp = () => {
      tries++;
      if (tries === 3) checked.resolve();
      return tries < 3
        ? Promise.reject(new Unavailable("The database is locked"))
        : checked.promise;
    };
    const warnings: string[] = [];
    const log = Object.assign({}, api.services.log, {
      warn: (message: string) => warnings.push(message),
    });
    const watch = new RepositoryWatch({ projects, repositories, scheduler, log });
    await watch.start();
    await scheduler.passUntil(checked.promise, 60_000);
    await watch.close();
    assert.equal(warnings.length, 1);
  });
});

Deno.test("an open repository keeps its locks while it is written and read", {
  ignore: Deno.build.os !== "linux",
}, async () => {
  await withProject(async (test) => {
    const { answer, caller } = test;
    await answer("PUT /api/wiki/Home", { as: caller, body: { content: "one" } });
    await answer("GET /api/timeline", { as: caller });
    await test.catchUp();
    assert.ok(await countLocks(test) > 0);
  });
});

Deno.test("muster and the fossil program write to one repository in turns, and nothing is lost", {
  ...peer("fossil"),
}, async () => {
  await withProject(async (test) => {
    const { answer, caller } = test;
    await fossil(test, "user", "new", "ann", "", "secret");
    for (let round = 0; round < 10; round++) {
      await fossil(test, "wiki", "create", `Theirs ${round}`, "-");
      await answer(`PUT /api/wiki/Ours-${round}`, { as: caller, body: { content: "ours" } });
    }
    await test.catchUp();
    const { pages } = await answer("GET /api/wiki", { as: caller });
    assert.equal(pages.length, 20);
    const { events } = await test.api.services.eventLog.read({ after: 0, types: ["project.wiki"] });
    assert.equal(events.length, 20);
    assert.match(await fossil(test, "test-integrity"), / 0 errors|0 problems|no errors/i);
  });
});
