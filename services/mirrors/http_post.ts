/** Posts a message to a checked address, and receives the answer in a file. */
import { connect, postRequest, sendAll, untilEnded } from "../webhooks/mod.ts";
import { MirrorError } from "./mirror_error.ts";

/** Longest status line and headers of an answer, in bytes. */
const MAX_HEAD = 16_384;
const CHUNK_BYTES = 64 * 1024;
const HEAD_END = "\r\n\r\n";

/** A connection that failed: another attempt may succeed. */
export class ConnectionLost extends MirrorError {}

/** What to post, and where the answer goes. */
export interface Posting {
  readonly url: URL;
  /** The address to connect to; it must be checked. */
  readonly address: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** The file that takes the body of the answer. */
  readonly target: string;
  /** The most bytes of that body. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

/** The head of an answer, and the length of its body in bytes. */
export interface Posted {
  readonly status: number;
  readonly contentType: string | null;
  readonly bytes: number;
}

/**
 * Posts a message by HTTP/1.0, in which answers have no chunks. Redirects are not followed.
 *
 * @throws ConnectionLost if the connection fails or ends early
 * @throws MirrorError if the answer is too long or is not HTTP
 */
export async function post(posting: Posting): Promise<Posted> {
  const { url, address, headers, body, signal } = posting;
  try {
    using connection = await connect(url, address, signal);
    const { conn } = connection;
    const { host, pathname: target } = url;
    const request = postRequest({ version: "1.0", host, target, headers, body });
    const sending = sendAll(conn, request);
    // A server may answer and close before it has read everything.
    sending.catch(() => {});
    return await untilEnded(signal, receive(conn, posting));
  } catch (error) {
    if (error instanceof MirrorError) throw error;
    if (signal.aborted) throw new MirrorError("Upstream did not answer in time");
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConnectionLost(`The connection to ${url.host} failed: ${reason.slice(0, 200)}`);
  }
}

async function receive(conn: Deno.Conn, posting: Posting): Promise<Posted> {
  const { head, rest } = await readHead(conn, posting.url);
  const [, status] = /^HTTP\/1\.[01] (\d{3})(?: |\r|$)/.exec(head) ?? [];
  if (status === undefined) throw new MirrorError(`The answer of ${posting.url.host} is not HTTP`);
  if (fieldOf(head, "transfer-encoding") !== null) {
    throw new MirrorError(`${posting.url.host} answers a request of HTTP/1.0 in chunks`);
  }
  const length = fieldOf(head, "content-length");
  const declared = length !== null && /^\d{1,15}$/.test(length) ? Number(length) : null;
  const bytes = await receiveBody(conn, { rest, declared, posting });
  return { status: Number(status), contentType: fieldOf(head, "content-type"), bytes };
}

async function readHead(
  conn: Deno.Conn,
  { host }: URL,
): Promise<{ readonly head: string; readonly rest: Uint8Array }> {
  const buffer = new Uint8Array(MAX_HEAD);
  let length = 0;
  let text = "";
  for (;;) {
    const end = text.indexOf(HEAD_END);
    if (end >= 0) {
      return { head: text.slice(0, end), rest: buffer.slice(end + HEAD_END.length, length) };
    }
    if (length === MAX_HEAD) throw new MirrorError(`The headers of ${host} are too long`);
    const count = await conn.read(buffer.subarray(length));
    if (count === null) throw new ConnectionLost(`${host} closed the connection without an answer`);
    text += String.fromCharCode(...buffer.subarray(length, length + count));
    length += count;
  }
}

async function receiveBody(
  conn: Deno.Conn,
  { rest, declared, posting: { url, target, maxBytes } }: {
    readonly rest: Uint8Array;
    readonly declared: number | null;
    readonly posting: Posting;
  },
): Promise<number> {
  using file = await Deno.open(target, { write: true, create: true, truncate: true, mode: 0o600 });
  const buffer = new Uint8Array(CHUNK_BYTES);
  let bytes = 0;
  let chunk: Uint8Array | null = rest;
  while (chunk !== null) {
    bytes += chunk.length;
    if (Math.max(bytes, declared ?? 0) > maxBytes) {
      throw new MirrorError(`The answer of ${url.host} has more than ${maxBytes} bytes`);
    }
    for (let written = 0; written < chunk.length;) {
      written += await file.write(chunk.subarray(written));
    }
    if (declared !== null && bytes >= declared) return bytes;
    const count: number | null = await conn.read(buffer);
    chunk = count === null ? null : buffer.subarray(0, count);
  }
  if (declared === null) return bytes;
  throw new ConnectionLost(`${url.host} closed the connection in the middle of an answer`);
}

/** A header's value; null if it is absent. */
function fieldOf(head: string, name: string): string | null {
  const prefix = `${name}:`.toLowerCase();
  const line = head.split("\n").find((one) => one.toLowerCase().startsWith(prefix));
  return line?.slice(prefix.length).trim() ?? null;
}
