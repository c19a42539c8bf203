/** Maps the branches and tags of a repository to references of Git. */
import { decodeUtf8, encodeUtf8 } from "../codec/mod.ts";
import { mainBranch, TAG } from "../content/mod.ts";
import type { Repository } from "../repository.ts";
import {
  type Headers,
  parseHeaders,
  parseMoves,
  parseRefs,
  REFS_PROPERTY,
  TAG_PROPERTY,
} from "./headers.ts";
import type { NoticeLog } from "./notices.ts";
import { readable } from "./stream/mod.ts";
import type { GitExportOptions } from "./types.ts";
import { TextMap, TextSet } from "../text/mod.ts";

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
  /** Further headers with their line ends; "" for none. */
  readonly further: string;
  /** The artifact with what Git has behind the tag's target, if it is not all here; null for none. */
  readonly rest: string | null;
}

const HEADS = "refs/heads/";
const TAGS = "refs/tags/";
const TRUNK = "trunk";
/** What "trunk" is called in Git, where "trunk" is unusual. */
const USUAL_MAIN = `${HEADS}main`;
/**
 * Longest part of a reference, and longest reference, in bytes: Git makes a file of it, whose name has
 * at most 255, with `.lock`. A longer part is cut, with room for what tells it from others.
 */
const MAX_BYTES = { part: 250, cut: 220, whole: 1000 };
/** Digits of a hash that distinguish forks of one branch. */
const SHOWN_DIGITS = 10;

/** Which references there are, and what the main branch is called. */
export interface NamePlanOptions extends Pick<GitExportOptions, "mainBranch" | "withoutBranches"> {
  /**
   * As `git clone` sees them: "trunk" keeps its name, closed branches have no reference, and neither
   * has a fork. References without their own check-in are left to the caller.
   */
  readonly isServed?: boolean;
}

interface TipRow {
  readonly rid: number;
  readonly uuid: string;
  readonly branch: string;
  readonly ref: string | null;
  readonly hasChild: number;
  readonly isClosed: number;
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
  readonly #refOfBranch = new TextMap<string>();
  readonly #refs = new Map<string, number>();
  /** Of each branch's reference, all leaves, the newest first. */
  readonly #leaves = new Map<string, number[]>();
  readonly #used = new UsedRefs();
  readonly #tags: GitTagOut[] = [];
  /** The main branch, and what it is called in Git. */
  readonly #main: { readonly branch: string; readonly ref: string };
  readonly #isLeftOut: (branch: string) => boolean;
  readonly #isServed: boolean;

  constructor(
    repository: Repository,
    options: NamePlanOptions,
    notices: NoticeLog,
  ) {
    this.#repository = repository;
    this.#notices = notices;
    const { withoutBranches = [], isServed = false } = options;
    this.#isServed = isServed;
    this.#isLeftOut = (branch) => withoutBranches.some((start) => branch.startsWith(start));
    this.#main = this.#mainNames(options.mainBranch);
    this.#planBranches();
    if (!isServed) this.#planOthers();
    this.#planTags();
  }

  /** Number of references below refs/heads. */
  get heads(): number {
    return [...this.#refs.keys()].filter((ref) => ref.startsWith(HEADS)).length;
  }

  /** The reference of the main branch. */
  get main(): string {
    return this.#main.ref;
  }

  /** Of a branch's reference, all leaves, the newest first. */
  leavesOf(ref: string): readonly number[] {
    return this.#leaves.get(ref) ?? [];
  }

  /**
   * Whether a check-in, which no open leaf of the reference continues, ends the branch of the reference:
   * it is closed, or what continues it on the branch is.
   */
  isEnded(ref: string, rid: number): boolean {
    const row = this.#repository.db.row<{ branch: string; named: string | null }>(
      `SELECT value AS branch, (SELECT value FROM tagxref AS x JOIN tag USING(tagid)
           WHERE x.rid=tagxref.rid AND x.tagtype=2 AND tagname='sym-'||tagxref.value) AS named
         FROM tagxref WHERE rid=? AND tagid=${TAG.branch} AND tagtype>0 AND (
           EXISTS(SELECT 1 FROM tagxref AS y
             WHERE y.rid=tagxref.rid AND y.tagid=${TAG.closed} AND y.tagtype>0)
           OR EXISTS(SELECT 1 FROM plink JOIN tagxref AS y ON y.rid=cid
             WHERE pid=tagxref.rid
               AND y.tagid=${TAG.branch} AND y.tagtype>0 AND y.value=tagxref.value))`,
      rid,
    );
    return row !== undefined && (refOfValue(row.named) ?? HEADS + row.branch) === ref;
  }

