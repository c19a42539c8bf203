import { type MessageText, type Outbound, type ReplyTags, timeOf } from "../irc/mod.ts";
import {
  ACTION,
  CTCP,
  EVENT_TELLER,
  isSameAccount,
  LABELLED_ANSWER,
  type LinkEvent,
  type LinkMessage,
  type LinkSpeaker,
  PLAYBACK,
  type PlaybackMark,
  REFUSAL,
  SPEAKER_ACCOUNT_TAG,
  SPEAKER_TAG,
} from "./link_events.ts";

/** An incomplete answer of several messages. */
interface Batch {
  readonly label: string;
  /** The messages played back; null for any other batch. */
  readonly past: Past | null;
}

/** Messages of a channel that were asked for. */
interface Past {
  readonly messages: LinkMessage[];
  count: number;
  first: PlaybackMark | null;
  last: PlaybackMark | null;
}

/** The bridge's own identity, from the events. */
export interface DirectSelf {
  nick: string;
  /** As `user@host`; empty before the bridge is in a channel. */
  userHost: string;
  /** The bridge's account; null if it is not logged in. */
  account: string | null;
}

/** The prefixes of members with a status, and of STATUSMSG targets. */
const STATUS_PREFIX = /^[@+]/;

/** Converts messages of the server in this process into events for the bridge. */
export class DirectEvents {
  readonly #self: DirectSelf;
  readonly #onEvent: (event: LinkEvent) => void;
  /** Incomplete answers, by the reference of their batch. */
  readonly #batches = new Map<string, Batch>();
  /** Members of the channels with incomplete lists. */
  readonly #names = new Map<string, string[]>();

  /** @param self updated by incoming messages */
  constructor(self: DirectSelf, onEvent: (event: LinkEvent) => void) {
    this.#self = self;
    this.#onEvent = onEvent;
  }

  /** Handles a message of the server. */
  take(message: Outbound, { label, batch: reference }: ReplyTags): void {
    const batch = reference === undefined ? null : this.#batches.get(reference) ?? null;
    const { command } = message;
    if (command === "PRIVMSG" || command === "NOTICE") {
      return this.#hear(message, label ?? batch?.label ?? null, batch?.past ?? null);
    }
    if (command === "BATCH") return this.#batch(message.params, label ?? null);
    if (batch?.past) return count(batch.past, message);
    if (command === "FAIL" || REFUSAL.test(command)) {
      return this.#onEvent(refusalOf(message, label ?? batch?.label ?? null));
    }
    this.#takeMembership(message);
  }

  #takeMembership(message: Outbound): void {
    const { command, params: [one = "", two = "", three = ""] } = message;
    const nick = nickOf(message.source);
    const text = textOf(message);
    switch (command) {
      case "JOIN":
        if (nick === this.#self.nick) this.#noteSelf(message.source, two);
        return this.#onEvent({ kind: "join", channel: one, nick });
      case "PART":
        return this.#onEvent({ kind: "part", channel: one, nick });
      case "KICK":
        return this.#onEvent({ kind: "part", channel: one, nick: two });
      case "QUIT":
        return this.#onEvent({ kind: "quit", nick });
      case "NICK":
        if (nick === this.#self.nick) this.#self.nick = text;
        return this.#onEvent({ kind: "nick", from: nick, to: text });
      case "TOPIC":
        return this.#onEvent({ kind: "topic", channel: one, topic: text });
      case "332":
        return this.#onEvent({ kind: "topic", channel: two, topic: text });
      case "353":
        return this.#noteNames(three, text);
      case "366":
        return this.#endNames(two);
      case "INVITE":
        if (one === this.#self.nick) this.#onEvent({ kind: "invite", channel: two });
        return;
      case "REDACT":
        return this.#onEvent({ kind: "redaction", channel: one, id: two });
    }
  }

  #noteSelf(source: string | null, account: string): void {
    this.#self.userHost = source?.slice(source.indexOf("!") + 1) ?? "";
    this.#self.account = account === "*" ? null : account;
  }

  #noteNames(channel: string, text: string): void {
    const nicks = this.#names.get(channel) ?? [];
    for (const name of text.split(" ")) nicks.push(name.replace(STATUS_PREFIX, ""));
    this.#names.set(channel, nicks);
  }

