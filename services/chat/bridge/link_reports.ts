import type { Client, ClientEvents, ParsedLine } from "./irc_framework.d.ts";
import { hasTag, headOf } from "./transport.ts";
import type { LinkEvent, LinkMessage, LinkSpeaker, PeerBridges, PeerProof } from "./link_events.ts";
import {
  ACTION,
  BOT,
  CTCP,
  EVENT_TELLER,
  isMessageId,
  isSameAccount,
  LABELLED_ANSWER,
  NOTICE,
  PLAYBACK,
  QUIET_TAG,
  REFUSAL,
  REPLY_TAGS,
  replyField,
  SPEAKER_ACCOUNT_TAG,
  SPEAKER_TAG,
} from "./protocol.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";

/** The tag of messages whose speaker is a bot (IRCv3 bot mode). */
const BOT_TAG = "bot";

/** The batch of an unrequested playback. */
const UNASKED_PLAYBACK = "znc.in/playback";

/** The capabilities with which a bridge sends its tags, and others get them. */
const TAGGED = ["message-tags", "labeled-response", "echo-message"] as const;

/** The marks of a message that only nodes know, as fields of it. */
const IS_QUIET = Object.freeze({ isQuiet: true as const });
const CLEAR = Object.freeze({ isClear: true as const });

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
  /** Parses a line. */
  readonly parseLine: (line: string) => ParsedLine;
}

/** Reports what the server's lines say, except for the state of the connection. */
export function reportEvents(
  { client, parseLine }: LineReaders,
  scheduler: Scheduler,
  sink: EventSink,
): void {
  const self: Self = { account: null };
  const labels = new BatchLabels(client);
  const playback = new PlaybackPages(labels, sink);
  client.on("batch end chathistory", (batch) => playback.end(batch));
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

/** The bridge's own state on the server. */
interface Self {
  /** The bridge's account; null if it is not logged in, or the server does not say. */
  account: string | null;
}

/** What tells more about a message than its line. */
interface MessageParts {
  readonly self: Self;
  readonly labels: BatchLabels;
  readonly scheduler: Scheduler;
  readonly playback: PlaybackPages;
  readonly sink: EventSink;
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

/** Reports messages to show: no CTCP except ACTION. */
function reportMessages(client: Client, parts: MessageParts): void {
  const reports = new MessageReports(client, parts);
  client.on("privmsg", (event) => {
    // Some clients omit the end of an ACTION.
    if (!event.message.startsWith(ACTION)) return reports.plain(event);
    reports.report(event, `* ${speakerOf(event)} ${event.message.slice(ACTION.length)}`);
  });
  client.on("notice", (event) => reports.plain(event, true));
  client.on("action", (event) => reports.report(event, `* ${speakerOf(event)} ${event.message}`));
}

/**
 * Reports messages, but not those to channel operators only (STATUSMSG). Played-back messages go to
 * `playback`.
 */
class MessageReports {
  readonly #client: Client;
  readonly #parts: MessageParts;

  constructor(client: Client, parts: MessageParts) {
    this.#client = client;
    this.#parts = parts;
  }

  /** Reports a message unless it is CTCP. */
  plain(event: ClientEvents["privmsg"], isNotice = false): void {
    if (!event.message.startsWith(CTCP)) this.report(event, event.message, isNotice);
  }

  /** @param text the text to show */
  report(event: ClientEvents["privmsg"], text: string, isNotice = false): void {
    const { target, group, tags, time, batch } = event;
    if (group !== undefined || batch?.type === UNASKED_PLAYBACK) return;
    const { self, labels, scheduler, playback, sink } = this.#parts;
    const nick = speakerOf(event);
    const account = tags["account"] ?? null;
    const isPast = batch?.type === PLAYBACK;
    // Nobody else can have our nick now. In the past, only the account identifies the speaker.
    const isOurs = isPast ? isSameAccount(account, self.account) : nick === this.#client.user.nick;
    const proof = this.#proofOf(nick, account);
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

  #proofOf(nick: string, account: string | null): PeerProof | null {
    const { peers } = this.#parts.sink;
    if (peers === null) return null;
    const { cap } = this.#client.network;
    if (account !== null && peers.isAccount(account)) {
      const isTagged = TAGGED.every((name) => cap.isEnabled(name));
      return isTagged ? "whole" : "account";
    }
    return peers.isNick(nick) ? "nick" : null;
  }
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
class PlaybackPages {
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

function refusalOf({ command, params, tags }: ParsedLine, labels: BatchLabels): LinkEvent {
  const [code = "", channel = ""] = command === "FAIL" ? params.slice(1) : [command, params[1]];
  return {
    kind: "refusal",
    label: tags["label"] ?? labels.of(tags["batch"]),
    code,
    channel,
    reason: params.at(-1) ?? command,
  };
}
