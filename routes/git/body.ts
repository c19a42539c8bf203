import { Invalid, ServiceError, TooLarge, TooSlow } from "../../services/kernel/errors.ts";

/** The bounds of a body. */
interface BodyBounds {
  /** Most bytes, also after they are decompressed. */
  readonly maxBytes: number;
  /** Longest wait for the next part, in milliseconds. */
  readonly stallMs: number;
}

type Parts = ReadableStream<Uint8Array<ArrayBuffer>>;

/**
 * Reads a body whole. `git` compresses long ones, and sends them in chunks of no declared length.
 *
 * @throws Invalid, TooLarge, TooSlow
 */
export async function readGitBody(request: SentBody, bounds: BodyBounds): Promise<Uint8Array> {
  return await readWhole(decompressed(request), bounds);
}

type SentBody = Pick<Request, "body" | "headers">;

/**
 * The bytes of a body.
 *
 * @throws Invalid if they are compressed in an unknown way
 */
export function decompressed({ body, headers }: SentBody): Parts {
  const encoding = headers.get("content-encoding")?.toLowerCase() ?? "identity";
  const arriving: Parts = body ?? new ReadableStream({ start: (stream) => stream.close() });
  switch (encoding) {
    case "identity":
      return arriving;
    case "gzip":
    case "x-gzip":
      return arriving.pipeThrough(new DecompressionStream("gzip"));
    default:
      throw new Invalid("This server takes bodies that are compressed with gzip, or not at all");
  }
}

async function readWhole(stream: Parts, { maxBytes, stallMs }: BodyBounds): Promise<Uint8Array> {
  const reader = stream.getReader();
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = Promise.withResolvers<never>();
  const wait = () => {
    clearTimeout(timer);
    const error = new TooSlow("The body did not arrive in time");
    timer = setTimeout(() => late.reject(error), stallMs);
  };
  try {
    for (;;) {
      wait();
      const { value, done } = await Promise.race([reader.read(), late.promise]);
      if (done) break;
      bytes += value.length;
      if (bytes > maxBytes) throw new TooLarge(`The request is longer than ${maxBytes} bytes`);
      parts.push(value);
    }
  } catch (error) {
    await reader.cancel().catch(() => {});
    throw error instanceof ServiceError ? error : new Invalid("The body is incomplete");
  } finally {
    clearTimeout(timer);
  }
  const whole = new Uint8Array(bytes);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
