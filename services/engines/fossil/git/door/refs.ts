/** The references that clients of Git see. */
import { Buffer } from "node:buffer";
import type { Control } from "../../artifact/mod.ts";
import { encodeUtf8, fromJulianDay, joinBytes } from "../../codec/mod.ts";
import { type Database, TAG } from "../../content/mod.ts";
import { TextMap } from "../../text/mod.ts";
import { hexOf } from "../../../git/mod.ts";
import { objectOf } from "../commit.ts";
import { parseMoves, REFS_PROPERTY } from "../headers.ts";
import { NoticeLog } from "../notices.ts";
import { personOf, signatureLine } from "../person.ts";
import { type GitTagOut, NamePlan } from "../refs.ts";
import { addTag, type ListedParts, type ListedTarget, listedTarget } from "./listed.ts";

const TAGS = "refs/tags/";

/** A move of a reference. */
export interface RefMove {
  readonly ref: string;
  /** The moves of a reference count from 1; an import has 0. */
  readonly number: number;
  /** The check-in that it points at; null if it is deleted. */
  readonly target: string | null;
}

/** The moves that a control artifact records by cards `+git-refs CHECKIN`. */
export function movesOf({ tags }: Control): RefMove[] {
  return tags.flatMap(({ name, value, sign, target }) => {
    if (name !== REFS_PROPERTY || sign === "-" || value === null) return [];
    const { number, isGone, refs } = parseMoves(value);
    return refs.map((ref) => ({ ref, number, target: isGone ? null : target }));
  });
}

/** A reference with the name of its object, and what a tag is of. */
export interface CurrentRef {
  readonly name: string;
  readonly object: Uint8Array;
  readonly peeled: Uint8Array | null;
  /** The branch that moves it; "" for none. */
  readonly branch: string;
}

/**
 * The references now. A branch is where its last move has put it, or where check-ins have taken it
 * since: to an open leaf that descends from there, of several the one whose line came first; it is gone if
 * all that continues it is closed. Without a move it is its newest open leaf. A tag that is not of a commit is where its last move has put it.
 * Makes the objects of annotated tags. Needs `read`, and a transaction of the companion.
 */
export function currentRefs(sources: ListedParts): {
  readonly head: string;
  readonly refs: readonly CurrentRef[];
} {
  const { db, graph, repository, nameOf } = sources;
  const plan = new NamePlan(repository, { isServed: true }, new NoticeLog());
  const isNew = isEmpty(sources);
  const commits = new TextMap<number>();
  const listed = new TextMap<ListedTarget>();
  const branches = plan.branches();
  for (const { ref, rid } of isNew ? [] : plan.refs()) commits.set(ref, graph.idOf(rid));
  const moves = "SELECT ref, rid FROM move WHERE rid>0";
  for (const { ref, rid } of db.rows<{ ref: string; rid: number }>(moves)) {
    const tip = graph.idOf(rid);
    if (tip === 0) {
      const target = ref.startsWith(TAGS) ? listedTarget(sources, rid) : null;
      if (target !== null) listed.set(ref, target);
      continue;
    }
    const leaves = plan.leavesOf(ref).map((row) => graph.idOf(row))
      .filter((id) => id !== 0 && graph.isAncestor(tip, id));
    const leaf = firstOf(leaves, branches.get(ref) ?? "", sources);
    if (leaf === undefined && plan.isEnded(ref, rid)) commits.delete(ref);
    else commits.set(ref, leaf ?? tip);
  }
  const refs = new TextMap<CurrentRef>();
  for (const [name, id] of commits) {
    if (id === 0) continue;
    refs.set(name, { name, object: nameOf(id), peeled: null, branch: branches.get(name) ?? "" });
  }
  for (const tag of isNew ? [] : plan.tags()) {
    const id = graph.idOf(tag.rid);
    if (id === 0) continue;
    const name = TAGS + tag.name;
    const peeled = nameOf(id);
    refs.set(name, { name, object: tagObject(sources, tag, peeled), peeled, branch: "" });
  }
  for (const [name, target] of listed) refs.set(name, { name, ...target, branch: "" });
  const sorted = [...refs.values()].sort((left, right) =>
    Buffer.compare(Buffer.from(left.name), Buffer.from(right.name))
  );
  return { head: plan.main, refs: sorted };
}

/** Of the open leaves of a branch, the one whose line came first, so that a later fork takes nothing away. */
function firstOf(
  leaves: readonly number[],
  branch: string,
  sources: Pick<ListedParts, "graph" | "repository">,
): number | undefined {
  const arrival = (leaf: number, other: number) => arrivalOf(leaf, { other, branch, ...sources });
  return leaves.slice(1).reduce(
    (first, leaf) => arrival(leaf, first!) < arrival(first!, leaf) ? leaf : first,
    leaves[0],
  );
}

/** When the line of a leaf came that another leaf does not have: the number of what brought it. */
function arrivalOf(
  leaf: number,
  { other, branch, graph, repository: { db } }: Pick<ListedParts, "graph" | "repository"> & {
    readonly other: number;
    readonly branch: string;
  },
): number {
  const [own, others] = [leaf, other].map((id) => {
    const marks = graph.marks();
    marks[id] = 1;
    return graph.markAncestors(marks);
  });
  let earliest = Infinity;
  for (let id = 1; id <= leaf; id++) {
    if (own![id] === 0 || others![id] === 1) continue;
    if (!graph.parents(id).some((parent) => others![parent] === 1)) continue;
    const arrival = db.value<number>(
      `SELECT rcvid FROM blob WHERE rid=? AND EXISTS(SELECT 1 FROM tagxref
        WHERE tagxref.rid=blob.rid AND tagid=${TAG.branch} AND tagtype>0 AND value=?)`,
      graph.ridOf(id),
      branch,
    );
    earliest = Math.min(earliest, arrival ?? Infinity);
  }
  return earliest;
}

/** Whether there is nothing, or only the first check-in of a new repository, which has no files. */
export function isEmpty(
  { db, graph, repository }: Pick<ListedParts, "db" | "graph" | "repository">,
): boolean {
  if (graph.size === 1) return true;
  if (graph.size > 2 || hasHead(db)) return false;
  return repository.db.exists(
    `SELECT 1 FROM event WHERE objid=? AND comment='initial empty check-in'
       AND NOT EXISTS(SELECT 1 FROM mlink WHERE mid=objid)`,
    graph.ridOf(1),
  );
}

function hasHead(db: Database): boolean {
  return db.exists("SELECT 1 FROM move WHERE rid>0 AND ref GLOB 'refs/heads/*'");
}

/** Makes the object of an annotated tag; returns its name. */
function tagObject(
  { db, repository }: Pick<ListedParts, "db" | "repository">,
  tag: GitTagOut,
  target: Uint8Array,
): Uint8Array {
  const { name, message, tagger, user, day, further, rest } = tag;
  const derived = signatureLine(personOf(user ?? "anonymous"), fromJulianDay(day));
  const line = tagger === "" ? "" : `tagger ${tagger ?? derived}\n`;
  const behind = rest === null
    ? encodeUtf8(`tag ${name}\n${line}${further}\n${message}`)
    : repository.store.require(repository.ridOf(rest));
  const head = encodeUtf8(`object ${hexOf(target)}\ntype commit\n`);
  const object = objectOf("tag", joinBytes([head, behind]));
  addTag(db, object, target);
  return object.name;
}

/** Whether two names of objects are the same. */
export function sameName(left: Uint8Array, right: Uint8Array): boolean {
  return Buffer.compare(left, right) === 0;
}
