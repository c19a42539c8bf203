import { speakerOf } from "../parts/chat/robots.ts";
import { ArrowUp } from "lucide-static";
import { Invalid } from "../../services/kernel/errors.ts";
import { definePage, type Leads, type View } from "../page.ts";
import { Composer } from "../parts/chat/composer.tsx";
import { MessageList, ToNewest, ToUnread } from "../parts/chat/message_list.tsx";
import type { ShownMessage } from "../parts/chat/message.tsx";
import { takeWritten } from "../parts/chat/written.ts";
import { Icon } from "../parts/icon.tsx";
import { Empty } from "../parts/lists.tsx";
import { type Visit, withQuery } from "../visit.ts";

/** Private messages with one agent or person. */
export const page = definePage({
  opens: "session",
  show,
  actions: { say, read },
  newWork: ["say"],
  keeps: ["say"],
});

async function show(visit: Visit): Promise<View> {
  const { services: { chats, conversations, agents: { roster }, identity }, caller } = visit;
  identity.notePresence(visit.principal);
  const now = new Date(visit.services.scheduler.now()).toISOString();
  const { nick, messages, hasOlder } = await conversations.read(
    visit.param("nick"),
    { before: visit.query("before"), at: visit.query("at") },
    caller,
  );
  const shown = messages.map(({ time, ...message }): ShownMessage => {
    return { ...message, timestamp: new Date(time).toISOString() };
  });
  const answered = shown.find(({ id }) => id === visit.query("reply"));
  const { pathname } = visit.url;
  const [oldest] = messages;
  const isPast = visit.query("before") !== undefined || visit.query("at") !== undefined;
  const body = (
    <div
      class="chat"
      data-chat
      data-own={visit.principal.name}
      data-nick={nick}
      data-past={isPast ? "" : undefined}
    >
      <header class="chat-head">
        <h1>
          <bdi>{nick}</bdi>
        </h1>
        {roster.find(nick) !== null && (
          <p class="topic about">
            <a href={`/agents/${encodeURIComponent(nick)}`}>About this agent</a>
          </p>
        )}
      </header>
      <div class="chat-body">
        <div class="chat-log" tabindex={0} role="region" aria-label={`Messages with ${nick}`}>
          <div class="chat-content">
            {hasOlder && oldest !== undefined && (
              <a class="older" href={withQuery(pathname, { before: oldest.id })} rel="prev">
                <Icon svg={ArrowUp} /> Older messages
              </a>
            )}
            {shown.length === 0 && (
              <Empty>
                {conversations.areKept
                  ? `You and ${nick} have not written to each other yet.`
                  : "Conversations are kept by the IRC network, and not here. You can still write."}
              </Empty>
            )}
            <MessageList
              messages={shown}
              own={visit.principal.name}
              speakerOf={(name) => speakerOf(visit.services, name)}
              readUpTo={isPast ? null : chats.readUpTo(caller, nick)}
              label={`Messages with ${nick}`}
            />
          </div>
        </div>
        <ToUnread />
        <ToNewest path={pathname} isPast={isPast} />
      </div>
      <p class="chat-state" role="status" hidden></p>
      <Composer visit={visit} to={nick} answered={answered} />
    </div>
  );
  const view = { title: nick, body, fills: true };
  if (isPast || !conversations.areKept) return view;
  const after = messages.at(-1)?.id ?? now;
  return { ...view, live: withQuery(`/live/messages/${encodeURIComponent(nick)}`, { after }) };
}

function say(visit: Visit): Promise<Leads | Response> {
  const { services: { conversations }, caller } = visit;
  const nick = visit.param("nick");
  return takeWritten(visit, {
    path: `/messages/${encodeURIComponent(nick)}`,
    channel: null,
    isFollowed: conversations.areKept,
    say: (post) => conversations.send(nick, post, caller),
  });
}

async function read(visit: Visit): Promise<Leads | Response> {
  const time = Date.parse(visit.entered("upto"));
  if (Number.isNaN(time)) throw new Invalid("The time of the message is missing");
  await visit.services.chats.markRead(visit.param("nick"), time, visit.caller);
  if (visit.isScripted) return visit.context.body(null, 204);
  return { to: `/messages/${encodeURIComponent(visit.param("nick"))}` };
}
