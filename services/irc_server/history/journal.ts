import { crc32 } from "node:zlib";
import type { Log } from "../../log.ts";
import { encodeAscii } from "./ascii_sum.ts";
import { operationsIn, textOf } from "./journal_text.ts";
import type { Operation } from "./protocol.ts";

/** The two files of the journal replace the last part of the archive's name by these. */
const SUFFIXES = [".journal1", ".journal2"] as const;

/** A group of changes begins with its length in bytes and its CRC-32, both little-endian. */
const HEADER_BYTES = 8;

/** Most bytes of UTF-8 for a UTF-16 unit. */
const MAX_UNIT_BYTES = 3;

/** The length in UTF-16 units up to which a text is encoded by itself: that of a few messages. */
const SHORT_UNITS = 1024;

/** The memory in which groups are encoded; a longer one gets its own for the moment. */
const BUFFER_BYTES = 64 * 1024;

/** Memory for a group of changes. */
class GroupBuffer {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly header: DataView;
  readonly body: Uint8Array<ArrayBuffer>;

  constructor(length: number) {
    this.bytes = new Uint8Array(length);
    this.header = new DataView(this.bytes.buffer, 0, HEADER_BYTES);
    this.body = this.bytes.subarray(HEADER_BYTES);
  }
}

/** What the files of a journal hold. */
export interface JournalContent {
  /** In order, without a gap: what follows a gap is left out. */
  readonly operations: readonly Operation[];
  /** Bytes that are no whole group: a kill, or a loss of power, came before its end. */
  readonly torn: number;
}

/**
 * Reads the journal of an archive, whether or not a program uses it.
 *
 * @param path of the archive
 * @param after the number of the last change that the archive has; earlier ones are left out
 */
export function readJournal(path: string, after: number): JournalContent {
  const found = new Map<number, Operation>();
  let torn = 0;
  for (const content of pathsOf(path).map(contentOf)) {
    const whole = readGroups(content, (operation) => found.set(operation.sequence, operation));
    torn += content.length - whole;
  }
  const operations: Operation[] = [];
  for (let next = found.get(after + 1); next !== undefined;) {
    operations.push(next);
    next = found.get(next.sequence + 1);
  }
  return { operations, torn };
}

/** A file of the journal that is open. */
interface JournalFile {
  readonly path: string;
  readonly file: Deno.FsFile;
  /** The number of its last change. */
  last: number;
  isEmpty: boolean;
  /** Whether a group may follow. */
  isWhole: boolean;
}

/** A journal and what it held when it was opened. */
interface OpenedJournal {
  readonly journal: Journal;
  readonly operations: readonly Operation[];
}

/**
 * The changes of the history that its archive does not have yet, in two small files beside it. A
 * group of changes is one write to the page cache, which a kill of the process does not lose.
 *
 * While the archive takes the changes of one file, new ones go to the other; then the first is
 * emptied. So the files hold little more than what waits for the archive.
 */
export class Journal {
  readonly #files: readonly JournalFile[];
  readonly #log: Log;
  readonly #encoder = new TextEncoder();
  readonly #buffer = new GroupBuffer(BUFFER_BYTES);
  /** The file to which groups are added; none until one is empty. */
  #current: JournalFile | undefined;
  #isFailing = false;

  private constructor(files: readonly JournalFile[], log: Log) {
    this.#files = files;
    this.#log = log;
    if (files.every(({ isEmpty }) => isEmpty)) this.#current = files[0];
  }

  /**
   * Opens the journal of an archive. Creates the files if they do not exist, readable by their owner
   * alone. If they hold changes, it takes no others until both were emptied.
   *
   * @param path of the archive
   * @param after the number of the last change that the archive has
   * @throws Error if the disk refuses it
   */
  static open(path: string, after: number, log: Log): OpenedJournal {
    const { operations } = readJournal(path, after);
    const last = operations.at(-1)?.sequence ?? after;
    const files = pathsOf(path).map((path) => {
      const file = Deno.openSync(path, { append: true, create: true, mode: 0o600 });
      if (operations.length === 0) file.truncateSync(0);
      const isEmpty = file.statSync().size === 0;
      return { path, file, last, isEmpty, isWhole: isEmpty };
    });
    return { journal: new Journal(files, log), operations };
  }

