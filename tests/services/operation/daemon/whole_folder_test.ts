/** A start beside earlier data of which a part is missing. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { DataFolder } from "../../../../services/operation/config/mod.ts";
import {
  type Database,
  openPostgres,
  openSqlite,
  statement,
} from "../../../../services/engines/database/mod.ts";
import { requireWhole } from "../../../../services/operation/daemon/whole_folder.ts";
import { peer } from "../../../support/peers.ts";
import { postgresOf } from "../../../support/postgres.ts";
import { withFolder } from "../../../support/temporary.ts";

const CONFIG = {
  database: { url: "", password_file: "" },
  node: { name: "", url: "", secret_file: "" },
  projects: { dir: "" },
} as unknown as Parameters<typeof requireWhole>[1];

/** A SQLite database with an event and an account, after its server has stopped. */
async function addDatabase(folder: string): Promise<void> {
  await use(openSqlite(join(folder, "muster.db"), { journalKey: JOURNAL_KEY }));
}

const JOURNAL_KEY = { key: "0123456789abcdef".repeat(4), isNew: true };

/** Writes an event and an account, and closes the database. */
async function use(database: Database): Promise<void> {
  const who = { actor: "system", actorId: null, address: null, cause: null };
  const account = database.tables.insertInto("accounts").values({
    id: "01A",
    name: "ann",
    name_folded: "ann",
    kind: "agent",
    secret_scheme: "sha256",
    secret: "",
    created_at: 0,
    revoked_at: null,
  });
  await database.commit({
    events: [{ time: 0, type: "test.one", ...who, data: {} }],
    statements: [statement(account)],
  });
  await database.close();
}

/** The history of a server that was killed, whose last change came from a journal. */
function killedHistory(folder: string, journal: string): void {
  const path = join(folder, "history.db");
  const live = new DatabaseSync(path);
  live.exec(`
    PRAGMA journal_mode = WAL;
    CREATE TABLE last_change (sequence INTEGER NOT NULL, journal TEXT NOT NULL);
    INSERT INTO last_change VALUES (1, '${journal}');`);
  const files = ["", "-wal", "-shm"].map((end) => [end, Deno.readFileSync(path + end)] as const);
  live.close();
  for (const [end, bytes] of files) Deno.writeFileSync(path + end, bytes);
  touch(folder, "history.journal1", "history.journal2");
}

/** What a start beside these files refuses; null if it goes on. Nothing is made in the folder. */
async function refusal(
  add: (folder: string) => void | Promise<void>,
  url = "",
): Promise<string | null> {
  let refused: string | null = null;
  await withFolder(async (root) => {
    const path = join(root, "data");
    Deno.mkdirSync(path);
    await add(path);
    const folder = DataFolder.open(path);
    const names = () => Array.from(Deno.readDirSync(path), ({ name }) => name).sort();
    const before = names();
    try {
      await requireWhole(folder, { ...CONFIG, database: { ...CONFIG.database, url } });
    } catch (error) {
      assert.deepEqual(names(), before);
      refused = error instanceof Error ? error.message : String(error);
    } finally {
      folder.close();
    }
  });
  return refused;
}

function touch(folder: string, ...names: string[]): void {
  for (const name of names) Deno.writeTextFileSync(join(folder, name), "x");
}

Deno.test("a first start, one that was cut off, and one with all data go on", async () => {
  assert.equal(await refusal(() => {}), null);
  assert.equal(
    await refusal((folder) => touch(folder, "event_key", "cloak_key", "history.db", "muster.db")),
    null,
  );
  const whole = async (folder: string) => {
    await addDatabase(folder);
    touch(folder, "event_key", "token_key", "cloak_key", "history.db", "history.journal1");
  };
  assert.equal(await refusal(whole), null);
  // A history that was killed before it had anything of a journal.
  assert.equal(await refusal((folder) => killedHistory(folder, "first-00")), null);
});

