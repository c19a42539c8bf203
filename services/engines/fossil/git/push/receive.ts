/** Stores a push: its commits as check-ins, its references as tags and moves. */
import { firstIndex } from "../../../../kernel/first_index.ts";
import { bytesOfName, GitError, hexOf } from "../../../git/mod.ts";
import { errorCodeOf, FossilError } from "../../error.ts";
import { TAG } from "../../content/mod.ts";
import { BranchJudge } from "../../sync/judge_branches.ts";
import { writeJudged } from "../../sync/judge.ts";
import type { PushRules } from "../../sync/judgement.ts";
import { LeftOut } from "../../sync/refusal.ts";
import { type TagChange, writeTags } from "../../write/mod.ts";
import type { GitCompanion } from "../door/mod.ts";
import { isEmpty } from "../door/refs.ts";
import { formatMoves, REFS_PROPERTY } from "../headers.ts";
import { foldersOf } from "../refs.ts";
import { type PushBranch, PushBranches } from "./branches.ts";
import { CheckinWriter } from "./checkins.ts";
import { FileDraft } from "./draft.ts";
import { NewHistory } from "./history.ts";
import { AllObjects } from "./known.ts";
import { ShortDraft } from "./short_draft.ts";
import { PushedTags } from "./tags.ts";

const HEADS = "refs/heads/";
const TAGS = "refs/tags/";
const TRUNK = "trunk";
/** The branch of the check-in with which a project begins, once something else is in its place. */
const INITIAL = "initial";
/** The branch of check-ins that a forced push has taken from theirs. */
const REWOUND = "rewound";
/** The likeliest main branches of a first push. */
const MAINS = ["trunk", "main", "master"].map((name) => HEADS + name);

/** A reference that changes. */
export interface PushedRef {
  /** Below `refs/heads` or `refs/tags`. */
  readonly ref: string;
  /** What the client has seen there; null for nothing, absent for whatever is there. */
  readonly from?: string | null;
  /** Null if it is deleted. */
  readonly to: string | null;
  /** Whether the branch may lose commits. */
  readonly mayRewind: boolean;
}

/** A push whose objects are in a draft. */
export interface GitPush {
  /** Where the draft is, or its bytes; null for a push without objects. */
  readonly draft: string | Uint8Array | null;
  readonly refs: readonly PushedRef[];
  /** The reference of the main branch; null or absent to leave it, or to guess that of a first push. */
  readonly head?: string | null;
  readonly isAtomic: boolean;
  readonly rules: PushRules;
  readonly address: string | null;
  readonly mark: string | null;
  /** Unix milliseconds. */
  readonly now: number;
}

/** What became of a reference. */
export interface PushedRefReport {
  readonly ref: string;
  /** What was there before. */
  readonly from: string | null;
  /** Why it was refused; null if it was not. */
  readonly refusal: string | null;
  /** The check-in of the commit that is there now; null for none. */
  readonly checkin: string | null;
  /** Whether a branch lost commits that were there. */
  readonly isRewound: boolean;
}

export interface GitPushReport {
  /** See `Store.receipt`; null if nothing was stored. */
  readonly receipt: number | null;
  readonly refs: readonly PushedRefReport[];
}

/** Why references are refused. */
class RefsRefused extends Error {
  readonly reasons: ReadonlyMap<string, string>;

  constructor(reasons: ReadonlyMap<string, string>) {
    super("References are refused");
    this.reasons = reasons;
  }
}

const OTHERS_REFUSED = "another reference of this push was refused, and it is all or nothing";
/** Most attempts to store what is not refused: each refuses some more. */
const MAX_ATTEMPTS = 10;
const TOO_MANY_REFUSED = "too many references of this push were refused: push this one alone";

/**
 * Stores a push in one transaction. A reference that is refused is left out, unless all or nothing is
 * wanted. Afterwards every commit has the name that was pushed, or it is refused.
 *
 * @param progress called with the commits that are stored, and their total; throws if the work must end
 */
