import { dirname, join } from "node:path";
import { Invalid, ServiceError, TooLarge, TooSlow, Unavailable } from "../../kernel/errors.ts";
import { isFromSystem } from "../../engines/fossil/front/mod.ts";
import { syncFolder } from "../../kernel/files.ts";

/** The first bytes of every SQLite database. */
const SQLITE = "SQLite format 3\0";

/** A file from a client, on disk until it is disposed of. */
export interface Upload extends AsyncDisposable {
  readonly path: string;
  readonly bytes: number;
  /** The format, judged by the first bytes. */
  readonly format: "git" | "fossil";
}

/** The bounds of an upload. */
export interface UploadLimits {
  /** Longest wait for the next part, in milliseconds. */
  readonly stallMs: number;
  readonly maxBytes: number;
  /** Called with the bytes received so far, and the last of them; what it throws ends the upload. */
  readonly check?: ((bytes: number, part: Uint8Array) => void) | undefined;
  /** Whether what follows a refusal is read and dropped: some clients read no answer before that. */
  readonly drains?: boolean;
  /** Whether the file may be empty. */
  readonly allowsEmpty?: boolean;
}

/** Options of resumable uploads. */
export interface Resumable {
  /** Ends the upload; the received bytes stay. */
  readonly signal?: AbortSignal;
  /** Whether the received bytes must be on disk at the end. */
  readonly isDurable?: boolean;
}

/** The body of a request, with its declared length. */
export type SentBody = Pick<Request, "body" | "headers">;

/**
 * Writes the body of a request to a new file.
 *
 * @throws Invalid if the body is empty or incomplete, TooLarge, TooSlow; Unavailable if the disk
 * refuses the write
 */
export async function receiveUpload(
  folder: string,
  { body, headers }: SentBody,
  limits: UploadLimits,
): Promise<Upload> {
  if (body === null && limits.allowsEmpty !== true) throw new Invalid("The body is empty");
  if (Number(headers.get("content-length")) > limits.maxBytes) throw tooLarge(limits);
  const own = await translated(() => Deno.makeTempDir({ dir: folder, prefix: ".upload-" }));
  const remove = () => Deno.remove(own, { recursive: true });
  try {
    const path = join(own, "body");
    const bytes = await appendParts(path, body ?? new Blob([]).stream(), limits);
    if (bytes === 0 && limits.allowsEmpty !== true) throw new Invalid("The body is empty");
    return { path, bytes, format: await formatOf(path), [Symbol.asyncDispose]: remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/**
 * Appends the body of a request to a file; makes the file if it is missing. Bytes that arrive
 * before an error stay in the file.
 *
 * @param options the bounds of this body, and options of resumable uploads
 * @returns the number of received bytes
 * @throws like {@link receiveUpload}, and the signal's reason
 */
export async function appendParts(
  path: string,
  body: ReadableStream<Uint8Array>,
  options: UploadLimits & Resumable,
): Promise<number> {
  return await translated(async () => {
    using file = await Deno.open(path, { append: true, create: true });
    try {
      return await writeParts(file, body.getReader(), options);
    } finally {
      if (options.isDurable === true) {
        await file.syncData();
        await syncFolder(dirname(path));
      }
    }
  });
}

async function writeParts(
  file: Deno.FsFile,
  reader: ReadableStreamDefaultReader<Uint8Array>,
  limits: UploadLimits & Resumable,
): Promise<number> {
  const { stallMs, maxBytes, check, signal, drains = false } = limits;
  let bytes = 0;
  try {
    for (;;) {
      const { value, done } = await nextPart(reader, stallMs, signal);
      if (done) return bytes;
      bytes += value.length;
      if (bytes > maxBytes) throw tooLarge({ maxBytes });
      check?.(bytes, value);
      for (let written = 0; written < value.length;) {
        written += await file.write(value.subarray(written));
      }
    }
  } catch (error) {
    if (drains && !(error instanceof TooSlow)) await drain(reader, limits);
    throw error;
  } finally {
    await reader.cancel().catch(() => {});
  }
}

/** Reads what is left of a body, up to as many bytes as it may have. */
async function drain(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  { stallMs, maxBytes, signal }: UploadLimits & Resumable,
): Promise<void> {
  try {
    for (let bytes = 0; bytes <= maxBytes;) {
      const { value, done } = await nextPart(reader, stallMs, signal);
      if (done) return;
      bytes += value.length;
    }
  } catch {
    // Nobody is left to read the refusal.
  }
}

async function nextPart(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  stallMs: number,
  signal?: AbortSignal,
): Promise<ReadableStreamReadResult<Uint8Array>> {
  signal?.throwIfAborted();
  const ending = Promise.withResolvers<never>();
  const onAbort = () => ending.reject(signal?.reason);
  signal?.addEventListener("abort", onAbort);
  const timer = setTimeout(
    () => ending.reject(new TooSlow("The body did not arrive in time")),
    stallMs,
  );
  try {
    return await Promise.race([reader.read(), ending.promise]);
  } catch (error) {
    throw error instanceof ServiceError ? error : new Invalid("The body is incomplete");
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
  }
}

function tooLarge({ maxBytes }: Pick<UploadLimits, "maxBytes">): TooLarge {
  return new TooLarge(`The file is larger than ${maxBytes} bytes`);
}

async function translated<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw isFromSystem(error) ? new Unavailable("The file could not be written to disk") : error;
  }
}

async function formatOf(path: string): Promise<"git" | "fossil"> {
  using file = await Deno.open(path);
  const head = new Uint8Array(SQLITE.length);
  const length = await file.read(head) ?? 0;
  return new TextDecoder().decode(head.subarray(0, length)) === SQLITE ? "fossil" : "git";
}
