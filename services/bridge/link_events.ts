import { foldCase } from "../irc/mod.ts";
import type { Client, ClientEvents, ParsedLine } from "./irc_framework.d.ts";
import { hasTag, headOf } from "./line_head.ts";
import { isMessageId } from "./message_ids.ts";
import type { Scheduler } from "../scheduler.ts";

/** What happens on the IRC side, as far as the bridge wants to know. */
export type LinkEvent =
  /** Logged in to the network; in no channel yet. */
  | { readonly kind: "up" }
  /** The connection is gone; another one is tried for. */
  | { readonly kind: "down" }
  | { readonly kind: "join"; readonly channel: string; readonly nick: string }
  | { readonly kind: "part"; readonly channel: string; readonly nick: string }
  | { readonly kind: "quit"; readonly nick: string }
  | { readonly kind: "nick"; readonly from: string; readonly to: string }
  /** All members of a channel: the last thing a server says when it lets somebody in. */
  | { readonly kind: "names"; readonly channel: string; readonly nicks: readonly string[] }
  | { readonly kind: "topic"; readonly channel: string; readonly topic: string }
  /** Somebody asks us into a channel. */
  | { readonly kind: "invite"; readonly channel: string }
  | LinkMessage
  | PlaybackPage
  /** A message was redacted. */
  | { readonly kind: "redaction"; readonly channel: string; readonly id: string }
  | LinkRefusal;

/** The server would not do something; the label says what, or else the channel. */
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
  /** The speaker's account; null if there is none or the server does not tell. */
  readonly account: string | null;
  /** For whom the bridge said it; null where it speaks for itself, or somebody else does. */
  readonly speaker: LinkSpeaker | null;
  /** As it shall be shown: an ACTION as `* nick text`. */
  readonly text: string;
  readonly id: string | null;
  /** Unix milliseconds. */
  readonly time: number;
  /** The label of our own message that this echoes. */
  readonly label: string | null;
}

/** A caller in whose name the bridge speaks. */
export interface LinkSpeaker {
  readonly nick: string;
  /** The caller's proven account; null if there is none. */
  readonly account: string | null;
}

/** Messages of a channel that the server was asked for. */
export interface PlaybackPage {
  readonly kind: "playback";
  /** The label of the request. */
  readonly label: string;
  readonly messages: readonly LinkMessage[];
  /** How many messages it is, those included that are not shown. */
  readonly count: number;
  /** The first and the last of these. */
  readonly first: PlaybackMark | null;
  readonly last: PlaybackMark | null;
}

/** A message by which another part can be asked for. */
export interface PlaybackMark {
  readonly id: string;
  /** Unix milliseconds. */
  readonly time: number;
}

/** The tags of what the bridge says for somebody: who that is, and with which account. */
export const SPEAKER_TAG = "+muster/nick";
export const SPEAKER_ACCOUNT_TAG = "+muster/account";

/** These tags without their `+`: nobody but the bridge may send them. */
export const BRIDGE_TAGS: readonly string[] = [SPEAKER_TAG, SPEAKER_ACCOUNT_TAG].map((tag) =>
  tag.slice(1)
);

/** The tags that identify the speaker when a message of ours comes back. */
export function speakerTags({ nick, account }: LinkSpeaker): [string, string][] {
  const tags: [string, string][] = [[SPEAKER_TAG, nick]];
  if (account !== null) tags.push([SPEAKER_ACCOUNT_TAG, account]);
  return tags;
}

/** The numbers of replies by which a server refuses something. */
export const REFUSAL = /^[45]\d\d$/;

/** The batches in which a server plays old messages back without being asked for them. */
const UNASKED_PLAYBACK = "znc.in/playback";

/** The batch of what it was asked for. */
export const PLAYBACK = "chathistory";

/** The batch of an answer that has several lines. */
export const LABELLED_ANSWER = "labeled-response";

/** Who tells of joins and the like in what Ergo plays back, to clients that want messages alone. */
export const EVENT_TELLER = "HistServ";

