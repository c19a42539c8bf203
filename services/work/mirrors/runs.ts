/** The two halves of a run: pulling from upstream, and pushing to a Git remote. */
import { dirname, join } from "node:path";
import type { FreeSpace } from "../../kernel/files.ts";
import { type SealingKey, unseal } from "../../people/identity/mod.ts";
import {
  checkedAddresses,
  ClosedHost,
  OutboundClient,
  type Resolve,
} from "../../kernel/outbound/mod.ts";
import type { Project, ProjectRepositories } from "../projects/mod.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import { PASSING_PREFIXES, type Workspaces } from "../workspaces/mod.ts";
import { pullFromFossil, Upstream } from "./fossil.ts";
import { pushToGit } from "./git.ts";
import { MirrorError, purposeOf, type StoredRemote } from "./records.ts";

/** The name of a user where only a token counts. */
const ANY_USER = "git";

/** What a run works with. */
export interface RunOptions {
  readonly repositories: ProjectRepositories;
  readonly workspaces: Pick<Workspaces, "activeBranches">;
  /** Says when the disk has no room for what a run fetches, or writes on its way. */
  readonly space: Pick<FreeSpace, "require">;
  readonly key: SealingKey;
  readonly scheduler: Scheduler;
  /** The folder of what stays between two runs. */
  readonly folder: string;
  /** Whether remotes may have local and private addresses. */
  readonly allowPrivate: boolean;
  /** The most bytes of an answer of upstream, and of its cards. */
  readonly maxBytes: number;
  readonly resolve?: Resolve;
  readonly signal: AbortSignal;
}

/** @throws MirrorError; ServiceError in place of the engine's errors */
export async function pullUpstream(
  project: Project,
  stored: StoredRemote,
  options: RunOptions,
): Promise<void> {
  const { repositories, workspaces, space, scheduler, folder, maxBytes, signal } = options;
  if (project.archivedAt !== null) throw new MirrorError("The project is archived");
  const remote = await remoteOf(project, stored, options);
  const client = new OutboundClient(options);
  await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
  const answers = await Deno.makeTempDir({ dir: repositories.files.folder, prefix: ".download-" });
  try {
    const upstream = new Upstream({ remote, client, folder: answers, space, maxBytes, signal });
    const clone = join(folder, `${project.id}.clone`);
    const now = scheduler.now();
    await pullFromFossil(project, { repositories, workspaces, upstream, clone, now, signal });
  } finally {
    await Deno.remove(answers, { recursive: true });
  }
}

/** @throws MirrorError; Unavailable if the disk has no room for the stream and the clone */
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
) {
  const url = new URL(stored.url);
  const password = stored.secret === null
    ? null
    : await unseal(key, purposeOf(project.id), stored.secret);
  if (stored.secret !== null && password === null) {
    throw new MirrorError("The stored password cannot be read with this token_key: set it again");
  }
  const credentials = password === null
    ? null
    : { username: stored.username ?? ANY_USER, password };
  return { url, credentials };
}

/**
 * The addresses that git may connect to; none for a host that is an address.
 *
 * @throws MirrorError
 */
async function gitAddressesOf(url: URL, options: RunOptions): Promise<readonly string[]> {
  const { hostname } = url;
  try {
    const addresses = await checkedAddresses(hostname, options);
    return addresses.includes(hostname.replace(/^\[|\]$/g, "")) ? [] : addresses;
  } catch (error) {
    throw error instanceof ClosedHost ? new MirrorError(error.message) : error;
  }
}
