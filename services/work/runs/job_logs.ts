import { Buffer } from "node:buffer";
import { join } from "node:path";
import { isFromSystem } from "../../engines/fossil/front/mod.ts";
import { Conflict, TooLarge, Unavailable } from "../../kernel/errors.ts";
import { nextTurn } from "../../kernel/pieces.ts";
import { Semaphore } from "../../kernel/semaphore.ts";
import type { LogLine } from "./assignment.ts";

/** Longest log of one lease, in bytes: what a runner may send, and the notes about it. */
const MAX_LOG_BYTES = 128 * 1024 * 1024;

/** Most lines of one read. */
export const MAX_READ_LINES = 5000;

/** Most bytes of one read. */
const MAX_READ_BYTES = 4 * 1024 * 1024;

/** Bytes that are read at once for somebody who reads on: so many wait for each slow reader. */
export const STREAMED_BYTES = 128 * 1024;

/** Most lines that a search finds. */
const MAX_FOUND = 1000;

/** Bytes and lines that are searched at once. */
const PIECE = 1024 * 1024;
const SEARCHED_LINES = 10_000;

/** Bytes of the index for each line: where it ends. */
const ENTRY = 8;

const LETTERS = { out: "o", err: "e", note: "n", command: "c" } as const;
const STREAM_OF: Readonly<Record<string, LogLine["stream"]>> = {
  o: "out",
  e: "err",
  n: "note",
  c: "command",
};

/** A line of a log, with its number from 1. */
export interface NumberedLine extends LogLine {
  readonly number: number;
}

/** A part of a log. */
export interface LogPart {
  readonly lines: readonly NumberedLine[];
  /** How many lines the log has. */
  readonly total: number;
}

/** Which log: that of a lease of a job. */
export interface LogKey {
  readonly projectId: string;
  readonly jobId: string;
  readonly generation: number;
}

/** Lines that have just come, as all readers of a live log get them. */
export interface LogBatch {
  readonly lines: readonly NumberedLine[];
}

/** Reads a log while it grows. Must not throw. */
export interface LogReader {
  batch(batch: LogBatch): void;
  end(): void;
}

/** A log that grows, or whose end is known. */
interface Known {
  lines: number;
  bytes: number;
}

/**
 * The logs of jobs: for each lease a file of lines that only grows, and an index of where each line
 * ends, so that any part of a long log is read at once.
 */
