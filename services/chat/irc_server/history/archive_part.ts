import type { Part } from "../../../kernel/threads/mod.ts";
import { ArchiveFile } from "./archive_file.ts";
import { emptyFiles } from "./journal_files.ts";
import { isTrouble } from "../../../engines/database/sqlite/mod.ts";
import type { Request, Response } from "./protocol.ts";
import { unpackOperations } from "./changes.ts";

/**
 * The time between two syncs: each costs ten times as much as a write, and a kill of the process
 * loses nothing that is written.
 */
const SYNC_MILLISECONDS = 1000;

/** How long a sync waits after a write, so that a question which follows it is answered first. */
const SYNC_PAUSE = 20;

/**
 * How long the worker is free for requests between two parts of the search index. A part of a file
 * from before the index takes about as long as ten batches of writes.
 */
const INDEX_MILLISECONDS = 50;

/** The same after the file is opened, while the program starts. */
const FIRST_INDEX_MILLISECONDS = 5000;

/** The file of the history. Each request is answered before the next is read. */
export const archivePart: Part = (answer) => {
  let file: ArchiveFile | null = null;
  /** The request that opened the file, or will once the disk lets it. */
  let opening: Request & { readonly kind: "open" } | null = null;
  let isSyncing = false;
  let syncedAt = -Infinity;
  let isIndexing = false;
  /** Files of the journal whose changes are all written; they are emptied once these are synced. */
  const journals = new Set<string>();
  /** Those emptied since the last response that says so. */
  let emptied: string[] = [];
  /** Whether changes were written since the file was opened. */
  let isUsed = false;

  function syncLater(opened: ArchiveFile): void {
    if (isSyncing || opened.synced) return;
    isSyncing = true;
    setTimeout(() => {
      isSyncing = false;
      syncedAt = performance.now();
      if (file === null) return;
      trySync(file);
      emptyJournals(file);
    }, Math.max(SYNC_PAUSE, syncedAt + SYNC_MILLISECONDS - performance.now()));
  }

  function emptyJournals(opened: ArchiveFile): void {
    if (!opened.synced) return;
    for (const path of emptyFiles([...journals])) {
      journals.delete(path);
      emptied.push(path);
    }
  }

  function write(opened: ArchiveFile, request: Request & { readonly kind: "write" }): Response {
    opened.write(unpackOperations(request.operations), request.records, request.identity);
    // The other side names a file again until it is told, and then writes to it.
    for (const path of request.journals.filter((path) => !emptied.includes(path))) {
      journals.add(path);
    }
    // After a kill, both files hold changes: the journal takes no others until these are synced.
    if (!isUsed) trySync(opened);
    isUsed = true;
    emptyJournals(opened);
    syncLater(opened);
    indexLater(opened);
    const told = emptied;
    emptied = [];
    return { id: request.id, kind: "written", bytes: opened.usedBytes, emptied: told };
  }

  function indexLater(opened: ArchiveFile, pause = INDEX_MILLISECONDS): void {
    if (isIndexing || !opened.isIndexBehind) return;
    isIndexing = true;
    setTimeout(() => {
      isIndexing = false;
      if (file !== null && tryIndex(file)) indexLater(file);
    }, pause);
  }

  /** The file. A full disk may have refused to open it before. */
  function fileOf({ path, speakerTag }: NonNullable<typeof opening>): ArchiveFile {
    if (file !== null) return file;
    file = new ArchiveFile(path, speakerTag);
    syncedAt = performance.now();
    indexLater(file, FIRST_INDEX_MILLISECONDS);
    return file;
  }

  function carryOut(request: Request): Response {
    const { id } = request;
    if (request.kind === "open") {
      opening = request;
      isUsed = false;
      journals.clear();
      emptied = [];
      const opened = fileOf(request);
      return { id, kind: "opened", ...opened.newest(), extent: opened.extent() };
    }
    if (opening === null) throw new Error("The archive is not open");
    const opened = fileOf(opening);
    switch (request.kind) {
      case "write":
        return write(opened, request);
      case "ask":
        return { id, kind: "answer", value: opened.answer(request.question) };
      case "trim": {
        const removed = opened.trim(request.retention, request.now, request.most);
        indexLater(opened);
        return { id, kind: "trimmed", removed };
      }
    }
  }

  return (message) => {
    const request = message as Request | null;
    if (request === null) {
      if (file !== null && !trySync(file)) answer({ id: 0, kind: "unsynced" } satisfies Response);
      file?.close();
      file = null;
      opening = null;
      return answer(null);
    }
    try {
      answer(carryOut(request));
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const failed = { kind: "failed", message: reason, isTrouble: isTrouble(error) } as const;
      answer({ id: request.id, ...failed } satisfies Response);
    }
  };
};

/** Returns whether it was done. If the disk refuses, the next write reports it. */
function trySync(file: ArchiveFile): boolean {
  try {
    file.sync();
    return true;
  } catch {
    // The file remembers that it is not synced.
    return false;
  }
}

/** Returns whether it was done. If the disk refuses, the next write tries again. */
function tryIndex(file: ArchiveFile): boolean {
  try {
    file.indexMore();
    return true;
  } catch {
    return false;
  }
}