Deno.test("a start does not begin anew where files tell that there were data", async () => {
  const addRepository = (folder: string) => {
    Deno.mkdirSync(join(folder, "projects"));
    touch(join(folder, "projects"), "demo.fossil");
  };
  const cases: readonly (readonly [
    add: (folder: string) => void | Promise<void>,
    lacks: string,
    trace: string,
  ])[] = [
    [(folder) => touch(folder, "token_key"), "muster.db", "token_key"],
    [addRepository, "muster.db", "demo.fossil"],
    [(folder) => touch(folder, "token_key", "muster.db"), "muster.db", "token_key"],
    [(folder) => touch(folder, "muster.db", "muster.db-shm"), "muster.db-wal", "muster.db-shm"],
    [(folder) => touch(folder, "history.db", "history.db-shm"), "history.db-wal", "history.db-shm"],
    [(folder) => touch(folder, "history.journal2"), "history.db", "history.journal2"],
    [
      (folder) => {
        touch(folder, "history.journal2");
        Deno.writeTextFileSync(join(folder, "history.db"), "");
      },
      "history.db",
      "history.journal2",
    ],
    ...["muster.db", "history.db"].map((name) =>
      [
        (folder: string) => {
          touch(folder, "muster.db", `${name}-shm`);
          Deno.writeTextFileSync(join(folder, `${name}-wal`), "x".repeat(4096));
          Deno.writeTextFileSync(join(folder, name), "");
        },
        name,
        `${name}-wal`,
      ] as const
    ),
    [
      (folder) => {
        addRepository(folder);
        touch(join(folder, "projects"), "demo.fossil-shm");
      },
      "demo.fossil-wal",
      "demo.fossil-shm",
    ],
    [
      async (folder) => {
        await addDatabase(folder);
        touch(folder, "token_key");
      },
      "event_key",
      "event log",
    ],
    [
      async (folder) => {
        await addDatabase(folder);
        touch(folder, "event_key");
      },
      "token_key",
      "accounts",
    ],
    [
      async (folder) => {
        await addDatabase(folder);
        touch(folder, "event_key", "token_key");
      },
      "cloak_key",
      "bans",
    ],
    ...["history.journal1", "history.journal2"].map((name) =>
      [
        (folder: string) => {
          killedHistory(folder, "0123");
          Deno.removeSync(join(folder, name));
        },
        name,
        "history.db-wal",
      ] as const
    ),
  ];
  for (const [add, lacks, trace] of cases) {
    const found = await refusal(add);
    assert.ok(found !== null, `a start without ${lacks} went on`);
    assert.ok(found.includes(`lacks "${lacks}"`) || found.includes(`"${lacks}"`), found);
    assert.ok(found.includes(trace), found);
    assert.match(found, /put (?:it|the log) back/);
  }
});

Deno.test(
  "beside a database in PostgreSQL, a start needs its keys, and does not take it for that of a repository",
  peer("postgres server"),
  () =>
    withFolder(async (root) => {
      const url = await postgresOf(join(root, "of"));
      const addRepository = (folder: string) => {
        Deno.mkdirSync(join(folder, "projects"));
        touch(join(folder, "projects"), "demo.fossil");
      };
      const keys = ["event_key", "token_key", "cloak_key"];
      assert.equal(await refusal(() => {}, url), null, "nothing was written yet");
      assert.match(await refusal(addRepository, url) ?? "", /lacks "postgres".*demo\.fossil/);
      const paired = (folder: string) => {
        addRepository(folder);
        touch(folder, "postgres");
      };
      assert.equal(await refusal(paired, url), null);
      await use(await openPostgres({ url, password: null, journalKey: JOURNAL_KEY }));
      for (const lost of keys) {
        const others = keys.filter((key) => key !== lost);
        const found = await refusal((folder) => touch(folder, "postgres", ...others), url);
        assert.match(found ?? "", new RegExp(`lacks the file "${lost}"`));
      }
      assert.equal(await refusal((folder) => touch(folder, "postgres", ...keys), url), null);
    }),
);
