/** Pulls from an upstream Fossil repository: the whole of it at first, then what is new. */
import { Conflict } from "../errors.ts";
import { SYSTEM } from "../events/mod.ts";
import type { Card, PushRules } from "../fossil/mod.ts";
import type { Project, ProjectRepositories } from "../projects/mod.ts";
import { LANDING_PREFIX, type Workspaces } from "../workspaces/mod.ts";
import { ConnectionLost, MirrorError } from "./mirror_error.ts";
import type { Upstream } from "./upstream.ts";

/** How far the clocks upstream may be ahead, in milliseconds. */
const MAX_AHEAD_MS = 24 * 60 * 60_000;
/** Most artifacts that upstream names and does not send, in one run. */
const MAX_ABSENT = 20_000;
const WRONG_PROJECT = "wrong project";

export interface FossilPull {
  readonly repositories: ProjectRepositories;
  readonly workspaces: Pick<Workspaces, "activeBranches">;
  readonly upstream: Upstream;
  /** The file of an unfinished clone. */
  readonly clone: string;
  /** Unix milliseconds. */
  readonly now: number;
  readonly signal: AbortSignal;
}

/**
 * Brings a project up to date with upstream. An empty project becomes a copy with the project code of
 * upstream; any other one must have that code, and keeps what it has beside.
 *
 * @throws MirrorError; ServiceError in place of the engine's errors
 */
export async function pullFromFossil(project: Project, pull: FossilPull): Promise<void> {
  if (await isEmpty(project, pull)) await copyUpstream(project, pull);
  await pullNew(project, pull);
}

async function isEmpty(project: Project, { repositories }: FossilPull): Promise<boolean> {
  try {
    await repositories.requireEmpty(project);
    return true;
  } catch (error) {
    if (error instanceof Conflict) return false;
    throw error;
  }
}

/** Clones upstream and puts the clone in the place of the empty repository. */
async function copyUpstream(project: Project, pull: FossilPull): Promise<void> {
  const { repositories, clone, signal } = pull;
  try {
    if (!await cloneUpstream(project, pull)) return await removeClone(clone);
    const source = { path: clone, format: "fossil" } as const;
    await repositories.import(project, source, { origin: SYSTEM, signal });
    await removeClone(clone);
  } catch (error) {
    // The next run goes on where the connection was lost, or time ran out.
    if (!(error instanceof ConnectionLost) && !signal.aborted) await removeClone(clone);
    throw error;
  }
}

/** Clones into a file. Returns false if the project has the code of upstream already. */
async function cloneUpstream(
  project: Project,
  { repositories, upstream, clone: target, signal }: FossilPull,
): Promise<boolean> {
  const own = await repositories.read(project, (repository) => repository.syncCodes());
  const state = await repositories.read(project, (repository) => repository.cloneState(target));
  let login = state === null ? null : upstream.loginFor(state.projectCode);
  for (let sequence = state?.next ?? 1; sequence !== 0;) {
    const answer = await upstream.ask([{ kind: "clone", version: 3, sequence }], login);
    const { projectCode, next, error } = await repositories.read(
      project,
      (repository) => repository.storeCloned({ ...answer, target }, { signal }),
    );
    if (projectCode === own.projectCode) return false;
    if (error !== null && projectCode !== null && login === null) {
      // The first message of a clone learns the project code, which a login needs.
      login = upstream.loginFor(projectCode);
      if (login !== null) continue;
    }
    if (error !== null) throw refusalOf(error);
    if (next === null) throw new MirrorError("Upstream is older than Fossil 2.0: update it");
    sequence = next;
  }
  return true;
}

/** Asks for what is new until nothing is missing that upstream has. */
async function pullNew(
  project: Project,
  { repositories, workspaces, upstream, now }: FossilPull,
): Promise<void> {
  const codes = await repositories.read(project, (repository) => repository.syncCodes());
  const login = upstream.loginFor(codes.projectCode);
  const absent = new Set<string>();
  let asked: readonly string[] = [];
  let begin: Card = { kind: "pull", ...codes };
  for (;;) {
    const cards: Card[] = [begin];
    for (const hash of asked) cards.push({ kind: "gimme", hash });
    const message = { ...await upstream.ask(cards, login), asked, absent: [...absent], now };
    const round = await repositories.receive(
      project,
      null,
      async (repository) => {
        const rules = rulesAt(now, await workspaces.activeBranches(project));
        return await repository.storePulled({ ...message, rules });
      },
    );
    if (round.error !== null) throw refusalOf(round.error);
    for (const hash of round.absent) absent.add(hash);
    if (round.wanted.length === 0) return;
    if (round.hasCircle && begin.kind === "pull") {
      // A clone gets the deltas that upstream stores, and none of them is a circle.
      begin = { kind: "clone", version: 1, sequence: 1 };
      asked = round.wanted;
      continue;
    }
    const isStuck = asked.length > 0 && round.artifacts === 0 && round.absent.length === 0;
    if (isStuck || absent.size > MAX_ABSENT) {
      throw new MirrorError("Upstream names artifacts that it does not send");
    }
    asked = round.wanted;
  }
}

/**
 * What a project accepts from upstream: everything but the branches of the landing queue and of its
 * own active workspaces. Other branches named `workspace/…` are ordinary here.
 */
function rulesAt(now: number, own: readonly string[]): PushRules {
  const landing = "upstream may not write to branches that muster keeps for itself";
  const active = "it belongs to an active workspace of this project: merge or abandon that first";
  return {
    pusher: "muster",
    users: null,
    role: "admin",
    latest: now + MAX_AHEAD_MS,
    branches: [{ pattern: `${LANDING_PREFIX}*`, refusal: landing }],
    merges: [],
    workspaces: Object.fromEntries(own.map((branch) => [branch, active])),
    files: [],
    hasBounds: false,
    closedKinds: { private: "a mirror has no private artifacts" },
  };
}

function refusalOf(error: string): MirrorError {
  if (error === WRONG_PROJECT) {
    return new MirrorError(
      "Upstream is another project, and this one has check-ins: mirror upstream in a new project",
    );
  }
  return new MirrorError(`Upstream refuses: ${error}`);
}

async function removeClone(path: string): Promise<void> {
  for (const file of [path, `${path}-journal`]) {
    await Deno.remove(file).catch((error) => {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    });
  }
}
