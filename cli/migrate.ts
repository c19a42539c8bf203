import { amount } from "../services/kernel/words.ts";
import { type Config, DataFolder, isPostgresUrl } from "../services/operation/config/mod.ts";
import { type MoveReport, moveToPostgres, moveToSqlite } from "../services/operation/daemon/mod.ts";
import { type PostgresSettings, readPostgresSettings } from "../services/engines/database/mod.ts";
import { InvalidValue, type Leaf } from "./command_line/mod.ts";
import { TerminalProgress } from "./fossil/progress.ts";
import { type CommandOptions, JSON_OPTION } from "./options.ts";
import { CommandFailed, print, printError, printJson, reportDone, visible } from "./output.ts";
import { readSettings } from "./settings.ts";
import { explainStart } from "./start_errors.ts";

/** What the options call the file in the data folder, and the database of the configuration. */
const [SQLITE, POSTGRES] = ["sqlite", "postgres"];

interface MigrateOptions extends CommandOptions {
  readonly from?: string;
  readonly to?: string;
}

/** `muster migrate`: moves the app database of a data folder to PostgreSQL, or back. */
async function migrate({ from, to, ...options }: MigrateOptions): Promise<void> {
  const config = await readSettings(options);
  const [elsewhere] = [from, to].filter((place) => place !== SQLITE);
  if (elsewhere === undefined || (from !== SQLITE && to !== SQLITE)) {
    throw new CommandFailed(
      "Say --from sqlite and --to postgres, or the other way round; a URL may stand for postgres",
      2,
    );
  }
  const { postgres, report } = await moved(elsewhere, config, to === SQLITE);
  reportDone(() => {
    if (options.json === true) return printJson(report);
    printReport(report);
    adviseOn(config, to === SQLITE ? null : postgres.url);
  });
}

/** Moves the database to or from a place. */
async function moved(place: string, config: Config, isBack: boolean) {
  try {
    const postgres = await settingsOf(place, config);
    return { postgres, report: await move(config.data_dir, postgres, isBack) };
  } catch (error) {
    throw explainStart(error, config);
  }
}

/** @param place a URL, or `postgres` for the one of the configuration */
async function settingsOf(place: string, { database }: Config): Promise<PostgresSettings> {
  if (place !== POSTGRES) {
    const hasPassword = new URL(place).password !== "";
    const file = hasPassword ? "" : database.password_file;
    const found = await readPostgresSettings({ url: place, password_file: file });
    if (found !== null) return found;
  }
  const configured = await readPostgresSettings(database);
  if (configured !== null) return configured;
  throw new CommandFailed("Set database.url in the configuration, or name a URL here", 2);
}

async function move(
  path: string,
  postgres: PostgresSettings,
  isBack: boolean,
): Promise<MoveReport> {
  try {
    Deno.statSync(path);
  } catch {
    throw new CommandFailed(`There is no data of a muster in "${path}"`);
  }
  const folder = DataFolder.open(path);
  using progress = new TerminalProgress();
  try {
    return await (isBack ? moveToSqlite : moveToPostgres)({
      folder,
      postgres,
      now: Date.now(),
      onProgress: (done, total) => progress.show("Rows copied and compared:", done, total),
    });
  } finally {
    folder.close();
  }
}

function printReport({ tables, rows, log, file }: MoveReport): void {
  print(`${amount(rows, "row")} of ${amount(tables, "table")} copied, and each compared`);
  for (const finding of log.findings) printError(`warning: ${visible(finding)}`);
  const state = log.found > 0 ? "as damaged as before" : "intact";
  print(`The event log is ${state}: ${amount(log.events, "event")}, the last one ${log.last}`);
  print(`SQLite file: ${file}`);
}

/** Says what is still to be changed in the configuration, if anything is. */
function adviseOn({ database }: Config, url: string | null): void {
  if (url === null) {
    if (database.url !== "") print('Set database.url to "" before you start muster');
  } else if (database.url !== url) {
    print("Set database.url to the URL of the database before you start muster");
  }
}

function checkPlace(text: string): string {
  if (text === SQLITE || text === POSTGRES || isPostgresUrl(text)) return text;
  throw new InvalidValue(
    "must be sqlite, postgres or a URL such as postgres://muster@db.example.com/muster",
  );
}

export const MIGRATE: Leaf = {
  options: [
    {
      flags: "--from <place>",
      summary: "where the database is: sqlite or postgres",
      parse: checkPlace,
    },
    { flags: "--to <place>", summary: "where it is to be: postgres or sqlite", parse: checkPlace },
    JSON_OPTION,
  ],
  examples: [
    {
      line: "migrate --from sqlite --to postgres",
      purpose: "Move the database to the PostgreSQL that database.url names",
    },
    {
      line: "migrate --from postgres --to sqlite",
      purpose: "Move it back",
    },
  ],
  notes: [
    "Stop muster first. Everything is copied in one transaction, and each row is compared; if that " +
    "fails, nothing has changed. The source stays: the SQLite file under another name, a database " +
    "in PostgreSQL as it is.",
    "The place postgres stands for database.url and its password_file. A URL may be named in its " +
    "place. The database must be new: one that has rows is refused.",
  ],
  run: migrate,
};
