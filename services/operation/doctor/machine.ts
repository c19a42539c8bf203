/** The machine: free space and the limit on open files. */
import { existsSync, statfsSync } from "node:fs";
import type { Folders } from "../backup/mod.ts";
import { type Finding, findingsOf, reasonOf } from "./finding.ts";

/** Bytes that must be free, and bytes below which it is time to act. */
const LEAST_FREE = 100_000_000;
const LOW_FREE = 1_000_000_000;

/** Fewest files that a busy server can do with. */
const LEAST_FILES = 1000;

/** Checks the free space of the disks. */
export function checkSpace({ data, projects }: Folders): Finding[] {
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
export function checkDescriptors(): Finding[] {
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