  /**
   * Adds a group of changes.
   *
   * @returns whether the files have it
   */
  add(operations: readonly Operation[]): boolean {
    const current = this.#current;
    if (current?.isWhole !== true) return false;
    try {
      current.isEmpty = false;
      writeWhole(current.file, this.#encode(textOf(operations)));
      current.last = operations.at(-1)?.sequence ?? current.last;
      this.#isFailing = false;
      return true;
    } catch (error) {
      current.isWhole = false;
      this.#refused(error);
      return false;
    }
  }

  /**
   * Waits until the disk has the groups that were added.
   *
   * @returns whether it has them
   */
  async sync(): Promise<boolean> {
    try {
      await this.#current?.file.syncData();
      return true;
    } catch (error) {
      this.#refused(error);
      return false;
    }
  }

  /**
   * Lets new changes go to the other file, if that one is empty.
   *
   * @param last the number of a change; the archive is about to get all changes up to it
   * @returns the files to empty once it has them. To empty one can take long on a busy disk
   */
  turn(last: number): string[] {
    if (this.#current?.isEmpty === false) this.#current = this.#emptyFile() ?? this.#current;
    return this.#files
      .filter((file) => file !== this.#current && !file.isEmpty && file.last <= last)
      .map(({ path }) => path);
  }

  /** Records that files are empty now. */
  emptied(paths: readonly string[]): void {
    for (const file of this.#files) {
      if (paths.includes(file.path)) Object.assign(file, { isEmpty: true, isWhole: true });
    }
    if (this.#files.every(({ isEmpty }) => isEmpty)) this.#current ??= this.#files[0];
  }

  /**
   * Closes the files.
   *
   * @param isDone whether the archive has synced all changes: then the files are removed
   */
  close(isDone: boolean): void {
    for (const { path, file } of this.#files) {
      file.close();
      if (isDone) Deno.removeSync(path);
    }
  }

  #emptyFile(): JournalFile | undefined {
    return this.#files.find(({ isEmpty, isWhole }) => isEmpty && isWhole);
  }

  #encode(text: string): Uint8Array {
    const room = HEADER_BYTES + MAX_UNIT_BYTES * text.length;
    const { bytes, body, header } = room <= BUFFER_BYTES ? this.#buffer : new GroupBuffer(room);
    const sum = text.length <= SHORT_UNITS ? encodeAscii(text, body) : null;
    const written = sum === null ? this.#encoder.encodeInto(text, body).written : text.length;
    header.setUint32(0, written, true);
    header.setUint32(4, sum ?? crc32(body.subarray(0, written)), true);
    return bytes.subarray(0, HEADER_BYTES + written);
  }

  #refused(error: unknown): void {
    if (!this.#isFailing) this.#log.error("The history's journal cannot be written", { error });
    this.#isFailing = true;
  }
}

/**
 * Empties files of a journal.
 *
 * @returns those that are empty now; the disk refused the others
 */
export function emptyFiles(paths: readonly string[]): string[] {
  return paths.filter((path) => {
    try {
      Deno.truncateSync(path, 0);
      return true;
    } catch {
      return false;
    }
  });
}

function pathsOf(archive: string): string[] {
  return SUFFIXES.map((suffix) => archive.replace(/\.db$/, "") + suffix);
}

function contentOf(path: string): Uint8Array {
  try {
    return Deno.readFileSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return new Uint8Array();
    throw error;
  }
}

/** Reads the groups of a file up to the first that is not whole. Returns their bytes. */
function readGroups(content: Uint8Array, take: (operation: Operation) => void): number {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const view = new DataView(content.buffer, content.byteOffset, content.byteLength);
  let at = 0;
  while (content.length - at > HEADER_BYTES) {
    const length = view.getUint32(at, true);
    const group = content.subarray(at + HEADER_BYTES, at + HEADER_BYTES + length);
    if (length === 0 || group.length < length || crc32(group) !== view.getUint32(at + 4, true)) {
      break;
    }
    operationsIn(decoder.decode(group)).forEach(take);
    at += HEADER_BYTES + length;
  }
  return at;
}

function writeWhole(file: Deno.FsFile, bytes: Uint8Array): void {
  for (let written = file.writeSync(bytes); written < bytes.length;) {
    written += file.writeSync(bytes.subarray(written));
  }
}
