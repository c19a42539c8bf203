/** Rules for tags: what a T card may do, beside moving check-ins to another branch. */
import { type Control, type Manifest, nameFault, type TagCard } from "../artifact/mod.ts";
import { parseDate } from "../codec/mod.ts";
import type { Repository } from "../repository.ts";
import type { BranchJudge } from "./judge_branches.ts";
import { isOwn } from "./judge_cards.ts";
import { absentName, nameOf, quoted, short } from "./judge_words.ts";
import type { PushRules } from "./judgement.ts";
import { type Refusals, refused } from "./refusal.ts";
import { addTo, type TextSet } from "../text/mod.ts";

/** Tags by which the engine marks artifacts of other kinds. */
const RESERVED = /^(?:wiki-|tkt-|event-|cluster$)/;
/** Properties that change how a branch looks to everybody. */
const OF_BRANCH: ReadonlySet<string> = new Set(["closed", "bgcolor", "hidden"]);
/** Properties that change what the author of a check-in said. */
const OF_AUTHOR: ReadonlySet<string> = new Set(["comment", "date"]);
/** Properties that only admins of the project change. */
const OF_ADMIN: ReadonlySet<string> = new Set(["parent", "private"]);
/** The property that moves references of Git, which `git push` does. */
const REFS = "git-refs";
/** Properties with what Git alone sees, such as the words that were signed, which `git push` sets. */
const OF_GIT = /^git-(?:refs$|commit$|tree$|tag-)/;
const SYMBOLIC = "sym-";

type Tagging = Manifest | Control;

/** A card to judge when everything is linked. */
interface TagChange {
  readonly tag: TagCard;
  /** Hash of what has the card. */
  readonly hash: string;
  readonly subject: string;
  /** Hash of the tagged artifact. */
  readonly target: string;
  readonly isSelf: boolean;
  /** The same tag there before; null if there was none. */
  readonly before: { readonly isBranchName: boolean; readonly isOwn: boolean } | null;
}

interface Move {
  readonly subject: string;
  readonly hash: string;
  readonly target: string;
  readonly date: number;
}

/** Judges the T cards of a push. */
export class TagJudge {
  readonly #repository: Repository;
  readonly #rules: PushRules;
  readonly #branches: BranchJudge;
  readonly #changes: TagChange[] = [];
  /** Cards that name a branch for an artifact that was not here when they came. */
  readonly #moves: Move[] = [];
  /** The tagged artifacts, by the hash of what tags them. */
  readonly #targets = new Map<string, string[]>();
  /** The names of branches once everything is linked; null until asked for. */
  #branchNames: TextSet | null = null;

  constructor(repository: Repository, rules: PushRules, branches: BranchJudge) {
    this.#repository = repository;
    this.#rules = rules;
    this.#branches = branches;
  }

