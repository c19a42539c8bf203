import { existsSync } from "node:fs";
import { crc32 } from "node:zlib";
import { fileStamp } from "../../../kernel/files.ts";
import type { Log } from "../../../kernel/log.ts";
import {
  HEADER_BYTES,
  headOf,
  identityAfter,
  type LastChange,
  pathsOf,
  readJournal,
} from "./journal_files.ts";
import { textOf } from "./journal_text.ts";
import type { Operation } from "./changes.ts";

/** Most bytes of UTF-8 for a UTF-16 unit. */
const MAX_UNIT_BYTES = 3;

/** The length in UTF-16 units up to which a text is encoded by itself: that of a few messages. */
const SHORT_UNITS = 1024;

/** The memory in which groups are encoded; a longer one gets its own for the moment. */
const BUFFER_BYTES = 64 * 1024;

/** How much a probe writes: what the last block of a file still takes proves nothing. */
const PROBE_BYTES = 64 * 1024;

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

/** A file of the journal that is open. */
interface JournalFile {
  readonly path: string;
  readonly file: Deno.FsFile;
  /** The number of its last change. */
  last: number;
  /** The bytes of its whole groups. */
  length: number;
  /** Whether there is nothing behind these. */
  isWhole: boolean;
}

export interface JournalOptions {
  /** The path of the archive. */
  readonly path: string;
  /** The last change that the archive has. */
  readonly last: LastChange;
  /** The time in Unix milliseconds. */
  readonly now: number;
  readonly log: Log;
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
  /** The file to which groups are added; none until both were empty. */
  #current: JournalFile | undefined;
  #identity: string;
  /** The first group of a file. */
  #head = new Uint8Array();
  #isFailing = false;

  private constructor(files: readonly JournalFile[], identity: string, log: Log) {
    this.#files = files;
    this.#identity = identity;
    this.#log = log;
    this.#beginIfEmpty();
  }

  /**
   * Opens the journal of an archive. Creates the files if they do not exist, readable by their owner
   * alone. If they hold changes, it takes no others until both were emptied. Files that belong to
   * another archive, or to another copy of this one, get another name.
   *
   * @throws Error if the disk refuses it, or the archive has lost what came before the journal
   */
  static open(options: JournalOptions): OpenedJournal {
    const { path, log } = options;
    const { operations, identity, foreign, beyondGap } = readJournal(path, options.last);
    if (operations.length === 0 && beyondGap > 0) {
      throw new Error(
        `The history "${path}" lacks changes that came before the ${beyondGap} in its journal: put ` +
          `"${path}-wal" back, which holds what was written last, or restore a backup (muster ` +
          "restore BACKUP --replace); to go on without all of them, remove " +
          pathsOf(path).map((file) => `"${file}"`).join(" and "),
      );
    }
    for (const file of foreign) setAside(file, options);
    if (beyondGap > 0) {
      log.warn("The history's journal has a gap: the changes after it are lost", {
        changes: beyondGap,
      });
    }
    const last = operations.at(-1)?.sequence ?? options.last.sequence;
    const files = pathsOf(path).map((path) => {
      const file = openFile(path);
      if (operations.length === 0) file.truncateSync(0);
      const length = file.statSync().size;
      return { path, file, last, length, isWhole: length === 0 };
    });
    return { journal: new Journal(files, identity, log), operations };
  }

  /**
   * Creates the files of an archive that exists, if they do not: while an archive is open, they are
   * there, and what a kill leaves is complete.
   *
   * @throws Error if the disk refuses it
   */
  static prepare(path: string): void {
    if (!existsSync(path)) return;
    for (const file of pathsOf(path)) openFile(file).close();
  }

  /** The identity that the archive gets with the changes of this journal. */
  get identity(): string {
    return this.#identity;
  }

  /** Whether it refused the last group, or takes none until its files are empty. */
  get isFailing(): boolean {
    return this.#isFailing || this.#current === undefined;
  }

  /**
   * Adds a group of changes.
   *
   * @returns whether the files have it; if not, they have nothing of it
   */
  add(operations: readonly Operation[]): boolean {
    const current = this.#current;
    if (current === undefined) return false;
    return this.#try(current, () => {
      if (current.length === 0) write(current, this.#head);
      write(current, this.#encode(textOf(operations)));
      current.last = operations.at(-1)?.sequence ?? current.last;
    });
  }

