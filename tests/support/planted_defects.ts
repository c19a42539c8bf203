/** Defects in the data of a stopped program and in its configuration, for `muster doctor` to find. */
import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { restoreBackup } from "../../services/operation/backup/mod.ts";
import { DataFolder } from "../../services/operation/config/mod.ts";
import { openSqlite } from "../../services/engines/database/mod.ts";
import { newEvent } from "../../services/engines/events/mod.ts";
import { openKeyFile } from "../../services/people/identity/mod.ts";
import { Journal } from "../../services/chat/irc_server/history/journal.ts";
import { silentLog } from "../../services/kernel/log.ts";
import { runMuster } from "./program.ts";
import { writeFile } from "./temporary.ts";

/** Ports that the system chooses, on every interface. */
export const FREE = { MUSTER_API_ADDR: ":0", MUSTER_MCP_ADDR: ":0", MUSTER_IRC_LISTEN: ":0" };

/** A planted defect. */
export interface Defect {
  readonly name: string;
  /** Plants it in a folder with the data of a stopped program. */
  plant(home: string): unknown;
  readonly finding: { readonly level: string; readonly check: string; readonly message: RegExp };
  /** Follows the advice; absent where that takes another machine, or another program. */
  cure?(home: string, fix: string): unknown;
}

/** A mistake in the configuration. */
export interface Mistake extends Omit<Defect, "plant"> {
  plant?(home: string): unknown;
  readonly environment?: Readonly<Record<string, string>>;
}

const database = (home: string, sql: string, file = "muster.db") => {
  using opened = new DatabaseSync(join(home, "data", file));
  opened.exec(sql);
};

/**
 * Leaves a deletion in the journal of the history, as a kill would.
 *
 * @param after the journal that was before it; by default, that of the history
 */
function leaveInJournal(home: string, after?: string): void {
  const path = join(home, "data", "history.db");
  using opened = new DatabaseSync(path);
  const seen = opened.prepare("SELECT sequence, journal FROM last_change").get();
  const last = {
    sequence: Number(seen?.["sequence"]),
    journal: after ?? String(seen?.["journal"]),
  };
  const { journal } = Journal.open({ path, last, now: Date.now(), log: silentLog });
  journal.add([{ kind: "redact", sequence: last.sequence + 1, id: "nothing" }]);
  journal.close(false);
}

/** Overwrites pages in the middle of a file. */
function damage(path: string): void {
  using file = Deno.openSync(path, { read: true, write: true });
  const { size } = file.statSync();
  file.seekSync(Math.floor(size / 2 / 4096) * 4096, Deno.SeekMode.Start);
  file.writeSync(new Uint8Array(3 * 4096).fill(0x5a));
}

/** The advice is a line for the shell, after its last colon. */
async function inShell(home: string, fix: string): Promise<void> {
  const line = fix.slice(fix.lastIndexOf(": ") + 1).trim();
  const { success } = await new Deno.Command("sh", { args: ["-c", line], cwd: home }).output();
  assert.ok(success, line);
}

const restoreAll = async (home: string) => {
  const data = join(home, "data");
  await restoreBackup({
    database: "sqlite",
    source: join(dirname(home), "backup.tar"),
    name: null,
    folders: { data, projects: join(data, "projects") },
    replace: true,
    requireFree: () => DataFolder.check(data),
  });
};

const restoreFile = (name: string) => (home: string) =>
  Deno.copyFileSync(join(dirname(home), "healthy", "data", name), join(home, "data", name));

async function logEvent(
  home: string,
  event: Parameters<typeof newEvent<"program.started">>[1],
  time: number,
) {
  const folder = join(home, "data");
  const journalKey = await openKeyFile(join(folder, "event_key"));
  const opened = openSqlite(join(folder, "muster.db"), { journalKey });
  const origin = { actor: "system", actorId: null, address: null, cause: null };
  await opened.commit({ events: [newEvent("program.started", event, origin, time)] });
  await opened.close();
}

