import assert from "node:assert/strict";
import { join } from "node:path";
import { silentLog } from "../../../../services/kernel/log.ts";
import { Leftovers } from "../../../../services/work/runs/mod.ts";
import { withProject } from "../../../support/projects.ts";
import { aReview, aRunner, defineChecks } from "../../../support/runners.ts";
import { withFolder } from "../../../support/temporary.ts";

Deno.test("files of jobs that are gone are removed, and what has never arrived whole", async () => {
  await withProject(async (test) => {
    const { api: { services: { database, clock: scheduler } }, project } = test;
    await defineChecks(test, "  tests:\n    run: make test\n");
    await aReview(test);
    const job = await (await aRunner(test)).lease();
    await withFolder(async (folder) => {
      const put = async (path: string, isOld: boolean) => {
        const full = join(folder, path);
        await Deno.mkdir(join(full, ".."), { recursive: true });
        await Deno.writeTextFile(full, "x");
        const at = new Date(isOld ? Date.now() - 48 * 60 * 60 * 1000 : Date.now());
        await Deno.utime(full, at, at);
      };
      const kept = [`${project.id}/${job?.id}/1.log`, ".arriving/new.part", ".arriving/other/x"];
      for (const path of kept) await put(path, false);
      await put(`${project.id}/${project.id}/1.log`, false);
      await put(`${project.id}/caches/old`, true);
      await put(`${project.id}/caches/new`, false);
      await put(".arriving/old.part", true);
      const leftovers = new Leftovers({ database, folder, scheduler, log: silentLog });
      await leftovers.run();
      const found: string[] = [];
      const visit = async (path: string): Promise<void> => {
        for await (const { name, isFile } of Deno.readDir(join(folder, path))) {
          if (isFile) found.push(join(path, name));
          else await visit(join(path, name));
        }
      };
      await visit("");
      assert.deepEqual(found.sort(), [...kept, `${project.id}/caches/new`].sort());
    });
  });
});