export function receivePush(
  companion: GitCompanion,
  push: GitPush,
  progress: (done: number, total: number) => void,
): GitPushReport {
  companion.update();
  using draft = push.draft === null
    ? null
    : typeof push.draft === "string"
    ? FileDraft.open(push.draft)
    : ShortDraft.from(push.draft);
  const objects = new AllObjects(companion, draft);
  const before = new Map(
    push.refs.flatMap(({ ref }) => {
      const object = companion.objectAt(ref);
      return object === null ? [] : [[ref, object]];
    }),
  );
  const refusals = new Map<string, string>();
  let receipt: number | null = null;
  let checkins: ReadonlyMap<string, string> = new Map();
  let rewound: ReadonlySet<string> = new Set();
  for (let attempts = 0;; attempts++) {
    const refs = push.refs.filter(({ ref }) => !refusals.has(ref));
    if (refs.length === 0) break;
    const reason = push.isAtomic && refusals.size > 0
      ? OTHERS_REFUSED
      : attempts === MAX_ATTEMPTS
      ? TOO_MANY_REFUSED
      : null;
    if (reason !== null) {
      for (const { ref } of refs) refusals.set(ref, reason);
      break;
    }
    const attempt = new Attempt({ objects, push, refs, before, progress });
    try {
      receipt = attempt.run();
      checkins = attempt.checkins;
      rewound = attempt.rewound;
      break;
    } catch (error) {
      for (const [ref, reason] of attempt.refusalsOf(error)) refusals.set(ref, reason);
    }
  }
  return {
    receipt,
    refs: push.refs.map(({ ref }) => {
      return {
        ref,
        from: before.get(ref) ?? null,
        refusal: refusals.get(ref) ?? null,
        checkin: checkins.get(ref) ?? null,
        isRewound: rewound.has(ref),
      };
    }),
  };
}

interface AttemptParts {
  readonly objects: AllObjects;
  readonly push: GitPush;
  /** Those that were not refused yet. */
  readonly refs: readonly PushedRef[];
  /** The objects at which the references of the push were before. */
  readonly before: ReadonlyMap<string, string>;
  readonly progress: (done: number, total: number) => void;
}

/** One attempt to store some references. */
class Attempt {
  readonly #parts: AttemptParts;
  readonly #companion: GitCompanion;
  /** The reference that is being worked on, whose fault an error is. */
  #current: string | null = null;
  /** The references of artifacts. */
  readonly #causes = new Map<string, string>();

  constructor(parts: AttemptParts) {
    this.#parts = parts;
    this.#companion = parts.objects.companion;
  }

  /** The references that are refused because of an error, which is thrown if it is nobody's fault. */
  refusalsOf(error: unknown): ReadonlyMap<string, string> {
    if (error instanceof RefsRefused) return error.reasons;
    const refusals = new Map<string, string>();
    if (error instanceof LeftOut) {
      for (const { hash, sentence } of error.refusals) {
        const ref = this.#causes.get(hash);
        if (ref !== undefined) refusals.set(ref, sentence);
      }
    }
    if (refusals.size > 0) return refusals;
    const isKnown = error instanceof GitError ||
      (error instanceof FossilError && FAULTS.has(errorCodeOf(error) ?? ""));
    if (!isKnown) throw error;
    const refs = this.#current === null ? this.#parts.refs.map(({ ref }) => ref) : [this.#current];
    return new Map(refs.map((ref) => [ref, error.message]));
  }

