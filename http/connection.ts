import type { Principal } from "../services/identity/mod.ts";
import { addressNetwork } from "../services/irc/mod.ts";

/** The properties of a new connection. */
export interface HttpConnectionOptions {
  /** The client's address. */
  readonly address: string;
  /** The port of this machine. */
  readonly port: number;
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
  readonly #cut = new AbortController();
  #running = 0;
  #served = false;
  #trusted = false;
  #kept = false;
  #relays = false;

  constructor(options: HttpConnectionOptions) {
    this.address = options.address;
    this.port = options.port;
    this.network = addressNetwork(options.address);
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
    this.#kept ||= this.#onTrusted(this, principal);
  };

  /** Remembers that it belongs to another node. Each of its requests is somebody else's. */
  readonly relay = (): void => {
    this.#trusted = false;
    if (this.#relays) return;
    this.#relays = true;
    this.#kept = true;
    this.#onRelaying(this);
  };

  /** Records that the headers of a request have arrived. */
  begin(): void {
    this.#running++;
    this.#served = true;
  }

  /** Records that a request has been answered. */
  readonly end = (): void => {
    this.#running--;
    this.waitsSince = this.#clock.now;
    if (!this.waits || this.onIdle === null) return;
    const onIdle = this.onIdle;
    this.onIdle = null;
    onIdle();
  };

  /** Closes it at once. */
  readonly cut = (): void => this.#cut.abort();
}
