import { ServiceError, TooMany } from "../../kernel/errors.ts";
import {
  failedAnswer,
  LFS_FOLDER,
  LOGIN_HEAD_BYTES,
  peekLogin,
  signNonce,
  surveyMessage,
  unpackMessage,
} from "../../engines/fossil/front/mod.ts";
import type {
  Card,
  LeftBehind,
  MessageForm,
  MessageSource,
  PooledRepository,
  PresentedLogin,
  SyncAnswer,
  SyncRequest,
  SyncSurvey,
} from "../../engines/fossil/mod.ts";
import {
  type Caller,
  type Credential,
  GUEST,
  type HourlyQuota,
  type Identity,
  type Principal,
  sameDigest,
} from "../../people/identity/mod.ts";
import type { FreeSpace } from "../../kernel/files.ts";
import { Semaphore } from "../../kernel/semaphore.ts";
import {
  accessOf,
  type ProjectAccess,
  type ProjectRepositories,
  type Projects,
} from "../projects/mod.ts";
import type { Releases } from "../releases/mod.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import { Codes, type CodesOptions } from "./codes.ts";
import { Deliveries, type Delivery } from "./deliveries.ts";
import { mayPush, Pushes } from "./pushing.ts";
import type { PushRuleParts } from "./rules.ts";

/** A body up to this length, and its cards, are read on the main thread, in bytes. */
const SMALL_BODY_BYTES = 64 * 1024;
const SMALL_MESSAGE_BYTES = 512 * 1024;

/** The most bytes of a message of callers who only read: the names of 350,000 artifacts. */
const MAX_READING_BYTES = 16 * 1024 * 1024;
/** How many large messages of such callers arrive at once. */
const MAX_READING = 8;

/** Messages of one caller that a worker answers at once. A worker answers other callers meanwhile. */
const ANSWERS = { permitsPerKey: 1, maxWaitingPerKey: 100, refusal: tooManyWait };
/** Large messages of one caller that are on the disk at once. The rest waits at its sender. */
const BODIES = { permitsPerKey: 2, maxWaitingPerKey: 20, refusal: tooManyWait };

/** Users of the program who prove nothing. */
const NOBODIES: ReadonlySet<string> = new Set(["nobody", "anonymous"]);

/** A large message counts as a push: only that carries contents. */
const LARGE: Omit<SyncSurvey, "login"> = { isClone: false, isPull: true, isPush: true };

/** Said before a refused login. */
const LOGIN_ADVICE =
  "The name or the password is wrong: give the account's name, and a token for the password";

export interface ProjectSyncOptions extends CodesOptions, PushRuleParts {
  readonly projects: Pick<Projects, "find" | "halts">;
  readonly repositories: ProjectRepositories;
  readonly identity: Pick<Identity, "authenticateFor" | "authenticateProof" | "onEnded">;
  readonly releases: Pick<Releases, "draftFolders" | "fileRules">;
  /** Says when the disk has no room for a push. */
  readonly space: Pick<FreeSpace, "require" | "refusal">;
  readonly scheduler: Scheduler;
  /** Bounds the pushes of each caller. */
  readonly quota: Pick<HourlyQuota, "take">;
  /** The most bytes of cards in a message. */
  readonly maxBytes: number;
}

/** A message whose beginning has arrived. */
export interface ArrivingMessage {
  readonly kind: "arriving";
  readonly head: Uint8Array;
  /**
   * Receives the whole message.
   *
   * @param check called with the bytes received so far; what it throws ends the reception
   * @throws TooLarge, TooSlow, Invalid, Unavailable
   */
  receive(maxBytes: number, check?: (bytes: number) => void): Promise<MessageSource>;
}

/** A message of a client. */
export interface SyncCall {
  readonly slug: string;
  /** A long message is received only after its sender is known. */
  readonly source: MessageSource | ArrivingMessage;
  readonly form: MessageForm;
  /** The value of the cookie that may hold the login; null if there is none. */
  readonly cookie: string | null;
  /** The credential of the request's header; null if it has none. */
  readonly credential: Credential | null;
  readonly address: string;
  readonly requestId: string;
  readonly signal: AbortSignal;
  /** Called with the sender of the message, once it is known. */
  onIdentified(principal: Principal): void;
}

/** The answer to a message, on its way to the client. */
export interface DeliveredAnswer {
  readonly form: MessageForm;
  /** Bytes of the body. */
  readonly length: number;
  readonly body: Delivery;
}