/** Where {@linkcode reportEvents} reports to. */
export interface EventSink {
  event(event: LinkEvent): void;
  /** The server told our `user@host`. */
  ownHost(userHost: string): void;
  /** The server answered a PING of ours. */
  pong(token: string): void;
}

/**
 * Reports what a client hears, except that it is connected or not.
 *
 * @param parseLine takes a line of the server apart
 */
export function reportEvents(
  client: Client,
  parseLine: (line: string) => ParsedLine,
  scheduler: Scheduler,
  sink: EventSink,
): void {
  const self: Self = { account: null };
  const labels = new BatchLabels(client);
  const playback = new Playback(labels, sink);
  reportSelf(client, self, sink);
  reportMembers(client, sink);
  reportMessages(client, { self, labels, scheduler, playback, sink });
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

/** What the server says of us. */
interface Self {
  /** The account that we are logged in to; null where we are not, or it is not told. */
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
  client.on("join", ({ channel, nick }) => {
    if (channel !== undefined) sink.event({ kind: "join", channel, nick });
  });
  client.on("part", ({ channel, nick }) => {
    if (channel !== undefined) sink.event({ kind: "part", channel, nick });
  });
  client.on("kick", ({ channel, kicked }) => {
    if (channel === undefined || kicked === undefined) return;
    sink.event({ kind: "part", channel, nick: kicked });
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
 * Reports messages that shall be shown: neither CTCP other than ACTION, nor what is meant for the
 * operators of a channel alone (STATUSMSG). What a server plays back goes to `playback`.
 */
function reportMessages(
  client: Client,
  { self, labels, scheduler, playback, sink }: {
    readonly self: Self;
    readonly labels: BatchLabels;
    readonly scheduler: Scheduler;
    readonly playback: Playback;
    readonly sink: EventSink;
  },
): void {
  function report(event: ClientEvents["privmsg"], text: string): void {
    const { target, group, tags, time, batch } = event;
    if (group !== undefined || batch?.type === UNASKED_PLAYBACK) return;
    const nick = speakerOf(event);
    const account = tags["account"] ?? null;
    const isPast = batch?.type === PLAYBACK;
    // At present nobody else can have our nick; in the past only the account tells who spoke.
    const isOurs = isPast ? isSameAccount(account, self.account) : nick === client.user.nick;
    const message: LinkMessage = {
      kind: "message",
      channel: target,
      nick,
      account,
      speaker: isOurs ? spokenFor(tags) : null,
      text,
      id: idOf(tags),
      time: time ?? scheduler.now(),
      label: isOurs && !isPast ? tags["label"] ?? labels.of(batch?.id) : null,
    };
    if (isPast) playback.hear(message);
    else sink.event(message);
  }
  function reportPlain(event: ClientEvents["privmsg"]): void {
    if (!event.message.startsWith(CTCP)) report(event, event.message);
  }
  client.on("privmsg", (event) => {
    // A client that leaves the end of an ACTION out is understood all the same.
    if (!event.message.startsWith(ACTION)) return reportPlain(event);
    report(event, `* ${speakerOf(event)} ${event.message.slice(ACTION.length)}`);
  });
  client.on("notice", reportPlain);
  client.on("action", (event) => report(event, `* ${speakerOf(event)} ${event.message}`));
  client.on("batch end chathistory", (batch) => playback.end(batch));
}

/** The labels of commands whose answer is a batch, by the reference of the batch. */
class BatchLabels {
  readonly #labels = new Map<string, string>();

  constructor(client: Client) {
    client.on("batch end labeled-response", ({ id }) => this.end(id));
  }

  /** Takes the first line of a batch that has a label. */
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

/** What the server plays back because it was asked to, page by page. */
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

/** What begins a CTCP message, also one whose end is missing. */
export const CTCP = "\x01";
/** What begins an ACTION. */
export const ACTION = `${CTCP}ACTION `;

/** A server that speaks has a host name and no nick. */
function speakerOf({ nick, hostname }: ClientEvents["privmsg"]): string {
  return nick || hostname;
}

/** For whom the bridge says something, by the tags that it gave it. */
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
