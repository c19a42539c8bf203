import { amount } from "../services/kernel/words.ts";
import { isAbsolute, join, relative, resolve } from "node:path";
import { z } from "zod";
import {
  ArchiveTarget,
  BackupError,
  type BackupOptions,
  type BackupReport,
  type ByteSink,
  fileSink,
  type Folders,
  FolderTarget,
  gzipSink,
  type HeldChanges,
  makeBackup,
  restoreBackup,
  type RestoreReport,
} from "../services/operation/backup/mod.ts";
import { type Config, DataFolder, DataFolderError } from "../services/operation/config/mod.ts";
import { fileStamp } from "../services/kernel/files.ts";
import { VERSION } from "../services/kernel/version.ts";
import { ApiClient, Refused, Unreachable } from "./client.ts";
import { InvalidValue, type Leaf } from "./command_line/mod.ts";
import { isHeld, readEndpoints } from "./endpoints.ts";
import { TerminalProgress } from "./fossil/progress.ts";
import { type CommandOptions, JSON_OPTION } from "./options.ts";
import { CommandFailed, print, printError, printJson, reportDone } from "./output.ts";
import { readSettings } from "./settings.ts";

/** How many backups a folder keeps. */
const KEEP = 7;

/** The file name that stands for standard output. */
const STANDARD_OUTPUT = "-";

/** How long the server may take to pause, in milliseconds. */
const PAUSE_TIMEOUT = 60_000;

interface BackupCommandOptions extends CommandOptions {
  readonly to?: string;
  readonly keep: number;
}

/** `muster backup`: copies everything of a data folder, whether or not a server uses it. */
async function backup(file: string | undefined, options: BackupCommandOptions): Promise<void> {
  const config = await readSettings(options);
  const folders = foldersOf(config);
  const now = Date.now();
  if (file !== undefined && options.to !== undefined) {
    throw new CommandFailed("Name a file, or a folder with --to: not both", 2);
  }
  const path = options.to ?? file ?? `muster-${fileStamp(now)}.tar.gz`;
  if (path !== STANDARD_OUTPUT) requireOutside(path, folders);
  const report = await explaining(async () => {
    using guard = await guardOf(options, config);
    const database = storeOf(config);
    const target = options.to === undefined
      ? new ArchiveTarget(await archiveSink(path), now)
      : await FolderTarget.open(path, { keep: options.keep });
    return await run({ target, folders, database, hold: guard.hold, now });
  });
  await noteBackup(config.data_dir, now);
  if (storeOf(config) === "postgres") {
    printError(
      "note: the app database is in PostgreSQL, and not in this backup: run pg_dump before each " +
        "backup, and keep the two together",
    );
  }
  reportDone(() => printReport(path, report, options));
}

/**
 * Notes when a backup was made, which a server shows among its metrics. A server of another user, as
 * that of a service whose commands root types, must read the file. The backup is made anyway.
 */
async function noteBackup(folder: string, now: number): Promise<void> {
  const path = join(folder, "last_backup");
  try {
    await Deno.writeTextFile(path, `${new Date(now).toISOString()}\n`);
    if (Deno.build.os !== "windows") await Deno.chmod(path, 0o644);
  } catch (error) {
    printError(
      `warning: the backup is made, but "${path}" could not be written (${
        error instanceof Error ? error.message : String(error)
      }): ` +
        "the metrics show the age of an earlier one",
    );
  }
}

async function run(options: Omit<BackupOptions, "version" | "onProgress">): Promise<BackupReport> {
  using progress = new TerminalProgress();
  return await makeBackup({
    ...options,
    version: VERSION,
    onProgress: (done, total) => progress.show("Bytes copied:", done, total),
  });
}

function printReport(path: string, report: BackupReport, { json, to }: BackupCommandOptions) {
  const { files, bytes, unchanged, paused, busy } = report;
  for (const slug of busy) {
    printError(
      `warning: "${slug}" was being written all the time; what is unfinished in the backup is ` +
        "settled when it is restored and started",
    );
  }
  if (path === STANDARD_OUTPUT) return;
  if (json === true) return printJson({ path: resolve(path), ...report });
  const kept = to === undefined ? "" : `, ${sizeOf(unchanged)} of them unchanged`;
  print(`${amount(files, "file")} with ${sizeOf(bytes)}${kept}`);
  print(`Changes of projects waited for ${Math.ceil(paused)} ms`);
  print(path);
}

