import type { Client, ClientEvents, ParsedLine } from "./irc_framework.d.ts";
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
  /** The server would not do something; the label says what, or else the channel. */
  | {
    readonly kind: "refusal";
    readonly label: string | null;
    /** The number of the reply, or `FAIL`. */
    readonly code: string;
    readonly channel: string;
    readonly reason: string;
  };

/** A message to a channel. */
export interface LinkMessage {
  readonly kind: "message";
  readonly channel: string;
  readonly nick: string;
  /** The account of who said it; null where the server does not tell, or there is none. */
  readonly account: string | null;
  /** For whom the bridge said it; null where it speaks for itself, or somebody else does. */
  readonly speaker: string | null;
  /** As it shall be shown: an ACTION as `* nick text`. */
  readonly text: string;
  readonly id: string | null;
  /** Unix milliseconds. */
  readonly time: number;
  /** The label of our own message of which this is the echo. */
  readonly label: string | null;
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

/** The tag of what the bridge says for somebody: who that is. */
export const SPEAKER_TAG = "+muster/nick";

/** A line in which the server says that it will not do something: a number, or a standard reply. */
const REFUSAL = /^(?:@\S+ )?(?::\S+ )?(?:[45]\d\d|FAIL) /;

/** A line in which a message is redacted (IRCv3 message-redaction). */
const REDACTION = /^(?:@\S+ )?:\S+ REDACT /;

const PONG = /^(?:@\S+ )?(?::\S+ )?PONG /;

/** The batches in which a server plays old messages back without being asked for them. */
const UNASKED_PLAYBACK = "znc.in/playback";

/** The batch of what it was asked for. */
const PLAYBACK = "chathistory";

/** Who tells of joins and the like in what Ergo plays back, to clients that want messages alone. */
const EVENT_TELLER = "HistServ";

const PLAYBACK_START = /^@\S*\blabel=\S* (?::\S+ )?BATCH \+\S+ chathistory /;

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
  reportMembers(client, sink);
  reportMessages(client, scheduler, sink);
  reportPlayback(client, parseLine, scheduler, sink);
  client.on("topic", ({ channel, topic }) => {
    if (channel !== undefined) sink.event({ kind: "topic", channel, topic });
  });
  client.on("invite", ({ channel, invited }) => {
    if (channel === undefined || invited !== client.user.nick) return;
    sink.event({ kind: "invite", channel });
  });
  client.on("raw", ({ line, from_server: fromServer }) => {
    if (!fromServer) return;
    if (PONG.test(line)) sink.pong(parseLine(line).params.at(-1) ?? "");
    else if (REFUSAL.test(line)) sink.event(refusalOf(parseLine(line)));
    else if (REDACTION.test(line)) {
      const [channel = "", id = ""] = parseLine(line).params;
      sink.event({ kind: "redaction", channel, id });
    }
  });
}

function reportMembers(client: Client, sink: EventSink): void {
  client.on("join", ({ channel, nick, ident, hostname }) => {
    if (channel === undefined) return;
    if (nick === client.user.nick) sink.ownHost(`${ident}@${hostname}`);
    sink.event({ kind: "join", channel, nick });
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

/** Reports messages, as far as they are for everybody, and not what a server plays back. */
function reportMessages(client: Client, scheduler: Scheduler, sink: EventSink): void {
  hearMessages(client, scheduler, (message, batch) => {
    if (batch?.type !== PLAYBACK && batch?.type !== UNASKED_PLAYBACK) sink.event(message);
  });
}

/**
 * Calls back with each message that shall be shown: neither with CTCP other than ACTION, nor with
 * what is meant for the operators of a channel alone (STATUSMSG).
 */
function hearMessages(
  client: Client,
  scheduler: Scheduler,
  hear: (message: LinkMessage, batch: ClientEvents["privmsg"]["batch"]) => void,
): void {
  function report(event: ClientEvents["privmsg"], text: string): void {
    const { target, group, tags, time, batch } = event;
    if (group !== undefined) return;
    const nick = speakerOf(event);
    const isOurs = nick === client.user.nick;
    hear({
      kind: "message",
      channel: target,
      nick,
      account: tags["account"] ?? null,
      speaker: isOurs ? tags[SPEAKER_TAG] ?? null : null,
      text,
      id: tags["msgid"] ?? null,
      time: time ?? scheduler.now(),
      label: isOurs ? tags["label"] ?? null : null,
    }, batch);
  }
  function reportPlain(event: ClientEvents["privmsg"]): void {
    if (!event.message.startsWith(CTCP)) report(event, event.message);
  }
  client.on("privmsg", reportPlain);
  client.on("notice", reportPlain);
  client.on("action", (event) => report(event, `* ${speakerOf(event)} ${event.message}`));
}

/** Reports what the server plays back because it was asked to, page by page. */
function reportPlayback(
  client: Client,
  parseLine: (line: string) => ParsedLine,
  scheduler: Scheduler,
  sink: EventSink,
): void {
  const labels = new Map<string, string>();
  let heard: LinkMessage[] = [];
  client.on("raw", ({ line, from_server: fromServer }) => {
    if (!fromServer || !PLAYBACK_START.test(line)) return;
    const { tags, params } = parseLine(line);
    if (tags["label"] !== undefined) labels.set((params[0] ?? "").slice(1), tags["label"]);
  });
  hearMessages(client, scheduler, (message, batch) => {
    if (batch?.type === PLAYBACK && message.nick !== EVENT_TELLER) heard.push(message);
  });
  client.on("batch end chathistory", ({ id, commands }) => {
    const messages = heard;
    heard = [];
    const label = labels.get(id);
    labels.delete(id);
    if (label === undefined) return;
    const marks = commands.flatMap(({ tags: { msgid, time } }) =>
      msgid === undefined ? [] : { id: msgid, time: Date.parse(time ?? "") }
    );
    const [first, last] = [marks[0] ?? null, marks.at(-1) ?? null];
    sink.event({ kind: "playback", label, messages, count: marks.length, first, last });
  });
}

/** What begins a CTCP message, also one whose end is missing. */
const CTCP = "\x01";

/** A server that speaks has a host name and no nick. */
function speakerOf({ nick, hostname }: ClientEvents["privmsg"]): string {
  return nick || hostname;
}

function refusalOf({ command, params, tags }: ParsedLine): LinkEvent {
  const channel = params[command === "FAIL" ? 2 : 1] ?? "";
  return {
    kind: "refusal",
    label: tags["label"] ?? null,
    code: command,
    channel,
    reason: params.at(-1) ?? command,
  };
}
