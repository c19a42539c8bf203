import { type AppEnv, callerOf } from "../../routes/environment.ts";
import { isRobot, speakerOf } from "../parts/chat/robots.ts";
import type { Context } from "hono";
import { EventFrames, jsonLine, STREAM_HEADERS } from "../../routes/event_streams.ts";
import { lastEventIdOf } from "./request.ts";
import { sessionOf } from "../../routes/middleware/session.ts";
import type { ChannelChange, ChannelMessage } from "../../services/chat/bridge/mod.ts";
import type { Present } from "../../services/chat/chats/mod.ts";
import { Unauthorized } from "../../services/kernel/errors.ts";
import { MAX_HERE } from "../parts/chat/here.tsx";
import type { Surroundings } from "../visit.ts";
import { messageEvent, unreadEvent, type UnreadNews, type UnreadWatch } from "./unread_watch.ts";

/** Somebody in a channel, as the page lists them: the nick, the sign of the status, whether an agent. */
type HereEntry = readonly [nick: string, sign: string, isAgent: boolean];

/** Who is in a channel, at the start of a stream. */
interface Here {
  readonly kind: "here";
  readonly entries: readonly HereEntry[];
}

/** Somebody has come. */
interface Joined {
  readonly kind: "joined";
  readonly entry: HereEntry;
}

/** Somebody has gone, or the topic has changed. */
type Change =
  | { readonly kind: "left"; readonly nick: string }
  | { readonly kind: "topic"; readonly topic: string };

type Item = ChannelMessage | Change | Joined | Here | UnreadNews;

/**
 * The streams of the pages of channels. Each message is one event, encoded once for all readers,
 * with what the browser needs to draw it. Joins, parts and topics are events with a name.
 */
export class ChannelStream {
  readonly #surroundings: Surroundings;
  readonly #frames: EventFrames<Item>;
  /** The channels that streams have joined. */
  readonly #followed = new WeakMap<object, string>();
  readonly #unread: UnreadWatch;

  constructor(surroundings: Surroundings, unread: UnreadWatch) {
    this.#surroundings = surroundings;
    this.#unread = unread;
    const { bridge } = surroundings.services;
    this.#frames = new EventFrames((item) => {
      if (!("text" in item)) return eventOf(item);
      return messageEvent({
        message: item,
        speaker: speakerOf(surroundings.services, item.nick),
        hasTickets: true,
      });
    });
    bridge?.onChanged((source, change) => {
      const channel = this.#followed.get(source);
      if (channel === undefined) return;
      this.#frames.groupOf(source).message(this.#itemOf(channel, change));
    });
  }

  #itemOf(channel: string, change: ChannelChange): Item {
    if (change.kind === "topic") return change;
    if (change.kind === "left") return { kind: "left", nick: change.nick };
    const present = this.#surroundings.services.chats.present(channel, change.nick);
    return { kind: "joined", entry: this.#entryOf(present) };
  }

  #entryOf({ nick, sign }: Present): HereEntry {
    return [nick, sign, isRobot(this.#surroundings.services, nick)];
  }

  /**
   * Answers with the stream of a channel. It begins after the message with the id in
   * `Last-Event-ID` or the parameter `lastEventId`, or else after the time in the parameter `after`.
   *
   * @throws Unauthorized without a session, TooMany, and what `Bridge.follow` throws
   */
  async answer(context: Context<AppEnv>): Promise<Response> {
    const { services: { chats, identity }, streams } = this.#surroundings;
    const session = sessionOf(context, this.#surroundings.services);
    if (session === null) throw new Unauthorized("Log in to follow a channel");
    const { principal } = session;
    context.set("principal", principal);
    identity.notePresence(principal);
    const channel = `#${context.req.param("name") ?? ""}`;
    const caller = callerOf(context);
    const since = context.req.query("after") || undefined;
    const start = { since, lastEventId: lastEventIdOf(context) };
    const { bridge } = chats;
    if (context.req.method === "HEAD") {
      (await bridge.follow(channel, start, { message() {}, end() {} }, caller)).close();
      return context.body(null, 200, STREAM_HEADERS);
    }
    const body = await streams.open<Item>(caller, {
      frames: this.#frames,
      follow: async (sink) => {
        const following = await bridge.follow(channel, start, {
          message: (message) => sink.message(message),
          gap: (gap) => sink.gap(gap),
          end: () => sink.end(),
          join: (log) => {
            this.#followed.set(log, channel);
            return sink.join(log);
          },
        }, caller);
        const here = (await chats.here(channel, caller)).slice(0, MAX_HERE);
        sink.message({ kind: "here", entries: here.map((one) => this.#entryOf(one)) });
        const forget = this.#unread.add(caller, channel, (news) => sink.message(news));
        return {
          more: () => following.more(),
          cut: () => following.cut(),
          close() {
            forget();
            following.close();
          },
        };
      },
    });
    return context.body(body, 200, STREAM_HEADERS);
  }
}

/** The event of whatever is no message. */
function eventOf(item: Exclude<Item, ChannelMessage>): string {
  switch (item.kind) {
    case "here":
      return `event: here\ndata: ${jsonLine(item.entries)}`;
    case "joined":
      return `event: joined\ndata: ${jsonLine(item.entry)}`;
    case "left":
      return `event: left\ndata: ${jsonLine(item.nick)}`;
    case "topic":
      return `event: topic\ndata: ${jsonLine(item.topic)}`;
    case "unread":
      return unreadEvent(item);
  }
}