/** Keeps the files of one moment: of a running server, or alone. */
interface Guard extends Disposable {
  readonly hold: () => Promise<HeldChanges>;
}

async function guardOf(options: CommandOptions, config: Config): Promise<Guard> {
  requireData(config);
  if (!isHeld(config.data_dir)) {
    const folder = DataFolder.open(config.data_dir);
    const held = { busy: [], areSettled: false, release: () => Promise.resolve(true) };
    return { hold: () => Promise.resolve(held), [Symbol.dispose]: () => folder.close() };
  }
  const client = await serverOf(options, config);
  return { hold: () => pause(client), [Symbol.dispose]: () => {} };
}

function requireData({ data_dir: folder, database }: Config): void {
  try {
    Deno.statSync(join(folder, database.url === "" ? "muster.db" : "token_key"));
  } catch {
    throw new CommandFailed(`There is no data of a muster in "${folder}"`);
  }
}

/** The server that uses the data folder, and no other one that the environment names. */
async function serverOf(options: CommandOptions, { data_dir }: Config): Promise<ApiClient> {
  const endpoints = await readEndpoints(data_dir);
  const token = Deno.env.get("MUSTER_API_TOKEN") ??
    (await Deno.readTextFile(join(data_dir, "api_token")).catch(() => "")).trim();
  if (endpoints !== null) {
    return await ApiClient.connect({ ...options, url: endpoints.api }, { token });
  }
  throw new CommandFailed(
    `A muster without a server uses the data folder "${data_dir}", such as "muster mcp": end the ` +
      "client that started it",
  );
}

const pauseSchema = z.object({ id: z.string(), busy: z.array(z.string()) });

/** Lets the server hold up the changes of projects. */
async function pause(client: ApiClient): Promise<HeldChanges> {
  let begun: z.infer<typeof pauseSchema>;
  try {
    begun = await client.call("POST", "/v1/pauses", pauseSchema, undefined, PAUSE_TIMEOUT);
  } catch (error) {
    if (!(error instanceof Unreachable)) throw error;
    throw new CommandFailed(
      `${error.message}\nA muster uses the data folder, but its server does not answer: wait until ` +
        "it has started, or end it",
    );
  }
  return {
    busy: begun.busy,
    areSettled: true,
    release: async () => {
      try {
        await client.call("DELETE", `/v1/pauses/${begun.id}`, z.undefined());
        return true;
      } catch (error) {
        if (error instanceof Refused && error.status === 404) return false;
        throw error;
      }
    },
  };
}

async function archiveSink(path: string): Promise<ByteSink> {
  if (path === STANDARD_OUTPUT) return gzipSink(outputSink());
  const sink = await fileSink(path);
  return /\.t?gz$/.test(path) ? gzipSink(sink) : sink;
}

/** A pipe whose reader ends early has no backup, so that is a failure. */
function outputSink(): ByteSink {
  const writer = Deno.stdout.writable.getWriter();
  const explaining = (work: Promise<void>) =>
    work.catch((error) => {
      throw new CommandFailed(`Standard output cannot be written: ${String(error)}`);
    });
  return {
    write: (bytes) => explaining(writer.write(bytes)),
    close: () => explaining(writer.close()),
    abort: () => writer.abort().catch(() => {}),
  };
}

interface RestoreCommandOptions extends CommandOptions {
  readonly at?: string;
  readonly replace?: boolean;
}

/** `muster restore`: puts a backup in the place of the data folder. */
async function restore(source: string, options: RestoreCommandOptions): Promise<void> {
  const config = await readSettings(options);
  const database = storeOf(config);
  const report = await explaining(async () => {
    using progress = new TerminalProgress();
    return await restoreBackup({
      source,
      name: options.at ?? null,
      folders: foldersOf(config),
      database,
      replace: options.replace === true,
      requireFree: () => DataFolder.check(config.data_dir),
      onProgress: (files) => progress.show("Files restored:", files, null),
    });
  });
  if (database === "postgres") {
    printError(
      "note: the app database is in PostgreSQL: before you start muster, let pg_restore put back " +
        "the dump from before this backup",
    );
  }
  reportDone(() => printRestored(config.data_dir, report, options));
}

