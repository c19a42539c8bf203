/** Maps the branches and tags of a repository to references of Git. */
import { TAG } from "../content/mod.ts";
import type { Repository } from "../repository.ts";
import { parseHeaders, REFS_PROPERTY, TAG_PROPERTY } from "./headers.ts";
import type { NoticeLog } from "./notices.ts";

/** An annotated tag to be written. */
export interface GitTagOut {
  readonly name: string;
  readonly rid: number;
  readonly message: string;
  /** The imported line, "" for a tag without one; absent if it follows from user and date. */
  readonly tagger: string | undefined;
  readonly user: string | null;
  /** Julian day. */
  readonly day: number;
}

const HEADS = "refs/heads/";
const TAGS = "refs/tags/";
const DEFAULT_MAIN = `${HEADS}main`;
/** Digits of a hash that distinguish forks of one branch. */
const SHOWN_DIGITS = 10;

interface TipRow {
  readonly rid: number;
  readonly uuid: string;
  readonly branch: string;
  readonly ref: string | null;
  readonly hasChild: number;
}

interface TagRow {
  readonly name: string;
  readonly rid: number;
  readonly value: string | null;
  readonly kept: string | null;
  readonly isKept: number;
  readonly refs: string | null;
  readonly user: string | null;
  readonly day: number;
}

/** Computes all names once. Needs `read`. */
export class NamePlan {
  readonly #repository: Repository;
  readonly #notices: NoticeLog;
  readonly #branchOf = new Map<number, string>();
  readonly #refOfBranch = new Map<string, string>();
  readonly #refs = new Map<string, number>();
  readonly #tags: GitTagOut[] = [];
  readonly #main: string;

  constructor(repository: Repository, mainBranch: string | undefined, notices: NoticeLog) {
    this.#repository = repository;
    this.#notices = notices;
    this.#main = mainBranch === undefined ? this.#importedMain() : HEADS + legalRef(mainBranch);
    this.#planBranches();
    this.#planOthers();
    this.#planTags();
  }

  /** Number of references below refs/heads. */
  get branches(): number {
    return [...this.#refs.keys()].filter((ref) => ref.startsWith(HEADS)).length;
  }

  /** The reference of a check-in in the stream. */
  refOf(rid: number): string {
    return this.#refOfBranch.get(this.#branchOf.get(rid) ?? "trunk") ?? this.#main;
  }

  /** Final targets of the references, except for annotated tags. */
  refs(): { ref: string; rid: number }[] {
    return [...this.#refs].map(([ref, rid]) => ({ ref, rid }));
  }

  tags(): readonly GitTagOut[] {
    return this.#tags;
  }

  /** Name of "trunk" in the imported Git repository. */
  #importedMain(): string {
    const value = this.#repository.db.value<string | null>(
      `SELECT value FROM tagxref JOIN tag USING(tagid)
        WHERE tagname='sym-trunk' AND tagtype=2 AND srcid>0 ORDER BY mtime LIMIT 1`,
    );
    return value?.startsWith("refs/") === true ? legalRef(value) : DEFAULT_MAIN;
  }

