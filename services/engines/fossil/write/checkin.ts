import { createHash } from "node:crypto";
import {
  type CherrypickCard,
  type FileCard,
  type Manifest,
  MAX_TREE_FILES,
  nameFault,
  type TagCard,
  tooManyFiles,
} from "../artifact/mod.ts";
import { compareUtf8 } from "../codec/mod.ts";
import { TAG } from "../content/mod.ts";
import { isSameFile, ManifestFiles, manifestFiles } from "../crosslink/mod.ts";
import { FossilError } from "../error.ts";
import type { Repository } from "../repository.ts";
import { type Author, writeAs } from "./author.ts";
import { changeTree, type FileChange, type PutFile } from "./tree.ts";

/** A check-in to write. */
export interface NewCheckin extends Author {
  /** Hash of the primary parent; null starts a separate history. */
  readonly parent: string | null;
  readonly comment: string;
  readonly changes: readonly FileChange[];
  /** Hashes of merged check-ins. */
  readonly merged?: readonly string[];
  /** Merged check-ins whose branch ends with this merge. */
  readonly integrated?: readonly string[];
  readonly cherrypicks?: readonly CherrypickCard[];
  /** Name of a branch that starts here. */
  readonly branch?: string;
  /** The branch ends with this check-in. */
  readonly close?: boolean;
  /** Names of tags (releases) on this check-in. */
  readonly tags?: readonly string[];
  readonly mimetype?: string;
  /** Adds the R card, a checksum over the whole tree: its cost grows with the tree. */
  readonly checksum?: boolean;
  /** Keeps the check-in and its new files from being synchronised. */
  readonly isPrivate?: boolean;
  /** Accepts a parent with a child on its branch, or with a closed branch. */
  readonly allowFork?: boolean;
  /** Accepts a date before the parent's. */
  readonly allowOlder?: boolean;
  /** Dates the check-in just after its parents if a parent's date lies in the future. */
  readonly followParents?: boolean;
  /** Accepts a check-in that changes no file. */
  readonly allowEmpty?: boolean;
  /** Accepts names of new files that harm checkouts on some systems. */
  readonly anyNames?: boolean;
}

/**
 * Commits a check-in. Returns its hash.
 *
 * @throws {FossilError} `missing` if a parent is unknown; `conflict` if the check-in would fork a
 * branch, continue a closed one, or be older than its parent; `invalid` if the changes do not fit
 * the parent's tree, change nothing, or have content that cannot be stored.
 */
export function writeCheckin(repository: Repository, checkin: NewCheckin): string {
  const { changes, anyNames = false } = checkin;
  return writeTree(
    repository,
    checkin,
    (before, put) => changeTree(before, changes, put, { anyNames }),
  );
}

/**
 * Makes the changes from the files of a check-in's parent: a card for each file that differs,
 * without a hash if the file is gone.
 */
export type MakeTree = (before: ManifestFiles, put: PutFile) => readonly FileCard[];

/** Like `writeCheckin`, with a function that makes the changes. */
export function writeTree(
  repository: Repository,
  request: Omit<NewCheckin, "changes">,
  makeTree: MakeTree,
): string {
  return writeAs(repository, request, () => {
    const checkin = { ...request, date: dateOf(repository, request) };
    const parent = checkin.parent === null ? null : manifestOf(repository, checkin.parent);
    if (parent !== null) checkParent(repository, checkin, parent);
    const options = { isPrivate: checkin.isPrivate ?? false };
    const put = (content: Uint8Array) => {
      const { rid } = repository.receive(content, options);
      return repository.store.hashOf(rid) ?? "";
    };
    const before = parent === null ? new ManifestFiles([]) : manifestFiles(repository, parent);
    const changes = makeTree(before, put);
    if (isEmpty(checkin, before, changes)) {
      throw new FossilError("invalid", "The check-in changes nothing");
    }
    return repository.add(
      manifestFrom(repository, checkin, parent, before.with(changes)),
      options,
    );
  });
}

/** The date of a check-in: its author's, or the first one after its parents' dates. */
function dateOf(
  repository: Repository,
  { date, parent, merged = [], followParents = false }: Omit<NewCheckin, "changes">,
): number {
  if (!followParents) return date;
  const parents = parent === null ? merged : [parent, ...merged];
  return Math.max(date, ...parents.map((hash) => manifestOf(repository, hash).date + 1));
}

