/** The references that clients of Git see. */
import { Buffer } from "node:buffer";
import type { Control } from "../../artifact/mod.ts";
import { encodeUtf8, fromJulianDay, joinBytes } from "../../codec/mod.ts";
import type { Database } from "../../content/mod.ts";
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
 * since: to its newest open leaf that descends from there. Without a move it is its newest open leaf.
 * A tag that is not of a commit is where its last move has put it. Makes the objects of annotated tags. Needs `read`, and a transaction of the companion.
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
  for (const { ref, rid } of isNew ? [] : plan.refs()) commits.set(ref, graph.idOf(rid));
  const moves = "SELECT ref, rid FROM move WHERE rid>0";
  for (const { ref, rid } of db.rows<{ ref: string; rid: number }>(moves)) {
    const tip = graph.idOf(rid);
    if (tip === 0) {
      const target = ref.startsWith(TAGS) ? listedTarget(sources, rid) : null;
      if (target !== null) listed.set(ref, target);
      continue;
    }
    const leaf = plan.leavesOf(ref).map((row) => graph.idOf(row))
      .find((id) => id !== 0 && graph.isAncestor(tip, id));
    if (leaf === undefined && plan.isClosed(ref, rid)) commits.delete(ref);
    else commits.set(ref, leaf ?? tip);
  }
  const refs = new TextMap<CurrentRef>();
  const branches = plan.branches();
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
