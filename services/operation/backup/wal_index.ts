/**
 * The head of a write-ahead log's index, the file `-shm`.
 *
 * @see {@link https://www.sqlite.org/walformat.html#the_wal_index_file_format}
 */

/** The header stands there twice, so that a reader notices a change under way. */
const HEADER_BYTES = 48;

/** Places in the header, in bytes. */
const VERSION = 0;
const PAGE_SIZE = 14;
const FRAMES = 16;

/** The number of frames that are in the database file already, after both headers. */
const BACKFILLED = 96;

const KNOWN_VERSION = 3_007_000;

/** Bytes of the log's header, and of a frame's. */
const LOG_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;

/** How often a change may be under way. */
const ATTEMPTS = 1000;

/**
 * Finds how much of a write-ahead log belongs to the database.
 *
 * @param file the index; the caller closes it after its own connection to the database
 * @returns bytes of the log up to its last transaction; 0 if the file of the database has them all;
 * null if the index has an unknown form
 */
export function readWalIndex(file: Deno.FsFile): number | null {
  const bytes = new Uint8Array(BACKFILLED + 4);
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    file.seekSync(0, Deno.SeekMode.Start);
    if (file.readSync(bytes) !== bytes.length) return null;
    const [first, second] = [bytes.subarray(0, HEADER_BYTES), bytes.subarray(HEADER_BYTES)];
    if (first.every((byte, place) => byte === second[place])) return lengthOf(bytes);
  }
  return null;
}

/** The numbers are in the order of the machine. All machines that run Deno are little-endian. */
function lengthOf(bytes: Uint8Array<ArrayBuffer>): number | null {
  const view = new DataView(bytes.buffer);
  if (view.getUint32(VERSION, true) !== KNOWN_VERSION) return null;
  const frames = view.getUint32(FRAMES, true);
  if (frames === view.getUint32(BACKFILLED, true)) return 0;
  const size = view.getUint16(PAGE_SIZE, true);
  const pageBytes = size === 1 ? 65_536 : size;
  return LOG_HEADER_BYTES + frames * (FRAME_HEADER_BYTES + pageBytes);
}
