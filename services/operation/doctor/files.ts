/** The files of the data folder: permissions, keys, and what interrupted work has left. */
import { join } from "node:path";
import type { Folders } from "../backup/mod.ts";
import { readKeyFile } from "../../people/identity/mod.ts";
import { type Finding, findingsOf, quoted, reasonOf } from "./finding.ts";

/** Files that only their owner may read. */
const SECRET =
  /^(?:api_token|pages_label|token_key|event_key|cloak_key|network_key|muster\.db|history\.(?:db|journal\d.*))$/;

/** Databases of the data folder. */
const DATABASE = /^(?:muster\.db|history\.db|[^.].*\.fossil)$/;

/** The keys that the data depends on. Losing one loses what it protects. */
const KEYS: readonly (readonly [name: string, protects: string])[] = [
  ["token_key", "all tokens of agents, people and projects"],
  ["event_key", "the seals of the event log"],
  ["cloak_key", "bans on hosts of IRC users"],
];

/** What unfinished work leaves, beside or in the folders. */
const LEFTOVER = [
  /^\.(?:upload|export|archive|download|restore)-/,
  /\.(?:part|tmp|import|import-draft)$/,
  /\.muster-draft-[0-9a-f]{16}$/,
];

/** Younger leftovers may belong to work that is under way, in milliseconds. */
const UNDER_WAY = 24 * 60 * 60_000;

/** A copy of the database from before an upgrade. */
const OLD_DATABASE = /\.db\.v\d+$/;

/** A journal that a start found beside a history to which it does not belong. */
const FOREIGN_JOURNAL = /^history\.journal\d\.foreign-/;

/** Checks who may read the folders and the secret files, and whether one user owns them. */
export function checkPermissions({ data, projects }: Folders): Finding[] {
  const found = findingsOf("permissions");
  if (Deno.build.os === "windows") return [];
  const findings: Finding[] = [];
  const owner = statOf(data)?.uid ?? null;
  const paths = [
    ...[data, projects].map((path) => ({ path, mode: "700" })),
    ...namesIn(data).filter((name) => SECRET.test(name))
      .map((name) => ({ path: join(data, name), mode: "600" })),
  ];
  for (const { path, mode } of paths) {
    const stat = statOf(path);
    if (stat === null) continue;
    if (((stat.mode ?? 0) & 0o077) !== 0) {
      const shown = ((stat.mode ?? 0) & 0o777).toString(8);
      findings.push(found.error(
        `Other users can reach "${path}" (mode ${shown})`,
        `chmod ${mode} ${quoted(path)}`,
      ));
    }
    if (stat.uid !== owner) {
      findings.push(found.error(
        `"${path}" belongs to another user (${stat.uid}) than the data folder (${owner})`,
        `chown ${owner} ${quoted(path)}`,
      ));
    }
  }
  return findings;
}

/**
 * Checks that this user can write the folders and the databases. SQLite needs that even to read a
 * database, and says of one on a disk that cannot be written that it is no database.
 */
export function checkWritable({ data, projects }: Folders): Finding[] {
  const found = findingsOf("permissions");
  const findings: Finding[] = [];
  for (const folder of new Set([data, projects])) {
    if (((statOf(folder)?.mode ?? 0o200) & 0o200) === 0) {
      findings.push(
        found.error(`"${folder}" cannot be written`, `chmod 700 ${quoted(folder)}`),
      );
    }
    for (const name of namesIn(folder).filter((name) => DATABASE.test(name))) {
      const path = join(folder, name);
      const reason = whyUnwritable(path);
      if (reason === null) continue;
      const fix =
        "let the user that runs muster own the files (chown, chmod 600), on a disk that " +
        "can be written";
      findings.push(found.error(`"${path}" cannot be written: ${reason}`, fix));
    }
  }
  return findings;
}

function whyUnwritable(path: string): string | null {
  if (statOf(path)?.isFile !== true) return null;
  try {
    Deno.openSync(path, { write: true }).close();
    const isProtected = ((statOf(path)?.mode ?? 0o200) & 0o200) === 0;
    return isProtected ? "it is read-only" : null;
  } catch (error) {
    return reasonOf(error);
  }
}

/** Checks that the keys are there and have their form. */
export async function checkKeys({ data }: Folders): Promise<Finding[]> {
  const found = findingsOf("keys");
  const fix = "restore the file from a backup of the same data folder";
  const findings: Finding[] = [];
  for (const [name, protects] of KEYS) {
    try {
      if (await readKeyFile(join(data, name)) !== null) continue;
      findings.push(found.error(
        `The key "${
          join(data, name)
        }" is missing; the next start would make another one and lose ` +
          protects,
        fix,
      ));
    } catch (error) {
      findings.push(found.error(reasonOf(error), fix));
    }
  }
  return findings;
}

/** Finds what interrupted work has left. */
export function checkLeftovers({ data, projects }: Folders, now: number): Finding[] {
  const found = findingsOf("leftovers");
  const findings: Finding[] = [];
  for (const folder of new Set([data, projects, join(data, "..")])) {
    for (const name of namesIn(folder)) {
      const path = join(folder, name);
      const isOurs = folder !== join(data, "..") || name.startsWith(".restore-");
      if (isOurs && LEFTOVER.some((pattern) => pattern.test(name)) && isOld(path, now)) {
        findings.push(found.warning(
          `"${path}" is left of interrupted work`,
          `remove it: rm -r ${quoted(path)}`,
        ));
      }
      if (folder === data && OLD_DATABASE.test(name)) {
        findings.push(found.note(
          `"${path}" is the database from before an upgrade`,
          `once you will not go back, remove it: rm ${quoted(path)}`,
        ));
      }
      if (folder === data && FOREIGN_JOURNAL.test(name)) {
        findings.push(found.note(
          `"${path}" is the journal of another history, which a start has kept aside`,
          `if nobody misses its messages, remove it: rm ${quoted(path)}`,
        ));
      }
    }
  }
  return findings;
}

function isOld(path: string, now: number): boolean {
  return now - (statOf(path)?.mtime?.getTime() ?? now) > UNDER_WAY;
}

function namesIn(folder: string): string[] {
  try {
    return Array.from(Deno.readDirSync(folder), ({ name }) => name).toSorted();
  } catch {
    return [];
  }
}

function statOf(path: string): Deno.FileInfo | null {
  try {
    return Deno.statSync(path);
  } catch {
    return null;
  }
}
