import { writerPart } from "../../engines/database/mod.ts";
import { archivePart } from "../../chat/irc_server/history/mod.ts";

/** What shares a thread: the writer of the app database, and the file of the history. */
export const STORAGE_PARTS = { database: writerPart, history: archivePart };

/** Also what the worker serves. */
export type StorageParts = typeof STORAGE_PARTS;

/** Starts the worker of the parts. */
export function startStorageWorker(): Worker {
  const url = new URL("./storage_worker.ts", import.meta.url);
  return new Worker(url, { type: "module", name: "storage" });
}