  /** The branches by their references. */
  branches(): TextMap<string> {
    return new TextMap([...this.#refOfBranch].map(([branch, ref]) => [ref, branch]));
  }

  /** The reference of a check-in in the stream. */
  refOf(rid: number): string {
    return this.#refOfBranch.get(this.#branchOf.get(rid) ?? TRUNK) ?? this.#main.ref;
  }

  /** Final targets of the references, except for annotated tags. */
  refs(): { ref: string; rid: number }[] {
    return [...this.#refs].map(([ref, rid]) => ({ ref, rid }));
  }

  tags(): readonly GitTagOut[] {
    return this.#tags;
  }

  /**
   * The main branch, and its name in Git: the wanted one; else the one of an import; else its own.
   * A "trunk" that no import has named is "main", unless another branch is.
   */
  #mainNames(wanted: string | undefined): { branch: string; ref: string } {
    const { db } = this.#repository;
    const branch = mainBranch(this.#repository);
    if (wanted !== undefined) return { branch, ref: HEADS + wanted };
    const named = refOfValue(
      db.value<string | null>(
        `SELECT value FROM tagxref JOIN tag USING(tagid)
          WHERE tagname='sym-'||? AND tagtype=2 AND srcid>0 ORDER BY mtime LIMIT 1`,
        branch,
      ) ?? null,
    );
    if (named !== null) return { branch, ref: named };
    const isMain = "SELECT 1 FROM tagxref WHERE tagid=? AND tagtype>0 AND value='main'";
    const isFree = branch === TRUNK && !this.#isServed && !db.exists(isMain, TAG.branch);
    return { branch, ref: isFree ? USUAL_MAIN : HEADS + branch };
  }

  #planBranches(): void {
    const { db } = this.#repository;
    // Only a stream puts each check-in on a reference.
    const onBranch = this.#isServed ? [] : db.rows<{ rid: number; value: string }>(
      "SELECT rid, value FROM tagxref WHERE tagid=? AND tagtype>0 AND value<>''",
      TAG.branch,
    );
    for (const { rid, value } of onBranch) this.#branchOf.set(rid, value);
    const tips = db.rows<TipRow>(
      `SELECT leaf.rid, uuid, coalesce(b.value,'${TRUNK}') AS branch,
          (SELECT value FROM tagxref JOIN tag USING(tagid)
            WHERE rid=leaf.rid AND tagtype=2 AND tagname='sym-'||b.value) AS ref,
          EXISTS(SELECT 1 FROM plink WHERE pid=leaf.rid) AS hasChild,
          EXISTS(SELECT 1 FROM tagxref AS x
            WHERE x.rid=leaf.rid AND x.tagid=${TAG.closed} AND x.tagtype>0) AS isClosed
        FROM (${LEAVES}) AS leaf JOIN blob USING(rid) JOIN event ON objid=leaf.rid AND event.type='ci'
          LEFT JOIN tagxref AS b ON b.rid=leaf.rid AND b.tagid=? AND b.tagtype>0
        ORDER BY coalesce(b.value,'${TRUNK}')<>?, b.value IS NULL, event.mtime DESC, uuid`,
      TAG.branch,
      this.#main.branch,
    );
    for (const tip of tips) {
      const isHidden = this.#isServed && tip.isClosed === 1;
      if (!isHidden && !this.#isLeftOut(tip.branch)) this.#planTip(tip);
    }
  }

  #planTip({ rid, uuid, branch, ref, hasChild }: TipRow): void {
    const known = this.#refOfBranch.get(branch);
    if (known === undefined) {
      const wanted = branch === this.#main.branch
        ? this.#main.ref
        : refOfValue(ref) ?? HEADS + branch;
      const chosen = this.#used.take(legalRef(wanted));
      if (chosen !== wanted) {
        this.#notices.add("ref", branch, `The branch was renamed to "${readable(chosen)}"`);
      }
      this.#refOfBranch.set(branch, chosen);
      this.#refs.set(chosen, rid);
      this.#leaves.set(chosen, [rid]);
    } else if (this.#isServed) this.#leaves.get(known)!.push(rid);
    else if (hasChild === 0) {
      const chosen = this.#used.take(
        suffixed(known, `-fork-${uuid.slice(0, SHOWN_DIGITS)}`),
      );
      this.#notices.add("ref", chosen, `A fork of the branch "${branch}" was written so`);
      this.#refs.set(chosen, rid);
    }
  }

  /** References without their own check-in. */
  #planOthers(): void {
    const rows = this.#repository.db.rows<{ rid: number; value: string | null }>(
      `SELECT rid, value FROM tagxref JOIN tag USING(tagid) JOIN event ON objid=rid AND type='ci'
        WHERE tagname=? AND tagtype>0`,
      REFS_PROPERTY,
    );
    const latest = new TextMap<
      { readonly rid: number; readonly number: number; isGone: boolean }
    >();
    for (const { rid, value } of rows) {
      const { number, isGone, refs } = parseMoves(value ?? "");
      for (const ref of refs) {
        const known = latest.get(ref)?.number ?? -1;
        if (number > known) latest.set(ref, { rid, number, isGone });
      }
    }
    for (const [ref, { rid, number, isGone }] of latest) {
      const branch = ref.startsWith(HEADS) ? ref.slice(HEADS.length) : "";
      const isOfBranch = number > 0 && this.#refs.has(ref);
      if (isGone || isOfBranch || this.#isLeftOut(branch)) continue;
      this.#refs.set(this.#used.take(legalRef(ref)), rid);
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
          JOIN blob ON blob.rid=tagxref.rid
        WHERE tagname GLOB 'sym-*' AND tagtype=1 ORDER BY tagxref.mtime DESC, uuid`,
    );
    const seen = new TextSet();
    for (const row of rows) {
      const { name, rid, value } = row;
      const ofBranch = refOfValue(value) ?? HEADS + name;
      if (row.refs !== null && parseRefs(row.refs).includes(ofBranch)) continue;
      if (seen.has(name)) {
        this.#notices.add("ref", name, "The tag is on several check-ins: the newest was taken");
        continue;
      }
      seen.add(name);
      const kept = parseHeaders(row.kept ?? "");
      const wanted = refOfValue(kept.ref ?? null) ?? TAGS + name;
      const legal = legalRef(wanted);
      // The branch of a line that only this tag reaches has its name in Git.
      const isThere = legal === wanted && this.#refs.get(legal) === rid;
      const ref = isThere ? legal : this.#used.take(legal);
      if (ref !== wanted) {
        this.#notices.add("ref", name, `The tag was renamed to "${readable(ref)}"`);
      }
      const isLight = kept.tagger === undefined && kept.message === undefined &&
        kept.rest === undefined && value === null &&
        (row.isKept === 0 || kept.ref !== undefined);
      if (isLight) this.#refs.set(ref, rid);
      else this.#tags.push(annotated(row, kept, ref.slice(TAGS.length)));
    }
  }
}

/** Leaves, including those that no tag puts on a branch, which the table lacks. */
const LEAVES = `SELECT rid FROM leaf UNION SELECT objid FROM event
  WHERE type='ci' AND NOT EXISTS(SELECT 1 FROM plink WHERE pid=objid)`;

function annotated(
  { rid, value, user, day }: TagRow,
  { tagger, message, further = "", rest }: Headers,
  name: string,
): GitTagOut {
  const text = message ?? (value === null ? "" : `${value}\n`);
  return { name, rid, tagger, user, day, further, rest: rest ?? null, message: text };
}

/** References that are in use; none may be a folder of another one. */
class UsedRefs {
  readonly #refs = new Set<string>();
  readonly #folders = new Set<string>();
  /** The number to try next, by the reference that is in use. */
  readonly #next = new Map<string, number>();

  /** A reference that is free, and most like the wanted one. */
  take(wanted: string): string {
    // The shortest part that is in use gets a number.
    const used = foldersOf(wanted).find((folder) => this.#refs.has(folder)) ?? wanted;
    let free = wanted;
    let number = this.#next.get(wanted) ?? 2;
    while (!this.#isFree(free)) {
      free = suffixed(used, `-${number++}`) + wanted.slice(used.length);
    }
    if (free !== wanted) this.#next.set(wanted, number);
    this.#refs.add(free);
    for (const folder of foldersOf(free)) this.#folders.add(folder);
    return free;
  }

  #isFree(ref: string): boolean {
    return !this.#refs.has(ref) && !this.#folders.has(ref) &&
      !foldersOf(ref).some((folder) => this.#refs.has(folder));
  }
}

/** `a` and `a/b` for `a/b/c`. */
export function foldersOf(ref: string): string[] {
  const folders: string[] = [];
  for (let end = ref.indexOf("/"); end >= 0; end = ref.indexOf("/", end + 1)) {
    folders.push(ref.slice(0, end));
  }
  return folders;
}

/** The reference that the value of a branch's card names; null if it names none. */
function refOfValue(value: string | null): string | null {
  return value !== null && /^"?refs\/./.test(value) ? parseRefs(value)[0] ?? null : null;
}

/** Whether a reference may contain a character. */
function isLegal(character: string): boolean {
  return character > " " && character !== "\x7f" && !"~^:?*[\\".includes(character);
}

/** The beginning of a text that has at most so many bytes in UTF-8, with whole characters. */
function beginning(text: string, bytes: number): string {
  const encoded = encodeUtf8(text);
  if (encoded.length <= bytes) return text;
  let end = bytes;
  while ((encoded[end]! & 0xc0) === 0x80) end--;
  return decodeUtf8(encoded.subarray(0, end));
}

/** A part of a reference that is cut if it is longer than so many bytes. */
function cutPart(part: string, bytes: number): string {
  return encodeUtf8(part).length > bytes ? beginning(part, MAX_BYTES.cut) : part;
}

/** A reference with an addition to its last part. */
function suffixed(ref: string, suffix: string): string {
  const start = ref.lastIndexOf("/") + 1;
  return ref.slice(0, start) + cutPart(ref.slice(start), MAX_BYTES.cut) + suffix;
}

/**
 * A reference with every part made legal, and no longer than Git can store.
 *
 * @see {@link https://git-scm.com/docs/git-check-ref-format}
 */
function legalRef(ref: string): string {
  const named = beginning(ref, MAX_BYTES.whole).split("/").filter((part) => part !== "");
  const parts = named.map((part) =>
    Array.from(cutPart(part, MAX_BYTES.part), (one) => isLegal(one) ? one : "_").join("")
      .replace(/\.\.+/g, "_")
      .replaceAll("@{", "_")
      .replace(/^\.|\.$/g, "_")
      .replace(/\.lock$/, "_lock")
  );
  return parts.length > 2 || (parts.length === 2 && !/^(?:heads|tags)$/.test(parts[1]!))
    ? parts.join("/")
    : [...parts, "_"].join("/");
}
