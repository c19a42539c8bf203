import { jsonLine } from "../../routes/event_streams.ts";
import { sentMessage, type ShownMessage } from "../parts/chat/message.tsx";
import type { SpeakerKind } from "../parts/chat/robots.ts";
import type { UnreadNews } from "./unread_watch.ts";

/** The event with what its reader has not read. It has no id, so a resumed stream is not moved. */
export function unreadEvent({ channels, people }: UnreadNews): string {
  return `event: unread\ndata: ${jsonLine({ channels, people })}`;
}

/** The event of a message. */
export function messageEvent(message: ShownMessage, speaker: SpeakerKind): string {
  return `id: ${message.id}\ndata: ${jsonLine(sentMessage(message, speaker))}`;
}
