import { join } from "node:path";
import { BackupError } from "../services/operation/backup/mod.ts";
import { rehearseUpgrade, type UpgradeReport } from "../services/operation/doctor/mod.ts";
import { VERSION } from "../services/kernel/version.ts";
import { foldersOf } from "./backup.ts";
import type { Leaf } from "./command_line/mod.ts";
import { type CommandOptions, JSON_OPTION } from "./options.ts";
import { CommandFailed, print, printJson } from "./output.ts";
import { readSettings } from "./settings.ts";

interface UpgradeOptions extends CommandOptions {
  readonly check?: boolean;
}

/** `muster upgrade --check`: what a start of this version would do to the data folder. */
async function upgrade(options: UpgradeOptions): Promise<void> {
  if (options.check !== true) {
    throw new CommandFailed(
      "A start of the new version upgrades the data; --check says what it would do",
      2,
    );
  }
  const config = await readSettings(options);
  if (config.database.url !== "") {
    throw new CommandFailed(
      "--check tries the migration on a copy, and muster cannot copy a database in PostgreSQL " +
        "(database.url): a start migrates it in one transaction, of which nothing remains if it fails",
    );
  }
  const folders = foldersOf(config);
  const report = await rehearse(folders);
  if (options.json === true) printJson({ program: VERSION, ...report });
  else printReport(join(folders.data, "muster.db"), report);
  if (report.problem !== null) throw new CommandFailed(report.problem);
}

async function rehearse(folders: Parameters<typeof rehearseUpgrade>[0]): Promise<UpgradeReport> {
  try {
    return await rehearseUpgrade(folders);
  } catch (error) {
    throw error instanceof BackupError ? new CommandFailed(error.message) : error;
  }
}

function printReport(path: string, { from, to, problem, bytes, milliseconds }: UpgradeReport) {
  print(`This is muster ${VERSION}, which uses version ${to} of the database`);
  print(`${path} has version ${from}`);
  if (problem !== null) return;
  if (from === to) return print("A start changes nothing");
  print(
    `A start brings it up to date in about ${Math.ceil(milliseconds)} ms, and keeps ` +
      `${path}.v${from} with ${bytes} bytes`,
  );
}

export const UPGRADE: Leaf = {
  options: [
    { flags: "--check", summary: "migrate a copy of the database, and say how that went" },
    JSON_OPTION,
  ],
  examples: [
    { line: "upgrade --check", purpose: "Ask a new version before it gets the data" },
  ],
  notes: [
    "It changes nothing: the copy is in the temporary folder (TMPDIR). It works while an older " +
    "version runs. It exits with 1 if a start would fail.",
  ],
  run: upgrade,
};
