import assert from "node:assert/strict";
import { join } from "node:path";
import { SharedChannels } from "../../../../services/chat/bridge/mod.ts";
import { type Database, openSqlite } from "../../../../services/engines/database/mod.ts";
import { withFolder } from "../../../support/temporary.ts";

/** Resolves when the writes that have begun are on disk. */
async function written(database: Database): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 0));
  await database.commit({});
}

async function visitorsOf(database: Database): Promise<string[]> {
  const rows = await database.tables.selectFrom("channel_visits").select(["visitor", "at"])
    .orderBy("visitor").execute();
  return rows.map(({ visitor, at }) => `${visitor} ${at}`);
}

Deno.test("the use of a channel that is entered again is recorded at once", () =>
  withFolder(async (folder) => {
    const database = openSqlite(join(folder, "muster.db"));
    try {
      const channels = await SharedChannels.open(database, []);
      const name = "#Room";
      for (const at of [1000, 2000]) {
        await channels.put({ name, opener: null });
        channels.used(name, null, at);
        channels.used(name, "agent", at);
        await written(database);
        assert.deepEqual(await visitorsOf(database), [` ${at}`, `agent ${at}`]);
        assert.equal(await channels.release(name, null, at), true);
        assert.deepEqual(await visitorsOf(database), []);
      }
    } finally {
      await database.close();
    }
  }));
