import { join } from "node:path";
import { Invalid, TooLarge, TooSlow, Unavailable } from "../errors.ts";
import { isFromSystem } from "../fossil/mod.ts";

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
}

/**
 * Writes the body of a request to a new file.
 *
 * @throws Invalid if the body is empty or incomplete, TooLarge, TooSlow; Unavailable if the disk
 * refuses the write
 */
export async function receiveUpload(
  folder: string,
  body: ReadableStream<Uint8Array>,
  limits: UploadLimits,
): Promise<Upload> {
  const own = await Deno.makeTempDir({ dir: folder, prefix: ".upload-" });
  const remove = () => Deno.remove(own, { recursive: true });
  try {
    const path = join(own, "body");
    const bytes = await writeParts(path, body, limits);
    if (bytes === 0) throw new Invalid("The body is empty");
    return { path, bytes, format: await formatOf(path), [Symbol.asyncDispose]: remove };
  } catch (error) {
    await remove();
    if (isFromSystem(error)) throw new Unavailable("The file could not be written to disk");
    throw error;
  }
}

async function writeParts(
  path: string,
  body: ReadableStream<Uint8Array>,
  { stallMs, maxBytes }: UploadLimits,
): Promise<number> {
  using file = await Deno.open(path, { write: true, createNew: true });
  const reader = body.getReader();
  let bytes = 0;
  try {
    for (;;) {
      const { value, done } = await nextPart(reader, stallMs);
      if (done) return bytes;
      bytes += value.length;
      if (bytes > maxBytes) throw new TooLarge(`The file is larger than ${maxBytes} bytes`);
      for (let written = 0; written < value.length;) {
        written += await file.write(value.subarray(written));
      }
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

async function nextPart(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  stallMs: number,
): Promise<ReadableStreamReadResult<Uint8Array>> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new TooSlow("The body did not arrive in time")), stallMs);
  });
  try {
    return await Promise.race([reader.read(), late]);
  } catch (error) {
    throw error instanceof TooSlow ? error : new Invalid("The body is incomplete");
  } finally {
    clearTimeout(timer);
  }
}

async function formatOf(path: string): Promise<"git" | "fossil"> {
  using file = await Deno.open(path);
  const head = new Uint8Array(SQLITE.length);
  const length = await file.read(head) ?? 0;
  return new TextDecoder().decode(head.subarray(0, length)) === SQLITE ? "fossil" : "git";
}
