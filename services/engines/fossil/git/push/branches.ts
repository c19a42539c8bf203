/** The branches of Fossil that references of Git stand for. */
import { nameFault } from "../../artifact/mod.ts";
import { mainBranch, TAG } from "../../content/mod.ts";
import type { Repository } from "../../repository.ts";
import { TextSet } from "../../text/mod.ts";
import type { TagChange } from "../../write/mod.ts";
import type { GitCompanion } from "../door/mod.ts";
import { formatRefs } from "../headers.ts";

const HEADS = "refs/heads/";
const TRUNK = "trunk";

/** A branch in Fossil. */
export interface PushBranch {
  readonly name: string;
  /** The value of the card that names it: its reference, where the name does not tell that. */
  readonly value: string | null;
}

/** Finds the branch of each reference. Needs `read`. */
export class PushBranches {
  readonly #companion: GitCompanion;
  readonly #repository: Repository;
  /** Names that this push has taken. */
  readonly #taken = new TextSet();

  constructor(companion: GitCompanion) {
    this.#companion = companion;
    this.#repository = companion.reader.repository;
  }

  /** The branch of a reference, which may not exist yet; always another one for another reference. */
  of(ref: string): PushBranch {
    const { db } = this.#repository;
    const value = formatRefs([ref]);
    const named = db.value<string>(
      `SELECT substr(tagname,5) FROM tagxref JOIN tag USING(tagid)
        WHERE tagname GLOB 'sym-*' AND tagtype=2 AND srcid>0 AND value=?
        ORDER BY mtime DESC LIMIT 1`,
      value,
    );
    if (named !== undefined) return { name: named, value };
    const name = ref.startsWith(HEADS) ? ref.slice(HEADS.length) : ref.replace(/^refs\//, "");
    const isPlain = ref.startsWith(HEADS) && name !== TRUNK;
    if (this.#isFree(name)) {
      this.#taken.add(name);
      return { name, value: isPlain ? null : value };
    }
    const own = ref.replace(/^refs\//, "");
    for (let number = 1;; number++) {
      const other = number === 1 ? own : `${own}-${number}`;
      if (!this.#isFree(other)) continue;
      this.#taken.add(other);
      return { name: other, value };
    }
  }

  /** The open leaves of a branch, the newest first. */
  openLeaves({ name }: PushBranch): string[] {
    return this.#repository.db.rows<{ uuid: string }>(
      `SELECT uuid FROM leaf CROSS JOIN tagxref ON tagxref.rid=leaf.rid
         AND tagxref.tagid=${TAG.branch} AND tagtype>0 AND value=?
        CROSS JOIN event ON objid=leaf.rid CROSS JOIN blob ON blob.rid=leaf.rid
        WHERE NOT EXISTS(SELECT 1 FROM tagxref AS x
          WHERE x.tagid=${TAG.closed} AND x.tagtype>0 AND x.rid=leaf.rid)
        ORDER BY event.mtime DESC`,
      name,
    ).map(({ uuid }) => uuid);
  }

  /** The branch of a check-in. */
  branchOf(checkin: string): string {
    const select = "SELECT value FROM tagxref WHERE tagid=? AND rid=? AND tagtype>0";
    const rid = this.#repository.store.ridOf(checkin);
    return this.#repository.db.value<string>(select, TAG.branch, rid) ?? TRUNK;
  }

  /** Whether clients see a branch. */
  isSeen(name: string): boolean {
    return this.#companion.db.exists("SELECT 1 FROM ref WHERE branch=?", name);
  }

  /** The check-ins of a branch that continue one of its check-ins. */
  continuations(checkin: string, { name }: PushBranch): string[] {
    const { db, store } = this.#repository;
    return db.rows<{ uuid: string }>(
      `SELECT uuid FROM plink JOIN tagxref ON tagxref.rid=cid AND tagid=? AND tagtype>0 AND value=?
        JOIN blob ON blob.rid=cid WHERE pid=? AND isprim`,
      TAG.branch,
      name,
      store.ridOf(checkin),
    ).map(({ uuid }) => uuid);
  }

  /**
   * Puts a check-in, and what continues it, on a branch.
   *
   * @param checkin its hash
   */
  moveTo({ name, value }: PushBranch, checkin: string): TagChange[] {
    const { db, store } = this.#repository;
    const inherited = db.rows<{ name: string }>(
      "SELECT tagname AS name FROM tagxref JOIN tag USING(tagid) WHERE rid=? AND tagtype=2 " +
        "AND tagname GLOB 'sym-*'",
      store.ridOf(checkin),
    );
    const sym = `sym-${name}`;
    return [
      { sign: "*", name: "branch", target: checkin, value: name },
      { sign: "*", name: sym, target: checkin, ...value === null ? {} : { value } },
      ...inherited.filter((one) => one.name !== sym).map((one): TagChange => {
        return { sign: "-", name: one.name, target: checkin };
      }),
    ];
  }

  isMain({ name }: PushBranch): boolean {
    return name === mainBranch(this.#repository);
  }

  /**
   * Whether a name is a branch's that has no reference of another name, or nobody's. Names that Fossil
   * takes for something else are nobody's.
   */
  #isFree(name: string): boolean {
    const { db } = this.#repository;
    if (this.#taken.has(name) || name.length > 200) return false;
    const isBranch = db.exists(
      "SELECT 1 FROM tagxref WHERE tagid=? AND value=? AND tagtype>0",
      TAG.branch,
      name,
    );
    if (isBranch) {
      return !db.exists(
        `SELECT 1 FROM tagxref JOIN tag USING(tagid) WHERE tagname=? AND tagtype=2 AND srcid>0
          AND value GLOB '*refs/*'`,
        `sym-${name}`,
      );
    }
    const isTag = "SELECT 1 FROM tagxref JOIN tag USING(tagid) WHERE tagname=? AND tagtype=1";
    return nameFault(name) === null && !db.exists(isTag, `sym-${name}`);
  }
}
