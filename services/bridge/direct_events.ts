import { type MessageText, type Outbound, type ReplyTags, timeOf } from "../irc/mod.ts";
import { accountOf, linesIn, nickOf, STATUS_PREFIX } from "./direct_lines.ts";
import type { LinkEvent, LinkMessage, PlaybackMark } from "./link_events.ts";
import { isSameAccount } from "./names.ts";
import { EVENT_TELLER, LABELLED_ANSWER, PLAYBACK, REFUSAL } from "./protocol.ts";

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
        return this.#onEvent({ kind: "join", channel: one, nick, account: accountIn(two) });
      case "PART":
        return this.#onEvent({ kind: "part", channel: one, nick });
      case "KICK":
        return this.#onEvent({ kind: "part", channel: one, nick: two, by: nick });
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
    this.#self.account = accountIn(account);
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

  #hear(message: Outbound, label: string | null, past: Past | null): void {
    if (past !== null) count(past, message);
    // Nobody else can have our nick now. In the past, only the account identifies the speaker.
    const isOurs = past === null
      ? nickOf(message.source) === this.#self.nick
      : isSameAccount(accountOf(message), this.#self.account);
    const labelOfOurs = isOurs && past === null ? label : null;
    for (const heard of linesIn(message, isOurs, labelOfOurs)) {
      if (past === null) this.#onEvent(heard);
      else if (heard.nick !== EVENT_TELLER) past.messages.push(heard);
    }
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

/** The account in the parameters of JOIN (IRCv3 extended-join). */
function accountIn(text: string): string | null {
  return text === "*" || text === "" ? null : text;
}

function textOf({ text, params }: { text: MessageText | undefined; params: readonly string[] }) {
  return typeof text === "string" ? text : params.at(-1) ?? "";
}

function refusalOf(message: Outbound, label: string | null): LinkEvent {
  const { command, params } = message;
  const reason = textOf(message);
  const all = message.text === undefined ? params : [...params, reason];
  const [code = "", channel = ""] = command === "FAIL" ? all.slice(1) : [command, all[1]];
  return { kind: "refusal", label, code, channel, reason: reason || command };
}
