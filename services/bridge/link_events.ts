import { foldCase } from "../irc/mod.ts";
import type { Client, ClientEvents, ParsedLine } from "./irc_framework.d.ts";
import { hasTag, headOf } from "./line_head.ts";
import { isMessageId } from "./message_ids.ts";
import type { PlainLines } from "./plain_lines.ts";
import type { Scheduler } from "../scheduler.ts";

/** The events on IRC that the bridge uses. */
export type LinkEvent =
  /** Logged in to the network; in no channel yet. */
  | { readonly kind: "up" }
  /** The connection is lost; the bridge tries to reconnect. */
  | { readonly kind: "down" }
  | {
    readonly kind: "join";
    readonly channel: string;
    readonly nick: string;
    /** Null if there is none or the server does not say. */
    readonly account: string | null;
  }
  | {
    readonly kind: "part";
    readonly channel: string;
    readonly nick: string;
    /** Who removed it from the channel; absent if it left. */
    readonly by?: string;
  }
  | { readonly kind: "quit"; readonly nick: string }
  | { readonly kind: "nick"; readonly from: string; readonly to: string }
  /** All members of a channel, the server's last message about a JOIN. */
  | { readonly kind: "names"; readonly channel: string; readonly nicks: readonly string[] }
  | { readonly kind: "topic"; readonly channel: string; readonly topic: string }
  /** The bridge is invited to a channel. */
  | { readonly kind: "invite"; readonly channel: string }
  | LinkMessage
  | PlaybackPage
  /** A message was redacted. */
  | { readonly kind: "redaction"; readonly channel: string; readonly id: string }
  | LinkRefusal;

/** The server refused something: the command with this label, or else one about this channel. */
export interface LinkRefusal {
  readonly kind: "refusal";
  readonly label: string | null;
  /** The number of the reply, or `FAIL`. */
  readonly code: string;
  /** The channel or the nick that it is about. */
  readonly channel: string;
  readonly reason: string;
}

/** A message to a channel. */
export interface LinkMessage {
  readonly kind: "message";
  readonly channel: string;
  readonly nick: string;
  /** The speaker's account; null if there is none or the server does not say. */
  readonly account: string | null;
  /** For whom the bridge spoke; null if it spoke for itself or is not the speaker. */
  readonly speaker: LinkSpeaker | null;
  /** The text to show: an ACTION as `* nick text`. */
  readonly text: string;
  readonly id: string | null;
  /** Unix milliseconds. */
  readonly time: number;
  /** The label of the bridge's message that this echoes. */
  readonly label: string | null;
  /** The id of the message that it answers; absent if it answers none. */
  readonly reply?: string;
  /** How it is known that another node's bridge said it; absent if it did not. */
  readonly peer?: PeerProof;
  /** Whether other nodes read from it for whom our bridge said it; absent if not. */
  readonly isClear?: true;
  /** Whether another node's bridge said it as what addresses nobody; absent if not. */
  readonly isQuiet?: true;
  /** Whether it came as NOTICE, which programs do not answer; absent if not. */
  readonly isNotice?: true;
  /** Whether its speaker is marked as a bot (IRCv3 bot mode); absent if not. */
  readonly isBot?: true;
}

/**
 * How much a line tells of another node's bridge. `whole`: its account is proven, and tags tell for
 * whom it speaks. `account`: only its account is proven. `nick`: it has only the nick of one.
 */
export type PeerProof = "whole" | "account" | "nick";

/** The bridges of other nodes. */
export interface PeerBridges {
  /** Whether a proven account is that of a node's bridge. */
  isAccount(account: string): boolean;
  /** Whether the bridge of another node may have this nick. */
  isNick(nick: string): boolean;
  /** The nick of the leading node's bridge, as configured; null while no node leads. */
  readonly leader: string | null;
  /** The nicks of all of them, as configured. */
  readonly nicks: readonly string[];
}

/** A caller in whose name the bridge speaks. */
export interface LinkSpeaker {
  readonly nick: string;
  /** The caller's proven account; null if there is none. */
  readonly account: string | null;
  /** The id of the message that the caller answers. */
  readonly answered?: string | undefined;
}

/** Requested messages of a channel. */
export interface PlaybackPage {
  readonly kind: "playback";
  /** The label of the request. */
  readonly label: string;
  readonly messages: readonly LinkMessage[];
  /** The number of messages, including those that are not shown. */
  readonly count: number;
  /** The first and the last of these. */
  readonly first: PlaybackMark | null;
  readonly last: PlaybackMark | null;
}