  #endNames(channel: string): void {
    const nicks = this.#names.get(channel) ?? [];
    this.#names.delete(channel);
    this.#onEvent({ kind: "names", channel, nicks });
  }

  #batch([reference = "", type = ""]: readonly string[], label: string | null): void {
    const name = reference.slice(1);
    if (reference.startsWith("-")) return this.#endBatch(name);
    if (label === null || (type !== PLAYBACK && type !== LABELLED_ANSWER)) return;
    const past = { messages: [], count: 0, first: null, last: null };
    this.#batches.set(name, { label, past: type === PLAYBACK ? past : null });
  }

  #endBatch(reference: string): void {
    const batch = this.#batches.get(reference);
    this.#batches.delete(reference);
    if (batch?.past) this.#onEvent({ kind: "playback", label: batch.label, ...batch.past });
  }

  /** Reports a message line by line; only its first line has an id. */
  #hear(message: Outbound, label: string | null, past: Past | null): void {
    if (past !== null) count(past, message);
    const { text } = message;
    if (typeof text === "string" || text === undefined) {
      return this.#hearLine(message, text ?? "", { label, past, id: message.tags.msgid ?? null });
    }
    let id = message.tags.msgid ?? null;
    for (const line of text) {
      if (line.text === "") continue;
      this.#hearLine(message, line.text, { label, past, id });
      id = null;
      label = null;
    }
  }

  #hearLine(
    { source, command, params: [channel = ""], tags }: Outbound,
    text: string,
    { label, past, id }: {
      readonly label: string | null;
      readonly past: Past | null;
      readonly id: string | null;
    },
  ): void {
    if (STATUS_PREFIX.test(channel)) return;
    const nick = nickOf(source);
    const shown = text.startsWith(CTCP) ? actionIn(text, command, nick) : text;
    if (shown === null) return;
    const account = tags.relayer === undefined ? tags.account ?? null : null;
    // Nobody else can have our nick now. In the past, only the account identifies the speaker.
    const isOurs = past === null
      ? nick === this.#self.nick
      : isSameAccount(account, this.#self.account);
    const heard: LinkMessage = {
      kind: "message",
      channel,
      nick,
      account,
      speaker: isOurs ? spokenFor(tags.client) : null,
      text: shown,
      id,
      time: timeOf(tags),
      label: isOurs && past === null ? label : null,
    };
    if (past === null) this.#onEvent(heard);
    else if (nick !== EVENT_TELLER) past.messages.push(heard);
  }
}

/** Counts a played-back message, shown or not, as a reference for the next page. */
function count(past: Past, { tags }: Outbound): void {
  const { msgid } = tags;
  if (msgid === undefined) return;
  past.count++;
  past.last = { id: msgid, time: timeOf(tags) };
  past.first ??= past.last;
}

/** The shown form of an ACTION, even without its end; null for any other CTCP. */
function actionIn(text: string, command: string, nick: string): string | null {
  if (command === "NOTICE") return null;
  if (!text.endsWith(CTCP)) {
    return text.startsWith(ACTION) ? `* ${nick} ${text.slice(ACTION.length)}` : null;
  }
  const [kind = "", ...words] = text.slice(1, -1).split(" ");
  return kind.toUpperCase() === "ACTION" ? `* ${nick} ${words.join(" ")}` : null;
}

/** For whom the bridge speaks, according to the tags that it set. */
function spokenFor(tags: Outbound["tags"]["client"]): LinkSpeaker | null {
  let nick: string | null = null;
  let account: string | null = null;
  for (const [key, value] of tags ?? []) {
    if (key === SPEAKER_TAG) nick = value;
    else if (key === SPEAKER_ACCOUNT_TAG) account = value;
  }
  return nick === null ? null : { nick, account };
}

/** The nick in `nick!user@host`, or the name of a server. */
function nickOf(source: string | null): string {
  if (source === null) return "";
  const end = source.indexOf("!");
  return end === -1 ? source : source.slice(0, end);
}

function textOf({ text, params }: { text: MessageText | undefined; params: readonly string[] }) {
  return typeof text === "string" ? text : params.at(-1) ?? "";
}

function refusalOf(message: Outbound, label: string | null): LinkEvent {
  const { command, params } = message;
  const reason = textOf(message);
  const all = message.text === undefined ? params : [...params, reason];
  const channel = all[command === "FAIL" ? 2 : 1] ?? "";
  return { kind: "refusal", label, code: command, channel, reason: reason || command };
}
