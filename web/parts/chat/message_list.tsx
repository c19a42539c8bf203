import { ArrowDown, ArrowUp } from "lucide-static";
import { addresses, Fences, Runs } from "../../elements/chat_rules.ts";
import { Icon } from "../icon.tsx";
import type { SpeakerKind } from "./robots.ts";
import { Message, MessageIcons, MessageTemplate, type ShownMessage } from "./message.tsx";

/** Messages in order, with a line between days and one before what is unread. */
export function MessageList({ messages, own, speakerOf, readUpTo, label, hasTickets = false }: {
  readonly messages: readonly ShownMessage[];
  /** The name of the reader. */
  readonly own: string;
  readonly speakerOf: (nick: string) => SpeakerKind;
  /** How far the reader has read, in Unix milliseconds; null if that is not known. */
  readonly readUpTo: number | null;
  readonly label: string;
  /** Whether they are of a channel, where `#12` is a ticket. */
  readonly hasTickets?: boolean;
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
          hasTickets={hasTickets}
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

/** Leads to what follows the messages of a page. */
export function Newer({ href }: { readonly href: string }) {
  return (
    <p class="row newer">
      <a class="button" href={href} rel="next">
        <Icon svg={ArrowDown} /> Newer messages
      </a>
    </p>
  );
}

/** Leads to the newest message; the script shows it to a reader who looks at earlier ones. */
export function ToNewest({ path, isPast }: {
  /** The address of the channel, or of the conversation. */
  readonly path: string;
  /** Whether the page ends before the newest message. */
  readonly isPast: boolean;
}) {
  return (
    <a class="jump to-newest" href={path} hidden={!isPast}>
      <Icon svg={ArrowDown} /> To the newest <strong data-missed></strong>
    </a>
  );
}

/** Leads to the first unread message; the script shows it while that is above what is in sight. */
export function ToUnread() {
  return (
    <a class="jump to-unread" href="#unread" hidden>
      <Icon svg={ArrowUp} /> To the first unread message
    </a>
  );
}
