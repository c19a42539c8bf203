import { type NewPost } from "../../../services/chat/bridge/mod.ts";
import { readWritten } from "../../../services/chat/chats/mod.ts";
import { Invalid } from "../../../services/kernel/errors.ts";
import type { Leads } from "../../page.ts";
import { type Visit, withQuery } from "../../visit.ts";

/** Where somebody writes. */
export interface WritingPlace {
  readonly path: string;
  /** The channel with its `#`; null in a conversation. */
  readonly channel: string | null;
  /** Whether the page gets what is said from its stream. */
  readonly isFollowed: boolean;
  say(post: Omit<NewPost, "nick">): Promise<void>;
}

/** The address of a channel's page. */
export function channelPath(channel: string): string {
  return `/channels/${encodeURIComponent(channel.replace(/^#/, ""))}`;
}

/**
 * Says what somebody wrote, or does what its command asks for.
 *
 * @throws Invalid for a command that does not exist, lacks something or needs a channel; and what
 * the services throw
 */
export async function takeWritten(visit: Visit, place: WritingPlace): Promise<Leads | Response> {
  const { services: { chats, conversations }, caller } = visit;
  const written = readWritten(visit.entered("text"));
  const inChannel = () => {
    if (place.channel === null) throw new Invalid("This command needs a channel around it");
    return place.channel;
  };
  switch (written.kind) {
    case "say": {
      const { text, isAction } = written;
      await place.say({ text, isAction, reply: visit.entered("reply") || undefined });
      return answer(visit, { to: `${place.path}#say` }, place.isFollowed);
    }
    case "topic":
      await chats.setTopic(inChannel(), written.text, caller);
      return answer(visit, { to: `${place.path}#say` }, place.isFollowed);
    case "join": {
      const channel = `#${written.channel.replace(/^#/, "")}`;
      await chats.join(channel, caller);
      return answer(visit, { to: channelPath(channel) }, false);
    }
    case "leave": {
      const channel = written.channel === ""
        ? inChannel()
        : `#${written.channel.replace(/^#/, "")}`;
      await chats.leave(channel, caller);
      return answer(visit, { to: "/channels", notice: `You left ${channel}` }, false);
    }
    case "tell": {
      const { nick, text } = written;
      if (text !== "") await conversations.send(nick, { text }, caller);
      return answer(visit, { to: `/messages/${encodeURIComponent(nick)}` }, false);
    }
    case "search":
      return answer(
        visit,
        { to: withQuery(channelPath(inChannel()), { q: written.words }) },
        false,
      );
  }
}

/** Leads a browser on; a script stays on a page that gets what was said, and else learns the way. */
function answer(visit: Visit, leads: Leads, stays: boolean): Leads | Response {
  if (!visit.isScripted) return leads;
  return stays ? visit.context.body(null, 204) : visit.context.json({ to: leads.to });
}
