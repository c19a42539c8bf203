import type { Context } from "hono";
import { type AppEnv, callerOf } from "../../routes/environment.ts";
import { EventFrames } from "../../routes/event_streams.ts";
import { sessionOf } from "../../routes/middleware/session.ts";
import { Unauthorized } from "../../services/kernel/errors.ts";
import type { PrivateMessage } from "../../services/engines/irc/mod.ts";
import { speakerOf } from "../parts/chat/robots.ts";
import type { Surroundings } from "../visit.ts";
import { answerStream, lastEventIdOf } from "./request.ts";
import { messageEvent, unreadEvent, type UnreadNews, type UnreadWatch } from "./unread_watch.ts";

/** The streams of conversations: each private message is one event. */
export class ConversationStream {
  readonly #surroundings: Surroundings;
  readonly #frames: EventFrames<PrivateMessage | UnreadNews>;
  readonly #unread: UnreadWatch;

  constructor(surroundings: Surroundings, unread: UnreadWatch) {
    this.#surroundings = surroundings;
    this.#unread = unread;
    this.#frames = new EventFrames((item) => {
      if ("kind" in item) return unreadEvent(item);
      const { time, ...message } = item;
      const shown = { ...message, timestamp: new Date(time).toISOString() };
      return messageEvent({
        message: shown,
        speaker: speakerOf(surroundings.services, message.nick),
      });
    });
  }

  /**
   * Answers with the stream of a conversation. It begins after the message with the id in
   * `Last-Event-ID` or the parameter `lastEventId`, or else after the id or time in the parameter `after`.
   *
   * @throws Unauthorized without a session, TooMany, and what `Conversations.follow` throws
   */
  async answer(context: Context<AppEnv>): Promise<Response> {
    const { services: { conversations, identity }, streams } = this.#surroundings;
    const session = sessionOf(context, this.#surroundings.services);
    if (session === null) throw new Unauthorized("Log in to follow a conversation");
    context.set("principal", session.principal);
    identity.notePresence(session.principal);
    const nick = context.req.param("nick") ?? "";
    const after = lastEventIdOf(context) ?? (context.req.query("after") || undefined);
    const caller = callerOf(context);
    return await answerStream<PrivateMessage | UnreadNews>(context, streams, {
      frames: this.#frames,
      follow: async (sink) => {
        const following = await conversations.follow(nick, after, sink, caller);
        const forget = this.#unread.add(caller, nick, (news) => sink.message(news));
        return {
          cut: () => following.cut(),
          close() {
            forget();
            following.close();
          },
        };
      },
    });
  }
}
