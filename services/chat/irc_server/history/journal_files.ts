/**
 * The two files of a journal, as any program can read them. A file is a series of groups. The first
 * names the journal; files of versions without identities begin with changes.
 */
import { crc32 } from "node:zlib";
import { operationsIn } from "./journal_text.ts";
import type { Operation } from "./changes.ts";

/** The two files of the journal replace the last part of the archive's name by these. */
const SUFFIXES = [".journal1", ".journal2"] as const;

/** A group begins with its length in bytes and its CRC-32, both little-endian. */
export const HEADER_BYTES = 8;

/** The first group of a file, which no change looks like. */
const HEAD = /^journal ([\w-]+) ([\w-]+)\n$/;

/**
 * What an archive names before it takes a change of a journal with an identity: this and, in its
 * present format, something random.
 */
export const NO_JOURNAL = "first-";

/** The last change that an archive has. */
export interface LastChange {
  readonly sequence: number;
  /** The identity of the journal that had it. */
  readonly journal: string;
}

/**
 * The identity of a journal. Each run of the program begins a new one, once the archive has what the
 * one before it held.
 */
export interface JournalIdentity {
  readonly identity: string;
  /** The identity of the journal before it, which the archive has until it takes a change of this. */
  readonly previous: string;
}

/** What the files of a journal hold. */
export interface JournalContent {
  /** In order, without a gap. */
  readonly operations: readonly Operation[];
  /** Changes that follow a gap, and are left out. */
  readonly beyondGap: number;
  /** Bytes that are no whole group: a kill, or a loss of power, came before its end. */
  readonly torn: number;
  /** What the archive names once it has the operations. */
  readonly identity: string;
  /** The files that hold changes of another archive, or of another copy of this one. */
  readonly foreign: readonly string[];
}

/** The identity of a journal that follows another. */
export function identityAfter(previous: string): JournalIdentity {
  return { identity: crypto.randomUUID(), previous };
}

/** The text of the first group of a file. */
export function headOf({ identity, previous }: JournalIdentity): string {
  return `journal ${identity} ${previous}\n`;
}

/**
 * Reads the journal of an archive, whether or not a program uses it.
 *
 * @param path of the archive
 * @param last the last change that the archive has; earlier ones are left out
 */
export function readJournal(path: string, last: LastChange): JournalContent {
  const files = pathsOf(path).map(readFile);
  const head = ownHead(files, last.journal);
  const isOwn = (file: FileContent) => file.head === null || file.head.identity === head?.identity;
  const own = files.filter(isOwn);
  const found = new Map(
    own.flatMap(({ operations }) => operations).map((operation) =>
      [operation.sequence, operation] as const
    ),
  );
  const operations: Operation[] = [];
  for (let next = found.get(last.sequence + 1); next !== undefined;) {
    operations.push(next);
    next = found.get(next.sequence + 1);
  }
  const end = operations.at(-1)?.sequence ?? last.sequence;
  return {
    operations,
    beyondGap: [...found.keys()].filter((sequence) => sequence > end).length,
    torn: own.reduce((sum, { torn }) => sum + torn, 0),
    identity: operations.length === 0 ? last.journal : head?.identity ?? last.journal,
    foreign: files.filter((file) => !isOwn(file)).map(({ path }) => path),
  };
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

/** The paths of the files. */
export function pathsOf(archive: string): string[] {
  return SUFFIXES.map((suffix) => archive.replace(/\.db$/, "") + suffix);
}

/** What a file holds. */
interface FileContent {
  readonly path: string;
  /** Null if it has no whole group. */
  readonly head: Head | null;
  readonly operations: readonly Operation[];
  readonly torn: number;
}

/** Whose changes a file holds; both are null if a version without identities wrote it. */
type Head = JournalIdentity | { readonly identity: null; readonly previous: null };

/**
 * The journal that the archive has seen, or one that began after it. A journal names the one before
 * it, because the archive learns of a new one with the first changes that it takes: a kill, or a
 * loss of power, can come before. One without identity belongs to an archive that has seen none.
 */
function ownHead(files: readonly FileContent[], seen: string): Head | undefined {
  const heads = files.flatMap(({ head }) => head ?? []);
  return heads.find(({ identity }) =>
    identity === null ? seen.startsWith(NO_JOURNAL) : identity === seen
  ) ??
    heads.find(({ previous }) => previous === seen);
}

function readFile(path: string): FileContent {
  const content = contentOf(path);
  const { texts, whole } = readGroups(content);
  const torn = content.length - whole;
  const [first, ...others] = texts;
  if (first === undefined) return { path, head: null, operations: [], torn };
  const [, identity, previous] = HEAD.exec(first) ?? [];
  const [head, changes] = identity === undefined || previous === undefined
    ? [{ identity: null, previous: null }, texts]
    : [{ identity, previous }, others];
  return { path, head, operations: changes.flatMap(operationsIn), torn };
}

function contentOf(path: string): Uint8Array {
  try {
    return Deno.readFileSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return new Uint8Array();
    throw error;
  }
}

/** Reads the groups up to the first that is not whole, and the number of their bytes. */
function readGroups(content: Uint8Array): { texts: readonly string[]; whole: number } {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const view = new DataView(content.buffer, content.byteOffset, content.byteLength);
  const texts: string[] = [];
  let whole = 0;
  while (content.length - whole > HEADER_BYTES) {
    const length = view.getUint32(whole, true);
    const group = content.subarray(whole + HEADER_BYTES, whole + HEADER_BYTES + length);
    if (length === 0 || group.length < length || crc32(group) !== view.getUint32(whole + 4, true)) {
      break;
    }
    texts.push(decoder.decode(group));
    whole += HEADER_BYTES + length;
  }
  return { texts, whole };
}
