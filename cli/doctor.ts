import { join } from "node:path";
import { DatabaseError } from "../services/database/mod.ts";
import { type LogReport, verifyLog } from "../services/events/mod.ts";
import { readKeyFile, SecretFileError } from "../services/identity/mod.ts";
import type { Group } from "./command_line/mod.ts";
import { type CommandOptions, JSON_OPTION } from "./options.ts";
import { CommandFailed, print, printJson, visible } from "./output.ts";
import { readSettings } from "./settings.ts";

/**
 * `muster doctor log`: verifies the event log in the data folder, with or without a running server.
 * Prints its findings, and fails if there are any.
 */
async function checkLog(options: CommandOptions): Promise<void> {
  const { data_dir } = await readSettings(options);
  const report = await verify(data_dir);
  if (options.json === true) printJson(report);
  else printReport(report);
  if (report.found > 0) throw new CommandFailed("The event log is damaged or was changed");
}

async function verify(folder: string): Promise<LogReport> {
  try {
    return verifyLog(join(folder, "muster.db"), await readKeyFile(join(folder, "event_key")));
  } catch (error) {
    const known = error instanceof DatabaseError || error instanceof SecretFileError;
    throw known ? new CommandFailed(error.message) : error;
  }
}

function printReport({ events, first, last, hash, findings, found }: LogReport): void {
  for (const finding of findings) print(visible(finding));
  if (found > findings.length) print(`... and ${found - findings.length} more`);
  print(`events  ${events}`);
  if (events > 0) print(`from    ${first}`);
  if (events > 0) print(`to      ${last}`);
  print(`hash    ${visible(hash)}`);
}

/** `muster doctor`: looks for damage. */
export const DOCTOR: Group = {
  commands: [
    {
      name: "log",
      summary: "verify the event log in the data folder, also while a server runs",
      options: [JSON_OPTION],
      run: checkLog,
    },
  ],
};
