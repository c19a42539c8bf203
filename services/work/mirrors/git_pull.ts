/** Follows the branches and tags of a Git repository elsewhere. */
import { join } from "node:path";
import type {
  PooledRepository,
  PushedRef,
  PushRules,
  UnpackedPush,
} from "../../engines/fossil/mod.ts";
import { type Origin, SYSTEM } from "../../engines/events/mod.ts";
import { isRefName } from "../../engines/git/mod.ts";
import type { FreeSpace } from "../../kernel/files.ts";
import type { Caller } from "../../people/identity/mod.ts";
import { type GitDoor, storeInTurns } from "../git/mod.ts";
import type { Project, ProjectRepositories } from "../projects/mod.ts";
import { LANDING_PREFIX, type Workspaces } from "../workspaces/mod.ts";
import type { GitUpstream } from "./git_upstream.ts";
import { RemoteError } from "./records.ts";
import { upstreamRules } from "./upstream_rules.ts";

const HEADS = "refs/heads/";
/** Most references that are moved without keeping others of the project's worker waiting. */
const MAX_SHORT_MOVES = 20;
/** Most references that an error names. */
const MAX_NAMED = 5;

/** How far an import is: bytes received, bytes of objects read, or commits written of a total. */
export interface ImportProgress {
  readonly phase: "receiving" | "reading" | "writing";
  readonly done: number;
  /** Null while unknown. */
  readonly total: number | null;
}

export interface GitImport {
  readonly repositories: ProjectRepositories;
  readonly upstream: GitUpstream;
  /** In whose name it is filled; null for the program's own work. */
  readonly caller: Caller | null;
  readonly origin: Origin;
  /** Unix milliseconds. */
  readonly now: number;
  readonly signal: AbortSignal;
  onProgress?(progress: ImportProgress): void;
}

/**
 * Fills an empty project with the branches and tags of a Git repository.
 *
 * @throws Conflict if the project is not empty; RemoteError; ServiceError in place of the engine's errors
 */
export async function importFromGit(
  project: Project,
  { repositories, upstream, caller, origin, now, signal, onProgress = () => {} }: GitImport,
): ReturnType<ProjectRepositories["import"]> {
  const { refs, head } = upstream.refs;
  const [first, ...others] = new Set(refs.map(({ object }) => object));
  if (first === undefined) {
    throw new RemoteError("The repository there has no branches and no tags");
  }
  requireNames(refs);
  return await inFolder(repositories, async (folder) => {
    const source = join(folder, "pack");
    await upstream.fetch({ wants: [first, ...others], haves: [] }, source, (done) => {
      onProgress({ phase: "receiving", done, total: null });
    });
    const user = caller?.principal.name ?? "muster";
    const from = { format: "pack", source, folder, user, now, refs, head } as const;
    return await repositories.import(project, from, {
      origin,
      caller,
      signal,
      onProgress: (done, total) =>
        onProgress({ phase: total === null ? "reading" : "writing", done, total }),
    });
  });
}

/** A branch or a tag as the mirror left it. */
export interface MirroredRef {
  readonly ref: string;
  readonly object: string;
}

export interface GitPull {
  readonly repositories: ProjectRepositories;
  readonly workspaces: Pick<Workspaces, "activeBranches">;
  readonly git: Pick<GitDoor, "refs">;
  readonly upstream: GitUpstream;
  readonly space: Pick<FreeSpace, "hasRoomFor">;
  /** The references that the mirror owns: those that it made, as it left them. */
  readonly owned: readonly MirroredRef[];
  /** Unix milliseconds. */
  readonly now: number;
  readonly signal: AbortSignal;
}

/** A reference of which commits are no longer in its history here, or that is gone. */
export interface LostTip {
  readonly ref: string;
  /** The object where it was, which is fetched by its name. */
  readonly from: string;
  /** Null if it is gone. */
  readonly to: string | null;
}

/** What a pull has done. */
export interface Pulled {
  /** The references that the mirror owns now. */
  readonly owned: readonly MirroredRef[];
  readonly lost: readonly LostTip[];
  /** The references that do not follow upstream, with the reasons. */
  readonly left: readonly { readonly ref: string; readonly reason: string }[];
}