function manifestFrom(
  repository: Repository,
  checkin: Omit<NewCheckin, "changes">,
  parent: Manifest | null,
  files: ManifestFiles,
): Manifest {
  if (checkin.comment.trim() === "") throw new FossilError("invalid", "A check-in needs a comment");
  const merged = checkin.merged ?? [];
  for (const hash of merged) manifestOf(repository, hash);
  return {
    kind: "manifest",
    comment: checkin.comment,
    date: checkin.date,
    ...fileCards(repository, checkin, parent, files),
    mimetype: checkin.mimetype ?? null,
    parents: checkin.parent === null ? [] : [checkin.parent, ...merged],
    cherrypicks: checkin.cherrypicks ?? [],
    checksum: checkin.checksum === true || checkin.parent === null
      ? treeChecksum(repository, files.all())
      : null,
    tags: tagsOf(repository, checkin),
    user: checkin.user,
  };
}

/** The check-in of a hash. */
export function manifestOf(repository: Repository, hash: string): Manifest {
  const artifact = repository.artifact(repository.ridOf(hash));
  if (artifact?.kind === "manifest") return artifact;
  throw new FossilError("missing", `"${hash}" is not an available check-in`);
}

function checkParent(
  repository: Repository,
  checkin: Omit<NewCheckin, "changes">,
  parent: Manifest,
): void {
  const { db } = repository;
  const rid = repository.ridOf(checkin.parent ?? "");
  if (checkin.allowOlder !== true && checkin.date < parent.date) {
    throw new FossilError("conflict", "The check-in would be older than its parent");
  }
  if (checkin.allowFork === true || checkin.branch !== undefined) return;
  if (!db.exists(LEAF, rid)) {
    throw new FossilError("conflict", "The check-in would fork its branch");
  }
  if (db.exists(CLOSED, TAG.closed, rid)) {
    throw new FossilError("conflict", "The branch is closed");
  }
}

const LEAF = "SELECT 1 FROM leaf WHERE rid=?";
const CLOSED = "SELECT 1 FROM tagxref WHERE tagid=? AND rid=? AND tagtype>0";

/** Whether a check-in is the tip of its branch, and the branch is open there. */
export function isOpenLeaf(repository: Repository, hash: string): boolean {
  const { db } = repository;
  const rid = repository.ridOf(hash);
  return db.exists(LEAF, rid) && !db.exists(CLOSED, TAG.closed, rid);
}

/** Trees with fewer files get full manifests: to write one costs next to nothing. */
const MIN_AMENDED_FILES = 64;

/**
 * The F cards of a check-in: only what differs from the parent's baseline, or from the parent, if
 * that keeps the sum of all F cards small. As in the program, which assumes that each further
 * check-in adds three.
 */
export function fileCards(
  repository: Repository,
  { parent: hash, isPrivate = false }: Pick<NewCheckin, "parent" | "isPrivate">,
  parent: Manifest | null,
  files: ManifestFiles,
): Pick<Manifest, "baseline" | "files"> {
  const full = () => ({ baseline: null, files: files.all() });
  if (parent === null || hash === null) return full();
  const baseline = parent.baseline ?? hash;
  const { store, config } = repository;
  const [own, all] = [files.own.length + 1, files.count];
  if (all > MAX_TREE_FILES) throw tooManyFiles();
  if (all < MIN_AMENDED_FILES || own * own >= 3 * all - 9) return full();
  if (config.isOn("forbid-delta-manifests") || hidesChange(parent, files)) return full();
  if (!isPrivate && store.isPrivate(repository.ridOf(baseline))) return full();
  return { baseline, files: files.own };
}

/**
 * Whether the program would list a change wrongly where both a parent and its child amend one
 * baseline: not at all if the child takes away a file that the parent has and the baseline has not,
 * and twice if the child has a file again that the parent took away.
 */
function hidesChange(parent: Manifest, files: ManifestFiles): boolean {
  if (parent.baseline === null) return false;
  return parent.files.some(({ name, hash }) => {
    const own = files.findOwn(name);
    return hash === null ? own !== null && own.hash !== null : !own && files.find(name) === null;
  });
}