  /** Finds out whether it takes groups now. */
  probe(): void {
    const current = this.#current;
    if (current === undefined) return;
    this.#try(current, () => {
      current.isWhole = false;
      writeWhole(current.file, new Uint8Array(PROBE_BYTES));
      cutTorn(current);
    });
  }

  /**
   * Waits until the disk has the groups that were added.
   *
   * @returns whether it has them
   */
  async sync(): Promise<boolean> {
    try {
      for (const opened of this.#files) if (!isEmpty(opened)) await opened.file.syncData();
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
    if (this.#current !== undefined && this.#current.length > 0) {
      this.#current = this.#emptyFile() ?? this.#current;
    }
    return this.#files
      .filter((file) => file !== this.#current && !isEmpty(file) && file.last <= last)
      .map(({ path }) => path);
  }

  /** Records that files are empty now. */
  emptied(paths: readonly string[]): void {
    for (const file of this.#files) {
      if (paths.includes(file.path)) Object.assign(file, { length: 0, isWhole: true });
    }
    if (this.#current === undefined) this.#beginIfEmpty();
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

  /** Begins a journal with an identity of its own, once the archive has what the last one held. */
  #beginIfEmpty(): void {
    if (!this.#files.every(isEmpty)) return;
    const head = identityAfter(this.#identity);
    this.#identity = head.identity;
    this.#head = this.#encode(headOf(head)).slice();
    this.#current = this.#files[0];
  }

  #emptyFile(): JournalFile | undefined {
    return this.#files.find(isEmpty);
  }

  /** Changes a file. If the disk refuses, the file gets back what it had. */
  #try(current: JournalFile, change: () => void): boolean {
    const { last } = current;
    try {
      if (!current.isWhole) cutTorn(current);
      change();
      this.#isFailing = false;
      return true;
    } catch (error) {
      current.last = last;
      this.#refused(error);
      return false;
    }
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

function openFile(path: string): Deno.FsFile {
  return Deno.openSync(path, { append: true, create: true, mode: 0o600 });
}

/** Renames a file that belongs to another archive: what it holds is not lost, and not read here. */
function setAside(path: string, { now, log }: JournalOptions): void {
  const kept = freeName(`${path}.foreign-${fileStamp(now)}`);
  Deno.renameSync(path, kept);
  log.warn(
    "A journal of another history was beside this one: it is kept aside, and not read",
    { file: path, kept },
  );
}

function freeName(path: string): string {
  for (let number = 1;; number++) {
    const name = number === 1 ? path : `${path}-${number}`;
    if (!existsSync(name)) return name;
  }
}

function isEmpty({ length, isWhole }: JournalFile): boolean {
  return length === 0 && isWhole;
}

/** Adds a whole group to a file. */
function write(current: JournalFile, bytes: Uint8Array): void {
  current.isWhole = false;
  writeWhole(current.file, bytes);
  current.length += bytes.length;
  current.isWhole = true;
}

/** Removes what follows the whole groups of a file. */
function cutTorn(current: JournalFile): void {
  current.file.truncateSync(current.length);
  current.isWhole = true;
}

function writeWhole(file: Deno.FsFile, bytes: Uint8Array): void {
  for (let written = file.writeSync(bytes); written < bytes.length;) {
    written += file.writeSync(bytes.subarray(written));
  }
}

/** The polynomial of CRC-32, as zlib has it. */
const POLYNOMIAL = 0xedb88320;

const TABLE = Int32Array.from({ length: 256 }, (_, byte) => {
  let sum = byte;
  for (let bit = 0; bit < 8; bit++) sum = sum & 1 ? (sum >>> 1) ^ POLYNOMIAL : sum >>> 1;
  return sum;
});

/**
 * Encodes a text of ASCII, and computes the CRC-32 of its bytes on the way. For a short text that
 * takes less than two calls into the runtime.
 *
 * @param bytes get the text
 * @returns the sum, or null for any other text
 */
export function encodeAscii(text: string, bytes: Uint8Array): number | null {
  let sum = -1;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code > 0x7f) return null;
    bytes[index] = code;
    sum = (TABLE[(sum ^ code) & 0xff] ?? 0) ^ (sum >>> 8);
  }
  return ~sum >>> 0;
}
