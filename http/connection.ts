import type { Principal } from "../services/people/identity/mod.ts";
import { giveBack, PART_BYTES } from "../services/kernel/held_bytes.ts";
import { Pauses } from "../services/kernel/pieces.ts";
import { addressNetwork } from "../services/engines/irc/mod.ts";

/**
 * Most requests that are answered at a time on the connection of a stranger. HTTP/2 carries hundreds,
 * each of which costs as much memory as one on a connection of its own.
 */
const MOST_AT_ONCE = 32;

/** The requests of all strangers at one address. */
export interface StrangerRequests {
  /** How many have no answer yet. */
  count: number;
  /** Most of them. */
  readonly most: number;
}

/** The properties of a new connection. */
interface HttpConnectionOptions {
  /** The client's address. */
  readonly address: string;
  /** The port of this machine. */
  readonly port: number;
  /** The requests of its address, where they have a bound; null if it carries those of many clients. */
  readonly requests: StrangerRequests | null;
  /** The time in milliseconds, from any starting point. */
  readonly clock: { readonly now: number };
  /**
   * Called at a request with a valid credential, until it returns true: the connection is then
   * kept.
   */
  readonly onTrusted: (connection: HttpConnection, principal: Principal) => boolean;
  /** Called once, at the first request that another node forwards. */
  readonly onRelaying: (connection: HttpConnection) => void;
}

/** An HTTP connection: its client, and what it waits for. */
export class HttpConnection {
  /** The address of the socket. */
  readonly address: string;
  /** The port of this machine that it came to. */
  readonly port: number;
  /** The part of an address that counts as one client. */
  readonly network: string;
  /** When it began to wait for its first or next request, by the clock of its table. */
  waitsSince: number;
  /** Called once, when no more request is being answered; null for nothing. */
  onIdle: (() => void) | null = null;
  readonly #clock: { readonly now: number };
  readonly #onTrusted: HttpConnectionOptions["onTrusted"];
  readonly #onRelaying: HttpConnectionOptions["onRelaying"];
  readonly #requests: StrangerRequests | null;
  readonly #cut = new AbortController();
  /** The requests that wait for their turn: what lets each begin. The oldest are first. */
  readonly #waiting: ((isOpen: boolean) => void)[] = [];
  /** How many requests have no answer yet. */
  #running = 0;
  /** How many of them count among those of its address. */
  #counted = 0;
  /** The bodies of long answers that have not been sent. */
  readonly #paced = new Set<PacedBody>();
  /** Whether the last request had a long answer. */
  #wasLong = false;
  #served = false;
  #trusted = false;
  #kept = false;
  #relays = false;

  constructor(options: HttpConnectionOptions) {
    this.address = options.address;
    this.port = options.port;
    this.network = addressNetwork(options.address);
    this.#requests = options.requests;
    this.#clock = options.clock;
    this.#onTrusted = options.onTrusted;
    this.#onRelaying = options.onRelaying;
    this.waitsSince = options.clock.now;
  }

  /** Aborts to close the connection. */
  get signal(): AbortSignal {
    return this.#cut.signal;
  }

  /** Whether no request is being answered. */
  get waits(): boolean {
    return this.#running === 0;
  }

  /** Whether the headers of a request ever came. */
  get served(): boolean {
    return this.#served;
  }

  /** Whether the last answer was long, so that its end may still be on its way to the client. */
  get wasLong(): boolean {
    return this.#wasLong;
  }

  /** Since when the client has taken nothing of an answer; null while it takes all that there is. */
  get heldSince(): number | null {
    let oldest: number | null = null;
    for (const { heldSince } of this.#paced) {
      if (heldSince !== null && (oldest === null || heldSince < oldest)) oldest = heldSince;
    }
    return oldest;
  }

  /** Whether it belongs to another node. */
  get relays(): boolean {
    return this.#relays;
  }

  /** Whether it is never closed to make room for others. */
  get isKept(): boolean {
    return this.#kept;
  }

  /** Whether a request came with a valid credential; the last one, if another node forwards them. */
  get trusted(): boolean {
    return this.#trusted;
  }