/** Answers the sync protocol for projects: finds out who calls and what they may, then exchanges. */
export class ProjectSync {
  readonly #options: ProjectSyncOptions;
  readonly #codes: Codes;
  readonly #counters = new SyncCounters();
  /** How many large messages of callers who only read are arriving. */
  #arriving = 0;
  readonly #answers = new Semaphore(ANSWERS);
  readonly #bodies = new Semaphore(BODIES);
  readonly #deliveries: Deliveries;
  readonly #leftBehind: LeftBehindParts;
  readonly #pushes: Pushes;

  constructor(options: ProjectSyncOptions) {
    this.#options = options;
    this.#codes = new Codes(options);
    this.#deliveries = new Deliveries(options.scheduler);
    this.#leftBehind = new LeftBehindParts(options.clock);
    this.#pushes = new Pushes(options);
  }

  stats(): SyncStats {
    return this.#counters.stats();
  }

  /**
   * Answers a message. Whatever is wrong with it, or with the rights of its sender, is an error card:
   * the program shows nothing else to its user.
   *
   * @throws errors that are nobody's fault, such as bugs
   */
  async answer(sent: SyncCall): Promise<DeliveredAnswer> {
    const now = this.#options.clock();
    let caller = keyOf(GUEST, sent);
    const call: SyncCall = {
      ...sent,
      onIdentified: (principal) => {
        caller = keyOf(principal, sent);
        sent.onIdentified(principal);
      },
    };
    try {
      const survey = await this.#survey(call);
      const answer = await this.#answer(call, survey, now);
      this.#counters.note(kindOf(survey), answer);
      const { body, form } = answer;
      return { form, length: body.length, body: this.#deliveries.deliver(caller, body) };
    } catch (error) {
      const isKnown = error instanceof ServiceError ||
        (error instanceof Error && error.name === "FossilError");
      if (!isKnown) throw error;
      return this.refuse(call.form, error.message);
    }
  }

  /** An answer that has nothing but an error. */
  refuse(form: MessageForm, text: string): DeliveredAnswer {
    // The program asks for the password again after these words, and only after these.
    const before = text === "login failed"
      ? [{ kind: "message", text: LOGIN_ADVICE } as const]
      : [];
    const answer = failedAnswer({ form, now: this.#options.clock() }, text, before);
    return { form: answer.form, length: answer.body.length, body: answer.body };
  }

  /** What a message asks for. Of a large one, only the login is read here. */
  async #survey({ source, form, cookie }: SyncCall): Promise<Survey> {
    if (source.kind === "arriving") {
      const head = source.head.subarray(0, LOGIN_HEAD_BYTES);
      return { ...LARGE, login: peekLogin(head, { form, cookie }) };
    }
    if (source.kind === "bytes" && source.bytes.length <= SMALL_BODY_BYTES) {
      if (form !== "compressed" || declaredLength(source.bytes) <= SMALL_MESSAGE_BYTES) {
        const message = unpackMessage(source.bytes, form, SMALL_MESSAGE_BYTES);
        if (hasFewLines(message)) return surveyMessage(message, cookie);
      }
    }
    const head = source.kind === "bytes"
      ? source.bytes.subarray(0, LOGIN_HEAD_BYTES)
      : await readHead(source.path);
    return { ...LARGE, login: peekLogin(head, { form, cookie }) };
  }

  async #answer(call: SyncCall, survey: Survey, now: number): Promise<SyncAnswer> {
    const { slug, form } = call;
    const held = this.#options.projects.find(slug);
    const { principal, isSigned } = await this.#identify(call, survey, held?.project.id ?? null);
    call.onIdentified(principal);
    const access = held === null ? null : accessOf(held, principal, this.#options.projects.halts);
    if (access === null || !access.may("read")) {
      const project = held?.project ?? null;
      if (!survey.isClone) {
        const what = survey.isPull ? "read" : "write";
        return failedAnswer({ form, now }, `not authorized to ${what}`);
      }
      const codes: Card = { kind: "push", ...await this.#codes.of(slug, project) };
      return failedAnswer({ form, now }, "not authorized to clone", [codes]);
    }
    const mayWrite = mayPush(access);
    if (survey.isPush && mayWrite) access.halts?.requireGoing(principal);
    const maxBytes = mayWrite ? this.#options.maxBytes : MAX_READING_BYTES;
    const arriving = call.source;
    if (arriving.kind === "arriving") {
      using _body = await this.#bodies.acquire(keyOf(principal, call), call);
      const source = await this.#bodyOf(arriving, { mayWrite, maxBytes });
      // That takes time: the credential may have ended meanwhile, or the project.
      return await this.#answer({ ...call, source }, survey, now);
    }
    const message = { source: arriving, form, maxBytes, cookie: call.cookie, isSigned, now };
    const sent = { call, access, message };
    return mayWrite && survey.isPush ? await this.#receive(sent) : await this.#send(sent);
  }

  /**
   * Receives a long message. Those of callers who only read are few at a time: what they send stays
   * on the disk until it is answered.
   *
   * @throws TooMany; see {@link ArrivingMessage}
   */
  async #bodyOf(
    message: ArrivingMessage,
    { mayWrite, maxBytes }: { readonly mayWrite: boolean; readonly maxBytes: number },
  ): Promise<MessageSource> {
    if (mayWrite) {
      // Below this length it may be a reader's; whether it brings anything, its cards tell.
      return await message.receive(maxBytes, (bytes) => {
        if (bytes > MAX_READING_BYTES) this.#options.space.require();
      });
    }
    if (this.#arriving >= MAX_READING) {
      throw new TooMany("Too many large messages arrive at the moment; try again later");
    }
    this.#arriving++;
    try {
      return await message.receive(maxBytes);
    } finally {
      this.#arriving--;
    }
  }

  /** The sender of a message, by the request's header, or else by the login card. */
  async #identify(
    { credential, address }: SyncCall,
    { login }: Survey,
    projectId: string | null,
  ): Promise<{ readonly principal: Principal; readonly isSigned: boolean }> {
    const { identity } = this.#options;
    if (credential !== null) {
      const principal = await identity.authenticateFor(projectId, credential, address);
      return { principal, isSigned: false };
    }
    if (login === null || NOBODIES.has(login.user)) return { principal: GUEST, isSigned: false };
    const { user: name, nonce, signature } = login;
    const fits = (token: string) => sameDigest(signNonce(nonce, token), signature);
    const principal = await identity.authenticateProof({ name, projectId, fits }, address);
    return { principal, isSigned: true };
  }

  /** Exchanges without changing anything, beside other work on the repository. */
  async #send(sent: SentMessage): Promise<SyncAnswer> {
    const { repositories } = this.#options;
    const { call, access: { project, principal } } = sent;
    const { signal } = call;
    using _turn = await this.#answers.acquire(keyOf(principal, call), { signal });
    this.#deliveries.require(keyOf(principal, call));
    const request = await this.#requestOf(sent);
    const exchange = (mayDefer: boolean) =>
      repositories.read(
        project,
        (repository) =>
          repository.sync({ ...request, mark: null, leftBehind: [], mayDefer }, { signal }),
      );
    const answer = await exchange(true);
    if (!answer.wantsClusters) return answer;
    const isHalted = (sent.access.halts?.reasonById(principal.id) ?? null) !== null;
    if (project.archivedAt === null && !isHalted) {
      const write = (repository: PooledRepository) => repository.cluster();
      await repositories.write(project, { caller: callerOf(call, principal), write });
    }
    return await exchange(false);
  }