/** A message that the next request can refer to. */
export interface PlaybackMark {
  readonly id: string;
  /** Unix milliseconds. */
  readonly time: number;
}

/** The tag of messages whose speaker is a bot (IRCv3 bot mode). */
const BOT_TAG = "bot";

/** The marks of a message, as fields of it. */
export const NOTICE = Object.freeze({ isNotice: true as const });
export const BOT = Object.freeze({ isBot: true as const });
const IS_QUIET = Object.freeze({ isQuiet: true as const });
const CLEAR = Object.freeze({ isClear: true as const });

/** The tags of messages that the bridge sends for a caller: its nick and account. */
export const SPEAKER_TAG = "+muster/nick";
export const SPEAKER_ACCOUNT_TAG = "+muster/account";

/** The tag of messages that are in no agent's inbox. */
const QUIET_TAG = "+muster/quiet";

/** The tags that name the message which a message answers (IRCv3 reply); the first one is sent. */
const REPLY_TAG = "+draft/reply";
const REPLY_TAGS = [REPLY_TAG, "+reply"] as const;

/** The answered message, as a field of the answer. */
export function replyField(id: string | undefined): { readonly reply?: string } {
  return id !== undefined && isMessageId(id) ? { reply: id } : {};
}

/** Whether a tag names the message which a message answers. */
export function isReplyTag(key: string): boolean {
  return REPLY_TAGS.some((tag) => tag === key);
}

/** These tags without their `+`: nobody but the bridge may send them. */
export const BRIDGE_TAGS: readonly string[] = [SPEAKER_TAG, SPEAKER_ACCOUNT_TAG, QUIET_TAG]
  .map((tag) => tag.slice(1));

/** The capabilities with which a bridge sends these tags, and others get them. */
const TAGGED = ["message-tags", "labeled-response", "echo-message"] as const;

/** Tells other nodes of a message that is in no agent's inbox. */
export const QUIET: readonly [string, string] = [QUIET_TAG, "1"];

/** The tags that identify the speaker when a message of ours comes back. */
export function speakerTags({ nick, account, answered }: LinkSpeaker): [string, string][] {
  const tags: [string, string][] = [[SPEAKER_TAG, nick]];
  if (account !== null) tags.push([SPEAKER_ACCOUNT_TAG, account]);
  if (answered !== undefined) tags.push([REPLY_TAG, answered]);
  return tags;
}

/** The numerics of refusals. */
export const REFUSAL = /^[45]\d\d$/;

/** The batch of an unrequested playback. */
const UNASKED_PLAYBACK = "znc.in/playback";

/** The batch of a requested playback. */
export const PLAYBACK = "chathistory";

/** The batch of an answer with several lines. */
export const LABELLED_ANSWER = "labeled-response";

/**
 * The nick that reports joins and the like in Ergo's playback, for clients that support only
 * messages.
 */
export const EVENT_TELLER = "HistServ";

/** Where {@linkcode reportEvents} reports to. */
export interface EventSink {
  /** The bridges of other nodes; null without nodes. */
  readonly peers: PeerBridges | null;
  event(event: LinkEvent): void;
  /** The server sent our `user@host`. */
  ownHost(userHost: string): void;
  /** The server answered a PING of ours. */
  pong(token: string): void;
}

/** What reads the server's lines. */
export interface LineReaders {
  readonly client: Client;
  /** Takes lines in the place of the client. */
  readonly plain: PlainLines;
  /** Parses a line. */
  readonly parseLine: (line: string) => ParsedLine;
}

