import { amount } from "../services/amount.ts";
import { join } from "node:path";
import type { Config } from "../services/config/mod.ts";
import { DatabaseError, readPostgresSettings } from "../services/database/mod.ts";
import { type LogReport, verifyLog, verifyPostgresLog } from "../services/events/mod.ts";
import { readKeyFile, SecretFileError } from "../services/identity/mod.ts";
import {
  examineData,
  type Finding,
  findingsOf,
  linesOf,
  surveyData,
} from "../services/doctor/mod.ts";
import { VERSION } from "../services/version.ts";
import { foldersOf } from "./backup.ts";
import type { Group } from "./command_line/mod.ts";
import { findUnreadable } from "./config.ts";
import { checkAddresses } from "./doctor_addresses.ts";
import { checkNodes } from "./doctor_nodes.ts";
import { isHeld } from "./endpoints.ts";
import { TerminalProgress } from "./fossil/progress.ts";
import { type CommandOptions, JSON_OPTION } from "./options.ts";
import { CommandFailed, print, printJson, visible } from "./output.ts";
import { findClearText } from "./preflight.ts";
import { readSettings, type SettingsOptions } from "./settings.ts";
import { faultOfAuthorities } from "./trusted_authorities.ts";

/**
 * `muster doctor log`: verifies the event log in the data folder, with or without a running server.
 * Prints its findings, and fails if there are any.
 */
async function checkLog(options: CommandOptions): Promise<void> {
  const report = await verify(await readSettings(options));
  if (options.json === true) printJson(report);
  else printReport(report);
  if (report.found > 0) throw new CommandFailed("The event log is damaged or was changed");
}

async function verify({ data_dir: folder, database }: Config): Promise<LogReport> {
  try {
    const key = await readKeyFile(join(folder, "event_key"));
    const postgres = await readPostgresSettings(database);
    return postgres === null
      ? verifyLog(join(folder, "muster.db"), key)
      : await verifyPostgresLog(postgres, key);
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

interface CheckOptions extends SettingsOptions {
  readonly quick?: boolean;
}

/**
 * `muster doctor`: checks configuration, data and machine, with or without a running server. Prints
 * its findings, and fails if one of them is an error or a warning.
 */
async function checkAll(options: CheckOptions): Promise<void> {
  const findings = await examine(options);
  const bad = findings.filter(({ level }) => level !== "note");
  if (options.json === true) printJson({ healthy: bad.length === 0, findings });
  else {
    for (const { level, check, message, fix } of findings) {
      print(visible(`${level}: ${check}: ${message}; ${fix}`));
    }
    if (bad.length === 0) print("Everything is in order");
  }
  if (bad.length > 0) throw new CommandFailed(amount(bad.length, "finding"));
}

async function examine(options: CheckOptions): Promise<Finding[]> {
  let config: Config;
  try {
    config = await readSettings(options);
  } catch (error) {
    if (!(error instanceof CommandFailed)) throw error;
    const found = findingsOf("configuration");
    return error.message.split("\n").map((line) => found.error(line, "correct the configuration"));
  }
  return await examineConfigured(config, options);
}

/** What `muster doctor` finds wrong with this configuration, its data and the machine. */
export async function examineConfigured(config: Config, options: CheckOptions): Promise<Finding[]> {
  const isRunning = isHeld(config.data_dir);
  using progress = new TerminalProgress();
  return [
    ...checkConfiguration(config),
    ...await checkAddresses(options, config, isRunning),
    ...await checkNodes(options, config, isRunning),
    ...await examineData({
      folders: foldersOf(config),
      postgres: await readPostgresSettings(config.database),
      node: config.node.name || null,
      tls: config.tls,
      bounds: config,
      keepsHistory: config.irc.mode === "embedded" && config.irc.history.persist,
      isRunning,
      quick: options.quick === true,
      version: VERSION,
      now: Date.now(),
      onProgress: (what, done, total) => progress.show(what, done, total),
    }),
  ];
}

function checkConfiguration(config: Config): Finding[] {
  const found = findingsOf("configuration");
  const authorities = faultOfAuthorities();
  return [
    ...authorities === null
      ? []
      : [found.error(authorities, "let it name a PEM file of certificates to trust, or unset it")],
    ...findUnreadable(config).map(({ message }) =>
      found.error(message, "name a file that this user can read")
    ),
    ...findClearText(config).map(({ message, key, fix }) =>
      found.warning(`${key}: ${message}`, fix)
    ),
  ];
}

/** `muster doctor stored`: shows what grows, and what bounds it. */
async function showStored(options: CommandOptions): Promise<void> {
  const config = await readSettings(options);
  const stored = await surveyData({
    folders: foldersOf(config),
    postgres: await readPostgresSettings(config.database),
    bounds: config,
    isRunning: isHeld(config.data_dir),
    version: VERSION,
    now: Date.now(),
  });
  if (stored === null) {
    throw new CommandFailed("The app database cannot be read: muster doctor says why");
  }
  if (options.json === true) return printJson(stored);
  for (const line of linesOf(stored)) print(visible(line));
}

/** `muster doctor`: looks for damage. */
export const DOCTOR: Group = {
  default: "check",
  commands: [
    {
      name: "check",
      summary: "check configuration, data and machine (the default)",
      options: [
        { flags: "--quick", summary: "leave out what reads every event and every artifact" },
        JSON_OPTION,
      ],
      run: checkAll,
    },
    {
      name: "log",
      summary: "verify the event log in the data folder, also while a server runs",
      options: [JSON_OPTION],
      run: checkLog,
    },
    {
      name: "stored",
      summary: "show what grows: rows with a retention, removed projects, and quotas",
      options: [JSON_OPTION],
      run: showStored,
    },
  ],
  examples: [
    { line: "doctor", purpose: "Check everything" },
    { line: "doctor --quick --json", purpose: "Check in seconds, for a monitor" },
  ],
  notes: [
    "It checks configuration, permissions, keys, databases, event log, history, repositories with " +
    "their derived tables, quotas, free space, clock, versions, addresses, nodes, certificate, and what " +
    "interrupted work has left. Each finding says how to fix it. It changes nothing; repositories " +
    "are examined as copies in the temporary folder (TMPDIR).",
    "It exits with 1 if there is an error or a warning; notes need nothing.",
  ],
};
