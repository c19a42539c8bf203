import { join } from "node:path";
import type { Folders } from "../backup/mod.ts";
import type { PostgresSettings } from "../database/mod.ts";
import { checkCertificate } from "./certificate.ts";
import { checkDatabase, checkEvents, checkHistory } from "./databases.ts";
import { checkKeys, checkLeftovers, checkPermissions } from "./files.ts";
import { type Finding, findingsOf } from "./finding.ts";
import { checkDescriptors, checkSpace } from "./machine.ts";
import { checkRepositories } from "./repositories.ts";

export interface DoctorOptions {
  readonly folders: Folders;
  /** Where the app database is, if it is not a SQLite file. */
  readonly postgres: PostgresSettings | null;
  readonly tls: { readonly cert: string; readonly key: string };
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
  if (postgres === null && !isFile(join(folders.data, "muster.db"))) {
    const message = `There is no data in "${folders.data}" yet`;
    return [...findings, findingsOf("database").note(message, "start muster")];
  }
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
  const { slugs } = facts;
  return [
    ...findings,
    ...checkHistory(folders, isRunning),
    ...await checkRepositories({
      folders,
      slugs,
      quick,
      onProgress: (done) => onProgress("Repositories checked:", done, slugs.length),
    }),
  ];
}

function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}
