/** Fills a new repository with what was fetched from a Git server: as one push of all it has. */
import { join } from "node:path";
import type { RemoteRefs } from "../../../git/mod.ts";
import { FossilError } from "../../error.ts";
import { Reader } from "../../read/mod.ts";
import type { Repository } from "../../repository.ts";
import type { PushRules } from "../../sync/judgement.ts";
import { GitCompanion, keepFetched, namesIn } from "../door/mod.ts";
import { GarbageCollector } from "../import.ts";
import { NoticeLog } from "../notices.ts";
import type { GitNotices } from "../types.ts";
import { FileDraft } from "./draft.ts";
import { receivePush } from "./receive.ts";
import { unpackPush } from "./unpack.ts";

/** What was fetched. */
export interface FetchedPack extends RemoteRefs {
  /** The file of the pack. */
  readonly source: string;
  /** A folder for files of the import, which the caller removes. */
  readonly folder: string;
  /** The name under which it is received. */
  readonly user: string;
  /** Unix milliseconds: no check-in is later. */
  readonly now: number;
}

export interface PackImportReport {
  /** Commits that were written as check-ins. */
  readonly checkins: number;
  /** References that were left out, and why. */
  readonly notices: GitNotices;
}

/** Objects or commits between two collections of garbage. */
const STEPS = 200;

/** How far an import is; each throws if it must end. */
export interface ImportWatch {
  check(): void;
  /** Called with bytes of objects, whose total is unknown, and then with commits. */
  progress(done: number, total: number | null): void;
}

/**
 * Fills an empty repository. A reference that cannot be kept is left out, with a notice.
 *
 * @throws {FossilError} `invalid` or `limit` if something is malformed, missing or beyond a bound
 */
export function importPack(
  repository: Repository,
  { source, folder, user, now, refs, head }: FetchedPack,
  { check, progress, objects }: ImportWatch & {
    /** Where the objects go that the repository has for Git. */
    readonly objects: string;
  },
): PackImportReport {
  const reader = new Reader(repository, { check });
  using companion = GitCompanion.open(objects, reader);
  const draft = join(folder, "draft");
  const tips = refs.map(({ object }) => object);
  const garbage = new GarbageCollector();
  let steps = 0;
  const tidied = (done: number, total: number | null) => {
    if (++steps % STEPS === 0) garbage.collect();
    progress(done, total);
  };
  const pack = { source, start: 0, target: draft, tips, based: [] };
  unpackPush(companion, pack, (bytes) => tidied(bytes, null));
  let checkins = 0;
  const report = receivePush(companion, {
    draft,
    refs: refs.map(({ ref, object }) => ({ ref, from: null, to: object, mayRewind: false })),
    head,
    isAtomic: false,
    rules: rulesOf(user, now),
    address: null,
    mark: null,
    now,
  }, (done, total) => {
    checkins = total;
    tidied(done, total);
  });
  const refused = report.refs.find(({ refusal }) => refusal !== null);
  if (report.receipt === null && refused !== undefined) {
    throw new FossilError("invalid", `${refused.ref} cannot be kept: ${refused.refusal}`);
  }
  keepPack(companion, source, draft);
  const notices = new NoticeLog();
  for (const { ref, refusal } of report.refs) {
    if (refusal !== null) notices.add("ref", ref, `It was left out: ${refusal}`);
  }
  return { checkins, notices: notices.report() };
}

/** Keeps what was fetched for clones, which saves them the work of packing the same anew. */
function keepPack(companion: GitCompanion, source: string, draft: string): void {
  using objects = FileDraft.open(draft);
  keepFetched(companion, source, namesIn(objects.db));
}

/** How far the clocks elsewhere may be ahead, in milliseconds. */
const MAX_AHEAD_MS = 24 * 60 * 60_000;

/** A history from elsewhere is taken as it is. */
function rulesOf(pusher: string, now: number): PushRules {
  return {
    pusher,
    users: null,
    role: "admin",
    latest: now + MAX_AHEAD_MS,
    branches: [],
    merges: [],
    workspaces: {},
    files: [],
    hasBounds: false,
    isFromGit: true,
    closedKinds: {},
  };
}