/** Reports what the server's lines say, except for the state of the connection. */
export function reportEvents(
  { client, plain, parseLine }: LineReaders,
  scheduler: Scheduler,
  sink: EventSink,
): void {
  const self: Self = { account: null };
  const labels = new BatchLabels(client);
  const playback = new Playback(labels, sink);
  reportSelf(client, self, sink);
  reportMembers(client, sink);
  reportMessages({ client, plain }, { self, labels, scheduler, playback, sink });
  client.on("topic", ({ channel, topic }) => {
    if (channel !== undefined) sink.event({ kind: "topic", channel, topic });
  });
  client.on("invite", ({ channel, invited }) => {
    if (channel === undefined || invited !== client.user.nick) return;
    sink.event({ kind: "invite", channel });
  });
  client.on("raw", ({ line, from_server: fromServer }) => {
    if (!fromServer) return;
    const { tags, command } = headOf(line);
    if (command === "PONG") sink.pong(parseLine(line).params.at(-1) ?? "");
    else if (command === "FAIL" || REFUSAL.test(command)) {
      sink.event(refusalOf(parseLine(line), labels));
    } else if (command === "BATCH" && hasTag(tags, "label")) labels.begin(parseLine(line));
    else if (command === "REDACT") {
      const [channel = "", id = ""] = parseLine(line).params;
      sink.event({ kind: "redaction", channel, id });
    }
  });
}

/** The bridge's own state on the server. */
interface Self {
  /** The bridge's account; null if it is not logged in, or the server does not say. */
  account: string | null;
}

/** Follows our host and our account. */
function reportSelf(client: Client, self: Self, sink: EventSink): void {
  client.on("join", ({ nick, ident, hostname, account }) => {
    if (nick !== client.user.nick) return;
    sink.ownHost(`${ident}@${hostname}`);
    if (account !== undefined) self.account = account || null;
  });
  client.on("loggedin", ({ account }) => self.account = account ?? null);
  client.on("loggedout", () => self.account = null);
}

function reportMembers(client: Client, sink: EventSink): void {
  client.on("join", ({ channel, nick, account = null }) => {
    if (channel !== undefined) {
      sink.event({ kind: "join", channel, nick, account: account || null });
    }
  });
  client.on("part", ({ channel, nick }) => {
    if (channel !== undefined) sink.event({ kind: "part", channel, nick });
  });
  client.on("kick", ({ channel, kicked, nick: by }) => {
    if (channel === undefined || kicked === undefined) return;
    sink.event({ kind: "part", channel, nick: kicked, by });
  });
  client.on("quit", ({ nick }) => sink.event({ kind: "quit", nick }));
  client.on("nick", ({ nick, new_nick: to }) => {
    if (to !== undefined) sink.event({ kind: "nick", from: nick, to });
  });
  client.on("userlist", ({ channel, users }) => {
    if (channel === undefined) return;
    sink.event({ kind: "names", channel, nicks: users.map(({ nick }) => nick) });
  });
}

/**
 * Reports messages to show: no CTCP except ACTION, and no messages to channel operators only
 * (STATUSMSG). Played-back messages go to `playback`.
 */
function reportMessages(
  { client, plain }: Pick<LineReaders, "client" | "plain">,
  { self, labels, scheduler, playback, sink }: {
    readonly self: Self;
    readonly labels: BatchLabels;
    readonly scheduler: Scheduler;
    readonly playback: Playback;
    readonly sink: EventSink;
  },
): void {
  function report(event: ClientEvents["privmsg"], text: string, isNotice = false): void {
    const { target, group, tags, time, batch } = event;
    if (group !== undefined || batch?.type === UNASKED_PLAYBACK) return;
    const nick = speakerOf(event);
    const account = tags["account"] ?? null;
    const isPast = batch?.type === PLAYBACK;
    // Nobody else can have our nick now. In the past, only the account identifies the speaker.
    const isOurs = isPast ? isSameAccount(account, self.account) : nick === client.user.nick;
    const proof = proofOf(nick, account);
    const peer = isOurs ? null : proof;
    const message: LinkMessage = {
      kind: "message",
      channel: target,
      nick,
      account,
      speaker: isOurs || peer === "whole" ? spokenFor(tags) : null,
      text,
      id: idOf(tags),
      time: time ?? scheduler.now(),
      label: isOurs && !isPast ? tags["label"] ?? labels.of(batch?.id) : null,
      ...replyField(tags[REPLY_TAGS[0]] ?? tags[REPLY_TAGS[1]]),
      ...(peer === null ? {} : { peer }),
      ...(isOurs && proof === "whole" ? CLEAR : {}),
      ...(peer === "whole" && tags[QUIET_TAG] !== undefined ? IS_QUIET : {}),
      ...(isNotice ? NOTICE : {}),
      ...(tags[BOT_TAG] === undefined ? {} : BOT),
    };
    if (isPast) playback.hear(message);
    else sink.event(message);
  }
  function proofOf(nick: string, account: string | null): PeerProof | null {
    const { peers } = sink;
    if (peers === null) return null;
    const { cap } = client.network;
    if (account !== null && peers.isAccount(account)) {
      const isTagged = TAGGED.every((name) => cap.isEnabled(name));
      return isTagged ? "whole" : "account";
    }
    return peers.isNick(nick) ? "nick" : null;
  }
  function reportPlain(event: ClientEvents["privmsg"], isNotice = false): void {
    if (!event.message.startsWith(CTCP)) report(event, event.message, isNotice);
  }
  client.on("privmsg", (event) => {
    // Some clients omit the end of an ACTION.
    if (!event.message.startsWith(ACTION)) return reportPlain(event);
    report(event, `* ${speakerOf(event)} ${event.message.slice(ACTION.length)}`);
  });
  client.on("notice", (event) => reportPlain(event, true));
  plain.onSpeech = ({ event, isNotice }) => report(event, event.message, isNotice);
  client.on("action", (event) => report(event, `* ${speakerOf(event)} ${event.message}`));
  client.on("batch end chathistory", (batch) => playback.end(batch));
}

