import assert from "node:assert/strict";
import { join } from "node:path";
import { openSqlite, statement } from "../../../../services/engines/database/mod.ts";
import { AccountDirectory } from "../../../../services/people/identity/mod.ts";
import { silentLog } from "../../../../services/kernel/log.ts";
import {
  ProjectHomes,
  ProjectRepositories,
  Projects,
} from "../../../../services/work/projects/mod.ts";
import { TestScheduler } from "../../../support/scheduler.ts";
import { withFolder } from "../../../support/temporary.ts";

Deno.test("a node that starts takes over none of the projects that it had", () =>
  withFolder(async (folder) => {
    const database = openSqlite(join(folder, "muster.db"));
    const halts = {
      requireGoing() {},
      requireGoingById() {},
      reasonById: () => null,
    };
    const scheduler = new TestScheduler();
    const homes = new ProjectHomes({
      self: "a",
      all: () => [],
      find: () => null,
      isRunning: () => true,
    });
    const came: string[] = [];
    homes.onChanged(({ slug }, isHere) => came.push(`${slug} ${isHere}`));
    const shared = { database, halts, scheduler, log: silentLog };
    const repositories = await ProjectRepositories.open({
      ...shared,
      homes,
      folder,
      quotas: { projectBytes: 0, accountBytes: 0 },
    });
    try {
      const rows = ["a", "b"].map((home) => ({
        id: home,
        slug: `on-${home}`,
        name: "",
        description: "",
        visibility: "private" as const,
        channel: null,
        settings: "{}",
        created_at: 0,
        archived_at: null,
        removed_at: null,
        home,
      }));
      const insertion = database.tables.insertInto("projects").values(rows);
      await database.commit({ statements: [statement(insertion)] });
      await Projects.open({
        ...shared,
        accounts: await AccountDirectory.open({
          database,
          reserved: new Set(),
          disabled: new Set(),
          revocations: { announce() {} },
        }),
        repositories,
        tokens: { endingAllOfProject: () => assert.fail() },
        defaults: { claim_seconds: 1, strikes: 1, landing: { depth: 1, timeout_seconds: 1 } },
        clock: () => 0,
      });
      assert.deepEqual(came, []);
      assert.deepEqual([homes.isHere({ id: "a" }), homes.isHere({ id: "b" })], [true, false]);
      homes.requireTaken({ id: "a" });
    } finally {
      await repositories.close();
      await database.close();
    }
  }));