  /** Remembers that a request came with a valid credential of a principal. */
  readonly trust = (principal: Principal): void => {
    this.#trusted = true;
    if (this.#kept) return;
    this.#kept = this.#onTrusted(this, principal);
    if (this.#kept) this.#becomeKept();
  };

  /** Remembers that it belongs to another node. Each of its requests is somebody else's. */
  readonly relay = (): void => {
    this.#trusted = false;
    if (this.#relays) return;
    this.#relays = true;
    this.#kept = true;
    this.#onRelaying(this);
    this.#becomeKept();
  };

  /**
   * Records that the headers of a request have arrived.
   *
   * @returns false if the strangers at its address have too many requests
   */
  begin(): boolean {
    this.#running++;
    this.#served = true;
    this.#wasLong = false;
    const requests = this.#requests;
    if (requests === null || this.#kept) return true;
    this.#counted++;
    requests.count++;
    return requests.count <= requests.most;
  }

  /**
   * The turn of the request that has just begun. A stranger's requests are answered a few at a time.
   *
   * @returns null if it may be answered at once; else, resolves when it may, to false if the
   * connection has ended
   */
  turn(): Promise<boolean> | null {
    if (this.#hasTurn(this.#running - 1)) return null;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.#waiting.push(resolve);
    return promise;
  }

  /**
   * Sends a long answer at the pace of the client.
   *
   * @param completed settles when it has been sent, or the client is gone
   */
  pace(answer: Response, completed: Promise<void>): Response {
    if (answer.body === null) return answer;
    const paced = new PacedBody(answer.body, this.#clock);
    this.#paced.add(paced);
    this.#wasLong = true;
    const end = () => {
      this.#paced.delete(paced);
    };
    completed.then(end, end);
    return new Response(paced.stream, answer);
  }

  /** Lets nobody wait for a turn any more: the connection has ended. */
  leave(): void {
    this.#uncount(this.#counted);
    for (const begin of this.#waiting.splice(0)) begin(false);
  }

  /** Records that a request has been answered. */
  readonly end = (): void => {
    this.#running--;
    if (this.#counted > 0) this.#uncount(1);
    this.#letWaitingBegin();
    this.waitsSince = this.#clock.now;
    if (!this.waits || this.onIdle === null) return;
    const onIdle = this.onIdle;
    this.onIdle = null;
    onIdle();
  };

  #becomeKept(): void {
    this.#uncount(this.#counted);
    this.#letWaitingBegin();
  }

  #uncount(requests: number): void {
    this.#counted -= requests;
    if (this.#requests !== null) this.#requests.count -= requests;
  }

  #letWaitingBegin(): void {
    while (this.#waiting.length > 0 && this.#hasTurn(this.#running)) this.#waiting.shift()?.(true);
  }

  /** Whether one more request may be answered, beside some that run or wait. */
  #hasTurn(others: number): boolean {
    return this.#kept || this.#requests === null || others - this.#waiting.length < MOST_AT_ONCE;
  }

  /** Closes it at once. */
  readonly cut = (): void => this.#cut.abort();
}

/** Answers up to this length fit into the buffers of a connection. */
const SHORT_BYTES = 128 * 1024;

/** Types of short answers, and of event streams, which have bounds of their own. */
const SHORT_TYPES = /^(?:application\/json|text\/)/;

/** Whether an answer may be so long that its client takes a while to read it. */
export function isLongAnswer({ headers }: Response): boolean {
  const declared = headers.get("content-length");
  if (declared !== null) return isLong(Number(declared));
  return !SHORT_TYPES.test(headers.get("content-type") ?? "");
}

/** Whether so many bytes are a long answer. Give it as a stream: the runtime copies bytes first. */
export function isLong(bytes: number): boolean {
  return bytes > SHORT_BYTES;
}

/**
 * The body of an answer, in parts: when the runtime asks for more shows how fast the client reads. It
 * would take a whole body into its memory at once, and then call the answer sent.
 */
export class PacedBody {
  /** What the runtime reads. */
  readonly stream: ReadableStream<Uint8Array<ArrayBuffer>>;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>;
  readonly #clock: { readonly now: number };
  /** What the runtime has not got of the last chunk of the body. */
  #rest: Uint8Array<ArrayBuffer> | null = null;
  #chunk: Uint8Array<ArrayBuffer> | null = null;
  #heldSince: number | null = null;
  readonly #pauses = new Pauses();

  /** @param clock the time in milliseconds, from any starting point */
  constructor(body: ReadableStream<Uint8Array<ArrayBuffer>>, clock: { readonly now: number }) {
    this.#reader = body.getReader();
    this.#clock = clock;
    this.stream = new ReadableStream<Uint8Array<ArrayBuffer>>({
      pull: (controller) => this.#pull(controller),
      cancel: (reason) => this.#reader.cancel(reason),
    }, { highWaterMark: 0 });
  }

  /**
   * Since when the client has taken nothing, though there is something for it; null while it waits
   * for more.
   */
  get heldSince(): number | null {
    return this.#heldSince;
  }

  async #pull(
    controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>,
  ): Promise<void> {
    this.#heldSince = null;
    if (this.#pauses.isDue) await this.#pauses.pause();
    const part = this.#rest ?? await this.#readChunk();
    this.#heldSince = this.#clock.now;
    if (part === undefined) return controller.close();
    this.#rest = part.length > PART_BYTES ? part.subarray(PART_BYTES) : null;
    controller.enqueue(part.subarray(0, PART_BYTES));
  }

  /** The next chunk; the runtime has taken the one before. */
  async #readChunk(): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const taken = this.#chunk;
    // A chunk belongs to its reader; but others may use the rest of its buffer.
    if (taken !== null && taken.length === taken.buffer.byteLength) giveBack(taken);
    this.#chunk = null;
    const { value } = await this.#reader.read();
    this.#chunk = value ?? null;
    return value;
  }
}
