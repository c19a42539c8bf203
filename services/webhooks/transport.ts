/** Sends one request to a checked address, and to no other. */
import { lookup } from "node:dns/promises";
import { isPublicAddress } from "./addresses.ts";
import { connect, postRequest, sendAll, untilEnded } from "./connection.ts";

/** Longest status line and headers of a response, in bytes. */
const MAX_HEAD = 16_384;

const HEAD_END = "\r\n\r\n";

/** The response of a webhook's receiver. */
export interface Answer {
  readonly status: number;
  /** The header `Retry-After` in seconds, or null. */
  readonly retryAfter: number | null;
}

export interface TransportOptions {
  /** Whether local and private addresses are allowed. */
  readonly allowPrivate: boolean;
  /** For the whole request, in milliseconds. */
  readonly timeLimit: number;
  /** Resolves a host name to its addresses. */
  readonly resolve?: (host: string) => Promise<readonly string[]>;
}

/** Why a request was not sent or got no response, as a sentence for the delivery log. */
export class DeliveryError extends Error {
  override readonly name = "DeliveryError";
}

/**
 * Posts a body. The host's name is resolved once; each of its addresses must be allowed, and the
 * connection goes to one of these. Redirects are not followed. Only the head of the response is
 * read.
 *
 * @param attempt from 0; each attempt takes the next of the host's addresses
 * @throws DeliveryError
 */
export async function post(
  url: URL,
  { headers, body, attempt, signal }: {
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
    readonly attempt: number;
    readonly signal: AbortSignal;
  },
  options: TransportOptions,
): Promise<Answer> {
  const limit = AbortSignal.timeout(options.timeLimit);
  const ended = AbortSignal.any([signal, limit]);
  try {
    const address = await untilEnded(ended, addressOf(url, attempt, options));
    using connection = await connect(url, address, ended);
    const { host, pathname, search } = url;
    const target = `${pathname}${search}`;
    const bytes = new TextEncoder().encode(body);
    const request = postRequest({ version: "1.1", host, target, headers, body: bytes });
    return await untilEnded(ended, exchange(connection.conn, request));
  } catch (error) {
    if (error instanceof DeliveryError) throw error;
    if (limit.aborted) throw new DeliveryError("No response came in time");
    if (signal.aborted) throw new DeliveryError("The server is shutting down");
    throw new DeliveryError(`The connection failed: ${messageOf(error)}`);
  }
}

/** Chooses the address to connect to, after every address of the host is checked. */
async function addressOf(url: URL, attempt: number, options: TransportOptions): Promise<string> {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const addresses = await (options.resolve ?? resolveHost)(host).catch(() => []);
  const address = addresses[attempt % Math.max(addresses.length, 1)];
  if (address === undefined) throw new DeliveryError(`The host ${host} has no address`);
  const closed = options.allowPrivate ? undefined : addresses.find((one) => !isPublicAddress(one));
  if (closed === undefined) return address;
  throw new DeliveryError(
    `The host ${host} has the address ${closed}, which is not on the public internet; ` +
      "webhooks.allow_private in config.yaml allows such addresses",
  );
}

async function resolveHost(host: string): Promise<readonly string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address);
}

/** Sends a request and reads the head of the response; interim responses (1xx) are skipped. */
async function exchange(conn: Deno.Conn, request: Uint8Array): Promise<Answer> {
  const sending = sendAll(conn, request);
  // A receiver may respond and close before it has read everything.
  sending.catch(() => {});
  const chunk = new Uint8Array(4096);
  let text = "";
  for (;;) {
    const end = text.indexOf(HEAD_END);
    if (end >= 0) {
      const answer = answerOf(text.slice(0, end));
      if (answer.status >= 200) return answer;
      text = text.slice(end + HEAD_END.length);
      continue;
    }
    if (text.length > MAX_HEAD) throw new DeliveryError("The response's head is too long");
    const count = await conn.read(chunk);
    if (count === null) throw new DeliveryError("The connection was closed without a response");
    text += String.fromCharCode(...chunk.subarray(0, count));
  }
}

function answerOf(head: string): Answer {
  const [, status] = /^HTTP\/1\.[01] (\d{3})(?: |\r|$)/.exec(head) ?? [];
  if (status === undefined) throw new DeliveryError("The response is not HTTP");
  const [, seconds] = /^retry-after:[ \t]*(\d{1,6})[ \t]*$/im.exec(head) ?? [];
  return { status: Number(status), retryAfter: seconds === undefined ? null : Number(seconds) };
}

function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, 200);
}
