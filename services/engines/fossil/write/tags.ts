import type { TagCard, TagSign } from "../artifact/mod.ts";
import { formatDate } from "../codec/mod.ts";
import { TAG } from "../content/mod.ts";
import { FossilError } from "../error.ts";
import type { Repository } from "../repository.ts";
import { type Author, dateAfter, writeAs } from "./author.ts";
import { branchTags, manifestOf, requireBranchName } from "./checkin.ts";
import { closeTicket } from "./ticket.ts";

/** A tag to add to an artifact, or to cancel there. */
export interface TagChange {
  readonly sign: TagSign;
  /** Raw name: symbolic names of check-ins begin with "sym-". */
  readonly name: string;
  /** Hash of the artifact. */
  readonly target: string;
  readonly value?: string;
}

/** Prefixes reserved for other kinds of artifacts. */
const RESERVED_PREFIX = /^(?:wiki-|tkt-|event-)/;

/**
 * Writes tags as one control artifact. Returns its hash. Moves the date past older cards for the
 * same tags, which would win otherwise.
 *
 * @throws {FossilError} `missing` if a target is unknown; `invalid` if a name is reserved.
 */
export function writeTags(
  repository: Repository,
  { changes, ...author }: Author & { readonly changes: readonly TagChange[] },
): string {
  const tags = changes.map(({ value, ...tag }): TagCard => ({ ...tag, value: value ?? null }));
  return writeControl(repository, author, tags);
}

function writeControl(repository: Repository, author: Author, tags: readonly TagCard[]): string {
  return writeAs(repository, author, () => {
    let day = -Infinity;
    for (const { name, target } of tags) {
      if (RESERVED_PREFIX.test(name)) throw new FossilError("invalid", `Tag "${name}" is reserved`);
      const newest = repository.db.value<number | null>(
        "SELECT max(mtime) FROM tagxref JOIN tag USING(tagid) WHERE tagname=? AND rid=?",
        name,
        repository.ridOf(target ?? ""),
      );
      day = Math.max(day, newest ?? -Infinity);
    }
    const date = dateAfter(author, Number.isFinite(day) ? day : null);
    return repository.add({ kind: "control", date, tags, user: author.user });
  });
}

/** The changes of `amendCheckin`; absent properties stay. */
export interface Amendment extends Author {
  /** Hash of the check-in. */
  readonly checkin: string;
  readonly comment?: string;
  /** A new user for the check-in. */
  readonly newUser?: string;
  /** Unix milliseconds. */
  readonly newDate?: number;
  /** Moves the check-in, and its descendants on its branch, to another branch. */
  readonly branch?: string;
  /** Background colour; null removes it. */
  readonly color?: string | null;
  /** Closes the leaf, or opens it again. */
  readonly closed?: boolean;
  /** Hides it from the timeline, or shows it again. */
  readonly hidden?: boolean;
  /** Hashes of other parents, the primary one first. */
  readonly parents?: readonly string[];
}

/**
 * Changes the displayed data of a check-in by tags; the check-in itself never changes. Returns the
 * hash of the control artifact.
 *
 * @throws {FossilError} `missing` if it is not a check-in; `invalid` if nothing changes.
 */
export function amendCheckin(repository: Repository, amendment: Amendment): string {
  return writeAs(repository, amendment, () => {
    const { checkin: target, branch, color, closed, hidden, parents } = amendment;
    manifestOf(repository, target);
    const tags: TagCard[] = [];
    const add = (sign: TagSign, name: string, value: string | null = null) =>
      tags.push({ sign, name, target, value });
    if (amendment.comment !== undefined) add("+", "comment", amendment.comment);
    if (amendment.newUser !== undefined) add("+", "user", amendment.newUser);
    if (amendment.newDate !== undefined) add("+", "date", formatDate(amendment.newDate));
    if (color !== undefined) add(color === null ? "-" : "+", "bgcolor", color);
    if (closed !== undefined) add(closed ? "+" : "-", "closed");
    if (hidden !== undefined) add(hidden ? "*" : "-", "hidden");
    if (parents !== undefined) {
      for (const parent of parents) manifestOf(repository, parent);
      add("+", "parent", parents.join(" "));
    }
    if (branch !== undefined) {
      if (!isBranch(repository, branch)) requireBranchName(branch);
      tags.push(...branchTags(repository, target, target, branch));
    }
    if (tags.length === 0) throw new FossilError("invalid", "The amendment changes nothing");
    return writeControl(repository, amendment, tags);
  });
}

/** A check-in that continues another branch than the one it was made on. */
export interface BranchMove extends Author {
  /** Hash of the check-in. */
  readonly checkin: string;
  readonly branch: string;
  /** Hashes of the other lines' tips, whose branches end. */
  readonly closes: readonly string[];
  /** Ids of tickets that the move closes as done, in the same transaction. */
  readonly resolves?: readonly string[];
}

/**
 * Moves a check-in to the branch of its primary parent, which it then continues. Returns the hash of
 * the control artifact.
 *
 * @throws {FossilError} `missing` if it is not a check-in; `conflict` if its parent is on another
 * branch or has a child there already, or if it has a child on its own branch, which would move too.
 */
export function moveToBranch(repository: Repository, move: BranchMove): string {
  return writeAs(repository, move, () => {
    const { checkin: target, branch, closes, resolves = [], ...author } = move;
    const [parent = ""] = manifestOf(repository, target).parents;
    const isEnd = (hash: string) =>
      repository.db.exists("SELECT 1 FROM leaf WHERE rid=?", repository.ridOf(hash));
    if (branchOf(repository, parent) !== branch || !isEnd(parent)) {
      throw new FossilError("conflict", `"${parent}" is not the end of the branch "${branch}"`);
    }
    if (!isEnd(target)) {
      throw new FossilError("conflict", `"${target}" is not the end of its branch any more`);
    }
    const closing = closes.map((hash): TagCard => (
      { sign: "+", name: "closed", target: hash, value: null }
    ));
    const moving = branchTags(repository, target, target, branch);
    const hash = writeControl(repository, author, [...moving, ...closing]);
    for (const ticket of resolves) closeTicket(repository, { ...author, ticket });
    return hash;
  });
}

/** Whether a branch has the name, such as one that an import brought. */
function isBranch(repository: Repository, name: string): boolean {
  const select = "SELECT 1 FROM tagxref WHERE tagid=? AND value=? AND tagtype=2";
  return repository.db.exists(select, TAG.branch, name);
}

/** Name of the branch that a check-in is on, undefined if it has none. */
export function branchOf(repository: Repository, checkin: string): string | undefined {
  const select = "SELECT value FROM tagxref WHERE tagid=? AND rid=? AND tagtype>0";
  return repository.db.value<string>(select, TAG.branch, repository.ridOf(checkin));
}
