/** Pulls from an upstream Fossil repository: the whole of it at first, then what is new. */
import { join } from "node:path";
import { Conflict } from "../../kernel/errors.ts";
import { SYSTEM } from "../../engines/events/mod.ts";
import { clientMessage, contentTypeOf, messageFormOf } from "../../engines/fossil/front/mod.ts";
import type { Card, ClientLogin, ReceivedMessage } from "../../engines/fossil/mod.ts";
import { type Caller, originOf } from "../../people/identity/mod.ts";
import type { FreeSpace } from "../../kernel/files.ts";
import {
  ClosedHost,
  type OutboundAnswer,
  type OutboundClient,
  OutboundFailure,
} from "../../kernel/outbound/mod.ts";
import type { Project, ProjectRepositories } from "../projects/mod.ts";
import { VERSION } from "../../kernel/version.ts";
import type { Workspaces } from "../workspaces/mod.ts";
import { ConnectionLost, type Remote, RemoteError } from "./records.ts";
import { upstreamRules } from "./upstream_rules.ts";

/** Most artifacts that upstream names and does not send, in one run. */
const MAX_ABSENT = 20_000;
const WRONG_PROJECT = "wrong project";

export interface FossilPull {
  readonly repositories: ProjectRepositories;
  readonly workspaces: Pick<Workspaces, "activeBranches">;
  readonly upstream: Upstream;
  /** The file of an unfinished clone. */
  readonly clone: string;
  /** In whose name an empty project is filled; null for the program's own work. */
  readonly caller: Caller | null;
  /** Unix milliseconds. */
  readonly now: number;
  readonly signal: AbortSignal;
}

/**
 * Brings a project up to date with upstream. An empty project becomes a copy with the project code of
 * upstream; any other one must have that code, and keeps what it has beside.
 *
 * @throws RemoteError; ServiceError in place of the engine's errors
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
  const { repositories, clone, caller, signal } = pull;
  try {
    if (!await cloneUpstream(project, pull)) return await removeClone(clone);
    const from = { source: clone, format: "fossil" } as const;
    const origin = caller === null ? SYSTEM : originOf(caller);
    await repositories.import(project, from, { origin, caller, signal });
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
    if (next === null) throw new RemoteError("Upstream is older than Fossil 2.0: update it");
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
        const rules = upstreamRules(now, await workspaces.activeBranches(project));
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
      throw new RemoteError("Upstream names artifacts that it does not send");
    }
    asked = round.wanted;
  }
}

function refusalOf(error: string): RemoteError {
  if (error === WRONG_PROJECT) {
    return new RemoteError(
      "Upstream is another project, and this one has check-ins: mirror upstream in a new project",
    );
  }
  return new RemoteError(`Upstream refuses: ${error}`);
}

async function removeClone(path: string): Promise<void> {
  for (const file of [path, `${path}-journal`]) {
    await Deno.remove(file).catch((error) => {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    });
  }
}

/** Most messages of one run. */
const MAX_ROUNDS = 10_000;
/** Most bytes of all answers of one run. */
const MAX_RUN_BYTES = 4 * 1024 ** 3;
/** How often a message is sent if the connection fails. */
const ATTEMPTS = 3;

export interface UpstreamOptions {
  readonly remote: Remote;
  readonly client: Pick<OutboundClient, "post">;
  /** The folder of the answer, which goes away with the next one. */
  readonly folder: string;
  /** Says when the disk has no room for another answer. */
  readonly space: Pick<FreeSpace, "require">;
  /** The most bytes of an answer, and of its cards. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

/** The head of an answer, and the length of its body in bytes. */
interface Posted {
  readonly status: number;
  readonly contentType: string | null;
  readonly bytes: number;
}

/** No Fossil repository answers at a URL. */
export class NoFossilRepository extends RemoteError {}

/** An upstream Fossil repository, during one run. */
export class Upstream {
  readonly #options: UpstreamOptions;
  #rounds = 0;
  #bytes = 0;

  constructor(options: UpstreamOptions) {
    this.#options = options;
  }

  /** The login for a project; null without a password. */
  loginFor(projectCode: string): ClientLogin | null {
    const { credentials } = this.#options.remote;
    if (credentials === null) return null;
    const { username: user, password } = credentials;
    return { user, password, projectCode };
  }

  /**
   * Sends cards and receives the answer in a file.
   *
   * @throws Unavailable if the disk has no room for the answer
   * @throws ConnectionLost if the connection fails again and again
   * @throws RemoteError if the answer is not one of the sync protocol, or a bound is reached
   */
  async ask(cards: readonly Card[], login: ClientLogin | null): Promise<ReceivedMessage> {
    const { remote: { url }, folder, space, maxBytes } = this.#options;
    space.require();
    if (++this.#rounds > MAX_ROUNDS || this.#bytes > MAX_RUN_BYTES) {
      throw new RemoteError("Upstream sends too much for one run; the next one goes on");
    }
    const target = join(folder, "answer");
    const { status, contentType, bytes } = await this.#post(clientMessage(cards, login), target);
    this.#bytes += bytes;
    if (status >= 300 && status < 400) {
      throw new RemoteError(
        `${url.host} redirects to another URL, which muster does not follow: set that URL`,
      );
    }
    const form = messageFormOf(contentType);
    if (status !== 200 || form === null) {
      const what = status === 200 ? "its answer is not of the sync protocol" : `status ${status}`;
      throw new NoFossilRepository(`No Fossil repository answers at ${url.href}: ${what}`);
    }
    return { source: { kind: "file", path: target }, form, maxBytes };
  }

  /** Posts a message, and receives the answer in a file. */
  async #post(body: Uint8Array, target: string): Promise<Posted> {
    const { remote: { url }, client, signal } = this.#options;
    const headers = {
      "content-type": contentTypeOf("compressed"),
      "user-agent": `Fossil/2.21 (muster ${VERSION})`,
    };
    for (let attempt = 1;; attempt++) {
      try {
        const answer = await client.post(url, { headers, body, signal });
        const bytes = await this.#receive(answer, target);
        return { status: answer.status, contentType: answer.header("content-type"), bytes };
      } catch (error) {
        const failure = this.#failureOf(error);
        if (!(failure instanceof ConnectionLost) || attempt === ATTEMPTS) throw failure;
      }
    }
  }

  /** @returns the length of the answer's body, in bytes */
  async #receive(answer: OutboundAnswer, target: string): Promise<number> {
    const { remote: { url }, maxBytes } = this.#options;
    const require = (length: number) => {
      if (length <= maxBytes) return;
      throw new RemoteError(`The answer of ${url.host} has more than ${maxBytes} bytes`);
    };
    let bytes = 0;
    try {
      require(Number(answer.header("content-length") ?? 0));
      const options = { write: true, create: true, truncate: true, mode: 0o600 };
      using file = await Deno.open(target, options);
      for await (const part of answer.body) {
        bytes += part.length;
        require(bytes);
        for (let written = 0; written < part.length;) {
          written += await file.write(part.subarray(written));
        }
      }
    } finally {
      answer.drop();
    }
    return bytes;
  }

  #failureOf(error: unknown): unknown {
    const { remote: { url }, signal } = this.#options;
    if (error instanceof RemoteError) return error;
    if (signal.aborted) return new RemoteError("Upstream did not answer in time");
    if (error instanceof ClosedHost) return new RemoteError(error.message);
    if (!(error instanceof OutboundFailure)) return error;
    return error.isPassing
      ? new ConnectionLost(`${url.host}: ${error.message}`)
      : new RemoteError(`${url.host}: ${error.message}`);
  }
}