/** Defects in the data. */
export const DEFECTS: readonly Defect[] = [
  {
    name: "a mirror that fails",
    plant: (home) =>
      database(
        home,
        `INSERT INTO project_mirrors (project_id, git_url, every_minutes, next_run_at, last_error,
           failures) SELECT id, 'https://git.example/x', 60, 0, 'no such host', 3 FROM projects
           WHERE slug = 'demo'`,
      ),
    finding: {
      level: "warning",
      check: "deliveries",
      message: /mirror of "demo" fails: no such host/,
    },
  },
  {
    name: "a webhook that fails",
    plant: (home) =>
      database(
        home,
        `INSERT INTO webhooks (id, url, secret_version, secret_since, types, is_active, cursor,
           failing_since, created_at) VALUES ('w1', 'https://x.example', 1, 0, '[]', 1, 0, 1000, 0)`,
      ),
    finding: {
      level: "warning",
      check: "deliveries",
      message: /webhook "w1" of the server fails since 1970-01-01/,
    },
  },
  {
    name: "a release file that is missing",
    plant: (home) =>
      database(
        home,
        `INSERT INTO release_assets (project_id, tag_name, name, content_type, download_count)
           SELECT id, '1.0', 'a.zip', 'application/zip', 0 FROM projects WHERE slug = 'demo'`,
      ),
    finding: {
      level: "error",
      check: "repositories",
      message: /"demo" lacks the file "releases\/1\.0\/a\.zip"/,
    },
  },
  {
    name: "a release file that is altered",
    plant: (home) =>
      database(
        home,
        `CREATE TABLE IF NOT EXISTS unversioned(uvid INTEGER PRIMARY KEY AUTOINCREMENT,
           name TEXT UNIQUE, rcvid INTEGER, mtime DATETIME, hash TEXT, sz INTEGER, encoding INT,
           content BLOB);
         INSERT INTO unversioned (name, rcvid, mtime, hash, sz, encoding, content)
           VALUES ('releases/1.0/b.txt', 1, 1, '${"ab".repeat(20)}', 3, 0, x'616263')`,
        "projects/demo.fossil",
      ),
    finding: {
      level: "error",
      check: "repositories",
      message: /"demo" has the file "releases\/1\.0\/b\.txt" altered/,
    },
  },
  {
    name: "a strange file among the repositories",
    plant: (home) => writeFile(home, "data/projects/notes.txt", "hello"),
    finding: {
      level: "warning",
      check: "repositories",
      message: /notes\.txt" is no file of muster/,
    },
  },
  {
    name: "a token that others can read",
    plant: (home) => Deno.chmod(join(home, "data", "api_token"), 0o644),
    finding: { level: "error", check: "permissions", message: /api_token" \(mode 644\)/ },
    cure: inShell,
  },
  {
    name: "a data folder that others can enter",
    plant: (home) => Deno.chmod(join(home, "data"), 0o755),
    finding: { level: "error", check: "permissions", message: /data" \(mode 755\)/ },
    cure: inShell,
  },
  {
    name: "a database that cannot be written",
    plant: (home) => Deno.chmod(join(home, "data", "muster.db"), 0o400),
    finding: { level: "error", check: "permissions", message: /muster\.db" cannot be written/ },
    cure: (home) => Deno.chmod(join(home, "data", "muster.db"), 0o600),
  },
  {
    name: "a folder that cannot be written",
    plant: (home) => Deno.chmod(join(home, "data", "projects"), 0o500),
    finding: { level: "error", check: "permissions", message: /projects" cannot be written/ },
    cure: inShell,
  },
  {
    name: "a missing key",
    plant: (home) => Deno.remove(join(home, "data", "token_key")),
    finding: { level: "error", check: "keys", message: /token_key" is missing.*all tokens/ },
    cure: restoreFile("token_key"),
  },
  {
    name: "a key file with something else",
    plant: (home) => writeFile(home, "data/cloak_key", "oops"),
    finding: { level: "error", check: "keys", message: /cloak_key" holds no key/ },
    cure: restoreFile("cloak_key"),
  },
  {
    name: "a damaged database",
    plant: (home) => damage(join(home, "data", "muster.db")),
    finding: {
      level: "error",
      check: "database",
      message: /muster\.db" (?:is damaged|cannot be read)/,
    },
    cure: restoreAll,
  },
  {
    name: "a row that names another one that does not exist",
    plant: (home) =>
      database(
        home,
        "PRAGMA foreign_keys = OFF; INSERT INTO agent_channels VALUES ('x', 'a', 'a', 0)",
      ),
    finding: { level: "error", check: "database", message: /1 row of .* in agent_channels/ },
    cure: restoreAll,
  },
  {
    name: "a database of a newer version",
    plant: (home) => database(home, "PRAGMA user_version = 999"),
    finding: { level: "error", check: "versions", message: /version 999 and comes from a newer/ },
  },
  {
    name: "a database from before the first release",
    plant: (home) => database(home, "PRAGMA user_version = 14"),
    finding: { level: "error", check: "versions", message: /version 14 and comes from before/ },
    cure: restoreAll,
  },
  {
    name: "a newer program that used the data",
    plant: (home) => logEvent(home, { version: "99.0.0" }, Date.now()),
    finding: { level: "warning", check: "versions", message: /muster 99\.0\.0 started last/ },
  },
  {
    name: "a changed event",
    plant: (home) =>
      database(home, "UPDATE events SET actor = 'nobody' WHERE type = 'project.created'"),
    finding: { level: "error", check: "events", message: /is not as it was written/ },
    cure: restoreAll,
  },
  {
    name: "a damaged history",
    plant: (home) => damage(join(home, "data", "history.db")),
    finding: { level: "error", check: "history", message: /history\.db" (?:is damaged|cannot be)/ },
    cure: restoreAll,
  },
  {
    name: "what a kill left in the history's journal",
    plant: (home) => leaveInJournal(home),
    finding: { level: "note", check: "history", message: /1 change of the history is only/ },
  },
  {
    name: "a journal of another history",
    plant: (home) => leaveInJournal(home, "another"),
    finding: {
      level: "warning",
      check: "history",
      message: /history\.journal1" is the journal of another history/,
    },
  },
  {
    name: "a journal that a start has kept aside",
    plant: (home) => {
      leaveInJournal(home, "another");
      const path = join(home, "data", "history.journal1");
      return Deno.rename(path, `${path}.foreign-2026-11-27T03-00-00Z`);
    },
    finding: { level: "note", check: "leftovers", message: /which a start has kept aside/ },
    cure: inShell,
  },
  {
    name: "a database that is gone",
    plant: (home) => Deno.remove(join(home, "data", "muster.db")),
    finding: { level: "error", check: "database", message: /muster\.db" is missing, .* keys/ },
    cure: restoreAll,
  },
  {
    name: "a database without content",
    plant: (home) => Deno.truncate(join(home, "data", "muster.db")),
    finding: { level: "error", check: "database", message: /muster\.db" is empty, .* keys/ },
    cure: restoreAll,
  },
  {
    name: "a folder in the place of the database",
    plant: (home) => {
      Deno.removeSync(join(home, "data", "muster.db"));
      Deno.mkdirSync(join(home, "data", "muster.db"));
    },
    finding: { level: "error", check: "database", message: /muster\.db" is no file/ },
    cure: restoreAll,
  },
  {
    name: "a history that is gone",
    plant: (home) => Deno.remove(join(home, "data", "history.db")),
    finding: { level: "warning", check: "history", message: /history\.db" is missing/ },
    cure: restoreAll,
  },
  {
    name: "a history without content",
    plant: (home) => Deno.truncate(join(home, "data", "history.db")),
    finding: { level: "error", check: "history", message: /history\.db" is empty/ },
    cure: restoreAll,
  },
  {
    name: "a missing repository",
    plant: (home) => Deno.remove(join(home, "data", "projects", "demo.fossil")),
    finding: { level: "error", check: "repositories", message: /of the project "demo" is missing/ },
    cure: restoreFile("projects/demo.fossil"),
  },
  {
    name: "a damaged artifact",
    plant: (home) =>
      database(
        home,
        "UPDATE blob SET content = (SELECT content FROM blob WHERE rid = 1) WHERE rid = 3",
        "projects/demo.fossil",
      ),
    finding: { level: "error", check: "repositories", message: /"demo" has 1 damaged artifacts/ },
    cure: restoreFile("projects/demo.fossil"),
  },
  {
    name: "derived tables that lack a row",
    plant: (home) => database(home, "DELETE FROM event WHERE type = 'w'", "projects/demo.fossil"),
    finding: { level: "error", check: "repositories", message: /differ from a rebuild: event/ },
    cure: async (home, fix) => {
      const [, path = ""] = /muster fossil rebuild (\S+)$/.exec(fix) ?? [];
      const { code, stderr } = await runMuster(["fossil", "rebuild", path], { folder: home });
      assert.equal(code, 0, stderr);
    },
  },
  {
    name: "a repository without a project",
    plant: (home) => {
      const folder = join(home, "data", "projects");
      Deno.copyFileSync(join(folder, "demo.fossil"), join(folder, "stray.fossil"));
      Deno.mkdirSync(join(folder, "removed"), { recursive: true, mode: 0o700 });
    },
    finding: { level: "warning", check: "repositories", message: /stray\.fossil" belongs to no/ },
    cure: inShell,
  },
  {
    name: "a clock that is behind",
    plant: (home) => logEvent(home, { version: "0.0.1" }, Date.now() + 86_400_000),
    finding: { level: "error", check: "clock", message: /86\d{3} s behind the newest event/ },
  },
  {
    name: "what an export has left",
    plant: async (home) => {
      const path = join(home, "data", "projects", ".export-abc");
      await Deno.mkdir(path);
      await Deno.utime(path, 0, 0);
    },
    finding: { level: "warning", check: "leftovers", message: /\.export-abc" is left/ },
    cure: inShell,
  },
];

/** Mistakes in the configuration. */
export const MISTAKES: readonly Mistake[] = [
  {
    name: "an unknown key in the configuration",
    plant: (home) => writeFile(home, "config.yaml", "irc:\n  listn: 127.0.0.1:6667\n"),
    finding: { level: "error", check: "configuration", message: /config\.yaml:2: irc\.listn/ },
    cure: (home) => Deno.remove(join(home, "config.yaml")),
  },
  {
    name: "a public address without a host",
    environment: { MUSTER_IRC_PUBLIC_ADDRESS: "irc.invalid:6697" },
    finding: { level: "warning", check: "addresses", message: /irc\.invalid:6697" has no address/ },
  },
  {
    name: "passwords in the clear",
    environment: FREE,
    finding: { level: "warning", check: "configuration", message: /api_addr: .*in the clear/ },
  },
];
