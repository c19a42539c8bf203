import { Buffer } from "node:buffer";
import type { Connect, LineConnection } from "../bridge/mod.ts";
import { closeQuietly } from "../../kernel/body_until.ts";
import { type Scheduler, systemScheduler } from "../../kernel/scheduler.ts";

/** How long a server may take to accept a connection, TLS included. */
const CONNECT_MILLISECONDS = 10_000;

/** Silence after which the server is sent a PING. */
const SILENCE_MILLISECONDS = 60_000;

/** How long it may take to answer. */
const PONG_MILLISECONDS = 30_000;

/** Longest line from a server: all tags, then the text with a generous `LINELEN`. */
const MAX_LINE_BYTES = 64 * 1024;

/** Most bytes that may wait to be written; more means that the server does not read. */
const MAX_QUEUED_BYTES = 1024 * 1024;

const READ_BYTES = 8 * 1024;

const NEWLINE = 10;
const RETURN = 13;

/** How the connection is encrypted. */
export interface TlsOptions {
  /** Certificates of authorities in PEM, beside the system's. */
  readonly caCerts?: readonly string[];
  /** The required name in the server's certificate; default: the host name. */
  readonly serverName?: string;
}

export interface TcpOptions {
  readonly hostname: string;
  readonly port: number;
  /** Null for no encryption. */
  readonly tls: TlsOptions | null;
  readonly scheduler?: Scheduler;
}

/**
 * Opens connections to an IRC server over TCP, with or without TLS. They carry UTF-8, and end if
 * the server is silent for a minute and does not answer a PING either.
 */
export function connectTcp(options: TcpOptions): Connect {
  const { scheduler = systemScheduler } = options;
  return async () => new TcpLineConnection(await openInTime(options), scheduler);
}

/** @throws Error if the server does not accept the connection in time */
async function openInTime(options: TcpOptions): Promise<Deno.TcpConn | Deno.TlsConn> {
  const { scheduler = systemScheduler } = options;
  const late = Promise.withResolvers<never>();
  const opening = open(options);
  const cancel = scheduler.after(CONNECT_MILLISECONDS, () => {
    late.reject(new Error("The connection was not made in time"));
    opening.then((connection) => connection.close(), () => {});
  });
  try {
    return await Promise.race([opening, late.promise]);
  } finally {
    cancel();
  }
}

async function open({ hostname, port, tls }: TcpOptions): Promise<Deno.TcpConn | Deno.TlsConn> {
  const plain = await Deno.connect({ hostname, port });
  try {
    plain.setNoDelay(true);
    plain.setKeepAlive(true);
    return tls === null ? plain : await encrypt(plain, hostname, tls);
  } catch (error) {
    closeQuietly(plain);
    throw error;
  }
}

async function encrypt(
  plain: Deno.TcpConn,
  hostname: string,
  { caCerts = [], serverName = hostname }: TlsOptions,
): Promise<Deno.TlsConn> {
  try {
    const encrypted = await Deno.startTls(plain, { hostname: serverName, caCerts: [...caCerts] });
    await encrypted.handshake();
    return encrypted;
  } catch (error) {
    throw explainCertificate(error, serverName);
  }
}

/** Lines over a socket: one write at a time, with everything that waits. */
class TcpLineConnection implements LineConnection {
  onClose: ((reason: string) => void) | null = null;
  readonly #socket: Deno.TcpConn | Deno.TlsConn;
  readonly #scheduler: Scheduler;
  #onLine: ((line: string) => void) | null = null;
  #reading = false;
  #closed = false;
  #queue: Uint8Array[] = [];
  #queuedBytes = 0;
  #writing = false;
  #heardAt: number;
  #cancelWatch: () => void = () => {};

  constructor(socket: Deno.TcpConn | Deno.TlsConn, scheduler: Scheduler) {
    this.#socket = socket;
    this.#scheduler = scheduler;
    this.#heardAt = scheduler.now();
    this.#watch(SILENCE_MILLISECONDS);
  }

  get closed(): boolean {
    return this.#closed;
  }

  get onLine(): ((line: string) => void) | null {
    return this.#onLine;
  }

