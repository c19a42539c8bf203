import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { Invalid } from "../../../../services/kernel/errors.ts";
import { withProject } from "../../../support/projects.ts";
import { BY_OPERATOR } from "../../../support/services.ts";
import { originOf } from "../../../../services/people/identity/mod.ts";

/** Changes to a copy of a sound repository. */
const FORGERIES: Readonly<Record<string, string>> = {
  "a computed column": `DROP TABLE blob; CREATE TABLE blob(rid INTEGER PRIMARY KEY, rcvid, size,
    uuid, content BLOB GENERATED ALWAYS AS (zeroblob(900000000)) VIRTUAL)`,
  "a wrong content": "UPDATE blob SET content=x'00000001' WHERE rid=1",
  "a missing table": "DROP TABLE delta",
};

Deno.test("a forged or truncated repository is refused in a sentence without paths", async () => {
  await withProject(async ({ api, project }) => {
    const { repositories } = api.services.hosting;
    const sound = await repositories.export(project, "fossil");
    for (const [name, sql] of Object.entries(FORGERIES)) {
      const path = `${sound}-forged`;
      await Deno.copyFile(sound, path);
      const db = new DatabaseSync(path);
      db.exec(`PRAGMA foreign_keys=OFF; ${sql}`);
      db.close();
      await assertRefused(path, name);
    }
    await Deno.truncate(sound, 5000);
    await assertRefused(sound, "a truncated file");

    async function assertRefused(path: string, name: string): Promise<void> {
      const from = { source: path, format: "fossil" } as const;
      await assert.rejects(
        repositories.import(project, from, { origin: originOf(BY_OPERATOR) }),
        (error) => {
          assert.ok(error instanceof Invalid, `${name}: ${error}`);
          assert.match(error.message, /^The import is refused: [^/]*$/, name);
          return true;
        },
      );
    }
  });
});
