import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import {
  HistoryArchive,
  type Retention,
} from "../../../../../services/chat/irc_server/history/mod.ts";
import type { Message } from "../../../../../services/engines/irc/mod.ts";
import { systemScheduler } from "../../../../../services/kernel/scheduler.ts";
import { TestLog } from "../../../../support/services.ts";
import type { TestClient } from "../../../engines/irc/support/client.ts";

export const CAPABILITIES =
  "batch draft/chathistory echo-message message-tags server-time account-tag";

export const EVERYTHING: Retention = { age: null, records: null, bytes: null };

/** Closes an archive at the end of a block. */
export interface OpenArchive extends AsyncDisposable {
  readonly value: HistoryArchive;
}

/** Opens an archive in a folder, without limits by default. */
export async function openArchive(
  folder: string,
  options: Partial<Parameters<typeof HistoryArchive.open>[0]> = {},
): Promise<OpenArchive> {
  const value = await HistoryArchive.open({
    path: join(folder, "history.db"),
    retention: EVERYTHING,
    scheduler: systemScheduler,
    log: new TestLog(),
    ...options,
  });
  return { value, [Symbol.asyncDispose]: () => value.close() };
}

/** Opens the file of an archive, past the archive. */
export function openFile(folder: string): Disposable & { readonly value: DatabaseSync } {
  const value = new DatabaseSync(join(folder, "history.db"));
  return { value, [Symbol.dispose]: () => value.close() };
}

/** Sends a line; returns what the server sends the client then. */
export async function say(client: TestClient, line: string): Promise<Message[]> {
  client.send(line);
  return await client.syncMessages();
}