  /** Reading starts when there is a listener. */
  set onLine(listener: ((line: string) => void) | null) {
    this.#onLine = listener;
    if (listener === null || this.#reading) return;
    this.#reading = true;
    this.#read().then((reason) => this.#end(reason));
  }

  send(line: string): void {
    if (this.#closed) return;
    const bytes = encoder.encode(`${line}\r\n`);
    this.#queuedBytes += bytes.length;
    if (this.#queuedBytes > MAX_QUEUED_BYTES) return this.#end("The server does not read");
    this.#queue.push(bytes);
    if (!this.#writing) this.#write();
  }

  /** Closes at once; unwritten lines are lost. */
  close(): void {
    this.#end("Closed");
  }

  /** Checks after a while whether anything was received. */
  #watch(milliseconds: number): void {
    this.#cancelWatch = this.#scheduler.after(milliseconds, () => {
      const silence = this.#scheduler.now() - this.#heardAt;
      if (silence < SILENCE_MILLISECONDS) return this.#watch(SILENCE_MILLISECONDS - silence);
      if (silence >= SILENCE_MILLISECONDS + PONG_MILLISECONDS) {
        return this.#end("The server has fallen silent");
      }
      this.send("PING :silence");
      this.#watch(PONG_MILLISECONDS);
    });
  }

  async #write(): Promise<void> {
    this.#writing = true;
    try {
      while (this.#queue.length > 0 && !this.#closed) {
        let bytes: Uint8Array = Buffer.concat(this.#queue);
        this.#queue = [];
        while (bytes.length > 0) bytes = bytes.subarray(await this.#socket.write(bytes));
        this.#queuedBytes = this.#queue.reduce((sum, { length }) => sum + length, 0);
      }
    } catch (error) {
      this.#end(reasonOf(error));
    }
    this.#writing = false;
  }

  /** Reads until the connection ends; returns the reason. */
  async #read(): Promise<string> {
    const chunk = new Uint8Array(READ_BYTES);
    let rest: Uint8Array = new Uint8Array(0);
    try {
      for (;;) {
        const count = await this.#socket.read(chunk);
        if (count === null) return "The server closed the connection";
        if (this.#closed) return "Closed";
        this.#heardAt = this.#scheduler.now();
        rest = this.#takeLines(Buffer.concat([rest, chunk.subarray(0, count)]));
        if (rest.length > MAX_LINE_BYTES) return "The server sent a line that is too long";
      }
    } catch (error) {
      return reasonOf(error);
    }
  }

  /** Passes on whole lines; returns the rest. */
  #takeLines(bytes: Uint8Array): Uint8Array {
    let start = 0;
    for (;;) {
      const end = bytes.indexOf(NEWLINE, start);
      if (end === -1) return bytes.subarray(start);
      const last = end > start && bytes[end - 1] === RETURN ? end - 1 : end;
      if (last > start) this.#onLine?.(decoder.decode(bytes.subarray(start, last)));
      if (this.#closed) return new Uint8Array(0);
      start = end + 1;
    }
  }

  #end(reason: string): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#cancelWatch();
    this.#queue = [];
    closeQuietly(this.#socket);
    queueMicrotask(() => this.onClose?.(reason));
  }
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** What helps against a fault of a network's certificate, by the runtime's word for the fault. */
const REMEDIES: readonly (readonly [RegExp, (serverName: string) => string])[] = [
  [
    /UnknownIssuer/,
    () =>
      "The network's certificate is from no authority that muster trusts: name its file in irc.tls.ca",
  ],
  [
    /NotValidForName|not valid for name/,
    (serverName) =>
      `The network's certificate is not for "${serverName}": name the host that it is for in ` +
      "irc.tls.server_name",
  ],
  [
    /CaUsedAsEndEntity/,
    () =>
      "The network's certificate is that of an authority: make one with basicConstraints=CA:FALSE",
  ],
  [/Expired/, () => "The network's certificate has expired: renew it"],
];

/**
 * Says what helps if a TLS handshake failed because of the server's certificate.
 *
 * @param error the error of the handshake
 * @param serverName the name that the certificate must be for
 * @returns an error that says so, or the error itself
 */
function explainCertificate(error: unknown, serverName: string): unknown {
  const [, fault] = error instanceof Error
    ? /invalid peer certificate: (.*)/s.exec(error.message) ?? []
    : [];
  if (fault === undefined) return error;
  const [, remedy] = REMEDIES.find(([pattern]) => pattern.test(fault)) ?? [];
  return remedy === undefined ? error : new Error(remedy(serverName), { cause: error });
}
