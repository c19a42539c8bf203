/** The branches of Fossil that references of Git stand for. */
import { nameFault } from "../../artifact/mod.ts";
import { mainBranch, TAG } from "../../content/mod.ts";
import type { Repository } from "../../repository.ts";
import { TextMap, TextSet } from "../../text/mod.ts";
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

/** The names that branches have had, whether or not they have a reference now. */
interface BranchNames {
  /** By the values of the cards that name them; of several, the newest. */
  readonly byValue: TextMap<string>;
  readonly all: TextSet;
  /** Those whose cards name a reference. */
  readonly ofReferences: TextSet;
}

/** Finds the branch of each reference. Needs `read`. */
export class PushBranches {
  readonly #companion: GitCompanion;
  readonly #repository: Repository;
  /** Names that this push has taken. */
  readonly #taken = new TextSet();
  /** As they were before the push; null until somebody asks. */
  #names: BranchNames | null = null;

  constructor(companion: GitCompanion) {
    this.#companion = companion;
    this.#repository = companion.reader.repository;
  }

  /** The branch of a reference, which may not exist yet; always another one for another reference. */
  of(ref: string): PushBranch {
    const value = formatRefs([ref]);
    const name = ref.startsWith(HEADS) ? ref.slice(HEADS.length) : ref.replace(/^refs\//, "");
    const isPlain = ref.startsWith(HEADS) && name !== TRUNK;
    const shown = this.#companion.db.value<string>(
      "SELECT branch FROM ref WHERE name=? AND branch<>''",
      ref,
    );
    if (shown !== undefined) {
      return { name: shown, value: isPlain && shown === name ? null : value };
    }
    const named = this.#known().byValue.get(value);
    if (named !== undefined) return { name: named, value };
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

  /** Whether a branch has a name, or gets it by this push. */
  has(name: string): boolean {
    return this.#taken.has(name) || this.#known().all.has(name);
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
  continuations(checkin: string, branch: PushBranch): string[] {
    return this.#neighbours(checkin, branch, { of: "pid", to: "cid" });
  }

  /** The check-ins of a branch that one of its check-ins continues. */
  continued(checkin: string, branch: PushBranch): string[] {
    return this.#neighbours(checkin, branch, { of: "cid", to: "pid" });
  }

  #neighbours(
    checkin: string,
    { name }: PushBranch,
    { of, to }: Readonly<Record<"of" | "to", "pid" | "cid">>,
  ): string[] {
    const { db, store } = this.#repository;
    return db.rows<{ uuid: string }>(
      `SELECT uuid FROM plink JOIN tagxref ON tagxref.rid=${to} AND tagid=? AND tagtype>0 AND value=?
        JOIN blob ON blob.rid=${to} WHERE ${of}=?`,
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
    this.#taken.add(name);
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

  /** One look at all check-ins, however many references a push has. */
  #known(): BranchNames {
    if (this.#names !== null) return this.#names;
    const { db } = this.#repository;
    const cards = db.rows<{ name: string; value: string | null }>(
      `SELECT substr(tagname,5) AS name, value FROM tagxref JOIN tag USING(tagid)
        WHERE tagname GLOB 'sym-*' AND tagtype=2 AND srcid>0 AND value GLOB '*refs/*' ORDER BY mtime`,
    );
    const all = db.rows<{ value: string }>(
      "SELECT DISTINCT value FROM tagxref WHERE tagid=? AND tagtype>0 AND value IS NOT NULL",
      TAG.branch,
    );
    return this.#names = {
      byValue: new TextMap(cards.map(({ name, value }) => [value ?? "", name])),
      all: new TextSet(all.map(({ value }) => value)),
      ofReferences: new TextSet(cards.map(({ name }) => name)),
    };
  }

  /**
   * Whether a name is a branch's that has no reference of another name, or nobody's. Names that Fossil
   * takes for something else are nobody's.
   */
  #isFree(name: string): boolean {
    if (this.#taken.has(name) || name.length > 200) return false;
    const { all, ofReferences } = this.#known();
    if (all.has(name)) return !ofReferences.has(name);
    const isTag = "SELECT 1 FROM tagxref JOIN tag USING(tagid) WHERE tagname=? AND tagtype=1";
    return nameFault(name) === null && !this.#repository.db.exists(isTag, `sym-${name}`);
  }
}
