import type { Config } from "../services/config/mod.ts";
import { Invalid, TooLarge, TooSlow } from "../services/errors.ts";

const decoder = new TextDecoder("utf-8", { fatal: true });

/**
 * Decodes a body, which JSON requires to be UTF-8 (RFC 8259, section 8.1). A byte order mark is
 * dropped.
 *
 * @throws Invalid if it is not UTF-8
 */
function decodeBody(bytes: ArrayBuffer | Uint8Array<ArrayBuffer>): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw new Invalid("The body is not valid UTF-8");
  }
}

/** The bounds of a request's body. */
export interface BodyLimits {
  readonly maxBytes: number;
  /** Between two of its parts. */
  readonly stallMilliseconds: number;
}

/** The bounds that the configuration sets. */
export function bodyLimitsOf({ limits }: Pick<Config, "limits">): BodyLimits {
  return { maxBytes: limits.body_bytes, stallMilliseconds: limits.body_seconds * 1000 };
}

/** Bodies up to this length are read in one piece, with one deadline. */
const SMALL_BYTES = 65_536;

/**
 * Reads the body of a request as text.
 *
 * @throws TooLarge as soon as it exceeds `maxBytes`, TooSlow if a part does not arrive in time,
 * Invalid if it is incomplete or not UTF-8
 */
export async function readBody(request: Request, limits: BodyLimits): Promise<string> {
  const { maxBytes, stallMilliseconds } = limits;
  const declared = Number(request.headers.get("content-length") ?? NaN);
  if (declared > maxBytes) throw tooLarge(maxBytes);
  if (declared <= SMALL_BYTES) {
    return decodeBody(await inTime(request.arrayBuffer(), stallMilliseconds));
  }
  return request.body === null ? "" : decodeBody(await readParts(request.body, limits));
}

async function readParts(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  { maxBytes, stallMilliseconds }: BodyLimits,
): Promise<ArrayBuffer> {
  const reader = body.getReader();
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  for (;;) {
    const { value, done } = await inTime(reader.read(), stallMilliseconds);
    if (done) return await new Blob(parts).arrayBuffer();
    length += value.byteLength;
    if (length > maxBytes) throw tooLarge(maxBytes);
    parts.push(value);
  }
}

/**
 * Waits for data from the client, up to a time limit.
 *
 * @throws TooSlow, and Invalid if the client disconnects or breaks the framing of the body
 */
async function inTime<Result>(sent: Promise<Result>, milliseconds: number): Promise<Result> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new TooSlow("The body did not arrive in time")), milliseconds);
  });
  try {
    return await Promise.race([sent, late]);
  } catch (error) {
    // The runtime has several errors for a body that ends early, but no class for them.
    throw error instanceof TooSlow ? error : new Invalid("The body is incomplete");
  } finally {
    clearTimeout(timer);
  }
}

function tooLarge(maxBytes: number): TooLarge {
  return new TooLarge(`The body is larger than ${maxBytes} bytes`);
}
