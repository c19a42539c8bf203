import type { Folders } from "../backup/mod.ts";
import type { PostgresSettings } from "../../engines/database/mod.ts";
import type { Config } from "../config/mod.ts";
import { checkCertificate } from "./certificate.ts";
import { checkDatabase, checkEvents, checkHistory } from "./databases.ts";
import { checkPresence } from "./presence.ts";
import { checkKeys, checkLeftovers, checkPermissions, checkWritable } from "./files.ts";
import { type Finding, findingsOf, reasonOf } from "./finding.ts";
import { checkRepositories } from "./repositories.ts";
import { checkQuotas, measureStored, type Stored } from "./stored.ts";
import { existsSync, statfsSync } from "node:fs";

export interface DoctorOptions {
  readonly folders: Folders;
  /** Where the app database is, if it is not a SQLite file. */
  readonly postgres: PostgresSettings | null;
  /** The name of this node; null if it is alone. */
  readonly node: string | null;
  readonly tls: { readonly cert: string; readonly key: string };
  /** What bounds that which grows. */
  readonly bounds: Pick<Config, "retention" | "limits">;
  /** Whether the configuration keeps the IRC history in a file. */
  readonly keepsHistory: boolean;
  /** Whether a server uses the data folder. */
  readonly isRunning: boolean;
  /** Leaves out what reads every event and every artifact. */
  readonly quick: boolean;
  readonly version: string;
  /** Unix milliseconds. */
  readonly now: number;
  /** Called with what is checked, and how many of how many are done. */
  readonly onProgress?: (what: string, done: number, total: number) => void;
}

/**
 * Checks the data folder and the machine. Changes nothing; repositories are examined as copies in
 * the temporary folder.
 */
export async function examineData(options: DoctorOptions): Promise<Finding[]> {
  const { folders, postgres, tls, now, quick, isRunning, onProgress = () => {} } = options;
  const findings = [
    ...checkSpace(folders),
    ...checkDescriptors(),
    ...await checkCertificate(tls, now),
  ];
  const unwritable = checkWritable(folders);
  if (unwritable.length > 0) return [...findings, ...unwritable];
  const absent = postgres === null ? checkPresence(folders) : null;
  if (absent !== null) return [...findings, absent];
  findings.push(
    ...checkPermissions(folders),
    ...await checkKeys(folders),
    ...checkLeftovers(folders, now),
  );
  const { findings: ofDatabase, facts } = await checkDatabase(
    folders,
    postgres,
    options,
  );
  findings.push(...ofDatabase);
  if (facts === null) return findings;
  if (!quick) findings.push(...await checkEvents(folders, postgres));
  const { projects } = facts;
  return [
    ...findings,
    ...checkQuotas(measureStored(folders, facts.stored, options.bounds)),
    ...checkHistory(folders, { isKept: options.keepsHistory, isRunning }),
    ...await checkRepositories({
      folders,
      projects,
      node: options.node,
      quick,
      onProgress: (done) => onProgress("Repositories checked:", done, projects.length),
    }),
  ];
}

/** What grows in a data folder; null if its app database cannot be read. */
export async function surveyData(
  { folders, postgres, bounds, now, version, isRunning }: Pick<
    DoctorOptions,
    "folders" | "postgres" | "bounds" | "now" | "version" | "isRunning"
  >,
): Promise<Stored | null> {
  if (postgres === null && checkPresence(folders) !== null) return null;
  const { facts } = await checkDatabase(folders, postgres, { now, version, isRunning });
  return facts === null ? null : measureStored(folders, facts.stored, bounds);
}

/** Bytes that must be free, and bytes below which it is time to act. */
const LEAST_FREE = 100_000_000;
const LOW_FREE = 1_000_000_000;

/** Fewest files that a busy server can do with. */
const LEAST_FILES = 1000;

/** Checks the free space of the disks. */
function checkSpace({ data, projects }: Folders): Finding[] {
  const found = findingsOf("space");
  const findings: Finding[] = [];
  for (const folder of new Set([data, projects])) {
    // A start makes the folders.
    if (!existsSync(folder)) continue;
    let free: number;
    try {
      const { bavail, bsize } = statfsSync(folder);
      free = Number(bavail) * Number(bsize);
    } catch (error) {
      findings.push(found.error(reasonOf(error), "let this user read the folder"));
      continue;
    }
    if (free >= LOW_FREE) continue;
    const make = free < LEAST_FREE ? found.error : found.warning;
    const message = `Only ${Math.floor(free / 1_000_000)} MB are free on the disk of "${folder}"`;
    findings.push(make(message, "make room, or move the data folder to a larger disk"));
  }
  return findings;
}

/** Checks how many files a process of this user may open, by opening them. */
function checkDescriptors(): Finding[] {
  const files: Deno.FsFile[] = [];
  try {
    while (files.length < LEAST_FILES) files.push(Deno.openSync("/dev/null"));
    return [];
  } catch (error) {
    // A system without this file has other limits.
    if (error instanceof Deno.errors.NotFound) return [];
    return [
      findingsOf("descriptors").warning(
        `A process may open only about ${files.length} files`,
        'raise the limit: LimitNOFILE=65536 in the service, or "ulimit -n 65536"',
      ),
    ];
  } finally {
    for (const file of files) file.close();
  }
}
