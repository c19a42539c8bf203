import {
  type DirectConnection,
  type MessageText,
  type Outbound,
  type ReplyTags,
  timeOf,
} from "../../engines/irc/mod.ts";
import type { LinkEvent, LinkMessage, LinkSpeaker, PlaybackMark } from "./link_events.ts";
import {
  ACTION,
  BOT,
  CTCP,
  EVENT_TELLER,
  isReplyTag,
  isSameAccount,
  LABELLED_ANSWER,
  NOTICE,
  PLAYBACK,
  REFUSAL,
  replyField,
  SPEAKER_ACCOUNT_TAG,
  SPEAKER_TAG,
  speakerTags,
} from "./protocol.ts";
import {
  bytesLeftFor,
  type Delivery,
  type DirectConnect,
  MAX_UNDERSCORES,
  type Session,
  type SessionOptions,
  UPKEEP_MILLISECONDS,
} from "./session.ts";

/** The capabilities that the bridge uses. */
const CAPABILITIES = [
  "account-tag batch chghost draft/chathistory draft/message-redaction echo-message",
  "extended-join labeled-response message-tags server-time",
].join(" ");

const NO_TAGS: ReadonlyMap<string, string> = new Map();

/** The end of a server's greeting, with a message of the day and without. */
const GREETED = new Set(["376", "422"]);
const NICK_IN_USE = "433";
const ISUPPORT = "005";

interface DirectSessionOptions extends SessionOptions {
  readonly connect: DirectConnect;
  readonly username: string;
  readonly realname: string;
}

/**
 * The bridge's connection to the IRC server in this process: an ordinary IRC client, except that it
 * exchanges messages as values, without writing or parsing lines, and has no rate limit.
 */
export class DirectSession implements Session {
  readonly #options: DirectSessionOptions;
  readonly #self: DirectSelf;
  readonly #events: DirectEvents;
  #connection: DirectConnection | null = null;
  #up = false;
  #underscores = 0;
  #cancelTimer: () => void = () => {};
  #lastWords = "";
  #supported: ReadonlyMap<string, string> = NO_TAGS;

  constructor(options: DirectSessionOptions) {
    this.#options = options;
    this.#self = { nick: options.nick, userHost: "", account: null };
    this.#events = new DirectEvents(this.#self, options.onEvent);
  }

  get up(): boolean {
    return this.#up;
  }

  get nick(): string {
    return this.#self.nick;
  }

  get delay(): number {
    return 0;
  }

  get playback(): number {
    return Number(this.#supported.get("CHATHISTORY")) || 0;
  }

  connect(): void {
    const { connect, nick, username, realname } = this.#options;
    this.#connection = connect.direct({
      message: (message, tags) => {
        if (!this.#up) this.#greet(message.command, message.params);
        if (message.command === "ERROR") this.#lastWords = String(message.text ?? "");
        this.#events.take(message, tags);
      },
      closed: (reason) => this.#ended(reason),
    });
    this.#send("CAP", ["REQ", CAPABILITIES]);
    this.#send("NICK", [nick]);
    this.#send("USER", [username, "0", "*", realname]);
    this.#send("CAP", ["END"]);
  }

