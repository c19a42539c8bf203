import type { Repository } from "../repository.ts";
import { CardWriter } from "./card_writer.ts";
import type { Judge } from "./judgement.ts";
import type { LeftBehind, SyncRequest } from "./request.ts";

/** The length of an answer after which it names artifacts instead of sending them, in bytes. */
export const MAX_ANSWER_BYTES = 5_000_000;
/** The time after which it does, in milliseconds: other clients wait for the worker meanwhile. */
const MAX_ANSWER_MS = 10_000;

export type ExchangeOptions = Pick<Exchange, "repository" | "request" | "judge" | "check">;

/** The state of one exchange: a message of a client, and the answer to it. */
export class Exchange {
  readonly repository: Repository;
  readonly request: SyncRequest;
  /** The code of the client's repository, once it pushes. */
  client: string | null = null;
  /** What earlier messages of the same push left out. */
  leftBehind: LeftBehind | null = null;
  /** Names of refused artifacts that the client announces again: nobody asks for them. */
  refused: ReadonlySet<string> = new Set();
  /** Names that earlier answers to the push asked for. */
  asked: ReadonlySet<string> = new Set();
  readonly out = new CardWriter();
  /** Judges what comes; null if the client may push nothing. */
  readonly judge: Judge | null;
  /** Ends the work if the call was cancelled. */
  readonly check: () => void;
  /** Rows of artifacts that the client has. */
  readonly onRemote = new Set<number>();
  /** Rows of artifacts that the answer has. */
  readonly sent = new Set<number>();
  /** Names that the client asked for, so it cannot send them. */
  readonly unknown = new Set<string>();
  readonly counts = {
    artifactsSent: 0,
    artifactsReceived: 0,
    unversionedSent: 0,
    unversionedReceived: 0,
  };
  /** Why unversioned files were refused. */
  readonly refusedFiles: string[] = [];
  /** What the answer has already, of what is sent once. */
  readonly #sent = new Set<string>();
  isPulling = false;
  /** The client wants the names of all artifacts. */
  sendsCatalog = false;
  /** The client asks for private artifacts, and may have them. */
  sendsPrivate = false;
  readonly #deadline = performance.now() + MAX_ANSWER_MS;

  constructor(options: ExchangeOptions) {
    this.repository = options.repository;
    this.request = options.request;
    this.judge = options.judge;
    this.check = options.check;
  }

  get isPushing(): boolean {
    return this.client !== null;
  }

  /**
   * Notes that what follows is a push.
   *
   * @param client the code of the client's repository: two clones of one account may push at once
   */
  beginPush(client: string): void {
    this.client = client;
    this.leftBehind = this.request.leftBehind.find((one) => one.client === client) ?? null;
    this.refused = new Set(this.leftBehind?.refused);
    this.asked = new Set(this.leftBehind?.asked);
  }

  /** Whether something is asked for the first time: clients ask once, and the answer is bounded. */
  isFirst(what: string): boolean {
    if (this.#sent.has(what)) return false;
    this.#sent.add(what);
    return true;
  }

  /** Whether the answer is so long, or took so long, that the rest must wait for the next one. */
  get isFull(): boolean {
    return this.out.length >= MAX_ANSWER_BYTES || performance.now() >= this.#deadline;
  }
}
