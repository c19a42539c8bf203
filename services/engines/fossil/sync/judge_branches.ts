/**
 * Rules for branches. They look at the branch that the derived tables give a check-in when
 * everything is linked, so it does not matter how it came there: by its own cards, by inheritance
 * from a parent that arrived later, or by a tag.
 */
import { type Manifest, nameFault, type TagCard, TEXT_BOUNDS } from "../artifact/mod.ts";
import { toJulianDay } from "../codec/mod.ts";
import { TAG } from "../content/mod.ts";
import type { Repository } from "../repository.ts";
import { addTo, matchesGlob, TextSet } from "../text/mod.ts";
import { judgeFiles } from "./judge_files.ts";
import { absentName, quoted, short } from "./judge_words.ts";
import type { NameRule, PushRules } from "./judgement.ts";
import { type Refusals, refused } from "./refusal.ts";

/** Branch of check-ins without a branch tag. */
const DEFAULT_BRANCH = "trunk";

interface NewCheckin {
  readonly rid: number;
  readonly hash: string;
  readonly manifest: Manifest;
}

/** Judges the check-ins of a push by the branches that they are on. */
export class BranchJudge {
  readonly #repository: Repository;
  readonly #rules: PushRules;
  readonly #main: string;
  readonly #new = new Map<number, NewCheckin>();
  /** The branches of known check-ins before the push, by row. */
  readonly #before = new Map<number, string>();
  /** Rows that were found to be check-ins: they stay that. */
  readonly #linked = new Set<number>();
  /** The names of branches before the push, and those that its cards give; null until asked for. */
  #names: TextSet | null = null;

  constructor(repository: Repository, rules: PushRules) {
    this.#repository = repository;
    this.#rules = rules;
    this.#main = repository.config.get("main-branch") || DEFAULT_BRANCH;
  }

  arrive(rid: number, hash: string, manifest: Manifest): void {
    this.#new.set(rid, { rid, hash, manifest });
  }

  /** Whether a row is a check-in of this push. */
  isNew(rid: number): boolean {
    return this.#new.has(rid);
  }

  /** Whether a date is after that of a check-in and of the branch that its parent gives it. */
  isNewest(rid: number, date: number): boolean {
    const manifest = this.#new.get(rid)?.manifest;
    if (manifest === undefined) return true;
    const parent = this.#repository.store.ridOf(manifest.parents[0] ?? "");
    const select = "SELECT mtime FROM tagxref WHERE tagid=? AND rid=?";
    const day = this.#repository.db.value<number>(select, TAG.branch, parent) ?? 0;
    return date > manifest.date && toJulianDay(date) > day;
  }