  /** Stores the references; returns the receipt. */
  run(): number | null {
    const { push: { rules, address, mark } } = this.#parts;
    const { repository } = this.#companion.reader;
    const origin = { user: rules.pusher, ip: address, ...mark === null ? {} : { mark } };
    return this.#companion.during((update) =>
      writeJudged(repository, { origin, rules, conclude: () => this.#conclude(update) }, () => {
        this.#store();
        this.#current = null;
        const { store } = repository;
        return store.hasReceipt ? store.receipt() : null;
      })
    );
  }

  #store(): void {
    const { objects, refs, push } = this.#parts;
    const { db, graph, reader: { repository } } = this.#companion;
    const branches = new PushBranches(this.#companion);
    const judge = new BranchJudge(repository, push.rules);
    const heads: { readonly pushed: PushedRef; readonly branch: PushBranch }[] = [];
    const isNew = ({ ref, to }: PushedRef) => to !== null && !this.#parts.before.has(ref);
    // Those that are there already stand beside each other.
    const names = refs.some(isNew) ? this.#namesAfter() : null;
    const hasOtherMain = refs.some(({ ref, to }) => ref === push.head && to !== null);
    this.#requireEach(refs, (pushed) => {
      this.#requireCurrent(pushed);
      const other = names?.conflictOf(pushed) ?? null;
      if (other !== null) this.#refuse(`${other} is there, and Git cannot have both`);
      if (!pushed.ref.startsWith(HEADS)) return;
      const branch = branches.of(pushed.ref);
      const refusal = judge.refusalOf(branch.name);
      if (refusal !== null) this.#refuse(refusal);
      const staysMain = branches.isMain(branch) && !hasOtherMain;
      if (pushed.to === null && staysMain) this.#refuse("it is the main branch");
      heads.push({ pushed, branch });
    });
    const isFirst = isEmpty({ db, graph, repository });
    const main = isFirst ? this.#firstMain(heads.map(({ pushed }) => pushed)) : null;
    const isMain = (ref: string) => ref === main;
    heads.sort((left, right) =>
      Number(isMain(right.pushed.ref)) - Number(isMain(left.pushed.ref)) ||
      Number(branches.isMain(right.branch)) - Number(branches.isMain(left.branch))
    );
    this.#writeHistory({ heads, branches, main });
    if (!isFirst) this.#moveMain(heads, branches);
    for (const { pushed, branch } of heads) {
      this.#current = pushed.ref;
      this.#moveHead(pushed, { branch, branches });
    }
    const { rules: { pusher }, now } = push;
    const tags = new PushedTags({ objects, repository, branches, pusher, now });
    for (const { ref, to } of refs) {
      if (!ref.startsWith(TAGS)) continue;
      this.#current = ref;
      this.#note(tags.set(ref, to, (commit) => this.#writer!.checkinOf(commit)));
    }
  }

  /** The check-ins at which branches point now. */
  readonly checkins = new Map<string, string>();
  /** The branches that lost commits. */
  readonly rewound = new Set<string>();
  #writer: CheckinWriter | null = null;
  #history: NewHistory | null = null;

  /** The names of all references, once this push is stored. */
  #namesAfter(): RefNames {
    const { refs } = this.#parts;
    const names = new Set(this.#companion.refNames());
    for (const { ref, to } of refs) {
      if (to === null) names.delete(ref);
      else names.add(ref);
    }
    return new RefNames(names);
  }

  /** Checks that a reference is as the client has seen it. */
  #requireCurrent({ ref, from, to }: PushedRef): void {
    const { before, objects } = this.#parts;
    const now = before.get(ref) ?? null;
    if (from !== undefined && from !== now) {
      this.#refuse("it has changed meanwhile: fetch first, then push again");
    }
    if (to === null) {
      if (now === null) this.#refuse("it does not exist");
      return;
    }
    const kind = objects.kindOf(bytesOfName(to));
    if (kind === null) this.#refuse(`the object ${to} is missing`);
    if (ref.startsWith(HEADS) && kind !== "commit") this.#refuse(`a branch is no ${kind}`);
  }

  #refuse(reason: string): never {
    throw new RefsRefused(new Map([[this.#current ?? "", reason]]));
  }

  /** Makes a check of each reference, and then refuses all that did not pass. */
  #requireEach(refs: readonly PushedRef[], require: (ref: PushedRef) => void): void {
    const reasons = new Map<string, string>();
    for (const pushed of refs) {
      this.#current = pushed.ref;
      try {
        require(pushed);
      } catch (error) {
        if (!(error instanceof RefsRefused)) throw error;
        for (const [ref, reason] of error.reasons) reasons.set(ref, reason);
      }
    }
    if (reasons.size > 0) throw new RefsRefused(reasons);
  }

  #firstMain(heads: readonly PushedRef[]): string | null {
    const own = heads.filter(({ ref, to }) => to !== null && !ref.startsWith(`${HEADS}workspace/`))
      .map(({ ref }) => ref);
    const { head = null } = this.#parts.push;
    const likely = head === null ? MAINS : [head, ...MAINS];
    return likely.find((main) => own.includes(main)) ?? own[0] ?? null;
  }

  /** Makes another branch the main one, if that is asked for. */
  #moveMain(
    heads: readonly { readonly pushed: PushedRef; readonly branch: PushBranch }[],
    branches: PushBranches,
  ): void {
    const { push: { head = null } } = this.#parts;
    const found = heads.find(({ pushed: { ref } }) => ref === head);
    if (found === undefined || found.pushed.to === null) return;
    const { repository } = this.#companion.reader;
    const { pushed: { ref, to }, branch } = found;
    repository.config.set("main-branch", branch.name);
    // A main branch has a check-in of its own.
    const hasOwn = "SELECT 1 FROM tagxref WHERE tagid=? AND value=? AND tagtype>0";
    if (repository.db.exists(hasOwn, TAG.branch, branch.name)) return;
    this.#current = ref;
    this.#tag(branches.moveTo(branch, this.#writer!.checkinOf(bytesOfName(to))));
  }

  #writeHistory({ heads, branches, main }: {
    readonly heads: readonly { readonly pushed: PushedRef; readonly branch: PushBranch }[];
    readonly branches: PushBranches;
    readonly main: string | null;
  }): void {
    const { objects, refs, push: { rules, now }, progress } = this.#parts;
    const { repository } = this.#companion.reader;
    const tagged = refs.flatMap(({ ref, to }) => {
      const commit = to === null || !ref.startsWith(TAGS) ? null : commitOfTag(objects, to);
      return commit === null ? [] : [{ ref, to: commit }];
    });
    const tips = [
      ...heads.flatMap(({ pushed: { ref, to } }) => to === null ? [] : [{ ref, to }]),
      ...tagged,
    ];
    const history = new NewHistory(objects, tips.map(({ to }) => to));
    const causes = history.assign(tips.map(({ to }) => to));
    const pusher = rules.users ?? [rules.pusher];
    const writer = new CheckinWriter({ repository, objects, now, pusher });
    this.#history = history;
    this.#writer = writer;
    const branchOf = new Map(heads.map(({ pushed, branch }) => [pushed.ref, branch]));
    const first = heads.find(({ pushed: { ref } }) => ref === main);
    this.#requireEach(heads.map(({ pushed }) => pushed), (pushed) => {
      this.#requireForward(pushed);
      const isWorkspace = Object.hasOwn(rules.workspaces, branchOf.get(pushed.ref)!.name);
      if (pushed.mayRewind && isWorkspace) {
        this.#requireOwn(pushed, { branch: branchOf.get(pushed.ref)!, branches });
      }
    });
    if (first !== undefined) this.#replaceInitial(first, branches);
    for (const [number, commit] of history.commits.entries()) {
      progress(number, history.commits.length);
      const { ref, to } = tips[causes[number]!]!;
      this.#current = ref;
      let branch = branchOf.get(ref);
      if (branch === undefined) branchOf.set(ref, branch = branches.of(ref));
      const isAliased = ref === main && branch.name !== TRUNK;
      this.#note(
        writer.write(commit, {
          branch,
          aliases: isAliased ? [TRUNK] : [],
          isClosed: ref.startsWith(TAGS) && to === hexOf(commit.name),
        }),
      );
      this.#written.push(commit.name);
    }
  }

  /** The commits that this attempt has written. */
  readonly #written: Uint8Array[] = [];

  /** Notes whose artifact it is. */
  #note(artifact: string): void {
    if (this.#current !== null) this.#causes.set(artifact, this.#current);
  }

  #requireForward({ ref, to, mayRewind }: PushedRef): void {
    const from = this.#parts.before.get(ref);
    if (from === undefined || to === null || mayRewind) return;
    if (this.#history!.descends(bytesOfName(to), bytesOfName(from))) return;
    this.#refuse(
      "non-fast-forward: it would lose commits that are there; fetch, merge or rebase, and push again",
    );
  }

  /** Checks that a branch which may lose commits keeps one of its own. */
  #requireOwn(
    { ref, to }: PushedRef,
    { branch, branches }: { readonly branch: PushBranch; readonly branches: PushBranches },
  ): void {
    const isKnown = to !== null && this.#parts.objects.placeOf(bytesOfName(to), "commit") !== 0;
    if (!isKnown || !this.#parts.before.has(ref)) return;
    if (branches.branchOf(this.#writer!.checkinOf(bytesOfName(to))) === branch.name) return;
    this.#refuse("nothing of it is left: push a commit of your own, or delete it to give it up");
  }

  /** Takes the first, empty check-in of a project out of the way of the first push. */
  #replaceInitial(
    { pushed: { ref }, branch }: { readonly pushed: PushedRef; readonly branch: PushBranch },
    branches: PushBranches,
  ): void {
    const { repository } = this.#companion.reader;
    this.#current = ref;
    if (branch.name !== TRUNK) repository.config.set("main-branch", branch.name);
    const initial = repository.db.rows<{ uuid: string }>(
      "SELECT uuid FROM event JOIN blob ON rid=objid WHERE type='ci'",
    );
    for (const { uuid: target } of initial) {
      this.#tag([
        ...branches.moveTo({ name: INITIAL, value: null }, target),
        { sign: "+", name: "closed", target },
        { sign: "*", name: "hidden", target },
      ]);
    }
  }

  #moveHead(
    { ref, to }: PushedRef,
    { branch, branches }: { readonly branch: PushBranch; readonly branches: PushBranches },
  ): void {
    const { before } = this.#parts;
    const number = 1 + (this.#companion.db.value<number>(
      "SELECT number FROM move WHERE ref=?",
      ref,
    ) ?? 0);
    const property = { sign: "+", name: REFS_PROPERTY } as const;
    const from = before.get(ref);
    const value = formatMoves({ number, isGone: to === null, refs: [ref] });
    if (to === null) {
      const target = this.#writer!.checkinOf(bytesOfName(from!));
      const closing = branches.openLeaves(branch).map((leaf): TagChange => {
        return { sign: "+", name: "closed", target: leaf };
      });
      this.#tag([{ ...property, target, value }, ...closing]);
      return;
    }
    const target = this.#writer!.checkinOf(bytesOfName(to));
    this.checkins.set(ref, target);
    const changes: TagChange[] = [{ ...property, target, value }];
    if (branches.branchOf(target) === branch.name) changes.push(...this.#reopening(target));
    if (from !== undefined) changes.push(...this.#joining(target, { branch, branches, from }));
    const isForward = from !== undefined &&
      this.#history!.descends(bytesOfName(to), bytesOfName(from));
    if (from !== undefined && !isForward) {
      this.rewound.add(ref);
      const leaves = branches.openLeaves(branch).filter((leaf) => leaf !== target);
      changes.push(...leaves.flatMap(ending));
    }
    if (!isForward) changes.push(...this.#cutting(target, branch, branches));
    this.#tag(changes);
  }

  /**
   * The tags that make a check-in the end of its branch: what continues it leaves the branch, and what
   * else that continues ends there.
   */
  #cutting(target: string, branch: PushBranch, branches: PushBranches): TagChange[] {
    const { graph, reader: { repository: { store } } } = this.#companion;
    const idOf = (checkin: string) => graph.idOf(store.ridOf(checkin));
    const continuations = branches.continuations(target, branch);
    const others = new Set(continuations.flatMap((one) => branches.continued(one, branch)));
    return [
      ...continuations.flatMap((one) => branches.moveTo({ name: REWOUND, value: null }, one)),
      ...[...others].filter((other) => !graph.isAncestor(idOf(other), idOf(target)))
        .flatMap(ending),
    ];
  }

  /**
   * The tags that put known check-ins on a branch which comes to them from their first parents: as
   * `git merge` without a merge commit does.
   */
  #joining(
    target: string,
    { branch, branches, from }: {
      readonly branch: PushBranch;
      readonly branches: PushBranches;
      readonly from: string;
    },
  ): TagChange[] {
    const { repository: { store, db } } = this.#companion.reader;
    // Another branch keeps what is its own, unless it is merged into the main one.
    if (!branches.isMain(branch) && branches.isSeen(branches.branchOf(target))) return [];
    const end = this.#writer!.checkinOf(bytesOfName(from));
    let first: string | null = null;
    for (let checkin = target; checkin !== end;) {
      const own = branches.branchOf(checkin);
      if (own === branch.name) return [];
      this.#requireJoining(own, branch);
      first = checkin;
      const parent = db.value<string>(
        "SELECT uuid FROM plink JOIN blob ON rid=pid WHERE cid=? AND isprim",
        store.ridOf(checkin),
      );
      if (parent === undefined) return [];
      checkin = parent;
    }
    return first === null ? [] : branches.moveTo(branch, first);
  }

  /** Checks that commits may leave their branch for another one, as no commit of a workspace does. */
  #requireJoining(own: string, { name }: PushBranch): void {
    const { push: { rules } } = this.#parts;
    const refusal = new BranchJudge(this.#companion.reader.repository, rules).refusalOf(own);
    if (refusal !== null) this.#refuse(`it has commits of ${own}: ${refusal}`);
    if (!Object.hasOwn(rules.workspaces, own)) return;
    const topic = own.replace(/^workspace\//, "");
    this.#refuse(
      `it has the commits of ${own}, which a merge ends: push them to refs/for/${name}/${topic} ` +
        "for a review that lands, or merge the workspace on its page",
    );
  }

  /** The tags that end what an earlier move has closed, if a check-in is the tip of a branch again. */
  #reopening(target: string): TagChange[] {
    const { repository: { store, db } } = this.#companion.reader;
    return db.rows<{ name: string }>(
      `SELECT tagname AS name FROM tagxref JOIN tag USING(tagid)
        WHERE rid=? AND tagtype=1 AND tagname IN ('closed','hidden')`,
      store.ridOf(target),
    ).map(({ name }) => ({ sign: "-", name, target }));
  }

  #tag(changes: readonly TagChange[]): void {
    const { push: { rules: { pusher }, now } } = this.#parts;
    const { repository } = this.#companion.reader;
    this.#note(writeTags(repository, { user: pusher, date: now, changes }));
  }

  /** Makes the objects of what was written, and checks that they are what was pushed. */
  #conclude(update: () => void): void {
    const { objects, refs } = this.#parts;
    update();
    for (const name of this.#written) {
      if (objects.placeOf(name, "commit") !== 0) continue;
      throw new FossilError(
        "invalid",
        `The commit ${
          hexOf(name)
        } has something that this server cannot keep: its name would change`,
      );
    }
    this.#requireEach(refs, ({ ref, to }) => {
      if (this.#companion.objectAt(ref) !== to) this.#refuse("this server cannot keep it as it is");
    });
  }
}

