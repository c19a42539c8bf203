import { jsonLine } from "../../routes/event_streams.ts";
import type { UnreadNews } from "./unread_watch.ts";

/** The event with what its reader has not read. It has no id, so a resumed stream is not moved. */
export function unreadEvent({ channels, people }: UnreadNews): string {
  return `event: unread\ndata: ${jsonLine({ channels, people })}`;
}

/** The event of a message: its id, and its HTML on one line or on several. */
export function messageEvent(id: string, html: string): string {
  return `id: ${id}\n${html.split(/\r\n|[\r\n]/).map((line) => `data: ${line}`).join("\n")}`;
}
