import { join } from "node:path";
import {
  GitError,
  isRefName,
  MAX_PUSH_HEAD,
  parsePush,
  type PushHead,
  type RefCommand,
  type RefReport,
} from "../../engines/git/mod.ts";
import type { GitPushReport, PushedRef } from "../../engines/fossil/mod.ts";
import { Invalid, ServiceError, TooMany, Unavailable } from "../../kernel/errors.ts";
import type { FreeSpace } from "../../kernel/files.ts";
import { Semaphore } from "../../kernel/semaphore.ts";
import type { Caller } from "../../people/identity/mod.ts";
import type { ProjectAccess, Upload } from "../projects/mod.ts";
import { Pushes, type PushesOptions, type PushTurn } from "../sync/mod.ts";
import { branchOf } from "../workspaces/mod.ts";

/** Pushes of one caller that are on the disk at once. The rest waits at its sender. */
const BODIES = {
  permitsPerKey: 2,
  maxWaitingPerKey: 20,
  refusal: () => new TooMany("Too many of your pushes wait to be received; try again later"),
};
/** Bytes of a push that arrive whatever the disk says. */
const FREE_BYTES = 16 * 1024 * 1024;
/** Bytes in which most pushes have all that comes before their pack. */
const USUAL_HEAD = 64 * 1024;

const HEADS = "refs/heads/";
const TAGS = "refs/tags/";
const WORKSPACE = `${HEADS}${branchOf({ name: "" })}`;

export interface GitPushesOptions extends PushesOptions {
  readonly space: Pick<FreeSpace, "require" | "refusal">;
}

/** A push that arrives. */
export interface GitPushCall {
  readonly slug: string;
  readonly caller: Caller;
  readonly signal: AbortSignal;
  /**
   * Receives the body.
   *
   * @param check called with the bytes received so far; what it throws ends the reception
   */
  receive(check: (bytes: number) => void): Promise<Upload>;
}

/** What became of a push. */
export interface PushOutcome {
  readonly head: PushHead;
  /** Why nothing of it could be read; null if it could. */
  readonly failure: string | null;
  readonly refs: readonly RefReport[];
  /** Lines for people. */
  readonly notices: readonly string[];
}

/** A reference to change, or why it is refused. */
type Planned =
  & { readonly command: RefCommand }
  & (
    | { readonly refusal: string }
    | { readonly refusal: null; readonly pushed: PushedRef }
  );

/** Receives `git push`. */
export class GitPushes {
  readonly #options: GitPushesOptions;
  readonly #pushes: Pushes;
  readonly #bodies = new Semaphore(BODIES);

  constructor(options: GitPushesOptions) {
    this.#options = options;
    this.#pushes = new Pushes(options);
  }

  /**
   * Receives a push. All of it is on the disk when this returns.
   *
   * @throws {GitError} if it is malformed before its pack
   * @throws TooMany, TooLarge, TooSlow, Unavailable; Invalid if the body is cut short
   */
  async receive(access: ProjectAccess, call: GitPushCall): Promise<PushOutcome> {
    const { principal } = access;
    const key = `${principal.kind} ${principal.id ?? principal.project}`;
    using _body = await this.#bodies.acquire(key, { signal: call.signal });
    await using upload = await call.receive((bytes) => {
      if (bytes > FREE_BYTES) this.#options.space.require();
    });
    const head = await readHead(upload);
    if (head.commands.length === 0) return { head, failure: null, refs: [], notices: [] };
    try {
      return await this.#receive({ access, call, upload, head });
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      const refs = head.commands.map(({ ref }) => ({ ref, refusal: "nothing was stored" }));
      return { head, failure: error.message, refs, notices: [error.message] };
    }
  }

  async #receive({ access, call, upload, head }: Received): Promise<PushOutcome> {
    const { repositories } = this.#options;
    const tips = head.commands.flatMap(({ to }) => to ?? []);
    let draft: string | null = null;
    if (tips.length > 0) {
      const target = draft = join(upload.path, "..", "draft");
      await repositories.read(
        access.project,
        (repository) =>
          repository.unpackPush(
            { source: upload.path, start: head.length, target, tips },
            { signal: call.signal },
          ),
      );
    }
    const { slug, caller } = call;
    let planned: readonly Planned[] = [];
    const report = await this.#pushes.receive(access, { slug, caller }, async (turn) => {
      planned = head.commands.map((command) => planOf(command, turn));
      const nothing: GitPushReport = { receipt: null, refs: [] };
      const refs = planned.flatMap((one) => one.refusal === null ? [one.pushed] : []);
      if (refs.length === 0 || (head.isAtomic && refs.length < planned.length)) return nothing;
      const { standstill } = turn.rules;
      if (standstill !== undefined) throw new Unavailable(standstill);
      const begins = refs.filter(({ mayRewind }) => mayRewind)
        .map(({ ref }) => ref.slice(HEADS.length));
      return await turn.repository.receivePush({
        draft,
        refs,
        isAtomic: head.isAtomic,
        rules: { ...turn.rules, isFromGit: true, begins },
        address: caller.address,
        mark: turn.mark,
        now: this.#options.clock(),
      });
    });
    const refs = planned.map((one) => reportOf(one, report));
    const refused = refs.flatMap(({ ref, refusal }) =>
      refusal === null ? [] : `${ref}: ${refusal}`
    );
    return { head, failure: null, refs, notices: refused };
  }
}

interface Received {
  readonly access: ProjectAccess;
  readonly call: GitPushCall;
  readonly upload: Upload;
  readonly head: PushHead;
}

/** Reads what comes before the pack. */
async function readHead({ path, bytes }: Upload): Promise<PushHead> {
  using file = await Deno.open(path);
  for (let length = Math.min(bytes, USUAL_HEAD);; length = Math.min(bytes, MAX_PUSH_HEAD)) {
    const head = new Uint8Array(length);
    await file.seek(0, Deno.SeekMode.Start);
    for (let read = 0; read < length;) {
      const count = await file.read(head.subarray(read));
      if (count === null) throw new Invalid("The body is incomplete");
      read += count;
    }
    try {
      return parsePush(head);
    } catch (error) {
      const isLonger = length < Math.min(bytes, MAX_PUSH_HEAD);
      if (!(error instanceof GitError) || !isLonger) throw error;
    }
  }
}

/** What a command asks for. Needs the caller's turn. */
function planOf(command: RefCommand, { rules: { workspaces } }: PushTurn): Planned {
  const { ref, from, to } = command;
  if (!isRefName(ref)) return { command, refusal: "it is no name that Git allows" };
  if (!ref.startsWith(HEADS) && !ref.startsWith(TAGS)) {
    return { command, refusal: "this server keeps branches and tags only" };
  }
  const mayRewind = ref.startsWith(WORKSPACE) &&
    Object.hasOwn(workspaces, ref.slice(HEADS.length)) &&
    workspaces[ref.slice(HEADS.length)] === null;
  return { command, refusal: null, pushed: { ref, from, to, mayRewind } };
}

function reportOf(planned: Planned, { refs }: GitPushReport): RefReport {
  const { command: { ref } } = planned;
  if (planned.refusal !== null) return { ref, refusal: planned.refusal };
  const found = refs.find((one) => one.ref === planned.pushed.ref);
  return { ref, refusal: found === undefined ? "another reference was refused" : found.refusal };
}