/** Names of references, of which none may be a folder of another: clients keep them as files. */
class RefNames {
  readonly #names: ReadonlySet<string>;
  readonly #sorted: readonly string[];

  constructor(names: ReadonlySet<string>) {
    this.#names = names;
    this.#sorted = [...names].sort();
  }

  /** A name that cannot stand beside a reference which this push makes; null if there is none. */
  conflictOf({ ref, to }: PushedRef): string | null {
    if (to === null) return null;
    const folder = `${ref}/`;
    const below =
      this.#sorted[firstIndex(this.#sorted.length, (at) => this.#sorted[at]! >= folder)];
    if (below?.startsWith(folder) === true) return below;
    return foldersOf(ref).find((one) => this.#names.has(one)) ?? null;
  }
}

const FAULTS: ReadonlySet<string> = new Set(["conflict", "invalid", "limit", "corrupt", "missing"]);

/** The tags that end a line of check-ins which no reference shows any more. */
function ending(target: string): TagChange[] {
  return [{ sign: "+", name: "closed", target }, { sign: "+", name: "hidden", target }];
}

/** The commit that a tag is of at last; null if it is of something else. */
function commitOfTag(objects: AllObjects, to: string): string | null {
  return PushedTags.commitOf(objects, bytesOfName(to));
}