function isEmpty(
  checkin: Omit<NewCheckin, "changes">,
  before: ManifestFiles,
  changes: readonly FileCard[],
): boolean {
  if (checkin.allowEmpty === true || checkin.branch !== undefined) return false;
  if ((checkin.merged ?? []).length > 0 || checkin.parent === null) return false;
  return changes.every((card) => isSameFile(card, before.find(card.name)));
}

function tagsOf(repository: Repository, checkin: Omit<NewCheckin, "changes">): TagCard[] {
  const own = { target: null, value: null };
  const tags: TagCard[] = (checkin.integrated ?? [])
    .map((target) => ({ sign: "+", name: "closed", target, value: null }));
  if (checkin.close === true) tags.push({ sign: "+", name: "closed", ...own });
  if (checkin.isPrivate === true) tags.push({ sign: "+", name: "private", ...own });
  for (const name of checkin.tags ?? []) tags.push({ sign: "+", name: `sym-${name}`, ...own });
  for (const name of checkin.tags ?? []) requireBranchName(name);
  const start = checkin.branch ?? (checkin.parent === null ? "trunk" : undefined);
  if (start !== undefined) {
    requireBranchName(start);
    tags.push(...branchTags(repository, checkin.parent, null, start));
  }
  return tags;
}

/** @throws {FossilError} `invalid` if the name of a new branch would stand for something else. */
export function requireBranchName(name: string): void {
  const fault = nameFault(name);
  if (fault !== null) throw new FossilError("invalid", `The name "${name}" ${fault}`);
}

/**
 * Tags that put a check-in on a branch: the branch's name, its symbolic name, and cancellations of
 * the inherited symbolic names.
 *
 * @param inherits hash of the check-in whose symbolic names reach the target, or null.
 * @param target hash of the check-in, or null for the artifact that has the tags.
 */
export function branchTags(
  repository: Repository,
  inherits: string | null,
  target: string | null,
  name: string,
): TagCard[] {
  if (name === "" || name !== name.trim()) {
    throw new FossilError("invalid", `"${name}" is not a valid branch name`);
  }
  const names = inherits === null ? [] : repository.db.rows<{ tagname: string }>(
    `SELECT tagname FROM tagxref JOIN tag USING(tagid)
      WHERE rid=? AND tagtype=2 AND tagname GLOB 'sym-*'`,
    repository.ridOf(inherits),
  );
  const ended = names.map(({ tagname }) => tagname).filter((tagname) => tagname !== `sym-${name}`);
  return [
    { sign: "*", name: "branch", target, value: name },
    { sign: "*", name: `sym-${name}`, target, value: null },
    ...ended.map((tagname): TagCard => ({ sign: "-", name: tagname, target, value: null })),
  ];
}

/** MD5 over names, sizes and contents of all files, sorted by name: the R card. */
function treeChecksum(repository: Repository, files: readonly FileCard[]): string {
  const sum = createHash("md5");
  for (const { name, hash } of files.toSorted((a, b) => compareUtf8(a.name, b.name))) {
    const content = repository.store.require(repository.ridOf(hash ?? ""));
    sum.update(`${name} ${content.length}\n`).update(content);
  }
  return sum.digest("hex");
}

/** A branch to start without changing a file. */
export interface NewBranch extends Author {
  readonly name: string;
  /** Hash of the check-in from which it starts. */
  readonly from: string;
  /** Background colour in the program's own web pages. */
  readonly color?: string;
  /** As in {@link NewCheckin}. */
  readonly followParents?: boolean;
}

/** Starts a branch with a new check-in. Returns its hash. */
export function writeBranch(repository: Repository, branch: NewBranch): string {
  return writeAs(repository, branch, () => {
    const { user, name, from: parent, followParents = false } = branch;
    const date = dateOf(repository, { ...branch, parent, comment: "", followParents });
    const comment = `Create new branch named "${name}"`;
    const checkin = { user, date, parent, comment, changes: [], branch: name };
    const before = manifestOf(repository, parent);
    const files = manifestFiles(repository, before).with([]);
    const manifest = manifestFrom(repository, checkin, before, files);
    const color: TagCard[] = branch.color === undefined
      ? []
      : [{ sign: "*", name: "bgcolor", target: null, value: branch.color }];
    return repository.add({ ...manifest, tags: [...manifest.tags, ...color] });
  });
}