export class JobLogs {
  readonly #folder: string;
  /** Logs that grow now, by their paths. */
  readonly #known = new Map<string, Known>();
  readonly #readers = new Map<string, Set<LogReader>>();
  readonly #turns = new Semaphore({
    permitsPerKey: 1,
    maxWaitingPerKey: 20,
    refusal: () => new Unavailable("The disk is too slow for this log", { retryAfterSeconds: 1 }),
  });

  /** @param folder has a folder for each project, and in it one for each job */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The folder of a job, for its log and its artifacts. */
  folderOf({ projectId, jobId }: Pick<LogKey, "projectId" | "jobId">): string {
    return join(this.#folder, projectId, jobId);
  }

  /**
   * Adds lines. Those that are there already are skipped.
   *
   * @param from the number of the first line
   * @returns the number of the next line
   * @throws Conflict, which tells the next line, if some are missing before these; TooLarge
   */
  async append(key: LogKey, from: number, lines: readonly LogLine[]): Promise<number> {
    const path = this.#pathOf(key);
    using _ = await this.#turns.acquire(path);
    return await translated(async () => {
      await Deno.mkdir(this.folderOf(key), { recursive: true, mode: 0o700 });
      const known = this.#known.get(path) ?? await recovered(path);
      this.#known.set(path, known);
      const next = known.lines + 1;
      if (from > next) throw new Conflict(`The next line is ${next}`, { next });
      const added = lines.slice(next - from).map((line) => ({
        ...line,
        text: line.text.replaceAll("\r", " ").replaceAll("\n", " ").toWellFormed(),
      }));
      if (added.length === 0) return next;
      const texts = added.map(({ at, stream, text }) => `${at} ${LETTERS[stream]} ${text}\n`);
      const pieces = texts.map((text) => Buffer.from(text));
      const index = Buffer.alloc(pieces.length * ENTRY);
      let end = known.bytes;
      for (const [place, piece] of pieces.entries()) {
        end += piece.length;
        index.writeBigUInt64LE(BigInt(end), place * ENTRY);
      }
      if (end > MAX_LOG_BYTES) throw new TooLarge(`A log has at most ${MAX_LOG_BYTES} bytes`);
      try {
        await appendTo(path, Buffer.concat(pieces));
        await appendTo(indexOf(path), index);
      } catch (error) {
        // A part may be there: the next one looks what is.
        this.#known.delete(path);
        throw error;
      }
      known.bytes = end;
      known.lines += added.length;
      this.#tell(path, { lines: added.map((line, place) => ({ number: next + place, ...line })) });
      return known.lines + 1;
    });
  }

  /** Ends a log: it is on disk. Tell its readers once its job has ended: {@link ended}. */
  async end(key: LogKey): Promise<void> {
    const path = this.#pathOf(key);
    using _ = await this.#turns.acquire(path);
    this.#known.delete(path);
    for (const file of [path, indexOf(path)]) {
      await Deno.open(file, { write: true }).then(async (opened) => {
        using open = opened;
        await open.syncData();
      }).catch((error: unknown) => {
        if (!(error instanceof Deno.errors.NotFound)) throw error;
      });
    }
  }

  /** Tells the readers of a log that its lease has ended. */
  ended(key: LogKey): void {
    const path = this.#pathOf(key);
    for (const reader of this.#readers.get(path) ?? []) reader.end();
    this.#readers.delete(path);
  }

  /**
   * Reads lines from a number on.
   *
   * @param from below 1: so many of the last lines, and one more
   * @param count at most 5,000; fewer are returned if they are long
   * @param maxBytes of them together, but for the first one
   */
  async read(
    key: LogKey,
    from: number,
    count: number,
    maxBytes: number = MAX_READ_BYTES,
  ): Promise<LogPart> {
    const path = this.#pathOf(key);
    return await translated(async () => {
      using index = await openIfThere(indexOf(path));
      if (index === null) return { lines: [], total: 0 };
      const total = Math.floor((await index.stat()).size / ENTRY);
      const first = from < 1 ? Math.max(1, total + from) : from;
      const wanted = Math.min(count, MAX_READ_LINES, total - first + 1);
      if (wanted <= 0) return { lines: [], total };
      const ends = await endsOf(index, first - 1, wanted);
      const start = ends[0] ?? 0;
      const fitting = ends.findLastIndex((end) => end - start <= maxBytes);
      const stop = ends[Math.max(1, fitting)] ?? start;
      using file = await Deno.open(path);
      const bytes = await readAt(file, start, stop - start);
      return { lines: linesOf(bytes, first), total };
    });
  }

  /** The lines that have a text, the first 1,000 of them. */
  async search(key: LogKey, text: string): Promise<LogPart> {
    const path = this.#pathOf(key);
    return await translated(async () => {
      using index = await openIfThere(indexOf(path));
      if (index === null) return { lines: [], total: 0 };
      const total = Math.floor((await index.stat()).size / ENTRY);
      using file = await Deno.open(path);
      const sought = Buffer.from(text);
      const found: NumberedLine[] = [];
      for (let first = 0; first < total && found.length < MAX_FOUND;) {
        const ends = await endsOf(index, first, Math.min(SEARCHED_LINES, total - first));
        const start = ends[0] ?? 0;
        const count = Math.max(1, ends.findLastIndex((end) => end - start <= PIECE));
        const bytes = await readAt(file, start, (ends[count] ?? start) - start);
        if (bytes.includes(sought)) {
          const having = linesOf(bytes, first + 1).filter((line) => line.text.includes(text));
          found.push(...having.slice(0, MAX_FOUND - found.length));
        }
        first += count;
        await nextTurn();
      }
      return { lines: found, total };
    });
  }

  /** The text of a whole log, without the times and streams of its lines. */
  async raw(key: LogKey): Promise<ReadableStream<Uint8Array>> {
    let from = 1;
    const { total } = await this.read(key, 1, 1);
    return new ReadableStream({
      pull: async (controller) => {
        const { lines } = await this.read(key, from, MAX_READ_LINES, STREAMED_BYTES);
        if (lines.length === 0 || from > total) return controller.close();
        from += lines.length;
        controller.enqueue(
          new TextEncoder().encode(
            lines.map(({ stream, text }) => `${stream === "command" ? "$ " : ""}${text}\n`).join(
              "",
            ),
          ),
        );
      },
    });
  }

  /**
   * Follows a log that may grow, with the lines that come after the call.
   *
   * @returns a function that ends it
   */
  follow(key: LogKey, reader: LogReader): () => void {
    const path = this.#pathOf(key);
    const readers = this.#readers.get(path) ?? new Set();
    this.#readers.set(path, readers.add(reader));
    return () => {
      readers.delete(reader);
      if (readers.size === 0 && this.#readers.get(path) === readers) this.#readers.delete(path);
    };
  }

  /** Removes everything of a job. */
  async remove(key: Pick<LogKey, "projectId" | "jobId">): Promise<void> {
    await Deno.remove(this.folderOf(key), { recursive: true }).catch((error: unknown) => {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    });
  }

  #tell(path: string, batch: LogBatch): void {
    for (const reader of this.#readers.get(path) ?? []) reader.batch(batch);
  }

  #pathOf(key: LogKey): string {
    return join(this.folderOf(key), `${key.generation}.log`);
  }
}

function indexOf(path: string): string {
  return `${path}.index`;
}

/** What is on disk of a log, without a line that a kill has cut. */
async function recovered(path: string): Promise<Known> {
  using index = await Deno.open(indexOf(path), { read: true, write: true, create: true });
  const lines = Math.floor((await index.stat()).size / ENTRY);
  await index.truncate(lines * ENTRY);
  const [bytes = 0] = lines === 0 ? [] : (await endsOf(index, lines, 0));
  using file = await Deno.open(path, { write: true, create: true });
  await file.truncate(bytes);
  return { lines, bytes };
}

/**
 * Where lines end, beginning with the end of the line before.
 *
 * @param before how many lines come before
 */
async function endsOf(index: Deno.FsFile, before: number, count: number): Promise<number[]> {
  const skipped = Math.max(0, before - 1);
  const bytes = await readAt(index, skipped * ENTRY, (before + count - skipped) * ENTRY);
  const ends = Array.from(
    { length: bytes.length / ENTRY },
    (_, place) => Number(bytes.readBigUInt64LE(place * ENTRY)),
  );
  return before === 0 ? [0, ...ends] : ends;
}

async function readAt(file: Deno.FsFile, start: number, length: number): Promise<Buffer> {
  const bytes = Buffer.alloc(length);
  await file.seek(start, Deno.SeekMode.Start);
  let read = 0;
  while (read < length) {
    const part = await file.read(bytes.subarray(read));
    if (part === null) break;
    read += part;
  }
  return bytes.subarray(0, read);
}

function linesOf(bytes: Buffer, first: number): NumberedLine[] {
  const texts = bytes.toString().split("\n");
  texts.pop();
  return texts.map((line, place) => {
    const [, at = "0", letter = "o", text = ""] = /^(\d+) ([a-z]) (.*)$/s.exec(line) ?? [];
    return { number: first + place, at: Number(at), stream: STREAM_OF[letter] ?? "out", text };
  });
}

async function appendTo(path: string, bytes: Uint8Array): Promise<void> {
  using file = await Deno.open(path, { append: true, create: true });
  for (let written = 0; written < bytes.length;) {
    written += await file.write(bytes.subarray(written));
  }
}

async function openIfThere(path: string): Promise<Deno.FsFile | null> {
  try {
    return await Deno.open(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

async function translated<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw isFromSystem(error) ? new Unavailable("The log is not on disk at the moment") : error;
  }
}
