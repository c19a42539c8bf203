import { Buffer } from "node:buffer";
import { join } from "node:path";
import {
  GitError,
  MAX_PUSH_HEAD,
  parsePush,
  type PushHead,
  type RefReport,
} from "../../engines/git/mod.ts";
import type {
  GitPushReport,
  PooledRepository,
  SentPack,
  UnpackedPush,
} from "../../engines/fossil/mod.ts";
import { matchesGlob } from "../../engines/fossil/front/mod.ts";
import {
  Invalid,
  ServiceError,
  TooLarge,
  TooMany,
  TooSlow,
  Unavailable,
} from "../../kernel/errors.ts";
import type { FreeSpace } from "../../kernel/files.ts";
import { Semaphore } from "../../kernel/semaphore.ts";
import type { Caller } from "../../people/identity/mod.ts";
import { actorOf, type ProjectAccess, type Upload } from "../projects/mod.ts";
import type { LandingQueue, Reviews } from "../reviews/mod.ts";
import { Pushes, type PushesOptions, type PushTurn } from "../sync/mod.ts";
import type { Tickets } from "../tickets/mod.ts";
import type { WorkRequest, Workspaces } from "../workspaces/mod.ts";
import type { GitDoor } from "./git_door.ts";
import { parsePushOptions, type PushOptions } from "./push_options.ts";
import { storeInTurns, type StorePush } from "./push_turns.ts";
import { beginsWork, type ReviewTarget, type Target, targetsOf } from "./push_targets.ts";

/** Pushes of one caller that are on the disk at once. The rest waits at its sender. */
const BODIES = {
  permitsPerKey: 2,
  maxWaitingPerKey: 20,
  refusal: () => new TooMany("Too many of your pushes wait to be received; try again later"),
};
/** Bytes of a push that arrive whatever the disk says. */
const FREE_BYTES = 16 * 1024 * 1024;
/** How slowly a push may come, on average, once it has come for some time. */
const SLOWEST = { bytesPerSecond: 1024, afterMs: 5 * 60_000 } as const;
/** Most references that are stored without keeping anybody waiting. */
const MAX_SHORT_REFS = 50;
/** Bytes of a push that the worker of the repository may unpack itself, which saves going elsewhere. */
const SHORT_PACK_BYTES = 64 * 1024;
const HEADS = "refs/heads/";
/** Bytes in which most pushes have all that comes before their pack. */
const USUAL_HEAD = 64 * 1024;

export interface GitPushesOptions extends PushesOptions {
  readonly git: Pick<GitDoor, "refs">;
  readonly tickets: Pick<Tickets, "resolve">;
  readonly workspaces: Workspaces;
  readonly reviews: Pick<Reviews, "store" | "opening">;
  readonly landing: Pick<LandingQueue, "land">;
  readonly space: Pick<FreeSpace, "require" | "refusal" | "hasRoomFor">;
}

