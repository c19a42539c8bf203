import type { Part } from "../../threads/mod.ts";
import { ArchiveFile } from "./archive_file.ts";
import { emptyFiles } from "./journal.ts";
import { type Request, type Response, unpackOperations } from "./protocol.ts";

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
  let isSyncing = false;
  let syncedAt = -Infinity;
  let isIndexing = false;

  function syncLater(opened: ArchiveFile): void {
    if (isSyncing || opened.synced) return;
    isSyncing = true;
    setTimeout(() => {
      isSyncing = false;
      syncedAt = performance.now();
      if (file !== null) trySync(file);
    }, Math.max(SYNC_PAUSE, syncedAt + SYNC_MILLISECONDS - performance.now()));
  }

  function indexLater(opened: ArchiveFile, pause = INDEX_MILLISECONDS): void {
    if (isIndexing || !opened.isIndexBehind) return;
    isIndexing = true;
    setTimeout(() => {
      isIndexing = false;
      if (file !== null && tryIndex(file)) indexLater(file);
    }, pause);
  }

  function carryOut(request: Request): Response {
    const { id } = request;
    if (request.kind === "open") {
      file = new ArchiveFile(request.path, request.speakerTag);
      syncedAt = performance.now();
      indexLater(file, FIRST_INDEX_MILLISECONDS);
      return { id, kind: "opened", ...file.newest(), extent: file.extent() };
    }
    if (file === null) throw new Error("The archive is not open");
    switch (request.kind) {
      case "write":
        file.write(unpackOperations(request.operations), request.records);
        syncLater(file);
        indexLater(file);
        return {
          id,
          kind: "written",
          bytes: file.usedBytes,
          emptied: emptyFiles(request.journals),
        };
      case "ask":
        return { id, kind: "answer", value: file.answer(request.question) };
      case "trim": {
        const removed = file.trim(request.retention, request.now, request.most);
        indexLater(file);
        return { id, kind: "trimmed", removed };
      }
    }
  }

  return (message) => {
    const request = message as Request | null;
    if (request === null) {
      file?.close();
      file = null;
      return answer(null);
    }
    try {
      answer(carryOut(request));
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      answer({ id: request.id, kind: "failed", message: reason } satisfies Response);
    }
  };
};

/** If the disk refuses, the next write reports it. */
function trySync(file: ArchiveFile): void {
  try {
    file.sync();
  } catch {
    // The file remembers that it is not synced.
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