function printRestored(folder: string, report: RestoreReport, { json }: CommandOptions): void {
  if (json === true) return printJson(report);
  const { created_at, files, bytes, previous } = report;
  print(
    `${amount(files, "file")} with ${sizeOf(bytes)} of ${created_at}, all whole, in ${folder}`,
  );
  if (previous !== null) print(`What was there before is in ${previous}`);
}

/** The folders that the configuration names. */
export function foldersOf({ data_dir, projects }: Config): Folders {
  const data = resolve(data_dir);
  return { data, projects: projects.dir === "" ? join(data, "projects") : resolve(projects.dir) };
}

/** Where the app database is. */
function storeOf({ database }: Config): BackupOptions["database"] {
  return database.url === "" ? "sqlite" : "postgres";
}

/** A backup in the data folder would be part of the next one. */
function requireOutside(path: string, { data, projects }: Folders): void {
  for (const folder of [data, projects]) {
    const inside = relative(folder, resolve(path));
    if (inside.startsWith("..") || isAbsolute(inside)) continue;
    throw new CommandFailed(`"${path}" is in the folder "${folder}": name a place outside`, 2);
  }
}

async function explaining<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const known = error instanceof BackupError || error instanceof DataFolderError;
    throw known ? new CommandFailed(error.message) : error;
  }
}

/** `1.4 MB`: a number of bytes for people. */
function sizeOf(bytes: number): string {
  const units = ["bytes", "kB", "MB", "GB", "TB"];
  let [size, unit] = [bytes, 0];
  for (; size >= 1000 && unit < units.length - 1; unit++) size /= 1000;
  return `${unit === 0 ? size : size.toFixed(1)} ${units[unit]}`;
}

function checkKeep(text: string): number {
  if (/^[1-9]\d{0,3}$/.test(text)) return Number(text);
  throw new InvalidValue("be a number from 1 to 9999");
}

export const BACKUP: Leaf = {
  parameters: [{ usage: "[file]", completes: "file" }],
  options: [
    {
      flags: "--to <folder>",
      summary: "keep several backups in a folder, with what they have in common only once",
      completes: "folder",
    },
    {
      flags: "--keep <count>",
      summary: "backups to keep in the folder",
      parse: checkKeep,
      default: KEEP,
    },
    JSON_OPTION,
  ],
  examples: [
    { line: "backup", purpose: "Write an archive with the time in its name" },
    { line: "backup --to /srv/backup", purpose: "Add a backup to a folder" },
  ],
  notes: [
    "It copies databases, keys, history, inboxes and repositories as they are at one moment, " +
    "whether or not the server runs. The archive is a tar file, compressed if its name ends in " +
    ".gz; `-` is standard output. It contains the keys: keep it as safe as the data folder.",
    "The configuration and the TLS files are not in it, nor an app database in PostgreSQL: run " +
    "pg_dump before each backup.",
  ],
  run: backup,
};

export const RESTORE: Leaf = {
  parameters: [{ usage: "<backup>", completes: "file" }],
  options: [
    {
      flags: "--at <name>",
      summary: "an older backup of a folder, such as 2026-11-22T18-00-00.000Z",
    },
    { flags: "--replace", summary: "move the present data folder aside" },
    JSON_OPTION,
  ],
  examples: [
    { line: "restore muster-2026-11-22T18-00-00Z.tar.gz", purpose: "Restore an archive" },
    { line: "restore /srv/backup --replace", purpose: "Restore the newest backup of a folder" },
  ],
  notes: [
    "The server must be stopped. Checksums, databases and versions are checked before the data " +
    "folder is touched. Run it as the user that runs the server; for the service of systemd, which " +
    "has none while it is stopped, as root.",
  ],
  run: restore,
};
