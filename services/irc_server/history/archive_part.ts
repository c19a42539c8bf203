import type { Part } from "../../threads/mod.ts";
import { ArchiveFile } from "./archive_file.ts";
import { Progress } from "./progress.ts";
import { type Request, type Response, unpackOperations } from "./protocol.ts";

/**
 * How long records may wait for a sync. A sync costs ten times as much as a write, and a kill of
 * the process loses nothing that is written.
 */
const SYNC_MILLISECONDS = 1000;

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
  let progress = new Progress();
  let isSyncing = false;
  let isIndexing = false;

  function syncLater(opened: ArchiveFile): void {
    if (isSyncing || opened.synced) return;
    isSyncing = true;
    setTimeout(() => {
      isSyncing = false;
      if (file !== null) trySync(file);
    }, SYNC_MILLISECONDS);
  }

  function indexLater(opened: ArchiveFile, pause = INDEX_MILLISECONDS): void {
    if (isIndexing || !opened.isIndexBehind) return;
    isIndexing = true;
    setTimeout(() => {
      isIndexing = false;
      if (file !== null && tryIndex(file)) indexLater(file);
    }, pause);
  }

  /** Returns null if nobody waits for the answer. */
  function carryOut(request: Request): Response | null {
    const { id } = request;
    if (request.kind === "open") {
      progress = new Progress(request.progress);
      file = new ArchiveFile(request.path, request.speakerTag);
      indexLater(file, FIRST_INDEX_MILLISECONDS);
      return { id, kind: "opened", ...file.newest() };
    }
    if (file === null) throw new Error("The archive is not open");
    switch (request.kind) {
      case "write":
        file.write(unpackOperations(request.operations), request.records);
        syncLater(file);
        indexLater(file);
        return progress.write(id, file.usedBytes) ? { id, kind: "written" } : null;
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
      const response = carryOut(request);
      if (response !== null) answer(response);
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