/**
 * Brings a project's branches and tags to where they are upstream, forced moves and deletions too. What
 * people have made here stays: a reference that the mirror does not own, or that somebody has moved,
 * only moves forward.
 *
 * @throws RemoteError; ServiceError in place of the engine's errors
 */
export async function pullFromGit(project: Project, pull: GitPull): Promise<Pulled> {
  const { repositories, upstream, git, space, now, signal } = pull;
  const { refs } = upstream.refs;
  requireNames(refs);
  if (refs.length === 0 && pull.owned.length === 0) return { owned: [], lost: [], left: [] };
  if (refs.length === 0) {
    throw new RemoteError(
      "Upstream has no branches and no tags any more: nothing was removed here",
    );
  }
  if (await repositories.isEmpty(project)) {
    const by = { caller: null, origin: SYSTEM };
    await importFromGit(project, { repositories, upstream, now, signal, ...by });
  }
  const here = await git.refs(project);
  const own = await pull.workspaces.activeBranches(project);
  const plan = planOf({
    ...pull,
    here: new Map(here.refs.map(({ ref, object }) => [ref, object])),
    mainHere: here.head,
    closed: new Set(own.map((branch) => HEADS + branch)),
  });
  if (plan.moves.length === 0) return settled(plan, []);
  const moved = await inFolder(repositories, async (folder) => {
    const { draft, isLong } = await fetchDraft(project, { ...pull, moves: plan.moves, folder });
    const rules: PushRules = { ...upstreamRules(now, own), isFromGit: true };
    const push = {
      draft,
      refs: plan.moves,
      head: plan.head,
      isAtomic: false,
      rules,
      address: null,
      now,
    };
    const isLonger = isLong || plan.moves.length > MAX_SHORT_MOVES;
    const read = <T>(work: (repository: PooledRepository) => Promise<T>) =>
      repositories.read(project, work);
    return await storeInTurns(
      { folder, signal, space, read },
      (store) =>
        repositories.receive(
          project,
          null,
          (repository, mark) =>
            store(repository, { push, mark, isLong: isLonger, intend: async () => {} }),
          {
            isFromGit: true,
          },
        ),
    );
  });
  return settled(plan, moved.refs);
}

/** Unpacks what is new into a draft, which is null if all of it is here. */
async function fetchDraft(
  project: Project,
  { repositories, upstream, owned, moves, folder, signal }: GitPull & {
    readonly moves: readonly PushedRef[];
    readonly folder: string;
  },
): Promise<{ readonly draft: UnpackedPush["draft"] | null; readonly isLong: boolean }> {
  const known = new Set(owned.map(({ object }) => object));
  const tips = moves.flatMap(({ to }) => to === null ? [] : [to]);
  const wants = [...new Set(tips.filter((tip) => !known.has(tip)))];
  if (wants.length === 0) return { draft: null, isLong: false };
  const read = <T>(work: (repository: PooledRepository) => Promise<T>) =>
    repositories.read(project, work);
  const haves = await read((repository) => repository.gitHaves(owned.map(({ ref }) => ref)));
  const source = join(folder, "pack");
  await upstream.fetch({ wants, haves: haves ?? [] }, source);
  const pack = { source, start: 0, target: join(folder, "draft"), tips, based: [] };
  return await read((repository) => repository.unpackPush(pack, { signal }));
}

interface Plan {
  readonly moves: readonly PushedRef[];
  /** The reference of the main branch; null to leave it as it is. */
  readonly head: string | null;
  /** What is owned if every move succeeds. */
  readonly owned: ReadonlyMap<string, string>;
  readonly before: ReadonlyMap<string, string>;
  readonly lost: readonly LostTip[];
  readonly left: Pulled["left"];
}