/** A push that arrives. */
export interface GitPushCall {
  readonly slug: string;
  readonly caller: Caller;
  /** The address of the server: `https://HOST`. */
  readonly site: string;
  readonly signal: AbortSignal;
  /**
   * Receives the body, and reads it to its end even if it is refused.
   *
   * @param check called with the bytes received so far, and the last of them; what it throws ends the
   * reception
   */
  receive(check: (bytes: number, part: Uint8Array) => void): Promise<Upload>;
  /** Called with what the push says before its pack. */
  onHead?(head: PushHead): void;
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
   * @throws TooMany, TooSlow; Invalid if the body is cut short
   */
  async receive(access: ProjectAccess, call: GitPushCall): Promise<PushOutcome> {
    const { principal } = access;
    const key = `${principal.kind} ${principal.id ?? principal.project}`;
    using _body = await this.#bodies.acquire(key, { signal: call.signal });
    const beginning = new Beginning();
    const began = this.#options.clock();
    let upload;
    try {
      upload = await call.receive((bytes, part) => {
        beginning.add(part);
        requireSpeed(bytes, this.#options.clock() - began);
        if (bytes > FREE_BYTES) this.#options.space.require();
      });
    } catch (error) {
      const isTold = error instanceof TooLarge || error instanceof Unavailable;
      const head = isTold ? beginning.head() : null;
      if (head === null) throw error;
      return failed(head, error as ServiceError);
    }
    await using _upload = upload;
    const head = await readHead(upload);
    call.onHead?.(head);
    if (head.commands.length === 0) return { head, failure: null, refs: [], notices: [] };
    const received = { access, call, upload, head, isBeingStored: false };
    try {
      return await this.#receive(received);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      return failed(head, error, received.isBeingStored && error instanceof Unavailable);
    }
  }

  async #receive(received: Received): Promise<PushOutcome> {
    const { access, call, upload, head } = received;
    const { repositories, git, space } = this.#options;
    const tips = head.commands.flatMap(({ to }) => to ?? []);
    let unpacked: UnpackedPush | null = null;
    if (tips.length > 0) {
      await repositories.requireRoom(access.project, call.caller, upload.bytes);
      const based = head.commands.flatMap(({ ref, to }) =>
        to !== null && beginsWork(ref) ? to : []
      );
      const target = join(upload.path, "..", "draft");
      const pack = { source: upload.path, start: head.length, target, tips, based };
      unpacked = await this.#unpack(access, pack, { bytes: upload.bytes, signal: call.signal });
    }
    const { slug, caller } = call;
    const options = await this.#optionsOf(access, head);
    let targets: readonly Target[] = [];
    const sender = { slug, caller, isFromGit: true };
    const turns = {
      folder: join(upload.path, ".."),
      signal: call.signal,
      space,
      read: <T>(work: (repository: PooledRepository) => Promise<T>) =>
        repositories.read(access.project, work),
    };
    const inTurn = async (turn: PushTurn, store: StorePush) => {
      const { refs } = await git.refs(turn.access.project);
      targets = await targetsOf(head.commands, {
        workspaces: this.#options.workspaces,
        turn,
        request: this.#requestOf(turn.access, caller),
        options,
        refs: new Map(refs.map(({ ref, object }) => [ref, object])),
        bases: unpacked?.bases ?? {},
      });
      return await this.#store(turn, { received, targets, unpacked, store });
    };
    const report = await storeInTurns(
      turns,
      (store) => this.#pushes.receive(access, sender, (turn) => inTurn(turn, store)),
    );
    const refs = targets.map((target) => reportOf(target, report));
    const notices = [
      ...options.unknown.map((name) => `The push option "${name}" means nothing here`),
      ...(unpacked?.oddities ?? []).map((sentence) => `Warning: ${sentence}`),
      ...refs.flatMap(({ ref, refusal }) => refusal === null ? [] : `${ref}: ${refusal}`),
      ...this.#waysOf(access, refs),
    ];
    for (const target of targets) {
      if (target.refusal !== null) continue;
      const pushed = report.refs.find(({ ref }) => ref === target.pushed.ref);
      if (pushed?.refusal !== null || pushed.checkin === null) continue;
      const { review, begins, intended } = target;
      if (review !== null) {
        const { checkin } = pushed;
        notices.push(await this.#review({ access, call, options, review, checkin }));
      } else if (intended !== null) {
        notices.push(`The new ${begins} is yours: push to refs/for/BRANCH for its review`);
      }
    }
    return { head, failure: null, refs, notices };
  }

  /** What to do in place of refused pushes to protected branches. */
  #waysOf({ project, isAdmin }: ProjectAccess, refs: readonly RefReport[]): string[] {
    const { pushes } = this.#options.protection.closedTo(project, isAdmin);
    return refs.flatMap(({ ref, refusal }) => {
      const branch = ref.slice(HEADS.length);
      const isProtected = refusal !== null && ref.startsWith(HEADS) &&
        pushes.some(({ pattern }) => matchesGlob(pattern, branch));
      return isProtected ? `For a review: git push origin HEAD:refs/for/${branch}` : [];
    });
  }

