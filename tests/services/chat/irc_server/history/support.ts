import { crc32 } from "node:zlib";
import { textOf } from "../../../../../services/chat/irc_server/history/journal_text.ts";
import type { Operation } from "../../../../../services/chat/irc_server/history/changes.ts";

/** A group of changes, as a file of the journal has it. */
export function groupOf(operations: readonly Operation[]): Uint8Array {
  const text = new TextEncoder().encode(textOf(operations));
  const header = new Uint32Array([text.length, crc32(text)]);
  return new Uint8Array([...new Uint8Array(header.buffer), ...text]);
}
