/** The judge of a push: calls the rules of each kind of artifact. */
import { type ArtifactKind, explainArtifact } from "../artifact/mod.ts";
import { stripSignature } from "../artifact/parse.ts";
import { type Origin, TAG } from "../content/mod.ts";
import type { Repository } from "../repository.ts";
import { BranchJudge } from "./judge_branches.ts";
import { judgeCards } from "./judge_cards.ts";
import { judgeUnversioned } from "./judge_files.ts";
import { TagJudge } from "./judge_tags.ts";
import { nameOf, short } from "./judge_words.ts";
import type {
  Judge,
  OpenJudge,
  PushedArtifact,
  PushedKind,
  PushedUnversioned,
  PushRules,
} from "./judgement.ts";
import { Refusals, refused } from "./refusal.ts";

/**
 * Most names without content that a writer's push may leave, and that a repository may have then. An
 * admin can push a whole history, which begins with all its names.
 */
const MAX_NEW_PHANTOMS = 20_000;
const MAX_PHANTOMS = 250_000;

const KINDS: Readonly<Record<Exclude<ArtifactKind, "cluster">, PushedKind>> = {
  manifest: "checkin",
  control: "tag",
  wiki: "wiki",
  ticket: "ticket",
  technote: "technote",
  forum: "forum",
  attachment: "attachment",
};

/** The last card of an artifact: a checksum of everything before it. */
const SEAL_BYTES = 35;
const SEAL = /^Z [0-9a-f]{32}\n$/;

/** Makes the judge of a push, in the transaction and before anything is stored. */
const openJudge: OpenJudge = (repository, rules) => new PushJudge(repository, rules);

class PushJudge implements Judge {
  readonly #repository: Repository;
  readonly #rules: PushRules;
  readonly #branches: BranchJudge;
  readonly #tags: TagJudge;
  readonly #phantoms: number;
  readonly #refusals = new Refusals();

  constructor(repository: Repository, rules: PushRules) {
    this.#repository = repository;
    this.#rules = rules;
    this.#branches = new BranchJudge(repository, rules);
    this.#tags = new TagJudge(repository, rules, this.#branches);
    this.#phantoms = this.#countPhantoms();
  }

  arrive(arrival: PushedArtifact): void {
    this.#refusals.collect([arrival.hash], () => this.#judgeArtifact(arrival));
  }

  #judgeArtifact({ artifact, hash, rid }: PushedArtifact): void {
    if (artifact.kind === "cluster") return;
    const refusal = this.#rules.closedKinds[KINDS[artifact.kind]];
    if (refusal !== undefined) throw refused(`${nameOf(artifact, hash)} is refused: ${refusal}`);
    judgeCards(this.#repository, this.#rules, { artifact, hash, rid });
    if (artifact.kind === "manifest") this.#branches.arrive(rid, hash, artifact);
    if (artifact.kind === "manifest" || artifact.kind === "control") {
      this.#tags.arrive({ artifact, hash });
    }
    if (artifact.kind === "technote") {
      for (const tag of artifact.tags) this.#tags.technote(tag, hash);
    }
  }

  file(content: Uint8Array, hash: string): void {
    const { role, isFromGit = false } = this.#rules;
    // A file of Git that is an artifact comes behind a line that keeps every program from reading it so.
    if (role === "admin" || isFromGit || !isSealed(content)) return;
    const { reason } = explainArtifact(content);
    const sentence = `Artifact ${short(hash)} is malformed: ${reason ?? "it is unknown"}`;
    this.#refusals.add({ hash, sentence, missing: [] });
  }

  tag(rid: number, tag: number): void {
    if (tag === TAG.branch) this.#branches.willMove(rid);
  }

  unversioned(file: PushedUnversioned): void {
    judgeUnversioned(this.#rules, file);
  }

  requireArrivals(): void {
    this.#refusals.throwAny();
  }

  conclude(): void {
    const refusals = this.#refusals;
    refusals.throwAny();
    // Before anything is judged by a branch that may still change.
    const checkins = this.#branches.premature(refusals);
    this.#tags.premature(checkins, refusals);
    refusals.throwAny();
    // A tag may be why a check-in is on a branch that is closed: without it, that is judged anew.
    this.#tags.conclude(refusals);
    refusals.throwAny();
    this.#branches.concludeMoves(this.#tags.taggers(), refusals);
    refusals.throwAny();
    this.#branches.concludeNew(refusals);
    refusals.throwAny();
    if (this.#rules.role === "admin") return;
    const phantoms = this.#countPhantoms();
    if (phantoms - this.#phantoms > MAX_NEW_PHANTOMS || phantoms > MAX_PHANTOMS) {
      throw refused("The push names too many artifacts that the project does not have");
    }
  }

  #countPhantoms(): number {
    return this.#repository.db.value<number>("SELECT count(*) FROM phantom") ?? 0;
  }
}

/**
 * Whether content claims to be an artifact. One that this engine cannot read may take effect in
 * another program, so it needs an admin.
 */
function isSealed(content: Uint8Array): boolean {
  const bytes = stripSignature(content);
  if (bytes.length <= SEAL_BYTES) return false;
  return SEAL.test(new TextDecoder("latin1").decode(bytes.subarray(-SEAL_BYTES)));
}

/**
 * Runs a write as one transaction whose arrivals a judge sees.
 *
 * @throws {FossilError} `conflict` with the judge's sentence; then nothing is stored.
 */
export function writeJudged<T>(
  repository: Repository,
  { origin, rules, conclude }: {
    readonly origin: Origin;
    readonly rules: PushRules;
    /** Called after the judge, before the commit. */
    readonly conclude?: () => void;
  },
  work: (judge: Judge) => T,
): T {
  let judge: Judge | undefined;
  return repository.write(origin, () => {
    judge = openJudge(repository, rules);
    return work(judge);
  }, {
    inspect: (artifact, hash, rid) => judge?.arrive({ artifact, hash, rid }),
    inspectFile: (content, hash) => judge?.file(content, hash),
    onTag: (rid, tag) => judge?.tag(rid, tag),
    conclude: () => {
      judge?.conclude();
      conclude?.();
    },
  });
}