function planOf({ upstream, owned, here, mainHere, closed }: GitPull & {
  readonly here: ReadonlyMap<string, string>;
  readonly mainHere: string;
  /** References of active workspaces here. */
  readonly closed: ReadonlySet<string>;
}): Plan {
  const before = new Map(owned.map(({ ref, object }) => [ref, object]));
  const after = new Map<string, string>();
  const moves: PushedRef[] = [];
  const lost: LostTip[] = [];
  const left: { ref: string; reason: string }[] = [];
  const there = new Map(upstream.refs.refs.map(({ ref, object }) => [ref, object]));
  for (const [ref, to] of there) {
    if (ref.startsWith(HEADS + LANDING_PREFIX) || closed.has(ref)) continue;
    const from = here.get(ref) ?? null;
    const was = before.get(ref) ?? null;
    after.set(ref, to);
    if (from === to) {
      // A run that was killed has moved it, and nobody knows how.
      if (was !== null && was !== to) lost.push({ ref, from: was, to });
      continue;
    }
    const isOurs = from === null || from === was;
    if (isOurs || ref.startsWith(HEADS)) moves.push({ ref, from, to, mayRewind: isOurs });
    else left.push({ ref, reason: "this project has another tag of this name" });
  }
  for (const [ref, was] of before) {
    if (there.has(ref) || here.get(ref) !== was) continue;
    moves.push({ ref, from: was, to: null, mayRewind: true });
  }
  const head = headOf(upstream.refs.head, { before, after, mainHere });
  if (head !== null && !moves.some(({ ref }) => ref === head)) {
    const to = here.get(head) ?? null;
    if (to !== null) moves.push({ ref: head, from: to, to, mayRewind: false });
  }
  return { moves, head, owned: after, before, lost, left };
}

/** The reference of another main branch; null if it stays. One that people have chosen here stays. */
function headOf(
  head: string | null,
  { before, after, mainHere }: {
    readonly before: ReadonlyMap<string, string>;
    readonly after: ReadonlyMap<string, string>;
    readonly mainHere: string;
  },
): string | null {
  const isOurs = before.has(mainHere);
  return head !== null && head !== mainHere && isOurs && after.has(head) ? head : null;
}

/** What the mirror owns after its moves. */
function settled(
  { owned, before, lost: unclear, left: skipped }: Plan,
  reports: Awaited<ReturnType<PooledRepository["receivePush"]>>["refs"],
): Pulled {
  const now = new Map(owned);
  const lost = [...unclear];
  const left = [...skipped];
  for (const { ref } of skipped) now.delete(ref);
  for (const { ref, from, refusal, isRewound } of reports) {
    const to = owned.get(ref) ?? null;
    if (refusal !== null) {
      left.push({ ref, reason: refusal });
      const was = before.get(ref);
      if (was === undefined) now.delete(ref);
      else now.set(ref, was);
    } else if (
      from !== null && from !== to && (isRewound || !ref.startsWith(HEADS) || to === null)
    ) {
      lost.push({ ref, from, to });
    }
  }
  return { owned: [...now].map(([ref, object]) => ({ ref, object })), lost, left };
}

/** What to say of references that do not follow; null if all do. */
export function explainLeft(left: Pulled["left"]): string | null {
  if (left.length === 0) return null;
  const named = left.slice(0, MAX_NAMED).map(({ ref, reason }) => `${ref}: ${reason}`);
  const more = left.length > MAX_NAMED ? `; and ${left.length - MAX_NAMED} more` : "";
  return `Some references do not follow upstream: ${named.join("; ")}${more}`;
}

function requireNames(refs: readonly { readonly ref: string }[]): void {
  const odd = refs.find(({ ref }) => !isRefName(ref));
  if (odd === undefined) return;
  throw new RemoteError(`It has a reference ${JSON.stringify(odd.ref)}, which Git does not allow`);
}

/** Works in a folder that is removed afterwards, or by the next start. */
async function inFolder<T>(
  { files }: Pick<ProjectRepositories, "files">,
  work: (folder: string) => Promise<T>,
): Promise<T> {
  const folder = await Deno.makeTempDir({ dir: files.folder, prefix: ".download-" });
  try {
    return await work(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