  /** Remembers the branch of a check-in before it changes. */
  willMove(rid: number): void {
    if (this.#new.has(rid) || this.#before.has(rid) || !this.isCheckin(rid)) return;
    this.#before.set(rid, this.branchOf(rid));
  }

  /** Refuses new check-ins whose branch cannot be known, because an ancestor is missing. */
  premature(refusals: Refusals): ReadonlySet<string> {
    const found = new Set<string>();
    if (this.#rules.role === "admin") return found;
    const children = new Map<string, string[]>();
    const refuse = (hash: string, parent: string) => {
      found.add(hash);
      refusals.add({ hash, sentence: absentName(hash, parent), missing: [parent] });
    };
    for (const { rid, hash, manifest: { parents: [parent], tags } } of this.#new.values()) {
      if (parent === undefined || tags.some(startsBranch) || !this.isCheckin(rid)) continue;
      if (!this.isCheckin(this.#repository.store.ridOf(parent))) refuse(hash, parent);
      addTo(children, parent, hash);
    }
    // A set may grow while it is walked.
    for (const hash of found) {
      for (const child of children.get(hash) ?? []) if (!found.has(child)) refuse(child, hash);
    }
    return found;
  }

  concludeNew(refusals: Refusals): void {
    for (const checkin of this.#new.values()) {
      if (!this.isCheckin(checkin.rid)) continue;
      refusals.collect([checkin.hash], () => this.#judgeNew(checkin));
    }
  }

  /** Judges the known check-ins that are on another branch now, because of one of the taggers. */
  concludeMoves(taggers: readonly string[], refusals: Refusals): void {
    refusals.collect(taggers, () => {
      for (const [rid, before] of this.#before) {
        const branch = this.branchOf(rid);
        if (branch !== before) this.#judgeMove(rid, before, branch);
      }
    });
  }

  /** Whether a row is a check-in that is linked. */
  isCheckin(rid: number): boolean {
    if (this.#linked.has(rid)) return true;
    const select = "SELECT 1 FROM event WHERE objid=? AND type='ci'";
    const isLinked = this.#repository.db.exists(select, rid);
    if (isLinked) this.#linked.add(rid);
    return isLinked;
  }

  /** The branch of a check-in; that of one without a branch tag is the main branch. */
  branchOf(rid: number): string {
    const select = "SELECT value FROM tagxref WHERE tagid=? AND rid=? AND tagtype>0";
    const value = this.#repository.db.value<string | null>(select, TAG.branch, rid);
    return value === undefined ? this.#main : value ?? "";
  }

  /** Why the pusher may not change a branch, as a clause; null if it may. */
  refusalOf(branch: string): string | null {
    if (branch === "") return "a branch needs a name";
    const { workspaces, branches, begins = [] } = this.#rules;
    if (begins.includes(branch)) return null;
    if (Object.hasOwn(workspaces, branch)) return workspaces[branch] ?? null;
    return ruleOf(branches, branch);
  }

  /** Whether a branch belongs to a workspace that is active. */
  isWorkspace(branch: string): boolean {
    return Object.hasOwn(this.#rules.workspaces, branch);
  }

  /** @throws {FossilError} `conflict` if the pusher may not change the branch */
  require(branch: string, subject: string): void {
    const refusal = this.refusalOf(branch);
    if (refusal === null) return;
    throw refused(`${subject} to the branch ${quoted(branch)} is refused: ${refusal}`);
  }

  /**
   * Checks the branches that a known check-in leaves and enters. Nothing is moved out of a workspace
   * or into it: its line has a start and an end.
   */
  requireMove(branches: readonly string[], subject: string): void {
    for (const branch of branches) {
      this.require(branch, subject);
      if (!this.isWorkspace(branch) || this.#rules.begins?.includes(branch) === true) continue;
      throw refused(`${subject} is refused: ${quoted(branch)} belongs to a workspace`);
    }
  }

  /** Checks the name of a branch that a card gives, unless a check-in is on the branch already. */
  requireName(name: string, subject: string): void {
    if (this.#rules.role === "admin") return;
    this.#names ??= this.branchNames();
    if (this.#names.has(name)) return;
    const flaw = this.#flawOfName(name);
    if (flaw !== null) throw refused(`${subject} names the branch ${quoted(name)}, which ${flaw}`);
    this.#names.add(name);
  }

  /** The names of the branches that there are now. */
  branchNames(): TextSet {
    return new TextSet(
      this.#repository.db.rows<{ value: string | null }>(
        "SELECT DISTINCT value FROM tagxref WHERE tagid=? AND tagtype>0",
        TAG.branch,
      ).map(({ value }) => value ?? ""),
    );
  }

  #flawOfName(name: string): string | null {
    if (name === "" || name !== name.trim() || /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\ufffd]/u.test(name)) {
      return "is no name of a branch";
    }
    if (name.length > TEXT_BOUNDS.name) return "is too long";
    const fault = nameFault(name);
    if (fault !== null) return fault;
    if (this.#isTag(name)) return "is the name of a tag";
    const plain = name.normalize("NFKC").trim().toLowerCase();
    if (plain === name) return null;
    const isShadow = this.refusalOf(name) === null && this.refusalOf(plain) !== null;
    return isShadow ? `is too similar to the protected branch ${quoted(plain)}` : null;
  }

  #isTag(name: string): boolean {
    const select = "SELECT 1 FROM tagxref JOIN tag USING(tagid) WHERE tagname=? AND tagtype=1";
    return this.#repository.db.exists(select, `sym-${name}`);
  }

  #judgeNew(checkin: NewCheckin): void {
    const { rid, hash, manifest } = checkin;
    const subject = `Check-in ${short(hash)}`;
    const branch = this.branchOf(rid);
    this.require(branch, `${subject}: the push`);
    this.#judgeStart(checkin, branch, subject);
    this.#judgeMerge(manifest, branch, subject);
    if (this.#rules.role === "admin") return;
    this.#judgeInheritedNames(rid, branch, subject);
    if (this.#rules.isFromGit !== true) judgeFiles(this.#repository, checkin);
  }

  /** Checks that a check-in on the branch of a workspace continues that. */
  #judgeStart({ manifest }: NewCheckin, branch: string, subject: string): void {
    const { store } = this.#repository;
    const [parent] = manifest.parents;
    const rid = parent === undefined ? 0 : store.ridOf(parent);
    const isHere = rid !== 0 && this.isCheckin(rid);
    if (!this.isWorkspace(branch) || (isHere && this.branchOf(rid) === branch)) return;
    if (this.#rules.begins?.includes(branch)) return;
    throw refused(
      `${subject} begins a second line of ${quoted(branch)}: continue the tip of the workspace`,
    );
  }

  #judgeMerge({ parents }: Manifest, branch: string, subject: string): void {
    if (parents.length < 2) return;
    const refusal = ruleOf(this.#rules.merges, branch);
    if (refusal !== null) {
      throw refused(`${subject}: the merge into ${quoted(branch)} is refused: ${refusal}`);
    }
    if (this.isWorkspace(branch)) return;
    for (const parent of parents.slice(1)) {
      const rid = this.#repository.store.ridOf(parent);
      const merged = rid === 0 || !this.isCheckin(rid) ? "" : this.branchOf(rid);
      const against = this.isWorkspace(merged) ? this.refusalOf(merged) : null;
      if (against === null) continue;
      throw refused(`${subject}: the merge of ${quoted(merged)} is refused: ${against}`);
    }
  }

  /**
   * Checks the names of branches by which others find a check-in. They propagate like the branch,
   * and a check-in that starts a branch must cancel them.
   */
  #judgeInheritedNames(rid: number, branch: string, subject: string): void {
    const rows = this.#repository.db.rows<{ tagname: string }>(
      `SELECT tagname FROM tagxref JOIN tag USING(tagid)
        WHERE rid=? AND tagtype=2 AND tagname GLOB 'sym-*'`,
      rid,
    );
    for (const { tagname } of rows) {
      const name = tagname.slice("sym-".length);
      if (name !== branch) this.require(name, `${subject} keeps the name of a branch: the push`);
    }
  }

  /** Checks a check-in that was here before and is on another branch now. */
  #judgeMove(rid: number, before: string, branch: string): void {
    const subject = `Check-in ${short(this.#repository.store.hashOf(rid) ?? "")}: the move`;
    this.requireMove([before, branch], subject);
  }
}

/** Whether a card starts a branch that descendants inherit. */
function startsBranch({ sign, name, target }: TagCard): boolean {
  return sign === "*" && name === "branch" && target === null;
}

/** The refusal of the first rule that matches a name; null if the name is open. */
function ruleOf(rules: readonly NameRule[], name: string): string | null {
  return rules.find(({ pattern }) => matchesGlob(pattern, name))?.refusal ?? null;
}