  /** Exchanges and stores what comes, while nothing else is written to the project. */
  #receive(sent: SentMessage): Promise<SyncAnswer> {
    const { call, access } = sent;
    const { project, principal } = access;
    const turn = { slug: call.slug, caller: callerOf(call, principal) };
    return this.#pushes.receive(access, turn, async ({ repository, mark, access, rules: push }) => {
      const request = await this.#requestOf({ ...sent, access });
      const name = `${project.id} ${keyOf(principal, call)}`;
      const leftBehind = this.#leftBehind.of(name);
      const answer = await repository.syncChanges({ ...request, push, mark, leftBehind });
      this.#leftBehind.note(name, answer.client, answer.leftBehind);
      return answer;
    });
  }

  async #requestOf(
    { call, access, message }: SentMessage,
  ): Promise<Omit<SyncRequest, "push" | "mark" | "leftBehind">> {
    const { releases } = this.#options;
    const { project, principal, isAdmin } = access;
    return {
      ...message,
      rights: {
        user: principal.name,
        read: true,
        write: mayPush(access),
        privates: isAdmin,
        hiddenFiles: [
          LFS_FOLDER,
          ...access.may("write") ? [] : await releases.draftFolders(project),
        ],
      },
      address: call.address,
      mayDefer: true,
    };
  }
}

/** A message whose sender is known. */
interface SentMessage {
  readonly call: SyncCall;
  readonly access: ProjectAccess;
  readonly message: Pick<
    SyncRequest,
    "form" | "source" | "maxBytes" | "cookie" | "isSigned" | "now"
  >;
}

function callerOf({ address, requestId }: SyncCall, principal: Principal): Caller {
  return { principal, address, requestId };
}

function tooManyWait(): TooMany {
  return new TooMany("Too many of your messages wait to be answered; try again later");
}