  #planBranches(): void {
    const { db } = this.#repository;
    const onBranch = db.rows<{ rid: number; value: string }>(
      "SELECT rid, value FROM tagxref WHERE tagid=? AND tagtype>0 AND value<>''",
      TAG.branch,
    );
    for (const { rid, value } of onBranch) this.#branchOf.set(rid, value);
    const tips = db.rows<TipRow>(
      `SELECT leaf.rid, uuid, coalesce(b.value,'trunk') AS branch,
          (SELECT value FROM tagxref JOIN tag USING(tagid)
            WHERE rid=leaf.rid AND tagtype=2 AND tagname='sym-'||b.value) AS ref,
          EXISTS(SELECT 1 FROM plink WHERE pid=leaf.rid) AS hasChild
        FROM (${LEAVES}) AS leaf JOIN blob USING(rid) JOIN event ON objid=leaf.rid AND event.type='ci'
          LEFT JOIN tagxref AS b ON b.rid=leaf.rid AND b.tagid=? AND b.tagtype>0
        ORDER BY b.value IS NULL, event.mtime DESC, leaf.rid DESC`,
      TAG.branch,
    );
    for (const tip of tips) this.#planTip(tip);
  }

  #planTip({ rid, uuid, branch, ref, hasChild }: TipRow): void {
    const known = this.#refOfBranch.get(branch);
    if (known === undefined) {
      const wanted = branch === "trunk"
        ? this.#main
        : ref?.startsWith("refs/") === true
        ? ref
        : HEADS + branch;
      const chosen = this.#free(legalRef(wanted));
      if (branch !== "trunk" && chosen !== wanted) {
        this.#notices.add("ref", branch, `The branch was renamed to "${chosen}"`);
      }
      this.#refOfBranch.set(branch, chosen);
      this.#refs.set(chosen, rid);
    } else if (hasChild === 0) {
      const chosen = this.#free(`${known}-fork-${uuid.slice(0, SHOWN_DIGITS)}`);
      this.#notices.add("ref", chosen, `A fork of the branch "${branch}" was written so`);
      this.#refs.set(chosen, rid);
    }
  }

  /** A free reference that is also not a folder of another one. */
  #free(ref: string): string {
    const isTaken = (name: string) =>
      [...this.#refs.keys()].some((known) =>
        known === name || known.startsWith(`${name}/`) || name.startsWith(`${known}/`)
      );
    let name = ref;
    for (let i = 2; isTaken(name); i++) name = `${ref}-${i}`;
    return name;
  }

  /** Imported references without their own check-in. */
  #planOthers(): void {
    const rows = this.#repository.db.rows<{ rid: number; value: string | null }>(
      "SELECT rid, value FROM tagxref JOIN tag USING(tagid) WHERE tagname=? AND tagtype>0",
      REFS_PROPERTY,
    );
    for (const { rid, value } of rows) {
      for (const ref of (value ?? "").split(" ")) {
        if (/^refs\/./.test(ref)) this.#refs.set(this.#free(legalRef(ref)), rid);
      }
    }
  }

  #planTags(): void {
    const property = (name: string) =>
      `(SELECT value FROM tagxref AS x JOIN tag AS y USING(tagid)
         WHERE x.rid=tagxref.rid AND x.tagtype>0 AND y.tagname=${name})`;
    const rows = this.#repository.db.rows<TagRow>(
      `SELECT substr(tagname,5) AS name, tagxref.rid, tagxref.value, tagxref.mtime AS day,
          ${property(`'${TAG_PROPERTY}'||substr(tag.tagname,5)`)} AS kept,
          EXISTS(SELECT 1 FROM tagxref AS x JOIN tag AS y USING(tagid)
            WHERE x.rid=tagxref.rid AND y.tagname='${TAG_PROPERTY}'||substr(tag.tagname,5)) AS isKept,
          ${property(`'${REFS_PROPERTY}'`)} AS refs,
          (SELECT user FROM event WHERE objid=tagxref.srcid) AS user
        FROM tagxref JOIN tag USING(tagid) JOIN event ON objid=tagxref.rid AND event.type='ci'
        WHERE tagname GLOB 'sym-*' AND tagtype=1 ORDER BY tagxref.mtime DESC`,
    );
    const seen = new Set<string>();
    for (const row of rows) {
      const { name, rid, refs } = row;
      if (refs?.split(" ").includes(HEADS + name) === true) continue;
      const ref = legalRef(TAGS + name);
      if (seen.has(ref)) {
        this.#notices.add("ref", name, "The tag is on several check-ins: the newest was taken");
        continue;
      }
      seen.add(ref);
      if (ref !== TAGS + name) {
        this.#notices.add("ref", name, `The tag was renamed to "${ref}"`);
      }
      if (row.value === null && row.isKept === 0) this.#refs.set(ref, rid);
      else this.#tags.push(annotated(row, ref.slice(TAGS.length)));
    }
  }
}

/** Leaves, including those that no tag puts on a branch, which the table lacks. */
const LEAVES = `SELECT rid FROM leaf UNION SELECT objid FROM event
  WHERE type='ci' AND NOT EXISTS(SELECT 1 FROM plink WHERE pid=objid)`;

function annotated({ rid, value, kept, user, day }: TagRow, name: string): GitTagOut {
  const { tagger, message } = parseHeaders(kept ?? "");
  return { name, rid, tagger, user, day, message: message ?? (value === null ? "" : `${value}\n`) };
}

/** Whether a reference may contain a character. */
function isLegal(character: string): boolean {
  return character > " " && character !== "\x7f" && !"~^:?*[\\".includes(character);
}

/**
 * A reference with every part made legal.
 *
 * @see {@link https://git-scm.com/docs/git-check-ref-format}
 */
function legalRef(ref: string): string {
  const parts = ref.split("/").filter((part) => part !== "").map((part) =>
    [...part].map((character) => isLegal(character) ? character : "_").join("")
      .replace(/\.\.+/g, "_")
      .replaceAll("@{", "_")
      .replace(/^[.-]|\.$/g, "_")
      .replace(/\.lock$/, "_lock")
  );
  return parts.length === 0 ? DEFAULT_MAIN : parts.join("/");
}
