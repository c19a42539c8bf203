import type { Folders } from "../backup/mod.ts";
import type { PostgresSettings } from "../database/mod.ts";
import type { Config } from "../config/mod.ts";
import { checkCertificate } from "./certificate.ts";
import { checkDatabase, checkEvents, checkHistory } from "./databases.ts";
import { checkPresence } from "./presence.ts";
import { checkKeys, checkLeftovers, checkPermissions, checkWritable } from "./files.ts";
import type { Finding } from "./finding.ts";
import { checkDescriptors, checkSpace } from "./machine.ts";
import { checkRepositories } from "./repositories.ts";
import { checkQuotas, measureStored, type Stored } from "./stored.ts";

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

/** What is wrong with a data folder and its machine, and what grows in it. */
export interface DataReport {
  readonly findings: readonly Finding[];
  /** Null if the app database cannot be read. */
  readonly stored: Stored | null;
}

/**
 * Checks the data folder and the machine. Changes nothing; repositories are examined as copies in
 * the temporary folder.
 */
export async function examineData(options: DoctorOptions): Promise<DataReport> {
  const { folders, postgres, tls, now, quick, isRunning, onProgress = () => {} } = options;
  const findings = [
    ...checkSpace(folders),
    ...checkDescriptors(),
    ...await checkCertificate(tls, now),
  ];
  const unwritable = checkWritable(folders);
  if (unwritable.length > 0) return { findings: [...findings, ...unwritable], stored: null };
  const absent = postgres === null ? checkPresence(folders) : null;
  if (absent !== null) return { findings: [...findings, absent], stored: null };
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
  if (facts === null) return { findings, stored: null };
  if (!quick) findings.push(...await checkEvents(folders, postgres));
  const { projects } = facts;
  const stored = measureStored(folders, facts.stored, options.bounds);
  findings.push(
    ...checkQuotas(stored),
    ...checkHistory(folders, { isKept: options.keepsHistory, isRunning }),
    ...await checkRepositories({
      folders,
      projects,
      node: options.node,
      quick,
      onProgress: (done) => onProgress("Repositories checked:", done, projects.length),
    }),
  );
  return { findings, stored };
}
