/** Which objects a pack has. */
import { hexOf, MODE, type ObjectFilter } from "../../../git/mod.ts";
import type { GitCompanion } from "./companion.ts";
import type { Negotiation } from "./negotiation.ts";
import { unpackRows } from "./schema.ts";

/** The objects of a pack. */
export interface PackPlan {
  /** Commits by number, the newest first. */
  readonly commits: readonly number[];
  /** Rows of tags. */
  readonly tags: readonly number[];
  /** Marks of trees by row, and of files by row of the repository; and how many there are. */
  readonly trees: Uint8Array;
  readonly treeCount: number;
  readonly files: Uint8Array;
  readonly fileCount: number;
  /** Marks of the commits that the client has, with all that they have. */
  readonly had: Uint8Array;
}

/** What the plan takes from a request. */
export interface PackWishes {
  readonly filter: ObjectFilter;
  readonly includesTags: boolean;
}

/** The commits and tags of a pack. */
export interface PlannedCommits extends Pick<PackPlan, "commits" | "tags" | "had"> {
  /** Marks of the commits that the client gets, and some that it has. */
  readonly sent: Uint8Array;
}

/** The commits and tags for a client. */
export function planCommits(
  companion: GitCompanion,
  { wanted, common, shallows }: Negotiation,
  wishes: Pick<PackWishes, "includesTags">,
): PlannedCommits {
  const { graph } = companion;
  const had = graph.marks();
  for (const id of common) had[id] = 1;
  graph.markAncestors(had, (id) => shallows.before.has(id));
  const sent = graph.marks();
  for (const id of wanted.commits) sent[id] = 1;
  for (const id of shallows.deepened) {
    for (const parent of graph.parents(id)) sent[parent] = 1;
  }
  graph.markAncestors(sent, (id) => had[id] === 1 || shallows.after.has(id));
  const commits: number[] = [];
  for (let id = sent.length - 1; id > 0; id--) {
    if (sent[id] === 1 && had[id] === 0) commits.push(id);
  }
  const tags = new Set(wanted.tags);
  if (wishes.includesTags) {
    for (const id of tagsOf(companion, commits)) tags.add(id);
  }
  return { commits, tags: [...tags], had, sent };
}

/** Plans the pack for a client. Needs an update of the companion before. */
export function planPack(
  companion: GitCompanion,
  negotiation: Negotiation,
  wishes: PackWishes,
  { sent, ...planned } = planCommits(companion, negotiation, wishes),
): PackPlan {
  const { commits, had } = planned;
  const selection = new Selection(companion, { sent, had, filter: wishes.filter });
  for (const id of commits) {
    companion.reader.check();
    selection.addCommit(id);
  }
  for (const id of negotiation.wanted.trees) selection.addTree(id);
  for (const rid of negotiation.wanted.files) selection.addFile(rid);
  return { ...planned, ...selection.finish() };
}

/** Rows of the tags of commits that references name, and of those that these name. */
function tagsOf({ db }: GitCompanion, commits: readonly number[]): number[] {
  return db.rows<{ id: number }>(
    `WITH RECURSIVE named(id, target) AS (
       SELECT tag.id, target FROM ref CROSS JOIN tag ON tag.name=ref.object
         WHERE peeled IN (
           SELECT name FROM revision WHERE id IN (SELECT value FROM json_each(?)))
       UNION SELECT tag.id, tag.target FROM named CROSS JOIN tag ON tag.name=named.target)
     SELECT id FROM named`,
    JSON.stringify(commits),
  ).map(({ id }) => id);
}

/** Collects trees and files. */
class Selection {
  readonly #companion: GitCompanion;
  readonly #sent: Uint8Array;
  readonly #had: Uint8Array;
  readonly #filter: ObjectFilter;
  readonly #trees: Uint8Array;
  /** Trees with all that is below them. A commit may have a tree of an older one without its files. */
  readonly #walked: Uint8Array;
  readonly #files: Uint8Array;
  #treeCount = 0;
  #fileCount = 0;

  constructor(
    companion: GitCompanion,
    options: {
      readonly sent: Uint8Array;
      readonly had: Uint8Array;
      readonly filter: ObjectFilter;
    },
  ) {
    this.#companion = companion;
    this.#sent = options.sent;
    this.#had = options.had;
    this.#filter = options.filter;
    const { db } = companion;
    this.#trees = new Uint8Array((db.value<number | null>("SELECT max(id) FROM tree") ?? 0) + 1);
    this.#walked = new Uint8Array(this.#trees.length);
    this.#files = new Uint8Array((db.value<number | null>("SELECT max(rid) FROM file") ?? 0) + 1);
  }

  finish(): Pick<PackPlan, "trees" | "treeCount" | "files" | "fileCount"> {
    return {
      trees: this.#trees,
      treeCount: this.#treeCount,
      files: this.#files,
      fileCount: this.#fileCount,
    };
  }

  /** Adds what a commit has and its first parent does not; all of it if the parent is absent. */
  addCommit(id: number): void {
    const { graph, db } = this.#companion;
    const parent = graph.firstParent(id);
    const isParentThere = this.#sent[parent] === 1 || this.#had[parent] === 1;
    if (!isParentThere || this.#filter.treeDepth < Infinity) {
      return this.addTree(db.value<number>("SELECT tree FROM revision WHERE id=?", id)!);
    }
    const { trees, blobs } = db.row<{ trees: Uint8Array; blobs: Uint8Array }>(
      "SELECT trees, blobs FROM revision WHERE id=?",
      id,
    )!;
    for (const tree of unpackRows(trees)) this.#takeTree(tree);
    if (this.#filter.blobBytes > 0) {
      for (const rid of unpackRows(blobs)) this.#takeFile(rid);
    }
  }

  /** Adds a tree with all that is below it, as far as the filter goes. */
  addTree(root: number): void {
    const { treeDepth, blobBytes } = this.#filter;
    const { trees, db } = this.#companion;
    trees.walk(root, (id, depth) => {
      if (depth >= treeDepth) return false;
      // At every depth the same is below it, unless the filter cuts it.
      const isNew = this.#walked[id] !== 1;
      this.#walked[id] = 1;
      this.#takeTree(id);
      return isNew || treeDepth < Infinity;
    }, ({ mode, object }, depth) => {
      if (mode === MODE.submodule || depth >= treeDepth || blobBytes === 0) return;
      const rid = db.value<number>("SELECT place FROM object WHERE name=?", object);
      if (rid === undefined) throw new Error(`The companion lacks ${hexOf(object)}`);
      this.#takeFile(rid);
    });
  }

  /** Adds a file whatever the filter says, because the client wants it by name. */
  addFile(rid: number): void {
    if (this.#files[rid] === 1) return;
    this.#files[rid] = 1;
    this.#fileCount++;
  }

  #takeTree(id: number): void {
    if (this.#trees[id] === 1) return;
    this.#trees[id] = 1;
    this.#treeCount++;
  }

  #takeFile(rid: number): void {
    const { blobBytes } = this.#filter;
    if (this.#files[rid] === 1) return;
    if (blobBytes < Infinity) {
      const size = this.#companion.db.value<number>("SELECT size FROM file WHERE rid=?", rid) ?? 0;
      if (size >= blobBytes) return;
    }
    this.addFile(rid);
  }
}