  arrive({ artifact, hash }: { readonly artifact: Tagging; readonly hash: string }): void {
    const subject = nameOf(artifact, hash);
    for (const tag of artifact.tags) {
      const target = tag.target ?? hash;
      const isSelf = target === hash;
      this.#judgeProperty(tag, subject);
      if (!isSelf) addTo(this.#targets, hash, target);
      if (tag.name === "branch") {
        const move = { subject, hash, target, date: artifact.date };
        this.#judgeBranchCard(tag, subject, isSelf ? null : move);
      } else if (this.#rules.role !== "admin") {
        const before = isSelf || this.#isNew(target) ? null : this.#before(tag, target);
        this.#changes.push({ tag, hash, subject, target, isSelf, before });
      }
    }
  }

  /** Judges a tag that a technote puts on itself. */
  technote(tag: TagCard, hash: string): void {
    const subject = `The version ${short(hash)} of a technote`;
    this.#judgeProperty(tag, subject);
    if (tag.name === "branch" && this.#rules.role !== "admin") {
      throw refused(`${subject} puts itself on a branch`);
    }
  }

  conclude(refusals: Refusals): void {
    for (const move of this.#moves) refusals.collect([move.hash], () => this.#judgeMove(move));
    for (const change of this.#changes) {
      refusals.collect([change.hash], () => this.#judgeChange(change));
    }
  }

  /** What tags something else. */
  taggers(): string[] {
    return [...this.#targets.keys()];
  }

  /** Rules that need no more than the card. */
  #judgeProperty({ name, value, sign }: TagCard, subject: string): void {
    if (RESERVED.test(name)) throw refused(`${subject} sets the reserved tag ${quoted(name)}`);
    if (name === "date" && sign !== "-") {
      const date = parseDate(value ?? "");
      if (date === null || date > this.#rules.latest) {
        throw refused(`${subject} sets a date that is in the future, or is none`);
      }
    }
    if (name === "user" && !isOwn(this.#rules, value)) {
      throw refused(`${subject} changes who wrote it: only admins of the project do that`);
    }
    const isOfGit = OF_GIT.test(name) && this.#rules.isFromGit !== true;
    if ((OF_ADMIN.has(name) || isOfGit) && this.#rules.role !== "admin") {
      throw refused(`${subject} sets the tag "${name}": only admins of the project do that`);
    }
  }

  /** Whether a check-in came with this push: its author may still correct it. */
  #isNew(hash: string): boolean {
    return this.#branches.isNew(this.#repository.store.ridOf(hash));
  }

  /**
   * Judges a card that names a branch, even if a newer card keeps it from taking effect now. A check-in
   * of the same push leaves no branch that anybody has seen it on.
   */
  #judgeBranchCard(
    { value, sign }: TagCard,
    subject: string,
    of: Move | null,
  ): void {
    const branch = value ?? "";
    if (sign !== "-") this.#branches.requireName(branch, subject);
    if (of === null) return;
    const { target } = of;
    const rid = this.#repository.store.ridOf(target);
    const isKnown = this.#branches.isCheckin(rid) && !this.#branches.isNew(rid);
    const left = isKnown ? [this.#branches.branchOf(rid)] : [];
    this.#branches.requireMove(sign === "-" ? left : [...left, branch], `${subject}: the move`);
    if (!isKnown) this.#moves.push(of);
  }

  /**
   * Refuses artifacts that tag something which is not here, or not judged yet.
   *
   * @param premature the check-ins that cannot be judged yet
   */
  premature(premature: ReadonlySet<string>, refusals: Refusals): void {
    if (this.#rules.role === "admin") return;
    const isAbsent = (target: string) => {
      const rid = this.#repository.store.ridOf(target);
      return premature.has(target) || rid === 0 || this.#repository.store.sizeOf(rid) < 0;
    };
    for (const [hash, targets] of this.#targets) {
      const missing = targets.filter(isAbsent);
      const [first] = missing;
      if (first !== undefined) refusals.add({ hash, sentence: absentName(hash, first), missing });
    }
  }

  /**
   * Checks that a card which moves a check-in of this push is newer than it. In another order of
   * arrival, as in a rebuild, an older card has no effect.
   */
  #judgeMove({ subject, target, date }: Move): void {
    const rid = this.#repository.store.ridOf(target);
    this.#requireTarget(rid, target, subject);
    if (this.#rules.role === "admin" || this.#branches.isNewest(rid, date)) return;
    throw refused(`${subject} is older than the check-in ${short(target)}, which it moves`);
  }

  /** What a tag is before the card changes it. */
  #before({ name }: TagCard, target: string): TagChange["before"] {
    const row = this.#repository.db.row<{ tagtype: number; srcid: number }>(
      `SELECT tagtype, srcid FROM tagxref JOIN tag USING(tagid) JOIN blob USING(rid)
        WHERE tagname=? AND uuid=? AND tagtype>0`,
      name,
      target,
    );
    if (row === undefined) return null;
    return { isBranchName: row.tagtype === 2, isOwn: this.#isOwnSource(row.srcid) };
  }

  #isOwnSource(rid: number): boolean {
    const source = this.#repository.artifact(rid);
    return source !== null && source.kind !== "cluster" && isOwn(this.#rules, source.user);
  }

  /** Only check-ins that are here take tags: what a tag does to others cannot be judged. */
  #requireTarget(rid: number, target: string, subject: string): void {
    if (this.#rules.role === "admin" || (rid !== 0 && this.#branches.isCheckin(rid))) return;
    throw refused(`${subject} tags ${short(target)}, which is no check-in of the project`);
  }

  #judgeChange(change: TagChange): void {
    const { tag: { name, sign }, subject, target, isSelf, before } = change;
    const rid = this.#repository.store.ridOf(target);
    if (isSelf && !this.#branches.isCheckin(rid)) return;
    // The list of what a tag of Git names is no check-in.
    if (name === REFS && this.#rules.isFromGit === true) return;
    this.#requireTarget(rid, target, subject);
    if (name.startsWith(SYMBOLIC)) return this.#judgeName(change, rid);
    if (isSelf) return;
    const isShown = OF_BRANCH.has(name) || OF_AUTHOR.has(name) || sign === "*";
    if (isShown) {
      this.#branches.require(this.#branches.branchOf(rid), `${subject}: the change of "${name}"`);
    }
    if (OF_AUTHOR.has(name) && !this.#isOwnSource(rid)) {
      throw refused(
        `${subject} changes the ${name} of check-in ${short(target)}, which somebody else wrote`,
      );
    }
    if (!isShown && sign === "-" && before?.isOwn === false) {
      throw refused(`${subject} removes the tag ${quoted(name)}, which somebody else set`);
    }
  }

  /** Judges a name by which others find a check-in. */
  #judgeName({ tag, subject, isSelf, before }: TagChange, rid: number): void {
    const name = tag.name.slice(SYMBOLIC.length);
    if (tag.sign === "-") {
      if (isSelf || before === null) return;
      if (before.isBranchName) return this.#branches.require(name, `${subject}: the change`);
      if (before.isOwn) return;
      throw refused(`${subject} removes the tag ${quoted(name)}, which somebody else set`);
    }
    if (this.#branches.branchOf(rid) === name) return;
    const flaw = this.#flawOfName(name, rid);
    if (flaw !== null) throw refused(`${subject} sets the tag ${quoted(name)}, which ${flaw}`);
  }

  #flawOfName(name: string, rid: number): string | null {
    const { db } = this.#repository;
    this.#branchNames ??= this.#branches.branchNames();
    if (this.#branchNames.has(name)) return "is the name of a branch";
    const refusal = this.#branches.refusalOf(name);
    if (refusal !== null) return `is reserved for a branch: ${refusal}`;
    const fault = nameFault(name);
    if (fault !== null) return fault;
    const holders = db.rows<{ srcid: number }>(
      `SELECT srcid FROM tagxref JOIN tag USING(tagid)
        WHERE tagname=? AND tagtype=1 AND rid<>?`,
      SYMBOLIC + name,
      rid,
    );
    return holders.every(({ srcid }) => this.#isOwnSource(srcid))
      ? null
      : "somebody else set on another check-in";
  }
}
