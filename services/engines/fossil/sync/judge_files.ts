/** Rules for the names of files, in check-ins and unversioned. */
import {
  caseCollision,
  isFileName,
  isReservedFileName,
  type Manifest,
  MAX_PATH,
  pathFault,
} from "../artifact/mod.ts";
import { filesOf } from "../crosslink/mod.ts";
import type { Repository } from "../repository.ts";
import { matchesGlob, TextSet } from "../text/mod.ts";
import { findFolderFile } from "../write/tree.ts";
import { quoted, short } from "./judge_words.ts";
import type { PushedUnversioned, PushRules } from "./judgement.ts";
import { refused } from "./refusal.ts";

/** Checks the files that a linked check-in changes, by the rules for commits through the API. */
export function judgeFiles(
  repository: Repository,
  { rid, hash, manifest }: {
    readonly rid: number;
    readonly hash: string;
    readonly manifest: Manifest;
  },
): void {
  const changed = repository.db.rows<{ name: string; fid: number; isNew: number }>(
    `SELECT DISTINCT name, fid, (pid=0 OR pfnid>0) AS isNew FROM mlink JOIN filename USING(fnid)
      WHERE mid=? AND fid>0 AND NOT isaux`,
    rid,
  );
  const added = changed.filter(({ isNew }) => isNew === 1).map(({ name }) => name);
  for (const { name, fid, isNew } of changed) {
    const reason = flawOf(name) ?? (isNew === 1 ? pathFault(name) : null) ??
      (isArtifact(repository, fid) ? IS_ARTIFACT : null);
    if (reason !== null) {
      throw refused(`The file ${quoted(name)} of check-in ${short(hash)} ${reason}`);
    }
  }
  if (added.length === 0) return;
  const paths = new TextSet(filesOf(repository, manifest).map(({ name }) => name));
  const folder = findFolderFile(paths);
  if (folder !== null) {
    throw refused(`In check-in ${short(hash)}, ${quoted(folder)} is a file and a folder at once`);
  }
  const alike = caseCollision(paths, added);
  if (alike === null) return;
  const { path, other } = alike;
  throw refused(
    `The file ${quoted(path)} of check-in ${short(hash)} has a name like ${quoted(other)}: ` +
      "a system that ignores case cannot tell them apart",
  );
}

const IS_ARTIFACT = "is a valid artifact of Fossil itself";

function flawOf(name: string): string | null {
  if (name.length > MAX_PATH) return "has a name that is too long";
  const isSound = isFileName(name) && !isReservedFileName(name) && !name.includes("\ufffd");
  return isSound ? null : "has a name that is not allowed";
}

/** Whether a row is in the derived tables as an artifact. */
function isArtifact({ db }: Repository, rid: number): boolean {
  return db.exists("SELECT 1 FROM event WHERE objid=?", rid) ||
    db.exists("SELECT 1 FROM tagxref WHERE rid=? AND srcid=?", rid, rid);
}

/** Checks an unversioned file that a push writes or removes. */
export function judgeUnversioned(rules: PushRules, { name, time }: PushedUnversioned): void {
  const file = `The unversioned file ${quoted(name)}`;
  const closed = rules.closedKinds.unversioned;
  if (closed !== undefined) throw refused(`${file} is refused: ${closed}`);
  const flaw = flawOf(name) ?? pathFault(name);
  if (flaw !== null) throw refused(`${file} ${flaw}`);
  if (time * 1000 > rules.latest) {
    throw refused(`${file} has a date in the future: set the clock of its computer`);
  }
  const rule = rules.files.find(({ pattern }) => matchesGlob(pattern, name));
  if (typeof rule?.refusal === "string") throw refused(`${file} is refused: ${rule.refusal}`);
}