/** The caller whose messages take turns: an account, a project's tokens, or an address. */
function keyOf({ kind, id, project }: Principal, { address }: SyncCall): string {
  return kind === "guest" ? `guest ${address}` : `${kind} ${id ?? project}`;
}

/** What a message asks for; its nonce is checked where it is answered. */
type Survey = Omit<SyncSurvey, "login"> & {
  readonly login: Omit<PresentedLogin, "isWhole"> | null;
};

/** A message with more lines is read in a worker. */
const SMALL_LINES = 2000;
const NEWLINE = 10;

/** The length that a compressed body declares. */
function declaredLength(body: Uint8Array): number {
  if (body.length < 4) return 0;
  return new DataView(body.buffer, body.byteOffset, body.byteLength).getUint32(0);
}

/** Whether a message has so few lines that the main thread reads it, whatever its length. */
function hasFewLines(message: Uint8Array): boolean {
  let at = -1;
  for (let lines = 0; lines <= SMALL_LINES; lines++) {
    at = message.indexOf(NEWLINE, at + 1);
    if (at < 0) return true;
  }
  return false;
}

/** The part of a message in a file in which a login can be. */
async function readHead(path: string): Promise<Uint8Array> {
  using file = await Deno.open(path);
  const head = new Uint8Array(LOGIN_HEAD_BYTES);
  const length = await file.read(head) ?? 0;
  return head.subarray(0, length);
}

/** How many pushes are remembered; further ones displace those that said nothing for longest. */
const MAX_PUSHES = 200;
/** How many of one caller, whose clones may push at once. */
const MAX_OF_CALLER = 8;
/** A client that says nothing for so long has gone, in milliseconds. */
const MAX_SILENCE_MS = 10 * 60_000;

interface Push {
  readonly caller: string;
  readonly parts: LeftBehind;
  readonly at: number;
}

/** What pushes have left out so far: one push of each client of each caller to each project. */
class LeftBehindParts {
  readonly #clock: () => number;
  /** Those that said nothing for longest first. */
  #pushes: readonly Push[] = [];

  /** @param clock tells Unix milliseconds */
  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /** What the pushes of a caller to a project have left out. */
  of(caller: string): readonly LeftBehind[] {
    const oldest = this.#clock() - MAX_SILENCE_MS;
    return this.#pushes.filter((push) => push.caller === caller && push.at >= oldest)
      .map(({ parts }) => parts);
  }

  /**
   * Notes what an answer has left out.
   *
   * @param client null if the answer does not tell which one it was for: all of the caller are forgotten
   * @param parts null once the push ends
   */
  note(caller: string, client: string | null, parts: LeftBehind | null): void {
    const added = parts === null ? [] : [{ caller, parts, at: this.#clock() }];
    const others = this.#pushes.filter((push) => push.caller !== caller);
    const own = this.#pushes.filter((push) =>
      push.caller === caller && client !== null && push.parts.client !== client
    );
    this.#pushes = [...others, ...[...own, ...added].slice(-MAX_OF_CALLER)].slice(-MAX_PUSHES);
  }
}

/** What a message was for. */
type SyncKind = "clone" | "pull" | "push";

/** Counts since the start. */
export interface SyncStats {
  /** Answered messages, by what they were for and whether the answer has an error. */
  readonly messages: readonly {
    readonly kind: SyncKind;
    readonly outcome: "answered" | "refused";
    readonly count: number;
  }[];
  readonly artifactsSent: number;
  readonly artifactsReceived: number;
}

/** Counts what sync does. */
class SyncCounters {
  readonly #messages = new Map<string, SyncStats["messages"][number]>();
  #artifactsSent = 0;
  #artifactsReceived = 0;

  note(kind: SyncKind, { error, counts }: Pick<SyncAnswer, "error" | "counts">): void {
    const outcome = error === null ? "answered" : "refused";
    const key = `${kind} ${outcome}`;
    const count = (this.#messages.get(key)?.count ?? 0) + 1;
    this.#messages.set(key, { kind, outcome, count });
    this.#artifactsSent += counts.artifactsSent;
    this.#artifactsReceived += counts.artifactsReceived;
  }

  stats(): SyncStats {
    return {
      messages: [...this.#messages.values()],
      artifactsSent: this.#artifactsSent,
      artifactsReceived: this.#artifactsReceived,
    };
  }
}

/** What a message is for: a clone, or a push if it may change something. */
function kindOf(
  { isClone, isPush }: Pick<SyncSurvey, "isClone" | "isPush">,
): SyncKind {
  if (isClone) return "clone";
  return isPush ? "push" : "pull";
}
