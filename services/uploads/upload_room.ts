import { TooMany } from "../errors.ts";

/** Most unfinished uploads of one project. */
const MAX_UPLOADS = 100;
/** Most unfinished uploads of one uploader in a project. */
const MAX_UPLOADS_OF_ONE = 20;

/** An unfinished upload. */
interface Unfinished {
  readonly uploader_key: string;
  readonly total_bytes: number;
}

/** An upload for which there shall be room. */
interface AskedRoom {
  /** Bytes. */
  readonly length: number;
  /** The key of its uploader. */
  readonly key: string;
  /** Most bytes of all unfinished uploads of a project together. */
  readonly maxBytes: number;
}

/**
 * Checks that a project has room for one more upload.
 *
 * @param open its unfinished uploads
 * @throws TooMany if those of the uploader or of the project would exceed a bound
 */
export function requireRoom(
  open: readonly Unfinished[],
  { length, key, maxBytes }: AskedRoom,
): void {
  const own = open.filter(({ uploader_key }) => uploader_key === key);
  if (own.length >= MAX_UPLOADS_OF_ONE) {
    throw new TooMany(
      `You have ${MAX_UPLOADS_OF_ONE} unfinished uploads in this project; end one of them`,
    );
  }
  if (own.length > 0 && bytesOf(own) + length > maxBytes / 2) {
    throw new TooMany(
      `Your unfinished uploads would take more than half of the project's ${maxBytes} bytes; ` +
        "end one of them",
    );
  }
  if (open.length >= MAX_UPLOADS) {
    throw new TooMany(`The project has ${MAX_UPLOADS} unfinished uploads; end one of them`);
  }
  if (bytesOf(open) + length > maxBytes) {
    throw new TooMany(
      `The project's unfinished uploads would take more than ${maxBytes} bytes together; end one ` +
        "of them",
    );
  }
}

/** Bytes of uploads once they are complete. */
function bytesOf(uploads: readonly Unfinished[]): number {
  return uploads.reduce((sum, { total_bytes }) => sum + total_bytes, 0);
}
