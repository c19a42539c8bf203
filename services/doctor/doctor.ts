import { join } from "node:path";
import type { Folders } from "../backup/mod.ts";
import { checkCertificate } from "./certificate.ts";
import { checkDatabase, checkEvents, checkHistory } from "./databases.ts";
import { checkKeys, checkLeftovers, checkPermissions } from "./files.ts";
import { type Finding, findingsOf } from "./finding.ts";
import { checkDescriptors, checkSpace } from "./machine.ts";
import { checkRepositories } from "./repositories.ts";

export interface DoctorOptions {
  readonly folders: Folders;
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
  const { folders, tls, now, quick, onProgress = () => {} } = options;
  const findings = [
    ...checkSpace(folders),
    ...checkDescriptors(),
    ...await checkCertificate(tls, now),
  ];
  if (!isFile(join(folders.data, "muster.db"))) {
    const message = `There is no data in "${folders.data}" yet`;
    return [...findings, findingsOf("database").note(message, "start muster")];
  }
  findings.push(
    ...checkPermissions(folders),
    ...await checkKeys(folders),
    ...checkLeftovers(folders, now),
  );
  const { findings: ofDatabase, facts } = checkDatabase(folders, options);
  findings.push(...ofDatabase);
  if (facts === null) return findings;
  if (!quick) findings.push(...await checkEvents(folders));
  const { slugs } = facts;
  return [
    ...findings,
    ...checkHistory(folders),
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
