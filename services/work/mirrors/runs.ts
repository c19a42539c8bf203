/** The parts of a run: pulling from upstream, and pushing to a Git remote. */
import { dirname, join } from "node:path";
import type { FreeSpace } from "../../kernel/files.ts";
import { type SealingKey, unseal } from "../../people/identity/mod.ts";
import {
  checkedAddresses,
  ClosedHost,
  OutboundClient,
  type Resolve,
} from "../../kernel/outbound/mod.ts";
import type { GitDoor } from "../git/mod.ts";
import type { Project, ProjectRepositories } from "../projects/mod.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import { PASSING_PREFIXES, type Workspaces } from "../workspaces/mod.ts";
import { pullFromFossil, Upstream } from "./fossil.ts";
import { pushToGit } from "./git.ts";
import { type MirroredRef, type Pulled, pullFromGit } from "./git_pull.ts";
import { GitUpstream } from "./git_upstream.ts";
import { purposeOf, type Remote, RemoteError, type StoredRemote } from "./records.ts";

/** The name of a user where only a token counts. */
const ANY_USER = "git";

/** What a run works with. */
export interface RunOptions {
  readonly repositories: ProjectRepositories;
  readonly workspaces: Pick<Workspaces, "activeBranches">;
  readonly git: Pick<GitDoor, "refs">;
  /** Says when the disk has no room for what a run fetches, or writes on its way. */
  readonly space: Pick<FreeSpace, "require" | "hasRoomFor">;
  readonly key: SealingKey;
  readonly scheduler: Scheduler;
  /** The folder of what stays between two runs. */
  readonly folder: string;
  /** Whether remotes may have local and private addresses. */
  readonly allowPrivate: boolean;
  /** The most bytes of an answer of a Fossil repository, and of its cards. */
  readonly maxBytes: number;
  /** The most bytes of a pack from a Git repository. */
  readonly maxPackBytes: number;
  readonly resolve?: Resolve;
  readonly signal: AbortSignal;
}

/**
 * Pulls from an upstream Fossil repository.
 *
 * @throws RemoteError; ServiceError in place of the engine's errors
 */
export async function pullFossil(
  project: Project,
  stored: StoredRemote,
  options: RunOptions,
): Promise<void> {
  const { repositories, workspaces, space, scheduler, folder, maxBytes, signal } = options;
  requireActive(project);
  const remote = await remoteOf(project, stored, options);
  const client = new OutboundClient(options);
  await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
  const answers = await Deno.makeTempDir({ dir: repositories.files.folder, prefix: ".download-" });
  try {
    const upstream = new Upstream({ remote, client, folder: answers, space, maxBytes, signal });
    const clone = join(folder, `${project.id}.clone`);
    const now = scheduler.now();
    const caller = null;
    await pullFromFossil(project, {
      repositories,
      workspaces,
      upstream,
      clone,
      caller,
      now,
      signal,
    });
  } finally {
    await Deno.remove(answers, { recursive: true });
  }
}

/**
 * Pulls from an upstream Git repository.
 *
 * @param owned the references that the mirror owns
 * @throws RemoteError; ServiceError in place of the engine's errors
 */
export async function pullGit(
  project: Project,
  { owned, ...stored }: StoredRemote & { readonly owned: readonly MirroredRef[] },
  options: RunOptions,
): Promise<Pulled> {
  const { repositories, workspaces, git, space, scheduler, maxPackBytes: maxBytes, signal } =
    options;
  requireActive(project);
  const remote = await remoteOf(project, stored, options);
  const client = new OutboundClient(options);
  const upstream = await GitUpstream.ask({ remote, client, space, maxBytes, signal });
  const now = scheduler.now();
  return await pullFromGit(project, {
    repositories,
    workspaces,
    git,
    upstream,
    space,
    owned,
    now,
    signal,
  });
}

function requireActive({ archivedAt }: Project): void {
  if (archivedAt !== null) throw new RemoteError("The project is archived");
}

/** @throws RemoteError; Unavailable if the disk has no room for the stream and the clone */
export async function pushRemote(
  project: Project,
  stored: StoredRemote,
  options: RunOptions,
): Promise<void> {
  const { repositories, space, signal } = options;
  space.require();
  const remote = await remoteOf(project, stored, options);
  const addresses = await gitAddressesOf(remote.url, options);
  const withoutBranches = PASSING_PREFIXES;
  const stream = await repositories.export(project, "git", { signal, withoutBranches });
  try {
    const folder = join(options.folder, `${project.id}.git`);
    await pushToGit({ stream, folder, remote: { ...remote, addresses }, withoutBranches, signal });
  } finally {
    await Deno.remove(dirname(stream), { recursive: true });
  }
}

async function remoteOf(
  project: Project,
  stored: StoredRemote,
  { key }: RunOptions,
): Promise<Remote> {
  const url = new URL(stored.url);
  const password = stored.secret === null
    ? null
    : await unseal(key, purposeOf(project.id), stored.secret);
  if (stored.secret !== null && password === null) {
    throw new RemoteError("The stored password cannot be read with this token_key: set it again");
  }
  const credentials = password === null
    ? null
    : { username: stored.username ?? ANY_USER, password };
  return { url, credentials };
}

/**
 * The addresses that git may connect to; none for a host that is an address.
 *
 * @throws RemoteError
 */
async function gitAddressesOf(url: URL, options: RunOptions): Promise<readonly string[]> {
  const { hostname } = url;
  try {
    const addresses = await checkedAddresses(hostname, options);
    return addresses.includes(hostname.replace(/^\[|\]$/g, "")) ? [] : addresses;
  } catch (error) {
    throw error instanceof ClosedHost ? new RemoteError(error.message) : error;
  }
}