/** The labels of commands whose answer is a batch, by the reference of the batch. */
class BatchLabels {
  readonly #labels = new Map<string, string>();

  constructor(client: Client) {
    client.on("batch end labeled-response", ({ id }) => this.end(id));
  }

  /** Handles the first line of a labelled batch. */
  begin({ tags, params: [reference = "", type = ""] }: ParsedLine): void {
    const label = tags["label"];
    if (label === undefined || !reference.startsWith("+")) return;
    if (type === PLAYBACK || type === LABELLED_ANSWER) this.#labels.set(reference.slice(1), label);
  }

  /** The label of a batch that has not ended, or null. */
  of(reference: string | undefined): string | null {
    return this.#labels.get(reference ?? "") ?? null;
  }

  end(reference: string): void {
    this.#labels.delete(reference);
  }
}

/** Collects the requested playback, page by page. */
class Playback {
  readonly #labels: BatchLabels;
  readonly #sink: EventSink;
  #heard: LinkMessage[] = [];

  constructor(labels: BatchLabels, sink: EventSink) {
    this.#labels = labels;
    this.#sink = sink;
  }

  hear(message: LinkMessage): void {
    if (message.nick !== EVENT_TELLER) this.#heard.push(message);
  }

  end({ id, commands }: ClientEvents["batch end chathistory"]): void {
    const messages = this.#heard;
    this.#heard = [];
    const label = this.#labels.of(id);
    this.#labels.end(id);
    if (label === null) return;
    const kept = commands.filter(({ tags }) => tags["msgid"] !== undefined);
    const marks = kept.flatMap(({ tags }) => {
      const id = idOf(tags);
      return id === null ? [] : { id, time: Date.parse(tags["time"] ?? "") };
    });
    const [first, last] = [marks[0] ?? null, marks.at(-1) ?? null];
    this.#sink.event({ kind: "playback", label, messages, count: kept.length, first, last });
  }
}

/** The start of a CTCP message, even without its end. */
export const CTCP = "\x01";
/** The start of an ACTION. */
export const ACTION = `${CTCP}ACTION `;

/** A server as the source has a host name and no nick. */
function speakerOf({ nick, hostname }: ClientEvents["privmsg"]): string {
  return nick || hostname;
}

/** For whom the bridge speaks, according to the tags that it set. */
function spokenFor(tags: ClientEvents["privmsg"]["tags"]): LinkSpeaker | null {
  const nick = tags[SPEAKER_TAG];
  return nick === undefined ? null : { nick, account: tags[SPEAKER_ACCOUNT_TAG] ?? null };
}

function idOf({ msgid }: ClientEvents["privmsg"]["tags"]): string | null {
  return msgid !== undefined && isMessageId(msgid) ? msgid : null;
}

/** Whether both are the same account; null is none. */
export function isSameAccount(one: string | null, other: string | null): boolean {
  return one !== null && other !== null && foldCase(one) === foldCase(other);
}

function refusalOf({ command, params, tags }: ParsedLine, labels: BatchLabels): LinkEvent {
  const channel = params[command === "FAIL" ? 2 : 1] ?? "";
  return {
    kind: "refusal",
    label: tags["label"] ?? labels.of(tags["batch"]),
    code: command,
    channel,
    reason: params.at(-1) ?? command,
  };
}