  leave(reason: string): void {
    this.#cancelTimer();
    if (this.#up) this.#send("QUIT", [reason]);
    this.#connection?.close();
  }

  abandon(reason: string): void {
    this.#lastWords = reason;
    this.#send("QUIT", [reason]);
    this.#connection?.close();
  }

  join(channel: string): void {
    this.#send("JOIN", [channel]);
  }

  part(channel: string, reason: string): void {
    this.#send("PART", [channel, reason]);
  }

  admit(): number {
    return 0;
  }

  say(
    channel: string,
    texts: readonly string[],
    labels: readonly string[],
    { speaker, isNotice, id, mayGo = () => true }: Delivery,
  ): void {
    const speakerOfAll = speaker === null ? [] : speakerTags(speaker);
    for (const [index, text] of texts.entries()) {
      const label = labels[index] ?? "";
      if (!mayGo(label)) continue;
      const tags = new Map([["label", label], ...speakerOfAll]);
      this.#send(isNotice ? "NOTICE" : "PRIVMSG", [channel, text], tags, id);
    }
  }

  playBack(part: string, limit: number, label: string): void {
    this.#send("CHATHISTORY", [...part.split(" "), String(limit)], new Map([["label", label]]));
  }

  room(channel: string): number {
    const lineLength = Number(this.#supported.get("LINELEN")) || 0;
    return bytesLeftFor(channel, { ...this.#self, lineLength });
  }

  #send(command: string, params: readonly string[], tags = NO_TAGS, id?: string): void {
    this.#connection?.send({ command, params, tags, id });
  }

  /** Handles the server's messages before registration is complete. */
  #greet(command: string, params: readonly string[]): void {
    if (command === NICK_IN_USE) return this.#tryOtherNick();
    if (command === ISUPPORT) return this.#noteSupported(params);
    if (!GREETED.has(command)) return;
    // The first parameter of a numeric is the nick that the server knows us by.
    this.#self.nick = params[0] ?? this.#self.nick;
    const botMode = this.#supported.get("BOT");
    if (botMode !== undefined) this.#send("MODE", [this.nick, `+${botMode}`]);
    this.#up = true;
    this.#scheduleUpkeep();
    this.#options.onUp();
  }

  #noteSupported(tokens: readonly string[]): void {
    const supported = new Map(this.#supported);
    for (const token of tokens) {
      const equals = token.indexOf("=");
      if (equals > 0) supported.set(token.slice(0, equals), token.slice(equals + 1));
    }
    this.#supported = supported;
  }

  #tryOtherNick(): void {
    const { nick, log } = this.#options;
    if (this.#underscores < MAX_UNDERSCORES) {
      return this.#send("NICK", [`${nick}${"_".repeat(++this.#underscores)}`]);
    }
    log.warn("The bridge's nick is in use", { nick });
    this.abandon("Nick in use");
  }

  #scheduleUpkeep(): void {
    const { nick, scheduler } = this.#options;
    this.#cancelTimer = scheduler.after(UPKEEP_MILLISECONDS, () => {
      if (this.nick !== nick) this.#send("NICK", [nick]);
      this.#scheduleUpkeep();
    });
  }

  #ended(reason: string): void {
    this.#cancelTimer();
    this.#up = false;
    this.#connection = null;
    this.#options.onClosed(this.#lastWords || reason);
  }
}

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
interface DirectSelf {
  nick: string;
  /** As `user@host`; empty before the bridge is in a channel. */
  userHost: string;
  /** The bridge's account; null if it is not logged in. */
  account: string | null;
}

/** Converts messages of the server in this process into events for the bridge. */
class DirectEvents {
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

/** The prefixes of members with a status, and of STATUSMSG targets. */
const STATUS_PREFIX = /^[@+]/;

/**
 * The lines of a message of the server in this process, as the bridge hears them. Only the first one
 * has an id and the label.
 *
 * @param isOurs whether the bridge said it
 */
export function linesIn(message: Outbound, isOurs: boolean, label: string | null): LinkMessage[] {
  const { text = "", tags: { msgid = null } } = message;
  if (STATUS_PREFIX.test(message.params[0] ?? "")) return [];
  if (typeof text === "string") {
    const only = lineIn(message, text, { isOurs, id: msgid, label });
    return only === null ? [] : [only];
  }
  const lines: LinkMessage[] = [];
  let isFirst = true;
  for (const line of text) {
    if (line.text === "") continue;
    const marks = { isOurs, id: isFirst ? msgid : null, label: isFirst ? label : null };
    const heard = lineIn(message, line.text, marks);
    if (heard !== null) lines.push(heard);
    isFirst = false;
  }
  return lines;
}

function lineIn(
  message: Outbound,
  text: string,
  { isOurs, id, label }: {
    readonly isOurs: boolean;
    readonly id: string | null;
    readonly label: string | null;
  },
): LinkMessage | null {
  const { source, command, params: [channel = ""], tags } = message;
  const nick = nickOf(source);
  const shown = text.startsWith(CTCP) ? actionIn(text, command, nick) : text;
  if (shown === null) return null;
  return {
    kind: "message",
    channel,
    nick,
    account: accountOf(message),
    speaker: isOurs ? spokenFor(tags.client) : null,
    text: shown,
    id,
    time: timeOf(tags),
    label,
    ...(tags.client === undefined ? NO_REPLY : replyIn(tags.client)),
    ...(command === "NOTICE" ? NOTICE : NO_MARK),
    ...(tags.bot === true ? BOT : NO_MARK),
  };
}

/** The account that said it; null if there is none, or it was relayed. */
function accountOf({ tags: { relayer, account } }: Outbound): string | null {
  return relayer === undefined ? account ?? null : null;
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

const NO_REPLY = Object.freeze({});
const NO_MARK = Object.freeze({});

function replyIn(tags: NonNullable<Outbound["tags"]["client"]>): { readonly reply?: string } {
  return replyField(tags.find(([key]) => isReplyTag(key))?.[1]);
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
