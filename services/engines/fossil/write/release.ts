/** Releases: named check-ins, each with a message. */
import { nameFault } from "../artifact/mod.ts";
import { FossilError } from "../error.ts";
import type { Repository } from "../repository.ts";
import { type Author, writeAs } from "./author.ts";
import { manifestOf } from "./checkin.ts";
import { type TagChange, writeTags } from "./tags.ts";

/** A release to write. */
export interface NewRelease extends Author {
  /** Name of the release, such as "v1.0". */
  readonly name: string;
  /** Hash of the check-in. */
  readonly checkin: string;
  readonly message?: string;
  /** Moves the name from the check-in that has it. */
  readonly move?: boolean;
}

/** Hashes of the check-ins that a release name is on. */
function checkinsNamed(repository: Repository, name: string): string[] {
  const select = `SELECT uuid FROM tagxref JOIN tag USING(tagid) JOIN blob USING(rid)
    WHERE tagname=? AND tagtype=1 ORDER BY rid`;
  return repository.db.rows<{ uuid: string }>(select, `sym-${name}`).map(({ uuid }) => uuid);
}

/**
 * Gives a check-in a name: a tag whose value is the message. Returns the hash of the control
 * artifact.
 *
 * @throws {FossilError} `missing` if the check-in is unknown; `conflict` if a branch, or another
 * check-in and `move` is not set, has the name; `invalid` if the name is not valid.
 */
export function writeRelease(repository: Repository, release: NewRelease): string {
  return writeAs(repository, release, () => {
    const { name, checkin: target, message, move = false, ...author } = release;
    manifestOf(repository, target);
    if (name === "" || name !== name.trim()) {
      throw new FossilError("invalid", `"${name}" is not a valid release name`);
    }
    const branch = "SELECT 1 FROM tagxref WHERE tagid=8 AND value=? AND tagtype=2";
    if (repository.db.exists(branch, name)) {
      throw new FossilError("conflict", `"${name}" is the name of a branch`);
    }
    const fault = name === "trunk" ? "is the name of the main branch" : nameFault(name);
    if (fault !== null) throw new FossilError("invalid", `The name "${name}" ${fault}`);
    const holders = checkinsNamed(repository, name).filter((hash) => hash !== target);
    if (holders.length > 0 && !move) {
      throw new FossilError("conflict", `Another check-in has the name "${name}"`);
    }
    const changes: TagChange[] = holders
      .map((holder) => ({ sign: "-", name: `sym-${name}`, target: holder }));
    const value = message === undefined || message === "" ? {} : { value: message };
    changes.push({ sign: "+", name: `sym-${name}`, target, ...value });
    return writeTags(repository, { ...author, changes });
  });
}

/**
 * Removes a release's name from every check-in. Returns the hash of the control artifact.
 *
 * @throws {FossilError} `missing` if there is no such release.
 */
export function cancelRelease(
  repository: Repository,
  { name, ...author }: Author & { readonly name: string },
): string {
  return writeAs(repository, author, () => {
    const holders = checkinsNamed(repository, name);
    if (holders.length === 0) {
      throw new FossilError("missing", `There is no release "${name}"`);
    }
    const changes = holders
      .map((target): TagChange => ({ sign: "-", name: `sym-${name}`, target }));
    return writeTags(repository, { ...author, changes });
  });
}
