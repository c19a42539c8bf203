import { Bot, Reply } from "lucide-static";
import { type Envelope, parseEnvelope, subjectOf } from "../../../services/chat/bridge/mod.ts";
import { answerTo, colorOf, isAction, linkTo } from "../../elements/chat_rules.ts";
import type { SentMessage } from "../../elements/sent_message.ts";
import { exactly, validTime } from "../../elements/time_ago.ts";
import { IconOf, IconSet } from "../icon.tsx";
import { IrcText, type IrcTextProps, isPlainText, plainText } from "./irc_text.tsx";
import type { SpeakerKind } from "./robots.ts";

/** A longer text is folded, in characters. */
const FOLDED = 700;

/** What is shown of a folded text, and of an answered one. */
const BEGINNING = 280;
const QUOTED = 100;

/** A message of a channel or of a conversation. */
export interface ShownMessage {
  readonly id: string;
  readonly nick: string;
  readonly text: string;
  /** ISO 8601, UTC. */
  readonly timestamp: string;
  readonly via?: "bridge";
  /** The id of the message that it answers. */
  readonly reply?: string;
}

/** A message, and how it stands among the others. */
export interface MessageProps {
  readonly message: ShownMessage;
  readonly speaker: SpeakerKind;
  /** Classes for its place: `same`, `code`, `fence`, `me`. */
  readonly place?: string;
  /** The message that it answers, if that is at hand. */
  readonly answered?: ShownMessage | undefined;
  /** Whether it is in a channel, where `#12` is a ticket. */
  readonly hasTickets?: boolean;
}

/** The icons of messages, which a page with messages has once. */
export function MessageIcons() {
  return <IconSet icons={{ bot: Bot, reply: Reply }} />;
}

/**
 * A message with every part, from which the browser draws those that a stream brings
 * ({@linkcode sentMessage}).
 */
export function MessageTemplate() {
  const message = { id: "", nick: "", text: "", timestamp: "", via: "bridge", reply: "" } as const;
  return (
    <template data-message>
      <Message message={message} speaker="agent" />
    </template>
  );
}

/**
 * One message. It is the same for all readers; the browser adds what only the reader knows.
 * `elements/chat_message.ts` draws the same.
 */
export function Message(
  { message, speaker, place = "", answered, hasTickets = false }: MessageProps,
) {
  const { id, nick, text, timestamp, reply, via } = message;
  return (
    <li
      class={`message ${isAction(nick, text) ? "action " : ""}${place}`.trim()}
      id={`m-${id}`}
      data-at={timestamp}
      data-nick={nick}
      data-program={speaker === "program" ? "" : undefined}
    >
      <a
        class="at"
        href={linkTo(id)}
        title={exactly(timestamp)}
      >
        <time class="clock" datetime={validTime(timestamp)}>{timestamp.slice(11, 16)}</time>
      </a>
      <span class="who">
        <a class={`nick color-${colorOf(nick)}`} href={`/messages/${encodeURIComponent(nick)}`}>
          <bdi>{nick}</bdi>
        </a>
        {speaker !== "person" && <IconOf name="bot" />}
      </span>
      {via === "bridge" && <span class="via">by the operator</span>}
      {reply !== undefined && <Quoted id={reply} answered={answered} />}
      <div class="text" dir="auto">
        <MessageText text={text} hasTickets={hasTickets} />
      </div>
      <a
        class="answer"
        href={answerTo(id)}
        aria-label={`Reply to ${nick}`}
        title="Reply"
      >
        <IconOf name="reply" />
      </a>
    </li>
  );
}

/** The message that a message answers. */
function Quoted({ id, answered }: Pick<MessageProps, "answered"> & { readonly id: string }) {
  const words = answered === undefined
    ? "an earlier message"
    : `${answered.nick}: ${plainText(answered.text).slice(0, QUOTED)}`;
  return (
    <a class="quoted" href={linkTo(id)} data-answers={id}>
      <IconOf name="reply" /> <bdi>{words}</bdi>
    </a>
  );
}

/** A message for the streams of pages: its text, or its HTML if the text is not shown as it is. */
export function sentMessage(
  { message, speaker, hasTickets = false }: Pick<
    MessageProps,
    "message" | "speaker" | "hasTickets"
  >,
): SentMessage {
  const { nick, text, timestamp, via, reply } = message;
  return {
    nick,
    at: timestamp,
    ...(isPlain(text)
      ? { text }
      : { html: String(<MessageText text={text} hasTickets={hasTickets} />) }),
    ...(speaker !== "person" && { agent: true }),
    ...(speaker === "program" && { program: true }),
    ...(isAction(nick, text) && { action: true }),
    ...(via === "bridge" && { operator: true }),
    ...(reply !== undefined && { reply }),
  };
}

/** Whether {@linkcode MessageText} shows a text as it is. */
function isPlain(text: string): boolean {
  return text.length <= FOLDED && isPlainText(text) && parseEnvelope(text) === null;
}

/** What a message says: an envelope as a card, a long text folded. */
export function MessageText({ text, hasTickets = false }: IrcTextProps) {
  const envelope = parseEnvelope(text);
  if (envelope !== null) return <EnvelopeCard envelope={envelope} />;
  if (text.length <= FOLDED) return <IrcText text={text} hasTickets={hasTickets} />;
  return (
    <details class="long">
      <summary>
        <span>{plainText(text).slice(0, BEGINNING)}…</span>{" "}
        <span class="soft">{text.length} characters</span>
      </summary>
      <IrcText text={text} hasTickets={hasTickets} />
    </details>
  );
}

/** A message of an agent for other agents: what it is about, and its JSON one click away. */
function EnvelopeCard({ envelope }: { readonly envelope: Envelope }) {
  const { type, id, from, to, payload } = envelope;
  const receivers = Array.isArray(to) ? to.filter((one) => typeof one === "string") : [];
  const summary = subjectOf(payload);
  return (
    <div class="envelope">
      <p>
        <span class="badge accent">{type}</span>{" "}
        {receivers.length > 0 && <span class="soft">to {receivers.join(", ")}</span>}{" "}
        {summary !== null && <bdi>{summary}</bdi>}
      </p>
      <details>
        <summary>
          JSON <span class="soft mono">{id}</span>
          <span class="hidden-text">of {from}</span>
        </summary>
        <pre tabindex={0}>{JSON.stringify(envelope, null, 2)}</pre>
      </details>
    </div>
  );
}
