/// <reference no-default-lib="true" />
/// <reference lib="deno.worker" />
import { ArchiveFile } from "./archive_file.ts";
import { Progress } from "./progress.ts";
import { type Request, type Response, unpackOperations } from "./protocol.ts";

/**
 * How long records may wait for a sync. A sync costs ten times as much as a write, and a kill of
 * the process loses nothing that is written.
 */
const SYNC_MILLISECONDS = 1000;

/** The first request opens the file; `null` closes it. Each is answered before the next is read. */
function serve(): void {
  let file: ArchiveFile | null = null;
  let progress = new Progress();
  let isSyncing = false;

  function syncLater(opened: ArchiveFile): void {
    if (isSyncing || opened.synced) return;
    isSyncing = true;
    setTimeout(() => {
      isSyncing = false;
      if (file !== null) trySync(file);
    }, SYNC_MILLISECONDS);
  }

  /** Returns null if nobody waits for the answer. */
  function carryOut(request: Request): Response | null {
    const { id } = request;
    if (request.kind === "open") {
      progress = new Progress(request.progress);
      file = new ArchiveFile(request.path);
      return { id, kind: "opened", ...file.newest() };
    }
    if (file === null) throw new Error("The archive is not open");
    switch (request.kind) {
      case "write":
        file.write(unpackOperations(request.operations), request.records);
        syncLater(file);
        return progress.write(id, file.usedBytes) ? { id, kind: "written" } : null;
      case "ask":
        return { id, kind: "answer", value: file.answer(request.question) };
      case "trim":
        return {
          id,
          kind: "trimmed",
          removed: file.trim(request.retention, request.now, request.most),
        };
    }
  }

  self.onmessage = ({ data }: MessageEvent<Request | null>) => {
    if (data === null) {
      file?.close();
      file = null;
      self.postMessage(null);
      return self.close();
    }
    try {
      const response = carryOut(data);
      if (response !== null) self.postMessage(response);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      self.postMessage({ id: data.id, kind: "failed", message } satisfies Response);
    }
  };
}

/** If the disk refuses, the next write reports it. */
function trySync(file: ArchiveFile): void {
  try {
    file.sync();
  } catch {
    // The file remembers that it is not synced.
  }
}

serve();
