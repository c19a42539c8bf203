import { addresses, Fences, Runs } from "../../elements/chat_rules.ts";
import type { SpeakerKind } from "./robots.ts";
import { Message, MessageIcons, MessageTemplate, type ShownMessage } from "./message.tsx";

/** Messages in order, with a line between days and one before what is unread. */
export function MessageList({ messages, own, speakerOf, readUpTo, label }: {
  readonly messages: readonly ShownMessage[];
  /** The name of the reader. */
  readonly own: string;
  readonly speakerOf: (nick: string) => SpeakerKind;
  /** How far the reader has read, in Unix milliseconds; null if that is not known. */
  readonly readUpTo: number | null;
  readonly label: string;
}) {
  const byId = new Map(messages.map((message) => [message.id, message]));
  const [fences, runs] = [new Fences(), new Runs()];
  let day = "";
  let isUnread = false;
  const items = messages.map((message) => {
    const line = { ...message, time: Date.parse(message.timestamp) };
    const isNewDay = message.timestamp.slice(0, 10) !== day;
    const isFirstUnread = !isUnread && readUpTo !== null && line.time > readUpTo &&
      message.nick !== own;
    isUnread ||= isFirstUnread;
    if (isNewDay || isFirstUnread) runs.part();
    const block = fences.next(line);
    const speaker = speakerOf(message.nick);
    const places = [
      runs.next(line, block !== null) ? "same" : "",
      block ?? "",
      addresses(message, own, speaker === "program") ? "me" : "",
    ];
    day = message.timestamp.slice(0, 10);
    const { reply } = message;
    return (
      <>
        {isNewDay && <Day timestamp={message.timestamp} />}
        {isFirstUnread && <li class="unread" id="unread">New messages</li>}
        <Message
          message={message}
          speaker={speaker}
          place={places.filter((place) => place !== "").join(" ")}
          answered={reply === undefined ? undefined : byId.get(reply)}
        />
      </>
    );
  });
  return (
    <div role="log" aria-label={label}>
      <MessageIcons />
      <ol class="messages">{items}</ol>
      <MessageTemplate />
    </div>
  );
}

const DAY = new Intl.DateTimeFormat("en", {
  weekday: "long",
  year: "numeric",
  month: "long",
  day: "numeric",
  timeZone: "UTC",
});

function Day({ timestamp }: { readonly timestamp: string }) {
  return (
    <li class="day">
      <time datetime={timestamp.slice(0, 10)}>{DAY.format(Date.parse(timestamp))}</time>
    </li>
  );
}
