/** Listeners that pass the bytes of their clients on to a listener of this process. */

import type { IrcLogger } from "../options.ts";
import { closeConnection, isProxy, readProxyHeader } from "./proxy_protocol.ts";

/** What is read at once of one direction of a connection. */
const BUFFER_BYTES = 4096;

/** How long a client may take until the listener behind has something to answer. */
const FIRST_ANSWER_MILLISECONDS = 30_000;

/** How long accepting pauses after a failure, such as too many open files. */
const ACCEPT_PAUSE_MILLISECONDS = 100;

/** How long it may take until it is known whose a relayed connection is. */
const ORIGIN_MILLISECONDS = 5000;

/** Whose the connections are that were relayed within this process, by the port that they came from. */
export class RelayedOrigins {
  readonly #addresses = new Map<number, string>();
  readonly #awaited = new Map<number, (address: string) => void>();

  /** The client's address; null where the connection was not relayed. */
  get(port: number): string | null {
    return this.#addresses.get(port) ?? null;
  }

  /** As {@linkcode get}, where the connection may be here before the relay has told of it. */
  async wait(port: number): Promise<string | null> {
    const known = this.get(port);
    if (known !== null) return known;
    const { promise, resolve } = Promise.withResolvers<string | null>();
    const timer = setTimeout(() => resolve(null), ORIGIN_MILLISECONDS);
    this.#awaited.set(port, resolve);
    const address = await promise;
    clearTimeout(timer);
    this.#awaited.delete(port);
    return address;
  }

  set(port: number, address: string): void {
    this.#addresses.set(port, address);
    this.#awaited.get(port)?.(address);
  }

  delete(port: number): void {
    this.#addresses.delete(port);
  }
}

export interface RelayOptions {
  readonly hostname: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Certificate chain and key in PEM; absent for plain TCP. */
  readonly tls?: { readonly cert: string; readonly key: string };
  /** Addresses of those whose connections begin with a header of the PROXY protocol. */
  readonly proxies: readonly string[];
  /** Where the bytes go. */
  readonly target: Deno.NetAddr;
  readonly origins: RelayedOrigins;
  /** Whether only what was relayed to it is taken. */
  readonly isInner: boolean;
  /** Connections at once. */
  readonly most: number;
  readonly log: IrcLogger;
}

/**
 * Listens, takes off TLS or the header of a proxy, and passes the rest on. The address of the client
 * goes with the connection, in {@linkcode RelayedOrigins}.
 */
export class Relay {
  readonly #options: RelayOptions;
  readonly #open = new Set<Deno.Conn>();
  readonly #running = new Set<Promise<void>>();
  #listener: Deno.Listener;
  #clients = 0;
  #stopped = false;

  constructor(options: RelayOptions) {
    this.#options = options;
    this.#listener = this.#listen(options, options.tls);
  }

  get addr(): Deno.NetAddr {
    return this.#listener.addr as Deno.NetAddr;
  }

  /** Whether it listens with TLS. */
  get secure(): boolean {
    return this.#options.tls !== undefined;
  }

  /** Gives connections to come another certificate. Throws, and changes nothing, if it is not one. */
  renewCertificate(tls: { readonly cert: string; readonly key: string }): void {
    const old = this.#listener;
    this.#listener = this.#listen(this.addr, tls);
    old.close();
  }

  /** Stops listening. */
  stop(): void {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#listener.close();
  }

  /** Closes what is open. Resolves when all is. */
  async close(): Promise<void> {
    for (const conn of this.#open) closeConnection(conn);
    await Promise.all(this.#running);
  }

  #listen(
    { hostname, port }: { hostname: string; port: number },
    tls: RelayOptions["tls"],
  ): Deno.Listener {
    const listener = tls === undefined
      ? Deno.listen({ hostname, port })
      : Deno.listenTls({ hostname, port, reusePort: true, ...tls });
    this.#track(this.#accept(listener));
    return listener;
  }

  async #accept(listener: Deno.Listener): Promise<void> {
    const { most, log } = this.#options;
    for (;;) {
      try {
        const conn = await listener.accept();
        if (this.#clients >= most) closeConnection(conn);
        else this.#track(this.#relay(conn));
      } catch (error) {
        if (this.#stopped || listener !== this.#listener) return;
        log.warn("IRC connection could not be accepted", { error });
        await new Promise((resolve) => setTimeout(resolve, ACCEPT_PAUSE_MILLISECONDS));
      }
    }
  }

  #track(work: Promise<void>): void {
    const tracked: Promise<void> = work.finally(() => this.#running.delete(tracked));
    this.#running.add(tracked);
  }

  async #relay(conn: Deno.Conn): Promise<void> {
    this.#open.add(conn);
    this.#clients++;
    try {
      const client = await this.#clientOf(conn);
      if (client !== null) await this.#passOn(conn, client);
    } catch {
      // One side is gone.
    } finally {
      this.#clients--;
      this.#open.delete(conn);
      closeConnection(conn);
    }
  }

  async #clientOf(
    conn: Deno.Conn,
  ): Promise<{ address: string; rest: Uint8Array<ArrayBuffer> } | null> {
    const { proxies, origins, isInner } = this.#options;
    const { hostname, port } = conn.remoteAddr as Deno.NetAddr;
    const peer = isInner ? await origins.wait(port) : hostname;
    if (peer === null) return null;
    if (!isProxy(proxies, peer)) return { address: peer, rest: new Uint8Array() };
    const header = await readProxyHeader(conn);
    return header && { address: header.address ?? peer, rest: header.rest };
  }

  async #passOn(
    conn: Deno.Conn,
    { address, rest }: { address: string; rest: Uint8Array<ArrayBuffer> },
  ): Promise<void> {
    const { target, origins } = this.#options;
    const inner = await Deno.connect({ hostname: target.hostname, port: target.port });
    const { port } = inner.localAddr as Deno.NetAddr;
    origins.set(port, address);
    this.#open.add(inner);
    const timer = setTimeout(() => closeConnection(conn), FIRST_ANSWER_MILLISECONDS);
    try {
      inner.setNoDelay(true);
      await writeAll(inner, rest);
      await Promise.race([copy(conn, inner), copy(inner, conn, () => clearTimeout(timer))]);
    } finally {
      clearTimeout(timer);
      this.#open.delete(inner);
      origins.delete(port);
      closeConnection(inner);
    }
  }
}

/** Passes on what is read until the end, or until one side is gone. */
async function copy(from: Deno.Conn, to: Deno.Conn, onRead: () => void = () => {}): Promise<void> {
  const buffer = new Uint8Array(BUFFER_BYTES);
  try {
    for (let count = await from.read(buffer); count !== null; count = await from.read(buffer)) {
      onRead();
      await writeAll(to, buffer.subarray(0, count));
    }
  } catch {
    // One side is gone, which ends the other too.
  }
}

async function writeAll(conn: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let sent = 0; sent < bytes.length;) sent += await conn.write(bytes.subarray(sent));
}