  /** Unpacks a push, as long as the disk has room for what it unfolds to. */
  async #unpack(
    { project }: ProjectAccess,
    pack: SentPack,
    { bytes, signal }: { readonly bytes: number; readonly signal: AbortSignal },
  ): Promise<UnpackedPush> {
    const { repositories, space } = this.#options;
    const full = new AbortController();
    const options = {
      signal: AbortSignal.any([signal, full.signal]),
      onProgress: () => {
        const { refusal } = space;
        if (refusal !== null) full.abort(new Unavailable(refusal));
      },
    };
    return await repositories.read(
      project,
      async (repository) =>
        (bytes <= SHORT_PACK_BYTES ? await repository.unpackShortPush(pack, { signal }) : null) ??
          await repository.unpackPush(pack, options),
    );
  }

  /** The options, with the whole id of the ticket. */
  async #optionsOf({ project }: ProjectAccess, { options }: PushHead): Promise<PushOptions> {
    const parsed = parsePushOptions(options);
    const { ticket } = parsed;
    if (ticket === null) return parsed;
    const { uuid } = await this.#options.tickets.resolve(project, ticket);
    return { ...parsed, ticket: uuid };
  }

  #requestOf({ principal, isAdmin }: ProjectAccess, caller: Caller): WorkRequest {
    const actor = actorOf({ principal, isAdmin }, undefined, this.#options.accounts);
    return { caller, actor, isAdmin };
  }

  async #store(
    { repository, rules, mark, intend }: PushTurn,
    { received, targets, unpacked, store }: {
      readonly received: Received;
      readonly targets: readonly Target[];
      /** Null for a push without objects. */
      readonly unpacked: UnpackedPush | null;
      readonly store: StorePush;
    },
  ): Promise<GitPushReport> {
    const { call: { caller: { address } }, head: { isAtomic } } = received;
    const accepted = targets.filter((target) => target.refusal === null);
    if (accepted.length === 0 || (isAtomic && accepted.length < targets.length)) return NOTHING;
    if (rules.standstill !== undefined) throw new Unavailable(rules.standstill);
    const changed = new Set<string>();
    for (const { pushed } of accepted) {
      if (changed.has(pushed.ref)) throw new Invalid("The push changes a workspace twice");
      changed.add(pushed.ref);
    }
    const push = {
      draft: unpacked?.draft ?? null,
      refs: accepted.map(({ pushed }) => pushed),
      isAtomic,
      rules: { ...rules, isFromGit: true, begins: accepted.flatMap(({ begins }) => begins ?? []) },
      address,
      now: this.#options.clock(),
    };
    return await store(repository, {
      push,
      mark,
      isLong: unpacked?.isLong === true || push.refs.length > MAX_SHORT_REFS,
      intend: async () => {
        for (const { intended } of accepted) if (intended !== null) await intend(intended);
        received.isBeingStored = true;
      },
    });
  }

  /** Opens the review of a workspace, unless it has one; returns what to say of it. */
  async #review({ access, call, options, review, checkin }: {
    readonly access: ProjectAccess;
    readonly call: GitPushCall;
    readonly options: PushOptions;
    readonly review: ReviewTarget;
    readonly checkin: string;
  }): Promise<string> {
    const { repositories, reviews, landing } = this.#options;
    const { project } = access;
    const request = this.#requestOf(access, call.caller);
    try {
      const [open] = await reviews.store.openOf(project.id, [review.workspace]);
      let number = open?.number;
      if (number === undefined && options.isDraft) {
        return `The commits are in workspace/${review.workspace}: push without "draft" for a review`;
      }
      if (number === undefined) {
        const { comment } = await repositories.read(
          project,
          (repository) => repository.checkin(checkin),
        );
        const [subject = "", ...body] = comment.split("\n");
        const made = await reviews.opening.create(project, {
          title: (options.title ?? subject).slice(0, MAX_TITLE),
          description: (options.description ?? body.join("\n").trim()).slice(0, MAX_DESCRIPTION),
          workspace: review.workspace,
          target_branch: review.branch,
          files_changed: [],
          ...options.ticket === null ? {} : { ticket_uuid: options.ticket },
          reviewers: [...options.reviewers],
        }, request);
        number = made.number;
      }
      const address = `${call.site}/projects/${project.slug}/reviews/${number}`;
      if (!options.land) return `Review ${number}: ${address}`;
      const landed = await landing.land(project, number, request).then(() => "waits to land")
        .catch((error: unknown) => {
          if (error instanceof ServiceError) return `does not land: ${error.message}`;
          throw error;
        });
      return `Review ${number} ${landed}: ${address}`;
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      return `The commits are in the workspace "${review.workspace}", but have no review: ${error.message}`;
    }
  }
}

const NOTHING: GitPushReport = { receipt: null, refs: [] };
/** Longest title and description of a review, in characters. */
const [MAX_TITLE, MAX_DESCRIPTION] = [200, 20_000];

interface Received {
  readonly access: ProjectAccess;
  readonly call: GitPushCall;
  readonly upload: Upload;
  readonly head: PushHead;
  /** Whether some of it may be stored already. */
  isBeingStored: boolean;
}

/** @throws TooSlow if so many bytes have taken too many milliseconds */
function requireSpeed(bytes: number, milliseconds: number): void {
  const { bytesPerSecond, afterMs } = SLOWEST;
  if (milliseconds <= afterMs || bytes >= milliseconds / 1000 * bytesPerSecond) return;
  throw new TooSlow("The push did not arrive in time");
}

/**
 * What a push is answered that failed: `git` shows the sentence, but no status of HTTP.
 *
 * @param isUnknown whether nobody knows if it is stored
 */
function failed(head: PushHead, { message }: ServiceError, isUnknown = false): PushOutcome {
  const refusal = isUnknown ? "it may be stored: push again to know" : "nothing was stored";
  const refs = head.commands.map(({ ref }) => ({ ref, refusal }));
  return { head, failure: message, refs, notices: [message] };
}

/** The first bytes of a push that arrives. */
class Beginning {
  readonly #parts: Uint8Array[] = [];
  #bytes = 0;

  add(part: Uint8Array): void {
    const own = part.slice(0, USUAL_HEAD - this.#bytes);
    if (own.length === 0) return;
    this.#parts.push(own);
    this.#bytes += own.length;
  }

  /** What comes before the pack; null if that is not all here, or malformed. */
  head(): PushHead | null {
    try {
      return parsePush(Buffer.concat(this.#parts));
    } catch (error) {
      if (error instanceof GitError) return null;
      throw error;
    }
  }
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

function reportOf(target: Target, { refs }: GitPushReport): RefReport {
  const { command: { ref, to } } = target;
  if (target.refusal !== null) return { ref, refusal: target.refusal };
  const { pushed } = target;
  const found = refs.find((one) => one.ref === pushed.ref);
  if (found === undefined) return { ref, refusal: "another reference was refused" };
  const instead = pushed.ref === ref || to === null
    ? {}
    : { instead: { ref: pushed.ref, from: found.from, to } };
  return { ref, refusal: found.refusal, ...instead };
}
